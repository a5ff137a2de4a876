//! A folder as a handle, and what is opened from it.

use crate::error::{Error, Result, Why};
use crate::expect::Expect;
use crate::resolve::{self, Way, is_name, plain};
use crate::stat::{Kind, Stat};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Flags of every folder.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A folder that is open. It stays the same folder whatever becomes of its name.
#[derive(Debug)]
pub struct Dir {
    pub(crate) handle: OwnedFd,
    pub(crate) path: PathBuf,
    pub(crate) way: Way,
}

/// What is in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is, where the file system says so; it may be something else by now.
    pub kind: Option<Kind>,
    /// The number of the file, likewise.
    pub inode: u64,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Adding to its end, and reading.
    Append,
    /// Reading and writing anywhere.
    Write,
    /// Writing alone, where reading is not allowed (settings of the kernel).
    WriteOnly,
}

impl Dir {
    /// A folder that the caller has named: links in its path are followed, as for any command.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_in(path, Way::default())
    }

    /// The same; what is below is walked in this way.
    pub fn open_in(path: &Path, way: Way) -> Result<Self> {
        let handle = rustix::fs::open(path, FOLDER, Mode::empty());
        let handle = handle.map_err(|errno| match errno {
            Errno::NOTDIR => Error::new(path, Why::NotFolder),
            errno => Error::new(path, errno),
        })?;
        Ok(Dir { handle, path: path.to_owned(), way })
    }

    /// Its path when it was opened, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of the folder itself.
    pub fn stat(&self) -> Result<Stat> {
        Stat::of_named(&self.handle, &self.path)
    }

    /// Is the folder what is expected?
    pub fn check(&self, expect: &Expect) -> Result<Stat> {
        let stat = self.stat()?;
        expect.check(&stat).map_err(|why| Error::new(&self.path, why))?;
        Ok(stat)
    }

    /// A path to exactly this folder, for what takes paths alone. It is one as long as the folder is open
    /// here.
    pub fn door(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }

    /// The same folder once more.
    pub fn again(&self) -> Result<Self> {
        let handle = self.handle.try_clone().map_err(|error| Error::new(&self.path, error))?;
        Ok(Dir { handle, path: self.path.clone(), way: self.way })
    }

    /// The folder above, wherever that is; itself at the root of all.
    pub fn above(&self) -> Result<Self> {
        let path = self.path.join("..");
        let handle = openat(&self.handle, "..", FOLDER, Mode::empty());
        let handle = handle.map_err(|errno| Error::new(&path, errno))?;
        Ok(Dir { handle, path, way: self.way })
    }

    /// A folder below this one; an empty path is this one.
    pub fn folder(&self, path: impl AsRef<Path>) -> Result<Self> {
        let (path, full) = self.below(path.as_ref())?;
        if path.as_os_str().is_empty() {
            return self.again();
        }
        let opened = resolve::open(self.as_fd(), &path, FOLDER | OFlags::NONBLOCK, Mode::empty(), self.way);
        let handle = opened.map_err(|errno| match errno {
            Errno::NOTDIR | Errno::LOOP => self.what_is_wrong(&path, Kind::Folder, errno),
            errno => Error::new(&full, errno),
        })?;
        Ok(Dir { handle, path: full, way: self.way })
    }

    /// The folder that has this name in it, and the name.
    pub fn parent(&self, path: impl AsRef<Path>) -> Result<(Self, OsString)> {
        let (path, full) = self.below(path.as_ref())?;
        let name = path.file_name().ok_or_else(|| Error::new(&full, Why::Outside))?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name.to_owned()))
    }

    /// What a name below this folder stands for; of a link, the link itself.
    pub fn look(&self, path: impl AsRef<Path>) -> Result<Stat> {
        let (path, full) = self.below(path.as_ref())?;
        if path.parent() == Some(Path::new("")) {
            let found = statat(&self.handle, &path, AtFlags::SYMLINK_NOFOLLOW);
            return found.map(|stat| Stat::from(&stat)).map_err(|errno| Error::new(&full, errno));
        }
        if path.as_os_str().is_empty() {
            return self.stat();
        }
        let (folder, name) = self.parent(&path)?;
        folder.look(name)
    }

    /// A regular file below this folder, for reading.
    pub fn read(&self, path: impl AsRef<Path>, expect: &Expect) -> Result<File> {
        self.file(path, Access::Read, expect)
    }

    /// A regular file below this folder that is there already. Nothing else is opened, and nothing is waited
    /// for.
    pub fn file(&self, path: impl AsRef<Path>, access: Access, expect: &Expect) -> Result<File> {
        let (path, full) = self.below(path.as_ref())?;
        if path.parent().is_some_and(|parent| !parent.as_os_str().is_empty()) {
            let (folder, name) = self.parent(&path)?;
            return folder.file(name, access, expect);
        }
        let failed = |why: Why| Error::new(&full, why);
        // A device or a pipe is not even opened. What is opened is looked at again.
        self.look(&path)?.is_file().map_err(failed)?;
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
            Access::Write => OFlags::RDWR,
            Access::WriteOnly => OFlags::WRONLY,
        };
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = resolve::open(self.as_fd(), &path, flags, Mode::empty(), self.way);
        let file = opened.map_err(|errno| match errno {
            Errno::LOOP => failed(Why::Link),
            // A pipe or a socket that came in between.
            Errno::NXIO => failed(Why::NotRegular),
            errno => failed(errno.into()),
        })?;
        let stat = Stat::of_named(&file, &full)?;
        stat.is_file().and_then(|()| expect.check(&stat)).map_err(failed)?;
        Ok(File::from(file))
    }

    /// What a link in this folder leads to.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> Result<PathBuf> {
        let (name, full) = self.name(name.as_ref())?;
        let text = readlinkat(&self.handle, name, Vec::new()).map_err(|errno| Error::new(&full, errno))?;
        Ok(PathBuf::from(OsString::from_vec(text.into_bytes())))
    }

    /// Everything in this folder, in no order. Who goes on adding to it is not waited for.
    pub fn entries(&self) -> Result<impl Iterator<Item = Result<Entry>> + use<>> {
        let failed = |errno: Errno| Error::new(&self.path, errno);
        let list = rustix::fs::Dir::read_from(&self.handle).map_err(failed)?;
        let path = self.path.clone();
        let entry = move |found: rustix::io::Result<rustix::fs::DirEntry>| match found {
            Ok(entry) => {
                let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
                let kind = match entry.file_type() {
                    rustix::fs::FileType::Unknown => None,
                    kind => Some(Kind::from(kind)),
                };
                Ok(Entry { name, kind, inode: entry.ino() })
            }
            Err(errno) => Err(Error::new(&path, errno)),
        };
        let is_own =
            |entry: &Result<Entry>| entry.as_ref().is_ok_and(|one| one.name == "." || one.name == "..");
        Ok(list.map(entry).filter(move |entry| !is_own(entry)))
    }

    /// The path below this folder, and in full for messages.
    fn below(&self, path: &Path) -> Result<(PathBuf, PathBuf)> {
        let full = self.path.join(path);
        match plain(path) {
            Some(path) => Ok((path, full)),
            None => Err(Error::new(&full, Why::Outside)),
        }
    }

    /// A name in this folder, and its path for messages.
    pub(crate) fn name<'a>(&self, name: &'a OsStr) -> Result<(&'a OsStr, PathBuf)> {
        let full = self.path.join(name);
        if is_name(name) { Ok((name, full)) } else { Err(Error::new(&full, Why::Outside)) }
    }

    /// Which part of a path is not a folder, for the message.
    fn what_is_wrong(&self, path: &Path, wanted: Kind, errno: Errno) -> Error {
        let mut so_far = PathBuf::new();
        for name in path {
            so_far.push(name);
            let found =
                statat(&self.handle, &so_far, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Stat::from(&stat));
            let full = self.path.join(&so_far);
            match found.map(|stat| stat.kind) {
                Ok(Kind::Folder) => {}
                Ok(Kind::Link) => return Error::new(&full, Why::Link),
                Ok(_) if wanted == Kind::Folder => return Error::new(&full, Why::NotFolder),
                _ => break,
            }
        }
        Error::new(&self.path.join(path), errno)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
