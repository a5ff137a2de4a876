//! A folder whose path somebody else has written: links on the way count only if they are trusted.

use crate::dir::Dir;
use crate::error::{Error, Result, Why};
use crate::resolve::Way;
use crate::stat::{Kind, Stat};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, open, openat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

impl Dir {
    /// The folder at an absolute path which a user has written into one of his files. Links of the
    /// administrator (`/scratch -> /gpfs/scratch`) and of that user are followed; those of anybody else are
    /// not, so that other users cannot redirect the path.
    pub fn reach(path: &Path, user: u32) -> Result<Dir> {
        let failed = |why: Why| Error::new(path, why);
        if !path.is_absolute() {
            return Err(failed(Why::Outside));
        }
        let through = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = || open("/", through, Mode::empty()).map_err(|errno| failed(errno.into()));
        let mut folder: OwnedFd = root()?;
        let mut links = 0;
        let mut names = VecDeque::new();
        push_front(&mut names, path);
        while let Some(name) = names.pop_front() {
            let found =
                statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| failed(errno.into()))?;
            let found = Stat::from(&found);
            if found.kind != Kind::Link {
                // A link that came in between is not followed.
                folder = openat(&folder, &name, through, Mode::empty()).map_err(|errno| match errno {
                    Errno::NOTDIR => failed(Why::NotFolder),
                    errno => failed(errno.into()),
                })?;
                continue;
            }
            links += 1;
            if links > MAX_LINKS || (found.user != 0 && found.user != user) {
                return Err(failed(Why::Link));
            }
            let text = readlinkat(&folder, &name, Vec::new()).map_err(|errno| failed(errno.into()))?;
            let text = OsString::from_vec(text.into_bytes());
            if Path::new(&text).is_absolute() {
                folder = root()?;
            }
            push_front(&mut names, Path::new(&text));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(&folder, ".", flags, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        Ok(Dir { handle, path: path.to_owned(), way: Way::default() })
    }
}

/// The names of a path come first.
fn push_front(names: &mut VecDeque<OsString>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::Normal(name) => names.push_front(name.to_owned()),
            Component::ParentDir => names.push_front("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
}
