//! A database that is damaged: what can still be read goes into a new one, and the old one is kept aside.

use super::rows::{TABLES, Table};
use super::scrub::{content, keep_aside};
use super::{Store, wal};
use crate::damage::{Damages, Kind};
use anyhow::Context;
use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;
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

/// An error that says so.
fn corrupt(text: &str) -> anyhow::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, Some(text.to_owned())).into()
}

/// Rows that were read of a damaged database, and those that were not.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    read: usize,
    aside: usize,
}

impl Store {
    /// Open the database. One that is damaged is put aside, and what can be read of it goes into a new one.
    pub fn open_or_mend(data: &Path, damages: &Damages) -> anyhow::Result<Self> {
        wal::look(data, damages);
        let problem = match Self::open(data).and_then(|store| store.look_through(data).map(|()| store)) {
            Ok(store) => return Ok(store),
            Err(problem) if is_damaged(&problem) => problem,
            Err(problem) => return Err(problem),
        };
        let aside = put_aside(data, "damaged").context("the damaged database cannot be put aside")?;
        let mut store = Self::open(data)?;
        let Rows { read, aside: bad } = store.take_over(&aside, data);
        let text = format!(
            "{}: {problem:#}: {read} rows could be read and go into a new database, {bad} that are damaged go \
             to damaged/rows.jsonl; the old one is {}",
            data.join("jobs.db").display(),
            aside.display()
        );
        damages.add(Kind::Database, &text);
        Ok(store)
    }

    /// Is the database as a whole what it should be, as far as that is seen quickly?
    fn look_through(&self, data: &Path) -> anyhow::Result<()> {
        if std::fs::metadata(data.join("jobs.db")).is_ok_and(|about| about.len() > LOOKED_THROUGH) {
            return Ok(());
        }
        self.pragma_check("PRAGMA quick_check(1)")
    }

    /// The same, with all indices.
    pub fn look_through_all(&self) -> anyhow::Result<()> {
        self.pragma_check("PRAGMA integrity_check(1)")
    }

    fn pragma_check(&self, sql: &str) -> anyhow::Result<()> {
        // It may quote what is damaged.
        let said = self.connection.query_row(sql, [], |row| {
            Ok(row.get_ref(0)?.as_bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
        })?;
        match said.unwrap_or_default().as_str() {
            "ok" => Ok(()),
            wrong => Err(corrupt(wrong)),
        }
    }

    /// A place holder in memory.
    pub fn nowhere() -> anyhow::Result<Self> {
        Ok(Store { connection: Connection::open_in_memory()?, place: None, doubt: Default::default() })
    }

    /// Copy all rows that can be read.
    fn take_over(&mut self, old: &Path, data: &Path) -> Rows {
        let Ok(old) = Connection::open(old) else { return Rows::default() };
        let mut rows = Rows::default();
        for table in TABLES {
            let _ = self.transaction(|store| store.take_table(&old, table, data, &mut rows));
        }
        // The trace of a job that could not be read is read again, and its number may be used again.
        for table in ["sources", "details", "runs", "predictions"] {
            let sql =
                format!("DELETE FROM {table} WHERE job IS NOT NULL AND job NOT IN (SELECT id FROM jobs)");
            let _ = self.connection.execute(&sql, []);
        }
        rows
    }

    /// All rows that can be read. Where one cannot, go on a little later, and then further and further.
    fn take_table(&self, old: &Connection, table: Table, data: &Path, rows: &mut Rows) -> anyhow::Result<()> {
        let names: Vec<String> = table.names().iter().map(|name| format!("\"{name}\"")).collect();
        let there = |name: &&String| {
            let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE '\"' || name || '\"' = ?2";
            old.query_row(sql, [table.name, name.as_str()], |row| row.get::<_, i64>(0)).unwrap_or(0) > 0
        };
        // An older database has fewer columns, and those that are damaged may tell of none.
        let names: Vec<&String> = names.iter().filter(there).collect();
        let all = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(",");
        let places = vec!["?"; names.len() + 1].join(",");
        let sql = format!("INSERT OR IGNORE INTO {} (rowid,{all}) VALUES ({places})", table.name);
        let mut insert = self.connection.prepare(&sql)?;
        let sql = format!("SELECT rowid,{all},NULL FROM {} WHERE rowid > ?1 ORDER BY rowid", table.name);
        let Ok(mut select) = old.prepare(&sql) else { return Ok(()) };
        let whole = names.len() == table.width;
        let (mut last, mut step) = (i64::MIN, 1i64);
        loop {
            let read = (|| -> rusqlite::Result<bool> {
                let mut found = select.query([last])?;
                while let Some(row) = found.next()? {
                    (last, step) = (row.get(0)?, 1);
                    let wrong = if whole { table.check(row, 1).err() } else { None };
                    if let Some(why) = wrong {
                        let _ = keep_aside(data, table.name, last, &why, &content(table, row));
                        rows.aside += 1;
                        continue;
                    }
                    let values: Result<Vec<ToSqlOutput<'_>>, _> = (0..=names.len())
                        .map(|place| row.get_ref(place).map(ToSqlOutput::Borrowed))
                        .collect();
                    rows.read += insert.execute(rusqlite::params_from_iter(values?)).unwrap_or(0);
                }
                Ok(true)
            })();
            if read.is_ok() || step > 1 << 40 {
                return Ok(());
            }
            last = last.max(0).saturating_add(step);
            step *= 2;
        }
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
