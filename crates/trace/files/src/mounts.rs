//! On which mount a folder is: a bind mount shows the same files under another path; and on what kind of file
//! system.

use crate::dir::Dir;
use crate::error::{Error, Result};
use rustix::fs::{AtFlags, StatxFlags, fstatfs, statx};
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

impl Dir {
    /// A number of the mount that this folder was reached through. `None`: the system does not say.
    pub fn mount(&self) -> Option<u64> {
        let told = statx(self.as_fd(), "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok();
        let by_statx =
            told.filter(|told| StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::MNT_ID));
        by_statx.map(|told| told.stx_mnt_id).or_else(|| self.mount_by_proc())
    }

    /// Is one of two folders the other, or inside it, by whatever mounts they were reached?
    pub fn overlaps(&self, other: &Dir) -> Result<bool> {
        let (a, b) = (self.stat()?, other.stat()?);
        if a.identity() == b.identity() {
            return Ok(true);
        }
        if a.device != b.device {
            return Ok(false);
        }
        let (Some(a), Some(b)) = (self.place()?, other.place()?) else { return Ok(false) };
        Ok(a.starts_with(&b) || b.starts_with(&a))
    }

    /// Its path in its file system, which is the same by every mount. `None`: the system does not say.
    fn place(&self) -> Result<Option<PathBuf>> {
        let read = |path: &Path| std::fs::read(path).map_err(|error| Error::new(path, error));
        let mounts = read(Path::new("/proc/self/mountinfo"))?;
        let link = PathBuf::from(format!("/proc/self/fd/{}", self.as_fd().as_raw_fd()));
        let path = std::fs::read_link(&link).map_err(|error| Error::new(self.path(), error))?;
        let Some(mount) = self.mount() else { return Ok(None) };
        let line = mounts.split(|byte| *byte == b'\n').filter_map(mount_line).find(|line| line.0 == mount);
        Ok(line.and_then(|(_, root, point)| Some(root.join(path.strip_prefix(point).ok()?))))
    }

    /// The number of the kind of file system that this folder is on (`statfs(2)`). `None`: the system does
    /// not say.
    #[allow(clippy::unnecessary_cast)] // the widths differ between processors
    pub fn file_system(&self) -> Option<u64> {
        fstatfs(self.as_fd()).ok().map(|about| about.f_type as u64 & 0xffff_ffff)
    }

    /// Before Linux 5.8.
    pub(crate) fn mount_by_proc(&self) -> Option<u64> {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", self.as_fd().as_raw_fd())).ok()?;
        info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
    }
}

/// Number, folder of the file system, and place, of a line of `/proc/PID/mountinfo`:
/// `36 35 98:0 /mnt1 /mnt2 rw,noatime …`.
fn mount_line(line: &[u8]) -> Option<(u64, PathBuf, PathBuf)> {
    let mut words = line.split(|byte| *byte == b' ');
    let number = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let (root, point) = (words.nth(2)?, words.next()?);
    Some((number, unescaped(root), unescaped(point)))
}

/// Blanks and line breaks are written as `\040`.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\').and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 8).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    PathBuf::from(OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn folders_that_overlap() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("a b/c")).unwrap();
        std::fs::create_dir(place.path().join("a")).unwrap();
        let open = |name: &str| Dir::open(&place.path().join(name)).unwrap();
        assert!(open("a b").overlaps(&open("a b/c")).unwrap() && open("a b/c").overlaps(&open("")).unwrap());
        assert!(open("a").overlaps(&open("a")).unwrap());
        assert!(!open("a").overlaps(&open("a b")).unwrap() && !open("a b/c").overlaps(&open("a")).unwrap());
        let line = mount_line(b"36 35 98:0 /mnt\\0401 /a\\134b\\012 rw,noatime").unwrap();
        assert_eq!(line, (36, "/mnt 1".into(), "/a\\b\n".into()));
    }

    #[test]
    fn kinds_of_file_systems() {
        const PROC: u64 = 0x9fa0;
        assert_eq!(Dir::open(Path::new("/proc")).unwrap().file_system(), Some(PROC));
        assert_ne!(Dir::open(&std::env::temp_dir()).unwrap().file_system(), Some(PROC));
    }

    #[test]
    fn mounts_are_told_apart() {
        let (root, proc) = (Dir::open(Path::new("/")).unwrap(), Dir::open(Path::new("/proc")).unwrap());
        assert!(root.mount().is_some() && root.mount() != proc.mount());
        assert_eq!(proc.folder("self/fd").unwrap_err().errno(), None, "a link of the kernel's is a link");
        assert_eq!(proc.mount(), proc.folder("sys/kernel").unwrap().mount());
        assert_eq!((root.mount(), proc.mount()), (root.mount_by_proc(), proc.mount_by_proc()));
    }
}
