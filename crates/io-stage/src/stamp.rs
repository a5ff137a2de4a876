//! What tells versions of a file apart.

use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Device, inode, size and time of the last change: another version of a file differs in one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub inode: u64,
    /// Its length in bytes.
    pub size: u64,
    /// When its content was last changed, in nanoseconds since 1970.
    pub modified: i64,
}

impl Stamp {
    /// The version that this is about.
    pub fn of(meta: &Metadata) -> Self {
        let modified = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
        Stamp { device: meta.dev(), inode: meta.ino(), size: meta.size(), modified }
    }
}
