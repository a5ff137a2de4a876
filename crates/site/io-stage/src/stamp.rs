//! What tells versions of a file apart.

use files::Stat;
use serde::{Deserialize, Serialize};

/// Another version of a file differs in one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub inode: u64,
    /// Its length in bytes.
    pub size: u64,
    /// When its content was last changed, in nanoseconds since 1970. Whoever may write to the file can set
    /// this: `cp -p`, `rsync -t` and `tar` do.
    pub modified: i64,
    /// When anything about it was last changed. Nobody can set this; a new name changes it as well.
    pub changed: i64,
}

impl Stamp {
    /// The version that this is about.
    pub fn of(stat: &Stat) -> Self {
        let Stat { device, inode, size, modified, changed, .. } = *stat;
        Stamp { device, inode, size, modified, changed }
    }

    /// The same file with the same content, as far as can be told if it was only renamed.
    pub fn is_renamed(&self, before: &Stamp) -> bool {
        Stamp { changed: before.changed, ..*self } == *before
    }
}
