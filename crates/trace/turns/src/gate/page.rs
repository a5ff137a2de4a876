//! The memory that the ranks of a node share: whether they may, whether somebody would like to, and what each
//! has done.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

/// A bit of [`Head::gate`]: operations may begin.
pub(super) const OPEN: u32 = 1;

/// What all ranks of the node have together.
#[repr(C, align(64))]
pub(super) struct Head {
    /// A futex. Its lowest bit is [`OPEN`]; the others count changes.
    pub(super) gate: AtomicU32,
    /// A futex, on which the agent sleeps: a rank wants to begin an operation.
    pub(super) wish: AtomicU32,
    /// Grows while the agent runs.
    pub(super) beats: AtomicU32,
    /// Ranks that have the page.
    attached: AtomicU32,
    /// The collective call that a rank wanted to enter last: slot of the file above, number below.
    pub(super) wanted: AtomicU64,
    /// By slot: the highest number of a collective call that a rank has entered.
    pub(super) collective: [AtomicU32; crate::COLLECTIVE_SLOTS],
}

/// What one rank has done, in a line of the cache of its own.
#[repr(C, align(64))]
pub(super) struct Line {
    /// Operations that have begun and that have ended.
    pub(super) entered: AtomicU32,
    pub(super) left: AtomicU32,
    /// Threads that wait now, how often one had to, and for how many nanoseconds.
    pub(super) waiting: AtomicU32,
    pub(super) waits: AtomicU32,
    pub(super) waited: AtomicU64,
    /// How often it went on without an answer.
    pub(super) opened: AtomicU32,
    /// Operations that were begun without a lease because they may not wait.
    pub(super) unscheduled: AtomicU32,
    pub(super) bytes: AtomicU64,
}

pub(super) struct Page {
    pub(super) head: &'static Head,
    pub(super) lines: &'static [Line],
    pub(super) own: &'static Line,
}

/// What all ranks have done together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) entered: u32,
    pub(super) under_way: u32,
    pub(super) waiting: u32,
    pub(super) bytes: u64,
}

impl Page {
    /// The page of a run on this node, made by the first process. The last one to come removes its name.
    pub(super) fn attach(run: u64, ranks: u32, rank: u32) -> io::Result<Self> {
        // SAFETY: the call has no premises.
        let user = unsafe { libc::geteuid() };
        let path = PathBuf::from(format!("/dev/shm/tmio-{user}-turns-{run:016x}"));
        let page = Self::map(&path, ranks as usize, rank as usize)?;
        if page.head.attached.fetch_add(1, AcqRel) + 1 >= ranks {
            let _ = fs::remove_file(&path);
        }
        Ok(page)
    }

    fn map(path: &Path, ranks: usize, rank: usize) -> io::Result<Self> {
        let length = size_of::<Head>() + ranks * size_of::<Line>();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(path)?;
        // SAFETY: the call has no premises.
        if file.metadata()?.uid() != unsafe { libc::geteuid() } {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        // Full memory is an error here, and not a signal later.
        // SAFETY: the descriptor is open for writing.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length as libc::off_t) } {
            0 => {}
            error => {
                let _ = fs::remove_file(path);
                return Err(io::Error::from_raw_os_error(error));
            }
        }
        // SAFETY: a new mapping of a file that is that long. It begins with zeros, which all these atomics
        // may be, is used as them only, and lives as long as the process. A child of a fork does not get it.
        unsafe {
            let prot = libc::PROT_READ | libc::PROT_WRITE;
            let address =
                libc::mmap(std::ptr::null_mut(), length, prot, libc::MAP_SHARED, file.as_raw_fd(), 0);
            if address == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let lines = address.byte_add(size_of::<Head>()).cast::<Line>();
            let lines: &'static [Line] = std::slice::from_raw_parts(lines, ranks);
            let own = lines.get(rank).ok_or(io::ErrorKind::InvalidInput)?;
            Ok(Page { head: &*address.cast(), lines, own })
        }
    }

    pub(super) fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for line in self.lines {
            // What has ended is read first: what is under way may look more than it is, never less.
            let left = line.left.load(SeqCst);
            let entered = line.entered.load(SeqCst);
            sums.under_way = sums.under_way.wrapping_add(entered.wrapping_sub(left));
            sums.entered = sums.entered.wrapping_add(entered);
            sums.waiting = sums.waiting.wrapping_add(line.waiting.load(SeqCst));
            sums.bytes = sums.bytes.wrapping_add(line.bytes.load(Relaxed));
        }
        sums
    }

    pub(super) fn is_open(&self) -> bool {
        self.head.gate.load(SeqCst) & OPEN != 0
    }

    /// Operations may begin, and those that wait do.
    pub(super) fn open(&self) {
        let before = self.head.gate.fetch_update(SeqCst, SeqCst, |gate| Some((gate | OPEN).wrapping_add(2)));
        let _ = before;
        wake(&self.head.gate);
    }

    pub(super) fn close(&self) {
        let _ = self.head.gate.fetch_update(SeqCst, SeqCst, |gate| Some((gate & !OPEN).wrapping_add(2)));
    }
}

/// Sleeps while the word is `value`, but no longer than `time`. Other processes share the word.
pub(super) fn sleep_while(word: &AtomicU32, value: u32, time: Duration) {
    if word.load(Acquire) != value {
        return;
    }
    let time = libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() };
    // SAFETY: the word lives as long as the process; the time is valid for the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &time, 0, 0) };
}

pub(super) fn wake(word: &AtomicU32) {
    // SAFETY: the word lives as long as the process.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_it_and_its_name_goes() {
        let run = u64::from(std::process::id()) << 20;
        let [a, b] = [0, 1].map(|rank| Page::attach(run, 2, rank).unwrap());
        a.own.entered.fetch_add(2, SeqCst);
        b.own.left.fetch_add(0, SeqCst);
        b.own.bytes.fetch_add(7, SeqCst);
        a.own.left.fetch_add(1, SeqCst);
        assert_eq!(b.sums(), Sums { entered: 2, under_way: 1, waiting: 0, bytes: 7 });
        assert!(!b.is_open());
        a.open();
        assert!(b.is_open());
        b.close();
        assert!(!a.is_open());
        // SAFETY: the call has no premises.
        let user = unsafe { libc::geteuid() };
        assert!(!Path::new(&format!("/dev/shm/tmio-{user}-turns-{run:016x}")).exists());
    }
}
