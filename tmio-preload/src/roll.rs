//! Which ranks of this node take part: a list in memory that they share.
//!
//! Nobody may wait for a rank that has no tracer: a static program among others (MPMD), one with
//! `TMIO_DISABLE`, one in a container or under a debugger. So ranks find each other without MPI. Each
//! enrols before it calls the real `MPI_Init` and says after it who it is. As `MPI_Init` returns only when
//! all ranks have come to it, the list is then nearly always complete; the waits below are for those that
//! are late, and short. Then the list is closed. Every entry is settled once, by one atomic exchange, so
//! that all ranks read the same list off it, however late they look.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::{Duration, Instant};
use tmio_trace::roll::{self, CLOSED};

/// Ranks of a node beyond this number are not traced.
const PLACES: usize = roll::PLACES;
const WORDS: usize = 1 + 2 * PLACES;

/// What an entry says, in its upper half; the lower half is the rank.
const UNKNOWN: u64 = 0;
const PRESENT: u64 = 1 << 32;
/// Came too late, or died before it said who it is, or does not take part after all.
const ABSENT: u64 = 2 << 32;

/// How long to wait for ranks that the launcher knows of and that have not enrolled: most likely they have
/// no tracer.
const FOR_THE_OTHERS: Duration = Duration::from_millis(500);
/// How long to wait for ranks that have enrolled and are still in `MPI_Init`.
const FOR_THE_ENROLLED: Duration = Duration::from_secs(10);
/// After which time it is asked whether they are alive.
const UNTIL_DOUBT: Duration = Duration::from_secs(1);

pub(crate) struct Roll {
    path: PathBuf,
    words: &'static [AtomicU64],
    place: usize,
}

impl Roll {
    /// Puts this process on the list of its job. `None`: there is no such list, or it is closed.
    pub(crate) fn enrol(job: u64) -> Option<Self> {
        // SAFETY: the call has no premises.
        let user = unsafe { libc::geteuid() };
        let is_local = |directory: &&Path| tmio_api::keeps_mapped_pages(directory).unwrap_or(false);
        let paths = roll::DIRECTORIES.iter().map(Path::new).filter(is_local);
        let mut paths = paths.map(|directory| directory.join(roll::name(user, job)));
        // The same one for all ranks: a place that is full or cannot be written is so for each of them.
        let (words, path) = paths.find_map(|path| Some((map(&path).ok()?, path)))?;
        Self::enrol_on(path, words)
    }

    #[cfg(test)]
    fn enrol_in(path: PathBuf) -> Option<Self> {
        let words = map(&path).ok()?;
        Self::enrol_on(path, words)
    }

    fn enrol_on(path: PathBuf, words: &'static [AtomicU64]) -> Option<Self> {
        let count = words.first()?;
        let place = count
            .fetch_update(AcqRel, Acquire, |count| {
                (count & CLOSED == 0 && count < PLACES as u64).then_some(count + 1)
            })
            .ok()? as usize;
        words.get(2 + 2 * place)?.store(roll::this_process(), Relaxed);
        Some(Self { path, words, place })
    }

    fn entries(&self) -> impl Iterator<Item = (&AtomicU64, &AtomicU64)> {
        let count = self.words.first().map_or(0, |count| count.load(Acquire) & !CLOSED) as usize;
        let pairs = self.words.get(1..1 + 2 * count).unwrap_or_default().chunks_exact(2);
        pairs.filter_map(|pair| Some((pair.first()?, pair.get(1)?)))
    }

    fn settle(&self, what: u64) {
        if let Some(entry) = self.words.get(1 + 2 * self.place) {
            let _ = entry.compare_exchange(UNKNOWN, what, AcqRel, Relaxed);
        }
    }

    /// This process does not take part after all.
    pub(crate) fn decline(self) {
        self.settle(ABSENT);
    }

    /// Says which rank this process is, closes the list, and gives the ranks on it, in order, and their
    /// processes. It is empty if this process came too late to be on it. `expected`: how many there should
    /// be.
    pub(crate) fn close(self, rank: u32, expected: u32) -> (Vec<u32>, Vec<u32>) {
        self.close_within(rank, expected, FOR_THE_OTHERS, FOR_THE_ENROLLED)
    }

    fn close_within(
        self,
        rank: u32,
        expected: u32,
        for_the_others: Duration,
        for_the_enrolled: Duration,
    ) -> (Vec<u32>, Vec<u32>) {
        self.settle(PRESENT | u64::from(rank));
        let began = Instant::now();
        wait(|| self.entries().count() >= expected as usize || began.elapsed() > for_the_others);
        wait(|| {
            let doubt = began.elapsed() > UNTIL_DOUBT;
            let settled = |(entry, process): (&AtomicU64, &AtomicU64)| {
                entry.load(Acquire) != UNKNOWN || (doubt && !is_alive(process.load(Relaxed) as u32))
            };
            self.entries().all(settled) || began.elapsed() > for_the_enrolled
        });
        if let Some(count) = self.words.first() {
            count.fetch_or(CLOSED, AcqRel);
        }
        let (mut ranks, mut processes) = (Vec::new(), Vec::new());
        let mut listed = false;
        for (index, (entry, process)) in self.entries().enumerate() {
            let _ = entry.compare_exchange(UNKNOWN, ABSENT, AcqRel, Relaxed);
            let what = entry.load(Acquire);
            let room = ranks.try_reserve(1).is_ok() && processes.try_reserve(1).is_ok();
            if what & !0xffff_ffff == PRESENT && room {
                ranks.push(what as u32);
                processes.push(process.load(Relaxed) as u32);
                listed |= index == self.place;
            }
        }
        ranks.sort_unstable();
        if listed { (ranks, processes) } else { (Vec::new(), Vec::new()) }
    }
}

impl Drop for Roll {
    fn drop(&mut self) {
        self.settle(ABSENT);
        // Whoever is on the list has it in memory.
        let _ = fs::remove_file(&self.path);
        let Some(memory) = self.words.first() else { return };
        // SAFETY: the mapping was made in `map` with this length, and nobody has a reference to it any more.
        unsafe { libc::munmap(std::ptr::from_ref(memory).cast_mut().cast(), WORDS * 8) };
    }
}

/// Looks again and again, more and more slowly, until there is nothing to wait for.
fn wait(mut done: impl FnMut() -> bool) {
    let mut pause = Duration::from_micros(20);
    while !done() {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Whether there is a process with this id.
pub(crate) fn is_alive(process: u32) -> bool {
    // SAFETY: signal 0 is never delivered; the call only checks the id.
    let answer = unsafe { libc::kill(process as libc::pid_t, 0) };
    answer == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// Makes or finds the file of the list and maps it. Its space is allocated first: a full file system is an
/// error here, and not a signal later.
fn map(path: &Path) -> io::Result<&'static [AtomicU64]> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)?;
    let about = file.metadata()?;
    // SAFETY: the call has no premises.
    if about.uid() != unsafe { libc::geteuid() } {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // The mask of the program may have taken from its owner the right to open it again.
    if about.mode() & 0o600 != 0o600 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    let length = WORDS * 8;
    // SAFETY: the descriptor is open for writing.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length as i64) } {
        0 => {}
        error => {
            let _ = fs::remove_file(path);
            return Err(io::Error::from_raw_os_error(error));
        }
    }
    // SAFETY: a new mapping anywhere the kernel likes, of a file that is that long; it is only used as
    // these atomics.
    unsafe {
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        let address = libc::mmap(std::ptr::null_mut(), length, prot, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(std::slice::from_raw_parts(address.cast(), WORDS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("tmio-roll-test-{name}-{}", std::process::id()))
    }

    #[test]
    fn all_who_close_read_the_same_list() {
        let path = path("all");
        let lists: Vec<Vec<u32>> = std::thread::scope(|scope| {
            let rolls: Vec<Roll> = (0..8).map(|_| Roll::enrol_in(path.clone()).unwrap()).collect();
            let threads = (0..).zip(rolls).map(|(rank, roll)| scope.spawn(move || roll.close(rank, 8).0));
            threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(lists.iter().all(|list| *list == [0, 1, 2, 3, 4, 5, 6, 7]), "{lists:?}");
        assert!(!path.exists());
    }

    #[test]
    fn one_who_is_missing_one_who_declines_and_one_who_is_late() {
        let path = path("some");
        let [a, b, c] = [(); 3].map(|()| Roll::enrol_in(path.clone()).unwrap());
        b.decline();
        assert!(!path.exists(), "nothing is left behind, whatever becomes of the others");
        // The third is enrolled and alive, and says nothing for as long as anybody waits.
        let short = Duration::from_millis(20);
        let (ranks, processes) = a.close_within(4, 4, short, short);
        assert_eq!((ranks, processes), (vec![4], vec![std::process::id()]));
        assert_eq!(c.close(9, 4).0, [0; 0], "closed without it");
        assert!(Roll::enrol_in(path.clone()).unwrap().close(1, 1).0 == [1], "a list of its own");
    }

    #[test]
    fn nobody_enrols_in_a_closed_list() {
        let path = path("closed");
        let words = map(&path).unwrap();
        words[0].store(CLOSED | 3, Relaxed);
        assert!(Roll::enrol_in(path.clone()).is_none());
        fs::remove_file(path).unwrap();
    }
}
