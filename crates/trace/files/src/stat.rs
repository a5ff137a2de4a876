//! What the system tells of a file.

use crate::error::{Error, Result, Why};
use rustix::fs::{FileType, fstat};
use std::os::fd::AsFd;
use std::path::Path;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        }
    }
}

/// A file, as it was at one moment. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stat {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub inode: u64,
    /// What it is.
    pub kind: Kind,
    /// Permissions, with the set-uid, set-gid and sticky bits.
    pub mode: u32,
    /// Who owns it.
    pub user: u32,
    /// Its group.
    pub group: u32,
    /// How many names it has.
    pub names: u64,
    /// Its length in bytes.
    pub size: u64,
    /// Bytes that it takes on the disk.
    pub room: u64,
    /// When it was last read, as far as that is recorded.
    pub accessed: i64,
    /// When its content was last changed; every user who may write to it can set this.
    pub modified: i64,
    /// When its content or anything else about it was last changed. Nobody can set this.
    pub changed: i64,
}

impl Stat {
    /// What is open.
    pub fn of(file: impl AsFd) -> rustix::io::Result<Self> {
        fstat(file).map(|stat| Stat::from(&stat))
    }

    /// What is open; `path` is for the message.
    pub(crate) fn of_named(file: impl AsFd, path: &Path) -> Result<Self> {
        Stat::of(file).map_err(|errno| Error::new(path, errno))
    }

    /// Which file it is: the same file has the same answer, whatever its name.
    pub fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// A regular file, or the reason why it is none.
    pub(crate) fn is_file(&self) -> std::result::Result<(), Why> {
        match self.kind {
            Kind::File => Ok(()),
            Kind::Link => Err(Why::Link),
            _ => Err(Why::NotRegular),
        }
    }
}

impl From<&rustix::fs::Stat> for Stat {
    #[allow(clippy::unnecessary_cast)] // the widths differ between processors
    fn from(stat: &rustix::fs::Stat) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stat {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            kind: FileType::from_raw_mode(stat.st_mode as _).into(),
            mode: stat.st_mode as u32 & 0o7777,
            user: stat.st_uid,
            group: stat.st_gid,
            names: stat.st_nlink as u64,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            room: u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512),
            accessed: nanoseconds(stat.st_atime as i64, stat.st_atime_nsec as i64),
            modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}
