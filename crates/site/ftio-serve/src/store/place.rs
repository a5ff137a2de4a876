//! The files of the database are removed, or replaced, while the service runs. SQLite goes on with the files
//! that it has open, and nothing would be there after the next start. So what is known is written anew.

use super::mend::put_aside;
use super::{Lock, Store};
use anyhow::Context;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    /// Device and inode.
    file: (u64, u64),
}

impl Place {
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let about = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        Ok(Place { path: path.to_owned(), file: number(&about) })
    }

    /// Is the file still there under its name?
    fn holds(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|about| number(&about) == self.file)
    }
}

fn number(about: &Metadata) -> (u64, u64) {
    (about.dev(), about.ino())
}

impl Lock {
    /// Is the directory still ours?
    pub fn holds(&self) -> bool {
        self.place.holds()
    }
}

impl Store {
    /// Is its file still where it was?
    pub fn is_in_place(&self) -> bool {
        self.place.as_ref().is_none_or(Place::holds)
    }

    /// Write everything to where it was. What is there instead is kept aside; its name is given back. This
    /// database must be opened again afterwards.
    pub fn write_again(&self, data: &Path) -> anyhow::Result<Option<PathBuf>> {
        let (path, new) = (data.join("jobs.db"), data.join("jobs.db.new"));
        let _ = std::fs::remove_file(&new);
        self.connection.execute("VACUUM INTO ?1", [new.to_string_lossy()])?;
        for ending in ["-wal", "-shm"] {
            // Those that we have open are of our database, and not of the one that is there now.
            let beside = data.join(format!("jobs.db{ending}"));
            if is_open(&beside) {
                std::fs::remove_file(&beside)?;
            }
        }
        let aside = if path.exists() { Some(put_aside(data, "replaced")?) } else { None };
        std::fs::rename(&new, &path)?;
        Ok(aside)
    }
}

/// Does this process have the file open?
fn is_open(path: &Path) -> bool {
    let Ok(wanted) = std::fs::metadata(path) else { return false };
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    open.filter_map(|entry| std::fs::metadata(entry.path()).ok())
        .any(|about| number(&about) == number(&wanted))
}
