//! Jobs that ended long ago are forgotten, some at a time. The sums of their days stay.

use super::Store;
use rusqlite::params;
use std::path::Path;

/// So many at once: nobody waits for the database for long.
const JOBS_A_TRANSACTION: i64 = 500;

impl Store {
    /// When the last job ended (seconds since 1970).
    pub fn latest_end(&self) -> anyhow::Result<Option<f64>> {
        let sql = "SELECT MAX(end) FROM jobs WHERE state <> 'running'";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    /// Forget some jobs that ended before a time (seconds since 1970). Their numbers.
    pub fn forget_some(&mut self, before: f64) -> anyhow::Result<Vec<i64>> {
        self.transaction(|store| {
            let sql = "SELECT id FROM jobs WHERE state <> 'running' AND end < ?1 ORDER BY start LIMIT ?2";
            let mut old = store.connection.prepare_cached(sql)?;
            let ids: Vec<i64> =
                store.rows(&mut old, params![before, JOBS_A_TRANSACTION], |row| row.get(0))?;
            for id in &ids {
                // A file that is still there is remembered, so that it is not read again.
                let sql = "SELECT path FROM sources WHERE job = ?1";
                let mut paths = store.connection.prepare_cached(sql)?;
                let paths: Vec<String> = store.rows(&mut paths, [id], |row| row.get(0))?;
                for path in paths.iter().filter(|path| !Path::new(path).exists()) {
                    store.connection.execute("DELETE FROM sources WHERE path = ?1", [path])?;
                }
                for sql in [
                    "DELETE FROM details WHERE job = ?1",
                    "DELETE FROM runs WHERE job = ?1",
                    "DELETE FROM predictions WHERE job = ?1",
                    "DELETE FROM alarms WHERE job = ?1",
                    "DELETE FROM jobs WHERE id = ?1",
                ] {
                    store.connection.prepare_cached(sql)?.execute([id])?;
                }
            }
            Ok(ids)
        })
    }
}
