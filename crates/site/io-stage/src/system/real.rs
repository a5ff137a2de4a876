//! The system itself, by handles of folders.

use super::{Holders, System, Writers, attributes, kinds};
use crate::copier::Making;
use crate::holders::Seen;
use crate::stop::Stop;
use files::{Dir, Error, Expect, Kind, Replace, Result, Stat};
use rustix::fs::syncfs;
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

/// The system, and what a copy under way is told.
#[derive(Debug)]
pub struct Real<'a> {
    making: RefCell<Making<'a>>,
    /// Mount and file system of both folders: one below the other's mount is a way back.
    tops: [(Option<u64>, u64); 2],
    seen: RefCell<Option<Rc<Seen>>>,
    buffer: PathBuf,
}

impl<'a> Real<'a> {
    /// For files that go between these two folders.
    pub fn new(buffer: &Dir, storage: &Dir, making: Making<'a>) -> Result<Self> {
        let top = |dir: &Dir| Ok((dir.mount(), dir.stat()?.device));
        Ok(Real {
            making: RefCell::new(making),
            tops: [top(buffer)?, top(storage)?],
            seen: RefCell::new(None),
            buffer: buffer.path().to_owned(),
        })
    }

    /// Look anew at who has which file open. Files that are looked for later must have had their last name by
    /// now.
    pub fn look_at_holders(&self) {
        *self.seen.borrow_mut() = Some(Rc::new(Seen::below(&self.buffer)));
    }
}

/// A system call that failed, with the path for the message.
fn failed(path: &Path) -> impl Fn(rustix::io::Errno) -> Error {
    move |errno| Error::new(path, errno)
}

impl System for Real<'_> {
    type Dir = Rc<Dir>;
    type File = File;

    fn folder(&self, at: &Rc<Dir>, name: &OsStr) -> Result<Rc<Dir>> {
        at.folder(name).map(Rc::new)
    }

    fn make_folder(&self, at: &Rc<Dir>, name: &OsStr) -> Result<Rc<Dir>> {
        at.make_folder(name, 0o700).map(Rc::new)
    }

    fn remove_folder(&self, at: &Rc<Dir>, name: &OsStr) -> Result<()> {
        at.remove_folder(name)
    }

    fn above(&self, at: &Rc<Dir>) -> Result<Option<Rc<Dir>>> {
        let above = match at.above() {
            // Who may pass through it but not read it cannot bring it to the disk, but the whole file system.
            Err(error) if error.errno() == Some(Errno::ACCESS) => {
                syncfs(at.as_fd()).map_err(failed(at.path()))?;
                return Ok(None);
            }
            above => above?,
        };
        let same = above.stat()?.identity() == at.stat()?.identity();
        Ok((!same && above.mount() == at.mount()).then(|| Rc::new(above)))
    }

    fn stat_folder(&self, at: &Rc<Dir>) -> Result<Stat> {
        at.stat()
    }

    fn leads_elsewhere(&self, at: &Rc<Dir>) -> Option<String> {
        let (mount, device) = (at.mount(), at.stat().ok()?.device);
        let is_top = self.tops.contains(&(mount, device));
        let of_either = self.tops.iter().any(|(_, other)| *other == device);
        let name = files::shown(at.path());
        (of_either && !is_top).then(|| format!("{name}: is a mount of the file system of --from or --to"))
    }

    fn names(&self, at: &Rc<Dir>) -> Result<Vec<(OsString, Option<Kind>)>> {
        at.entries()?.map(|entry| entry.map(|entry| (entry.name, entry.kind))).collect()
    }

    fn sync_folder(&self, at: &Rc<Dir>) -> Result<()> {
        at.sync()
    }

    fn dress_folder(&self, like: &Rc<Dir>, made: &Rc<Dir>) -> Result<()> {
        attributes::dress_folder(like.as_fd(), made.as_fd()).map_err(failed(made.path()))
    }

    fn look(&self, at: &Rc<Dir>, name: &OsStr) -> Result<Stat> {
        at.look(name)
    }

    fn open(&self, at: &Rc<Dir>, name: &OsStr) -> Result<File> {
        at.read(name, &Expect::anybodys())
    }

    fn stat(&self, file: &File) -> Result<Stat> {
        Stat::of(file).map_err(failed(Path::new("")))
    }

    fn sync(&self, file: &File) -> Result<()> {
        file.sync_all().map_err(|error| Error::new(Path::new(""), error))
    }

    fn rename(
        &self,
        from: &Rc<Dir>,
        name: &OsStr,
        to: &Rc<Dir>,
        new: &OsStr,
        replace: Replace,
    ) -> Result<()> {
        from.rename(name, to, new, replace)
    }

    fn exchange(&self, at: &Rc<Dir>, name: &OsStr, other: &OsStr) -> Result<()> {
        at.exchange(name, at, other)
    }

    fn remove(&self, at: &Rc<Dir>, name: &OsStr) -> Result<()> {
        at.remove(name)
    }

    fn link(&self, from: &Rc<Dir>, name: &OsStr, to: &Rc<Dir>, new: &OsStr) -> Result<()> {
        from.link(name, to, new)
    }

    fn symlink(&self, leads_to: &Path, at: &Rc<Dir>, name: &OsStr) -> Result<()> {
        at.symlink(leads_to, name)
    }

    fn read_link(&self, at: &Rc<Dir>, name: &OsStr) -> Result<PathBuf> {
        at.read_link(name)
    }

    fn produce(
        &self,
        (source, folder, name): (&File, &Rc<Dir>, &OsStr),
        (at, draft): (&Rc<Dir>, &OsStr),
        size: u64,
        checksum: bool,
    ) -> std::result::Result<(File, Option<u64>), Stop> {
        let from = folder.path().join(name);
        self.making.borrow_mut().make((source, &from), (at, draft), size, checksum)
    }

    fn dress(&self, like: &File, made: &File) -> Result<Vec<String>> {
        attributes::dress(like.as_fd(), made.as_fd()).map_err(failed(Path::new("")))
    }

    fn checksum(&self, file: &File, size: u64) -> std::result::Result<u64, Stop> {
        self.making.borrow_mut().checksum(file, size)
    }

    fn take_lease(&self, file: &File) -> Writers {
        file_lease::take(file)
    }

    fn keeps_lease(&self, file: &File) -> bool {
        file_lease::is_kept(file)
    }

    fn give_lease_back(&self, file: &File) {
        file_lease::give_back(file);
    }

    fn holders(&self, file: &Stat) -> Holders {
        if self.seen.borrow().is_none() {
            self.look_at_holders();
        }
        self.seen.borrow().as_ref().map_or(Holders::Unknown, |seen| seen.holders(file))
    }

    fn tells(&self, at: &Rc<Dir>) -> bool {
        kinds::tells(at.as_fd())
    }

    fn settle(&self, at: &Rc<Dir>, file: &Stat) {
        let (near, wait) = kinds::tick(at.as_fd(), file.changed);
        let changed = SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(file.changed).unwrap_or(0));
        let distance = match SystemTime::now().duration_since(changed) {
            Ok(age) => age,
            // It is from the future: a change now would have another time.
            Err(ahead) => ahead.duration(),
        };
        if distance <= near {
            std::thread::sleep(wait);
        }
    }
}
