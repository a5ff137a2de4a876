//! Every row has a checksum, and a row that is damaged costs itself.
//!
//! SQLite does not notice when a bit of a value is wrong. So each row has a sum in a table of its own
//! (`row_sums`). Triggers remove the sum when a row is changed, and we put the new one there: what another
//! program changes, or an older ftio, has none for a while, and is not taken for damaged. Rows without a sum
//! must at least be what their columns say.

use super::Store;
use crate::job::{Origin, State};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{OptionalExtension, Row, Statement, params};
use std::sync::atomic::Ordering::Relaxed;

/// A table and its columns. A column is `name:kind`: i, r and t are whole numbers, numbers and texts; s and o
/// are states and origins of jobs; j is JSON. `?` after it: there may be nothing.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its number in `row_sums`.
    pub number: i64,
    pub name: &'static str,
    columns: &'static str,
    /// How many columns there are.
    pub width: usize,
}

/// All tables.
pub const TABLES: [Table; 9] =
    [JOBS, DETAILS, RUNS, SOURCES, PREDICTIONS, RULES, ALARMS, DAYS, DAY_CATEGORIES];

pub const JOBS: Table = table(
    0,
    "jobs",
    "id:i jobid:t cluster:t start:r end:r state:s origin:o owner:i? command:t app:t size:i \
     nodelist:t partition:t run_dir:t path:t period:r? confidence:r? written:r read:r io_share:r? \
     high_findings:i categories:t",
);
pub const DETAILS: Table = table(1, "details", "job:i totals:j detection:j findings:j");
pub const RUNS: Table = table(2, "runs", "job:i app:t size:i end:r owner:i? measurements:j");
pub const SOURCES: Table = table(3, "sources", "path:t device:i inode:i size:i changed:i job:i? problem:t?");
pub const PREDICTIONS: Table = table(
    4,
    "predictions",
    "id:i job:i made:r start:r low:r high:r end:r bytes:r period:r? confidence:r came:r? hit:i?",
);
pub const RULES: Table = table(5, "rules", "name:t target:t metric:t operation:t value:r");
pub const ALARMS: Table =
    table(6, "alarms", "id:i rule:t job:i jobid:t owner:i? metric:t value:r message:t since:r until:r?");
pub const DAYS: Table = table(7, "days", "day:i owner:i app:t jobs:i written:r read:r");
pub const DAY_CATEGORIES: Table = table(8, "day_categories", "day:i owner:i category:t jobs:i bytes:r");

/// Reads a row whose columns are the fields of a type, in their order.
macro_rules! fields {
    ($type:ident { $($field:ident),+ }) => {
        |row: &rusqlite::Row<'_>| {
            let mut place = 0usize..;
            Ok($type { $($field: row.get(place.next().unwrap_or_default())?),+ })
        }
    };
}
pub(super) use fields;

const fn table(number: i64, name: &'static str, columns: &'static str) -> Table {
    let (mut width, mut at) = (0, 0);
    while at < columns.len() {
        width += (columns.as_bytes()[at] == b':') as usize;
        at += 1;
    }
    Table { number, name, columns, width }
}

impl Table {
    fn columns(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.columns.split(' ').filter_map(|column| column.split_once(':'))
    }

    /// The names of its columns.
    pub fn names(&self) -> Vec<&'static str> {
        self.columns().map(|(name, _)| name).collect()
    }

    /// All columns and then the sum of the row, to select.
    pub fn with_sum(&self) -> String {
        let (name, number) = (self.name, self.number);
        let columns: Vec<String> = self.names().iter().map(|column| format!("{name}.\"{column}\"")).collect();
        let sum = format!("(SELECT sum FROM row_sums WHERE tbl = {number} AND row_sums.id = {name}.rowid)");
        format!("{}, {sum}", columns.join(", "))
    }

    /// The table of sums, and what keeps it true.
    pub fn triggers(&self) -> String {
        let (name, number) = (self.name, self.number);
        let on = |event: &str, row: &str| {
            format!(
                "CREATE TRIGGER IF NOT EXISTS sum_{name}_{event} AFTER {event} ON {name} BEGIN
                 DELETE FROM row_sums WHERE tbl = {number} AND id = {row}.rowid; END;\n"
            )
        };
        [on("INSERT", "NEW"), on("UPDATE", "NEW"), on("DELETE", "OLD")].concat()
    }

    /// What is wrong with a row that was selected with [`with_sum`](Self::with_sum), from this column on.
    pub fn check(&self, row: &Row<'_>, first: usize) -> Result<Checked, String> {
        let sum: ValueRef<'_> = row.get_ref(first + self.width).map_err(|error| error.to_string())?;
        if let ValueRef::Integer(sum) = sum {
            let found = self.sum(row, first).map_err(|error| error.to_string())?;
            return if sum == i64::from(found) {
                Ok(Checked::Sum)
            } else {
                Err("its checksum is wrong".into())
            };
        }
        for (place, (name, kind)) in self.columns().enumerate() {
            let value = row.get_ref(first + place).map_err(|error| error.to_string())?;
            is_as(kind, value).map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        Ok(Checked::Kinds)
    }

    /// The checksum of a row: of kinds and contents.
    fn sum(&self, row: &Row<'_>, first: usize) -> rusqlite::Result<u32> {
        let mut sum = crc32fast::Hasher::new();
        for place in 0..self.width {
            match row.get_ref(first + place)? {
                ValueRef::Null => sum.update(b"n"),
                ValueRef::Integer(value) => {
                    sum.update(b"i");
                    sum.update(&value.to_le_bytes());
                }
                ValueRef::Real(value) => {
                    sum.update(b"r");
                    sum.update(&value.to_bits().to_le_bytes());
                }
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    sum.update(b"t");
                    sum.update(&(bytes.len() as u64).to_le_bytes());
                    sum.update(bytes);
                }
            }
        }
        Ok(sum.finalize())
    }
}

/// How a row was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    Sum,
    /// It has no sum; its values are of the right kinds.
    Kinds,
}

/// Is a value what its column says?
fn is_as(kind: &str, value: ValueRef<'_>) -> Result<(), String> {
    let text =
        |bytes: &[u8]| std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| "not UTF-8".to_owned());
    match (kind.trim_end_matches('?'), value) {
        (_, ValueRef::Null) if kind.ends_with('?') => Ok(()),
        ("i", ValueRef::Integer(_)) | ("r", ValueRef::Real(_) | ValueRef::Integer(_)) => Ok(()),
        ("t", ValueRef::Text(bytes)) => text(bytes).map(|_| ()),
        ("s", ValueRef::Text(bytes)) if State::from_name(&text(bytes)?).is_some() => Ok(()),
        ("o", ValueRef::Text(bytes)) if Origin::from_name(&text(bytes)?).is_some() => Ok(()),
        ("j", ValueRef::Text(bytes)) => serde_json::from_slice::<serde::de::IgnoredAny>(bytes)
            .map(|_| ())
            .map_err(|error| error.to_string()),
        (_, other) => Err(format!("not expected: {:?}", other.data_type())),
    }
}

/// A row that is damaged, as an error of SQLite's.
pub fn damaged(table: &str, why: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Null, format!("a row of {table}: {why}").into())
}

/// Does an error say that one row is damaged?
fn is_of_row(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..)
    )
}

impl Store {
    /// The rows of a question. One that is damaged is left out, and looked for later.
    pub(super) fn rows<T>(
        &self,
        statement: &mut Statement<'_>,
        values: impl rusqlite::Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let mut rows = statement.query(values)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            match read(row) {
                Ok(one) => all.push(one),
                Err(error) if is_of_row(&error) => self.doubt.store(true, Relaxed),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(all)
    }

    /// One row; `None`: there is none, or it is damaged.
    pub(super) fn row<T>(
        &self,
        statement: &mut Statement<'_>,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> anyhow::Result<Option<T>> {
        Ok(self.rows(statement, values, read)?.into_iter().next())
    }

    /// A row was written: it gets its sum.
    pub(super) fn sum(&self, table: Table, id: i64) -> anyhow::Result<()> {
        let sql = format!("SELECT {} FROM {} WHERE rowid = ?1", table.with_sum(), table.name);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let sum = statement.query_row([id], |row| table.sum(row, 0)).optional()?;
        if let Some(sum) = sum {
            let sql = "INSERT OR REPLACE INTO row_sums (tbl, id, sum) VALUES (?1,?2,?3)";
            self.connection.prepare_cached(sql)?.execute(params![table.number, id, sum])?;
        }
        Ok(())
    }
}
