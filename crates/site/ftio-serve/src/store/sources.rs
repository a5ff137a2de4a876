//! Files that were read. One that has not changed is not read again, also after a restart.

use super::Store;
use super::rows::SOURCES;
use rusqlite::params;
use std::path::Path;

/// What tells files of one name apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Nanoseconds since 1970.
    pub changed: i64,
}

impl Version {
    pub fn of(about: &files::Stat) -> Self {
        Version { device: about.device, inode: about.inode, size: about.size, changed: about.modified }
    }
}

impl Store {
    /// All of them, at the start.
    pub fn each_source(&self, mut visit: impl FnMut(&str, Version)) -> anyhow::Result<()> {
        let mut statement =
            self.connection.prepare_cached("SELECT path, device, inode, size, changed FROM sources")?;
        self.rows(&mut statement, [], |row| {
            let version = Version {
                device: row.get::<_, i64>(1)? as u64,
                inode: row.get::<_, i64>(2)? as u64,
                size: row.get::<_, i64>(3)? as u64,
                changed: row.get(4)?,
            };
            visit(row.get_ref(0)?.as_str()?, version);
            Ok(())
        })?;
        Ok(())
    }

    /// A file was read: what job it is, or what is wrong with it.
    pub fn set_source(
        &self,
        path: &Path,
        version: Version,
        job: Option<i64>,
        problem: Option<&str>,
    ) -> anyhow::Result<()> {
        let sql = "INSERT OR REPLACE INTO sources (path, device, inode, size, changed, job, problem)
            VALUES (?1,?2,?3,?4,?5,?6,?7)";
        self.connection.prepare_cached(sql)?.execute(params![
            path.to_string_lossy(),
            version.device as i64,
            version.inode as i64,
            version.size as i64,
            version.changed,
            job,
            problem
        ])?;
        self.sum(SOURCES, self.connection.last_insert_rowid())
    }
}
