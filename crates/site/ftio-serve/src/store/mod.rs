//! What outlives the process: `jobs.db`, an SQLite database with a write-ahead log.
//!
//! | table | a row is |
//! |---|---|
//! | `jobs` | a job: who, what, where, when, and what it came to |
//! | `runs` | the measurements of a finished job, for scaling models |
//! | `sources` | a file that was read, so that it is read once |
//! | `predictions` | what was foretold, and what came of it |
//! | `rules`, `alarms` | thresholds, and when they were crossed |
//! | `days`, `day_categories` | sums of a day and a user, which years are added up from |
//! | `row_sums` | the checksum of a row of any of these |

mod alarms;
mod forget;
mod jobs;
mod mend;
mod place;
mod predictions;
mod private;
mod rows;
mod runs;
mod scrub;
mod sources;
mod wal;

pub use alarms::{AlarmRow, RuleRow};
pub use jobs::{JobFilter, JobRow, Sort};
pub use mend::is_damaged;
use place::Place;
pub use predictions::{Hits, PredictionRow};
pub use private::{private_file, private_folder};
pub use runs::{AppRow, CategoryRow, DayRow, RunRow};
pub use scrub::{Look, tables};
pub use sources::Version;

use anyhow::{Context, bail};
use rusqlite::Connection;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY, jobid TEXT NOT NULL, cluster TEXT NOT NULL, start REAL NOT NULL,
    end REAL NOT NULL,
    state TEXT NOT NULL, origin TEXT NOT NULL, owner INTEGER, command TEXT NOT NULL, app TEXT NOT NULL,
    size INTEGER NOT NULL, nodelist TEXT NOT NULL, partition TEXT NOT NULL, run_dir TEXT NOT NULL,
    path TEXT NOT NULL, period REAL, confidence REAL, written REAL NOT NULL, read REAL NOT NULL,
    io_share REAL, high_findings INTEGER NOT NULL DEFAULT 0, categories TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS jobs_jobid ON jobs (jobid);
CREATE INDEX IF NOT EXISTS jobs_start ON jobs (start);
CREATE INDEX IF NOT EXISTS jobs_owner ON jobs (owner, start);
CREATE INDEX IF NOT EXISTS jobs_app ON jobs (app, start);
CREATE INDEX IF NOT EXISTS jobs_state ON jobs (state, end);
CREATE TABLE IF NOT EXISTS details (
    job INTEGER PRIMARY KEY, totals TEXT NOT NULL, detection TEXT NOT NULL, findings TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    job INTEGER PRIMARY KEY, app TEXT NOT NULL, size INTEGER NOT NULL, end REAL NOT NULL, owner INTEGER,
    measurements TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS runs_app ON runs (app, end);
CREATE TABLE IF NOT EXISTS sources (
    path TEXT PRIMARY KEY, device INTEGER NOT NULL, inode INTEGER NOT NULL, size INTEGER NOT NULL,
    changed INTEGER NOT NULL, job INTEGER, problem TEXT);
CREATE INDEX IF NOT EXISTS sources_job ON sources (job);
CREATE TABLE IF NOT EXISTS predictions (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL, made REAL NOT NULL, start REAL NOT NULL, low REAL NOT NULL,
    high REAL NOT NULL, end REAL NOT NULL, bytes REAL NOT NULL, period REAL, confidence REAL NOT NULL,
    came REAL, hit INTEGER);
CREATE INDEX IF NOT EXISTS predictions_job ON predictions (job, made);
CREATE INDEX IF NOT EXISTS predictions_made ON predictions (made);
CREATE TABLE IF NOT EXISTS rules (
    name TEXT NOT NULL, target TEXT NOT NULL, metric TEXT NOT NULL, operation TEXT NOT NULL,
    value REAL NOT NULL, PRIMARY KEY (target, name));
CREATE TABLE IF NOT EXISTS alarms (
    id INTEGER PRIMARY KEY, rule TEXT NOT NULL, job INTEGER NOT NULL, jobid TEXT NOT NULL, owner INTEGER,
    metric TEXT NOT NULL, value REAL NOT NULL, message TEXT NOT NULL, since REAL NOT NULL, until REAL);
CREATE INDEX IF NOT EXISTS alarms_since ON alarms (since);
CREATE TABLE IF NOT EXISTS days (
    day INTEGER NOT NULL, owner INTEGER NOT NULL, app TEXT NOT NULL, jobs INTEGER NOT NULL,
    written REAL NOT NULL, read REAL NOT NULL, PRIMARY KEY (day, owner, app));
CREATE TABLE IF NOT EXISTS day_categories (
    day INTEGER NOT NULL, owner INTEGER NOT NULL, category TEXT NOT NULL, jobs INTEGER NOT NULL,
    bytes REAL NOT NULL, PRIMARY KEY (day, owner, category));
";

/// Version 0.2 has no such table. It works with a database that has one: what it changes loses its sum.
const SUMS: &str = "
CREATE TABLE IF NOT EXISTS row_sums (
    tbl INTEGER NOT NULL, id INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
";

/// Of the tables above. A database of an older one is brought up to it, one of a newer one is left alone.
const SCHEMA_VERSION: i64 = 2;

/// Columns that older databases may not have.
const LATER: [(&str, &str, &str); 2] = [
    ("jobs", "high_findings", "INTEGER NOT NULL DEFAULT 0"),
    ("jobs", "categories", "TEXT NOT NULL DEFAULT ''"),
];

/// File systems on which SQLite's log does not work (`statfs(2)`): NFS, SMB, Lustre, GPFS, BeeGFS, Ceph.
const SHARED: [u64; 7] = [0x6969, 0x517b, 0xff53_4d42, 0x0bd0_0bd0, 0x4750_4653, 0x1983_0326, 0x00c3_6400];

/// How long another connection is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    /// Its file; `None` in memory.
    place: Option<Place>,
    /// A damaged row was met.
    doubt: Arc<AtomicBool>,
}

/// Held as long as the service runs: a second one on the same data refuses to start.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    place: Place,
}

impl Store {
    /// Open the database in a directory of data, or make it.
    pub fn open(data: &Path) -> anyhow::Result<Self> {
        let path = data.join("jobs.db");
        let named = || path.display().to_string();
        // SQLite would make it as the umask says; its log is as wide as it is.
        private_file(&path).with_context(named)?;
        let connection = Connection::open(&path).with_context(named)?;
        connection.busy_timeout(LOCK_TIMEOUT)?;
        let version: i64 =
            connection.pragma_query_value(None, "user_version", |row| row.get(0)).with_context(named)?;
        if version > SCHEMA_VERSION {
            bail!(
                "{}: a database of version {version}, made by a newer ftio; this one knows version \
                 {SCHEMA_VERSION}: use the newer ftio, or another directory (--data)",
                named()
            );
        }
        connection.pragma_update(None, "journal_mode", "WAL").with_context(named)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let mut store = Store { connection, place: Some(Place::of(&path)?), doubt: Arc::default() };
        if version < SCHEMA_VERSION || !store.has_sums().with_context(named)? {
            store.transaction(Self::bring_up).with_context(named)?;
        }
        Ok(store)
    }

    /// Another connection to the same database.
    pub fn another(&self, data: &Path) -> anyhow::Result<Self> {
        Ok(Store { doubt: Arc::clone(&self.doubt), ..Self::open(data)? })
    }

    fn has_sums(&self) -> anyhow::Result<bool> {
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = 'sum_day_categories_DELETE'";
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))? > 0)
    }

    /// Was a damaged row met since this was last asked, over any of its connections?
    pub fn is_in_doubt(&self) -> bool {
        self.doubt.swap(false, Relaxed)
    }

    /// Bring the log into the database and empty it, unless somebody reads it just now. What was changed
    /// until now is on the disk then.
    pub fn empty_log(&self) -> anyhow::Result<()> {
        // Nobody is waited for.
        self.connection.busy_timeout(Duration::ZERO)?;
        let done = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        self.connection.busy_timeout(LOCK_TIMEOUT)?;
        Ok(done?)
    }

    /// Make the tables, and what older ones lack.
    fn bring_up(&self) -> anyhow::Result<()> {
        self.connection.execute_batch(SCHEMA)?;
        self.connection.execute_batch(SUMS)?;
        for (table, column, kind) in LATER {
            let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
            let there: i64 = self.connection.query_row(sql, [table, column], |row| row.get(0))?;
            if there == 0 {
                // The sums were those of rows without it.
                self.connection.execute("DELETE FROM row_sums", [])?;
                self.connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {kind}"))?;
            }
        }
        for table in rows::TABLES {
            self.connection.execute_batch(&table.triggers())?;
        }
        Ok(self.connection.pragma_update(None, "user_version", SCHEMA_VERSION)?)
    }

    /// In one transaction: all of it or nothing.
    pub fn transaction<T>(&mut self, work: impl FnOnce(&Self) -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        match work(self) {
            Ok(done) => {
                self.connection.execute_batch("COMMIT")?;
                Ok(done)
            }
            Err(error) => {
                let _ = self.connection.execute_batch("ROLLBACK");
                Err(error)
            }
        }
    }

    /// Does it work? Part of `/readyz`.
    pub fn check(&self) -> anyhow::Result<()> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?)
    }
}

/// Make the directory ready: it exists, is ours alone, is on a disk of this machine, and nobody else uses it.
pub fn claim(data: &Path) -> anyhow::Result<Lock> {
    let named = || data.display().to_string();
    let narrowed = private::make_private(data).with_context(named)?;
    if narrowed > 0 {
        let text = "open to others: now they are for the owner alone (0700 and 0600)";
        tracing::warn!(data = %named(), "{}: {narrowed} of its files and folders were {text}", named());
    }
    let kind = rustix::fs::statfs(data).map(|found| found.f_type as u64 & 0xffff_ffff).unwrap_or(0);
    if SHARED.contains(&kind) {
        bail!("{}: a network file system: the database needs a disk of this machine (--data)", named());
    }
    let path: PathBuf = data.join("lock");
    let file = private_file(&path).with_context(named)?;
    if rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!("{}: another ftio serve uses this directory", named());
    }
    Ok(Lock { place: Place::of(&path)?, _file: file })
}

#[cfg(test)]
mod tests;
