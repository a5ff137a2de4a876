//! The calls of the system that staging is made of.
//!
//! The [`protocol`](crate::protocol) is written against this trait. [`Real`] is the system itself, by handles
//! of folders. The tests have another one: a file system in memory that may fail after any call and forgets
//! what was not synchronised, in which every order of the calls of staging and of a job is tried. So what is
//! tried there is the program itself.

mod attributes;
mod kinds;
mod real;

use crate::stop::Stop;
use files::{Kind, Replace, Result, Stat};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub use file_lease::Writers;
pub use real::Real;

/// Who has a file open, by what can be seen of the processes of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holders {
    /// Nobody, and everybody could be seen.
    Nobody,
    /// Somebody.
    Somebody,
    /// Nobody that can be seen from here.
    Unknown,
}

/// A system. Every method is one call that nothing else comes in between of, except those that move data.
#[allow(clippy::missing_errors_doc)] // whatever the system says
pub trait System {
    /// A folder that is open.
    type Dir: Clone;
    /// A file that is open.
    type File;

    /// A folder in a folder; a link is not followed.
    fn folder(&self, at: &Self::Dir, name: &OsStr) -> Result<Self::Dir>;
    /// A new folder that nobody else may look into.
    fn make_folder(&self, at: &Self::Dir, name: &OsStr) -> Result<Self::Dir>;
    /// Remove a folder that is empty.
    fn remove_folder(&self, at: &Self::Dir, name: &OsStr) -> Result<()>;
    /// The folder above; `None` at the top of a mount.
    fn above(&self, at: &Self::Dir) -> Result<Option<Self::Dir>>;
    /// What a folder is.
    fn stat_folder(&self, at: &Self::Dir) -> Result<Stat>;
    /// Does this folder belong to another place than that which it was reached from? In words, if so.
    fn leads_elsewhere(&self, at: &Self::Dir) -> Option<String>;
    /// The names in a folder, and what they stand for, where the file system says so.
    fn names(&self, at: &Self::Dir) -> Result<Vec<(OsString, Option<Kind>)>>;
    /// Everything that was done to the names in a folder reaches the disk.
    fn sync_folder(&self, at: &Self::Dir) -> Result<()>;
    /// The rights of a new folder, after another one.
    fn dress_folder(&self, like: &Self::Dir, made: &Self::Dir) -> Result<()>;

    /// What a name stands for; of a link, the link itself.
    fn look(&self, at: &Self::Dir, name: &OsStr) -> Result<Stat>;
    /// A regular file, for reading.
    fn open(&self, at: &Self::Dir, name: &OsStr) -> Result<Self::File>;
    /// What is open.
    fn stat(&self, file: &Self::File) -> Result<Stat>;
    /// The content of a file, and all about it, reaches the disk.
    fn sync(&self, file: &Self::File) -> Result<()>;
    /// Rename; whether something may be replaced is said.
    fn rename(
        &self,
        from: &Self::Dir,
        name: &OsStr,
        to: &Self::Dir,
        new: &OsStr,
        replace: Replace,
    ) -> Result<()>;
    /// Two names change places.
    fn exchange(&self, at: &Self::Dir, name: &OsStr, other: &OsStr) -> Result<()>;
    /// Remove a name that is no folder's.
    fn remove(&self, at: &Self::Dir, name: &OsStr) -> Result<()>;
    /// A second name for a file.
    fn link(&self, from: &Self::Dir, name: &OsStr, to: &Self::Dir, new: &OsStr) -> Result<()>;
    /// A symbolic link.
    fn symlink(&self, leads_to: &Path, at: &Self::Dir, name: &OsStr) -> Result<()>;
    /// What a symbolic link leads to.
    fn read_link(&self, at: &Self::Dir, name: &OsStr) -> Result<PathBuf>;

    /// Make a draft, which is not there yet, and copy the first `size` bytes of a file to it. Every byte is
    /// read at some moment of this call. With the checksum of what was read, if that is asked for.
    fn produce(
        &self,
        source: (&Self::File, &Self::Dir, &OsStr),
        draft: (&Self::Dir, &OsStr),
        size: u64,
        checksum: bool,
    ) -> std::result::Result<(Self::File, Option<u64>), Stop>;
    /// Owner, rights, attributes and times of a copy, after the original. Says what could not be kept.
    fn dress(&self, like: &Self::File, made: &Self::File) -> Result<Vec<String>>;
    /// The checksum of the first `size` bytes of a file.
    fn checksum(&self, file: &Self::File, size: u64) -> std::result::Result<u64, Stop>;

    /// Has anybody the file open for writing? If not, whoever opens it so from now on waits, until the lease
    /// is given back.
    fn take_lease(&self, file: &Self::File) -> Writers;
    /// Is the lease held, and does nobody wait?
    fn keeps_lease(&self, file: &Self::File) -> bool;
    /// Give it back.
    fn give_lease_back(&self, file: &Self::File);
    /// Who has this file open.
    fn holders(&self, file: &Stat) -> Holders;
    /// Is every write to a file in this folder told by its time of change, also the first one through a
    /// mapping?
    fn tells(&self, at: &Self::Dir) -> bool;
    /// Wait until a change of this file, in this folder, would be told by another time: clocks of file
    /// systems tick.
    fn settle(&self, at: &Self::Dir, file: &Stat);
}
