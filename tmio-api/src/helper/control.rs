//! The control page of a job: how processes and their helper find and wake each other.

use crate::process::clock;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;
use tmio_spool::control::{self, SLEEPING, STEPS, WAKE, WRITING};

/// The control page of the job.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) path: PathBuf,
    pub(super) words: &'static [AtomicU64],
}

impl Control {
    pub(super) fn open(path: PathBuf) -> Option<Self> {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let file = std::fs::OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path).ok()?;
        if file.metadata().ok()?.len() < control::LENGTH as u64 {
            return None;
        }
        let (protection, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping anywhere, of a file that is that long.
        let page = unsafe {
            libc::mmap(std::ptr::null_mut(), control::LENGTH, protection, shared, file.as_raw_fd(), 0)
        };
        if page == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the mapping has that length and stays until the helper ends.
        let words: &'static [AtomicU64] =
            unsafe { std::slice::from_raw_parts(page.cast(), control::LENGTH / 8) };
        let control = Self { path, words };
        (control.get(0) == control::MAGIC).then_some(control)
    }

    pub(super) fn get(&self, index: usize) -> u64 {
        self.words.get(index).map_or(0, |word| word.load(Acquire))
    }

    pub(super) fn set(&self, index: usize, value: u64) {
        if let Some(word) = self.words.get(index) {
            word.store(value, Release);
        }
    }

    /// Sleeps until somebody wakes the helper, but no longer than this.
    pub(super) fn sleep(&self, seen: u64, time: Duration) {
        let Some(wake) = self.words.get(WAKE) else { return };
        self.set(SLEEPING, 1);
        if wake.load(Acquire) == seen {
            let time = libc::timespec {
                tv_sec: time.as_secs() as libc::time_t,
                tv_nsec: time.subsec_nanos().into(),
            };
            let word = std::ptr::from_ref(wake).cast::<u32>();
            let word = if cfg!(target_endian = "big") { word.wrapping_add(1) } else { word };
            // SAFETY: the word is in a mapping that stays; the time is valid for the call.
            unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, seen as u32, &time, 0, 0) };
        }
        self.set(SLEEPING, 0);
    }

    pub(super) fn wakes(&self) -> u64 {
        self.get(WAKE)
    }

    /// Runs something that may wait for a file system: nobody waits for the helper for long meanwhile.
    pub(super) fn writing<T>(&self, body: impl FnOnce() -> T) -> T {
        self.set(WRITING, clock::monotonic().max(1) as u64);
        let result = body();
        self.set(WRITING, 0);
        self.set(STEPS, self.get(STEPS).wrapping_add(1));
        result
    }
}
