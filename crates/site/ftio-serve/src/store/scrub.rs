//! All rows are looked at now and then, so that damage is found before somebody needs the row. One that is
//! damaged goes from its table to a file, and traces are read again for jobs that are lost that way.

use super::rows::{Checked, TABLES, Table};
use super::{Store, private_file};
use crate::damage::{Damages, Kind, folder};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// So many rows at a time: nobody waits for the database for long.
const ROWS_A_LOOK: i64 = 500;
/// Where damaged rows are put aside, one JSON object each.
const ROWS_FILE: &str = "rows.jsonl";

/// What was found in some rows of a table.
#[derive(Debug, Default)]
pub struct Look {
    /// Go on after this row; `None`: there are no more.
    pub next: Option<i64>,
    /// Rows that are damaged: which, why, and what is in them.
    bad: Vec<(i64, String, Value)>,
    /// Rows that have no sum yet.
    without: Vec<i64>,
}

impl Look {
    /// Is there something to be done?
    pub fn is_clean(&self) -> bool {
        self.bad.is_empty() && self.without.is_empty()
    }
}

/// The tables, to go through.
pub fn tables() -> impl Iterator<Item = Table> {
    TABLES.into_iter()
}

impl Store {
    /// Look at some rows of a table after a row.
    pub fn look_at(&self, table: Table, after: i64) -> anyhow::Result<Look> {
        let (columns, name) = (table.with_sum(), table.name);
        let sql = format!("SELECT rowid, {columns} FROM {name} WHERE rowid > ?1 ORDER BY rowid LIMIT ?2");
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([after, ROWS_A_LOOK])?;
        let mut look = Look::default();
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            look.next = Some(id);
            match table.check(row, 1) {
                Ok(Checked::Sum) => {}
                Ok(Checked::Kinds) => look.without.push(id),
                Err(why) => look.bad.push((id, why, content(table, row))),
            }
        }
        Ok(look)
    }

    /// Put what is damaged aside, and give sums to rows that have none. Traces that are to be read again.
    pub fn settle(
        &mut self,
        table: Table,
        look: &Look,
        data: &Path,
        damages: &Damages,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let mut again = Vec::new();
        for (id, why, row) in &look.bad {
            again.extend(self.put_aside_row(table, *id, why, row, data, damages)?);
        }
        if !look.without.is_empty() {
            self.transaction(|store| look.without.iter().try_for_each(|id| store.sum(table, *id)))?;
        }
        Ok(again)
    }

    fn put_aside_row(
        &mut self,
        table: Table,
        id: i64,
        why: &str,
        row: &Value,
        data: &Path,
        damages: &Damages,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let name = table.name;
        // It may have been written anew meanwhile.
        let sql = format!("SELECT {} FROM {name} WHERE rowid = ?1", table.with_sum());
        let still = self.connection.prepare(&sql)?.query_row([id], |row| Ok(table.check(row, 0).is_err()));
        if !matches!(still, Ok(true)) {
            return Ok(Vec::new());
        }
        let kept = keep_aside(data, name, id, why, row)?;
        let again = self.transaction(|store| {
            store.connection.execute(&format!("DELETE FROM {name} WHERE rowid = ?1"), [id])?;
            if name != "jobs" {
                return Ok(Vec::new());
            }
            // The trace of a job that is lost is read again.
            let mut select = store.connection.prepare("SELECT path FROM sources WHERE job = ?1")?;
            let paths = store.rows(&mut select, [id], |row| Ok(PathBuf::from(row.get::<_, String>(0)?)))?;
            store.connection.execute("DELETE FROM sources WHERE job = ?1", [id])?;
            Ok(paths)
        })?;
        let database = data.join("jobs.db");
        let text = format!("{}: row {id} of {name}: {why}; it is kept in {kept}", database.display());
        damages.add(Kind::Row, &text);
        Ok(again)
    }
}

/// Append a row to the file of damaged ones; the name of that.
pub(super) fn keep_aside(
    data: &Path,
    table: &str,
    id: i64,
    why: &str,
    row: &Value,
) -> std::io::Result<String> {
    super::private_folder(&folder(data))?;
    let path = folder(data).join(ROWS_FILE);
    let mut file = private_file(&path)?;
    let line = json!({"table": table, "row": id, "why": why, "time": crate::service::now(), "content": row});
    writeln!(file, "{line}")?;
    file.sync_data()?;
    Ok(path.display().to_string())
}

/// What is in a row, as far as it can be said; what is no text as the numbers of its bytes.
pub(super) fn content(table: Table, row: &Row<'_>) -> Value {
    let first = row.as_ref().column_count().saturating_sub(table.width + 1);
    let mut all = Map::new();
    for (place, name) in table.names().into_iter().enumerate() {
        let value = match row.get_ref(first + place) {
            Ok(ValueRef::Integer(value)) => json!(value),
            Ok(ValueRef::Real(value)) => json!(value),
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => json!(text),
                Err(_) => json!({"bytes": bytes}),
            },
            _ => Value::Null,
        };
        all.insert(name.to_owned(), value);
    }
    Value::Object(all)
}
