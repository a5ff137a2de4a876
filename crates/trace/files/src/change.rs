//! What changes a folder: files are made, renamed and removed by its handle.

use crate::dir::Dir;
use crate::error::{Error, Result, Why};
use crate::expect::Expect;
use crate::stat::Stat;
use crate::user;
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fchmod, fsync, linkat, mkdirat, renameat, renameat_with, symlinkat,
    unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;

/// What becomes of a file that has the new name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// It stays, and the renaming fails.
    Never,
    /// It gives way.
    Anything,
}

impl Dir {
    /// A new file, if there is nothing of that name, with at most these permissions (the process's mask
    /// counts as well).
    pub fn create(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<File> {
        let (name, full) = self.name(name.as_ref())?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made =
            rustix::fs::openat(self.as_fd(), name, flags | OFlags::NOCTTY, Mode::from_raw_mode(mode as _));
        made.map(File::from).map_err(|errno| Error::new(&full, errno))
    }

    /// A new folder, if there is nothing of that name, with at most these permissions. What is handed back is
    /// the folder that was made, and nothing that somebody has put in its place.
    pub fn make_folder(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<Dir> {
        let (name, full) = self.name(name.as_ref())?;
        mkdirat(self.as_fd(), name, Mode::from_raw_mode(mode as _))
            .map_err(|errno| Error::new(&full, errno))?;
        let made = self.folder(name)?;
        made.check(&Expect::of_user(user::effective()))?;
        Ok(made)
    }

    /// The folder of that name, which is made if there is nothing of that name.
    pub fn folder_or_new(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<Dir> {
        let name = name.as_ref();
        match self.folder(name) {
            Err(error) if error.is_missing() => match self.make_folder(name, mode) {
                Err(error) if error.exists() => self.folder(name),
                made => made,
            },
            found => found,
        }
    }

    /// Give a file of this folder another name, here or in another folder of the same file system.
    ///
    /// Without replacing, that is one step where the file system can do it (`RENAME_NOREPLACE`). Where it
    /// cannot, the file gets its second name first, which fails if the name is taken, and then loses the
    /// first.
    pub fn rename(
        &self,
        name: impl AsRef<OsStr>,
        to: &Dir,
        new: impl AsRef<OsStr>,
        replace: Replace,
    ) -> Result<()> {
        let ((name, from), (new, full)) = (self.name(name.as_ref())?, to.name(new.as_ref())?);
        let done = match replace {
            Replace::Anything => renameat(self.as_fd(), name, to.as_fd(), new),
            Replace::Never => {
                match renameat_with(self.as_fd(), name, to.as_fd(), new, RenameFlags::NOREPLACE) {
                    Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                        return self.rename_in_two_steps(name, to, new);
                    }
                    done => done,
                }
            }
        };
        done.map_err(|errno| Error::new(if errno == Errno::NOENT { &from } else { &full }, errno))
    }

    /// [`rename`](Self::rename) without replacing, where the file system has no such call.
    pub(crate) fn rename_in_two_steps(&self, name: &OsStr, to: &Dir, new: &OsStr) -> Result<()> {
        let full = to.path().join(new);
        match linkat(self.as_fd(), name, to.as_fd(), new, AtFlags::empty()) {
            Ok(()) => self.remove(name),
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
                Err(Error::new(&full, Why::NoReplace))
            }
            Err(errno) => Err(Error::new(&full, errno)),
        }
    }

    /// Two names, which both are there, change places in one step.
    pub fn exchange(&self, name: impl AsRef<OsStr>, to: &Dir, other: impl AsRef<OsStr>) -> Result<()> {
        let ((name, _), (other, full)) = (self.name(name.as_ref())?, to.name(other.as_ref())?);
        let done = renameat_with(self.as_fd(), name, to.as_fd(), other, RenameFlags::EXCHANGE);
        done.map_err(|errno| Error::new(&full, errno))
    }

    /// Remove a file or a link (the link itself), not a folder.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> Result<()> {
        let (name, full) = self.name(name.as_ref())?;
        unlinkat(self.as_fd(), name, AtFlags::empty()).map_err(|errno| Error::new(&full, errno))
    }

    /// Remove a folder that is empty.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> Result<()> {
        let (name, full) = self.name(name.as_ref())?;
        unlinkat(self.as_fd(), name, AtFlags::REMOVEDIR).map_err(|errno| Error::new(&full, errno))
    }

    /// A second name for a file of this folder; links are not followed.
    pub fn link(&self, name: impl AsRef<OsStr>, to: &Dir, new: impl AsRef<OsStr>) -> Result<()> {
        let ((name, _), (new, full)) = (self.name(name.as_ref())?, to.name(new.as_ref())?);
        let done = linkat(self.as_fd(), name, to.as_fd(), new, AtFlags::empty());
        done.map_err(|errno| Error::new(&full, errno))
    }

    /// A symbolic link in this folder.
    pub fn symlink(&self, leads_to: &Path, name: impl AsRef<OsStr>) -> Result<()> {
        let (name, full) = self.name(name.as_ref())?;
        symlinkat(leads_to, self.as_fd(), name).map_err(|errno| Error::new(&full, errno))
    }

    /// The permissions of this folder, whatever the process's mask.
    pub fn set_mode(&self, mode: u32) -> Result<()> {
        fchmod(self.as_fd(), Mode::from_raw_mode(mode as _)).map_err(|errno| Error::new(self.path(), errno))
    }

    /// Everything that was done to the names in this folder reaches the disk.
    pub fn sync(&self) -> Result<()> {
        fsync(self.as_fd()).map_err(|errno| Error::new(self.path(), errno))
    }

    /// Write a whole file: a reader never sees half of it, and an old one stays until the new one is
    /// complete. What has the name may be anything but a folder; it is replaced, not written to.
    pub fn write_whole(&self, name: impl AsRef<OsStr>, content: &[u8], mode: u32) -> Result<()> {
        let (name, full) = self.name(name.as_ref())?;
        let (mut file, draft) = self.create_beside(name, mode)?;
        let written = file.write_all(content).map_err(|error| Error::new(&full, error));
        let done = written.and_then(|()| self.rename(&draft, self, name, Replace::Anything));
        if done.is_err() {
            let _ = self.remove(&draft);
        }
        done
    }

    /// A new file whose name begins like that of a hidden one.
    fn create_beside(&self, name: &OsStr, mode: u32) -> Result<(File, OsString)> {
        const TRIES: u32 = 100;
        let mut attempt = 0;
        loop {
            let mut draft = OsString::from(".");
            draft.push(name);
            draft.push(format!(".{}.{attempt}.tmp", std::process::id()));
            match self.create(&draft, mode) {
                Err(error) if error.exists() && attempt < TRIES => attempt += 1,
                made => return made.map(|file| (file, draft)),
            }
        }
    }

    /// Is this name still that of the open file?
    pub fn is_name_of(&self, name: impl AsRef<OsStr>, file: impl AsFd) -> Result<bool> {
        let open = Stat::of_named(file, &self.path().join(name.as_ref()))?;
        match self.look(name.as_ref()) {
            Ok(found) => Ok(found.identity() == open.identity()),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn in_two_steps_nothing_is_replaced_either() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("one"), "1").unwrap();
        fs::write(at("two"), "2").unwrap();
        let dir = Dir::open(place.path()).unwrap();
        let error = dir.rename_in_two_steps(OsStr::new("one"), &dir, OsStr::new("two")).unwrap_err();
        assert!(error.exists() && at("one").exists(), "{error}");
        dir.rename_in_two_steps(OsStr::new("one"), &dir, OsStr::new("three")).unwrap();
        assert_eq!(fs::read_to_string(at("three")).unwrap(), "1");
        assert!(!at("one").exists() && fs::read_to_string(at("two")).unwrap() == "2");
    }
}
