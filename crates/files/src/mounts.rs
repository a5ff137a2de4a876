//! On which mount a folder is: a bind mount shows the same files under another path; and on what kind of file
//! system.

use crate::dir::Dir;
use rustix::fs::{AtFlags, StatxFlags, fstatfs, statx};
use std::os::fd::{AsFd, AsRawFd};

impl Dir {
    /// A number of the mount that this folder was reached through. `None`: the system does not say.
    pub fn mount(&self) -> Option<u64> {
        let told = statx(self.as_fd(), "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok();
        let by_statx =
            told.filter(|told| StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::MNT_ID));
        by_statx.map(|told| told.stx_mnt_id).or_else(|| self.mount_by_proc())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
