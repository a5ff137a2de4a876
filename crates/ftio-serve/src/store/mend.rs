//! A database that is damaged: what can still be read goes into a new one, and the old one is kept aside.

use super::{Store, TABLES};
use anyhow::Context;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::path::{Path, PathBuf};

/// Up to this size a database is looked through when it is opened; damage in a larger one is noticed when it
/// is met.
const LOOKED_THROUGH: u64 = 256 << 20;
/// The files of a database: itself, its log, and the index of its log.
const ENDINGS: [&str; 3] = ["", "-wal", "-shm"];

/// Is that what an error says?
pub fn is_damaged(error: &anyhow::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(DatabaseCorrupt | NotADatabase))
}

impl Store {
    /// Open the database. One that is damaged is put aside, and what can be read of it goes into a new one.
    pub fn open_or_mend(data: &Path) -> anyhow::Result<Self> {
        let problem = match Self::open(data).and_then(|store| store.look_through(data).map(|()| store)) {
            Ok(store) => return Ok(store),
            Err(problem) if is_damaged(&problem) => problem,
            Err(problem) => return Err(problem),
        };
        let aside = put_aside(data, "damaged").context("the damaged database cannot be put aside")?;
        let store = Self::open(data)?;
        let rows = store.take_over(&aside);
        eprintln!(
            "ftio serve: {}: the database is damaged ({problem:#}): {rows} rows could be read and go into a new \
             one; the old one is {}",
            data.join("jobs.db").display(),
            aside.display()
        );
        Ok(store)
    }

    fn look_through(&self, data: &Path) -> anyhow::Result<()> {
        if std::fs::metadata(data.join("jobs.db")).is_ok_and(|about| about.len() > LOOKED_THROUGH) {
            return Ok(());
        }
        let said: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if said == "ok" {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        Err(rusqlite::Error::SqliteFailure(code, Some(said)).into())
    }

    /// A place holder in memory.
    pub fn nowhere() -> anyhow::Result<Self> {
        Ok(Store { connection: Connection::open_in_memory()?, place: None })
    }

    /// Copy all rows that can be read. How many.
    fn take_over(&self, old: &Path) -> usize {
        let Ok(old) = Connection::open(old) else { return 0 };
        let rows = TABLES.iter().map(|table| self.take_table(&old, table).unwrap_or(0)).sum();
        // The trace of a job that could not be read is read again, and its number may be used again.
        for table in ["sources", "details", "runs", "predictions"] {
            let sql =
                format!("DELETE FROM {table} WHERE job IS NOT NULL AND job NOT IN (SELECT id FROM jobs)");
            let _ = self.connection.execute(&sql, []);
        }
        rows
    }

    /// Rows up to the first that cannot be read, from either end.
    fn take_table(&self, old: &Connection, table: &str) -> anyhow::Result<usize> {
        let mut count = 0;
        for order in ["ASC", "DESC"] {
            let Ok(mut select) = old.prepare(&format!("SELECT * FROM {table} ORDER BY rowid {order}")) else {
                continue;
            };
            let names: Vec<String> = select.column_names().into_iter().map(str::to_owned).collect();
            let places = vec!["?"; names.len()].join(",");
            let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({places})", names.join(","));
            let mut insert = self.connection.prepare(&sql)?;
            let Ok(mut rows) = select.query([]) else { continue };
            self.connection.execute_batch("BEGIN")?;
            while let Ok(Some(row)) = rows.next() {
                let values: Result<Vec<Value>, _> = (0..names.len()).map(|place| row.get(place)).collect();
                let Ok(values) = values else { continue };
                count += insert.execute(rusqlite::params_from_iter(values)).unwrap_or(0);
            }
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(count)
    }
}

/// Under a name that nothing else has.
pub(super) fn put_aside(data: &Path, why: &str) -> std::io::Result<PathBuf> {
    let free = (1..).map(|number| format!("jobs.db.{why}-{number}"));
    let name = free.into_iter().find(|name| !data.join(name).exists()).unwrap_or_default();
    for ending in ENDINGS {
        let from = data.join(format!("jobs.db{ending}"));
        match std::fs::rename(&from, data.join(format!("{name}{ending}"))) {
            Err(error) if ending.is_empty() || error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(data.join(name))
}
