//! File events of the kernel (inotify): a hint to look at once. They tell nothing of what other machines
//! write to a shared file system, so directories are looked through now and then all the same.

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More directories are not watched: users have a limit (`fs.inotify.max_user_watches`), and others need it.
const MOST: usize = 8192;

/// Events of directories.
#[derive(Debug)]
pub struct Events {
    /// `None` where the kernel gives none.
    from: Option<File>,
    watched: HashSet<PathBuf>,
}

impl Events {
    pub fn new() -> Self {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        Events { from: inotify::init(flags).ok().map(File::from), watched: HashSet::new() }
    }

    /// Watch a directory as well.
    pub fn watch(&mut self, folder: &Path) {
        let Some(from) = &self.from else { return };
        if self.watched.len() >= MOST || self.watched.contains(folder) {
            return;
        }
        let flags = WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        if inotify::add_watch(from, folder, flags).is_ok() {
            self.watched.insert(folder.to_owned());
        }
    }

    /// Directories that are gone, or were not there at the last look, are watched anew if they come back.
    pub fn keep(&mut self, there: impl Fn(&Path) -> bool) {
        self.watched.retain(|folder| there(folder));
    }

    /// Did something happen since this was last asked?
    pub fn happened(&mut self) -> bool {
        let Some(from) = &mut self.from else { return false };
        let mut buffer = [0u8; 16 << 10];
        let mut some = false;
        while from.read(&mut buffer).is_ok_and(|length| length > 0) {
            some = true;
        }
        some
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut events = Events::new();
        events.watch(folder.path());
        assert!(!events.happened());
        std::fs::write(folder.path().join("a"), "x").unwrap();
        assert!(events.happened());
        assert!(!events.happened(), "once");
        events.keep(|_| false);
        events.watch(folder.path());
        std::fs::remove_file(folder.path().join("a")).unwrap();
        assert!(!events.happened(), "what is removed is no news");
    }
}
