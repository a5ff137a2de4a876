//! File events of the kernel (inotify): which files to look at, at once. They tell nothing of what other
//! machines write to a shared file system, so directories are looked through now and then all the same.

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// More directories are not watched: users have a limit (`fs.inotify.max_user_watches`), and others need it.
const MAX_FOLDERS: usize = 8192;

/// Events of directories.
#[derive(Debug)]
pub struct Events {
    /// `None` where the kernel gives none.
    from: Option<OwnedFd>,
    watched: HashMap<PathBuf, i32>,
    folders: HashMap<i32, PathBuf>,
    /// Why there are directories without events.
    pub refused: Option<&'static str>,
}

/// What happened since this was last asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Something happened to what has these names.
    pub paths: HashSet<PathBuf>,
    /// There was more than the kernel could tell.
    pub lost: bool,
}

impl Events {
    pub fn new() -> Self {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let from = inotify::init(flags).ok();
        let refused = from.is_none().then_some("the kernel gives none");
        Events { from, watched: HashMap::new(), folders: HashMap::new(), refused }
    }

    /// Watch a directory as well.
    pub fn watch(&mut self, folder: &Path) {
        let Some(from) = &self.from else { return };
        if self.watched.contains_key(folder) {
            return;
        }
        if self.watched.len() >= MAX_FOLDERS {
            self.refused = Some("there are more than 8192 directories");
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
        match inotify::add_watch(from, folder, flags) {
            Ok(number) => {
                self.watched.insert(folder.to_owned(), number);
                self.folders.insert(number, folder.to_owned());
            }
            Err(rustix::io::Errno::NOSPC) => {
                self.refused = Some("fs.inotify.max_user_watches is reached");
            }
            // It is gone, or may not be read.
            Err(_) => {}
        }
    }

    /// A directory that is gone, or that nothing is expected of any more.
    pub fn forget(&mut self, folder: &Path) {
        if let Some(number) = self.watched.remove(folder) {
            self.folders.remove(&number);
            if let Some(from) = &self.from {
                // The kernel may have done so already.
                let _ = inotify::remove_watch(from, number);
            }
        }
    }

    /// Those that are not there any more are watched anew if they come back.
    pub fn keep(&mut self, there: impl Fn(&Path) -> bool) {
        let gone: Vec<PathBuf> = self.watched.keys().filter(|folder| !there(folder)).cloned().collect();
        gone.iter().for_each(|folder| self.forget(folder));
    }

    /// What happened since this was last asked.
    pub fn news(&mut self) -> News {
        let mut news = News::default();
        let mut gone = Vec::new();
        let Some(from) = &self.from else { return news };
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut reader = Reader::new(from, &mut buffer);
        while let Ok(event) = reader.next() {
            let flags = event.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                news.lost = true;
            }
            let Some(folder) = self.folders.get(&event.wd()) else { continue };
            if flags.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF | ReadFlags::DELETE_SELF) {
                gone.push(folder.clone());
            }
            news.paths.insert(match event.file_name() {
                Some(name) => folder.join(OsStr::from_bytes(name.to_bytes())),
                None => folder.clone(),
            });
        }
        gone.iter().for_each(|folder| self.forget(folder));
        news
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
        let (file, inside) = (folder.path().join("a"), folder.path().join("inside"));
        let mut events = Events::new();
        events.watch(folder.path());
        assert_eq!(events.news(), News::default());
        std::fs::write(&file, "x").unwrap();
        assert_eq!(events.news().paths, HashSet::from([file.clone()]));
        assert_eq!(events.news(), News::default(), "once");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(events.news(), News::default(), "what is removed is no news");
        // A directory that comes back under the same name.
        for _ in 0..2 {
            std::fs::create_dir(&inside).unwrap();
            events.watch(&inside);
            std::fs::write(inside.join("b"), "x").unwrap();
            assert!(events.news().paths.contains(&inside.join("b")));
            std::fs::remove_dir_all(&inside).unwrap();
            assert!(events.news().paths.contains(&inside));
        }
        events.keep(|_| false);
        std::fs::write(&file, "x").unwrap();
        assert_eq!(events.news(), News::default(), "nobody watches");
    }
}
