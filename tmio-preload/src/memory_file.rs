//! A file in memory that processes of a node share: the [list](crate::roll) of those who begin together, and
//! a slot for each of them in which they [talk](crate::shared_world) to each other.
//!
//! It is allocated before it is mapped: a full file system is an error here, and not a signal later.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::{Duration, Instant};
use tmio_trace::roll::{PLACES, WORDS};

const PAGE: usize = 4096;
/// Bytes of the list, before the slots.
const LIST: usize = (WORDS * 8).next_multiple_of(PAGE);
/// How long to wait for others that are enrolling: each needs a moment, unless it was stopped.
const PATIENCE: Duration = Duration::from_secs(5);

/// What one process has to say. Only that process writes to it, but for `taken`.
#[repr(C)]
pub(crate) struct Slot {
    /// How many collective calls it has come to.
    pub(crate) step: AtomicU64,
    /// It comes to no other any more.
    pub(crate) gone: AtomicU64,
    /// Its values for the last two of them that have values.
    pub(crate) values: [AtomicI64; 2],
    /// It has come to the end of the job.
    pub(crate) arrived: AtomicU64,
    /// How many messages it has sent, to whom the last one, and how many bytes of it.
    pub(crate) sent: AtomicU64,
    pub(crate) to: AtomicU64,
    pub(crate) length: AtomicU64,
    /// How many of them were taken.
    pub(crate) taken: AtomicU64,
    /// The last message, or what it tells everybody.
    pub(crate) data: [AtomicU64; DATA_WORDS],
}

const DATA_WORDS: usize = 2 * PAGE / 8 - 9;
const _: () = assert!(size_of::<Slot>() == 2 * PAGE);

/// The file, mapped. Given back when it is dropped.
pub(crate) struct Memory {
    address: usize,
    length: usize,
    inode: u64,
}

impl Memory {
    /// Makes or finds the file, maps it, and calls `enter` while no other process does: with a function that
    /// allocates the slot of a number. `None`: `enter` does not want the file, or somebody else has removed
    /// it meanwhile.
    pub(crate) fn open<T>(
        path: &Path,
        enter: impl FnOnce(&Self, &dyn Fn(usize) -> io::Result<()>) -> io::Result<Option<T>>,
    ) -> io::Result<Option<(Self, T)>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(path)?;
        // Before the lock: somebody else could hold that of his own file for as long as he likes.
        let about = file.metadata()?;
        // SAFETY: the call has no premises.
        if about.uid() != unsafe { libc::geteuid() } || !about.is_file() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        lock(&file)?;
        let about = file.metadata()?;
        if about.nlink() == 0 {
            return Ok(None);
        }
        // The mask of the program may have taken from its owner the right to open it again.
        if about.mode() & 0o600 != 0o600 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        let allocate = |offset: usize, length: usize| {
            // SAFETY: the descriptor is open for writing.
            match unsafe { libc::posix_fallocate(file.as_raw_fd(), offset as i64, length as i64) } {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        };
        let opened = allocate(0, LIST).and_then(|()| {
            let memory = Self::map(&file, about.ino())?;
            let slot = |number: usize| allocate(LIST + number * size_of::<Slot>(), size_of::<Slot>());
            Ok(enter(&memory, &slot)?.map(|entered| (memory, entered)))
        });
        // One that was just made, and that nobody can be on, does not stay.
        if opened.is_err() && about.len() == 0 {
            let _ = fs::remove_file(path);
        }
        // The mapping would hold on to the lock.
        // SAFETY: the descriptor is open.
        unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
        opened
    }

    fn map(file: &File, inode: u64) -> io::Result<Self> {
        let length = LIST + PLACES * size_of::<Slot>();
        let (protection, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // SAFETY: a new mapping anywhere the kernel likes. Only what is allocated is used, and only as
        // atomics.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, descriptor, 0) };
        match address == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Self { address: address.expose_provenance(), length, inode }),
        }
    }

    /// The list.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        if self.length < LIST {
            return &[];
        }
        // SAFETY: the mapping begins with the list, which was allocated, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(self.address), WORDS) }
    }

    /// The slot of a number, which its owner has allocated.
    pub(crate) fn slot(&self, number: usize) -> Option<&Slot> {
        let offset = LIST + number * size_of::<Slot>();
        // SAFETY: it lies in the mapping, on a border of pages, and consists of atomics, for which any bits
        // are a value.
        (offset + size_of::<Slot>() <= self.length)
            .then(|| unsafe { &*std::ptr::with_exposed_provenance::<Slot>(self.address + offset) })
    }

    /// Hands the memory over, with so many slots; what is left behind is empty.
    pub(crate) fn take(&mut self, slots: usize) -> Self {
        let mut taken = Self { ..*self };
        (self.address, self.length) = (0, 0);
        let length = LIST + slots * size_of::<Slot>();
        if length < taken.length {
            // SAFETY: the rest of the mapping, to which there is no reference.
            unsafe { unmap(taken.address + length, taken.length - length) };
            taken.length = length;
        }
        taken
    }

    /// Takes the name away, if that is right while no other process enters the file.
    pub(crate) fn remove_if(&self, path: &Path, is_right: impl FnOnce() -> bool) {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC).open(path);
        let Ok(file) = file else { return };
        let is_this = file.metadata().is_ok_and(|about| about.ino() == self.inode);
        if is_this && lock(&file).is_ok() && is_right() {
            self.remove(path);
        }
    }

    /// Takes the name away, if it is still that of this file.
    pub(crate) fn remove(&self, path: &Path) {
        if fs::symlink_metadata(path).is_ok_and(|about| about.ino() == self.inode) {
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: the mapping was made in `map`, and references to it end before `self` does.
            unsafe { unmap(self.address, self.length) };
        }
    }
}

/// # Safety
///
/// A mapping of ours that nobody uses any more.
unsafe fn unmap(address: usize, length: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(address), length) };
}

/// Until it is unlocked, or neither open nor mapped any more.
fn lock(file: &File) -> io::Result<()> {
    let began = Instant::now();
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        let is_busy = error.kind() == io::ErrorKind::WouldBlock || error.kind() == io::ErrorKind::Interrupted;
        if !is_busy || began.elapsed() > PATIENCE {
            return Err(error);
        }
        std::thread::sleep(Duration::from_micros(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a directory that all users share, somebody else may have been there first.
    #[test]
    fn nobody_waits_for_the_lock_of_somebody_else() {
        // SAFETY: the call has no premises.
        if unsafe { libc::geteuid() } != 0 {
            return test_data::skip("nobody_waits_for_the_lock_of_somebody_else", "only root may chown");
        }
        let path = std::env::temp_dir().join(format!("tmio-memory-file-test-{}", std::process::id()));
        let his = File::create(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
        lock(&his).unwrap();
        let began = Instant::now();
        let opened = Memory::open(&path, |_, _| Ok(Some(())));
        fs::remove_file(&path).unwrap();
        assert_eq!(opened.map(|_| ()).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    }
}
