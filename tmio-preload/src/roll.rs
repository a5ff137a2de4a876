//! Which ranks of this node take part: a list in memory that they share.
//!
//! Nobody may wait for a rank that has no tracer: a static program among others (MPMD), one with
//! `TMIO_DISABLE`, one in a container or under a debugger. So ranks find each other without MPI. Each
//! enrols before it calls the real `MPI_Init` and says after it who it is. As `MPI_Init` returns only when
//! all ranks have come to it, the list is then nearly always complete; the waits below are for those that
//! are late, and short. Then the list is closed. Every entry is settled once, by one atomic exchange, so
//! that all ranks read the same list off it, however late they look.
//!
//! The list is a hint: processes meet on it because their launcher has told them the same, and launchers are
//! misunderstood, left over from, and lied about. Only those whom MPI has given a rank of a job of the size
//! that all others have, and that nobody else has, are believed; whoever MPI has made a job of its own
//! leaves.

use crate::memory_file::{Memory, Slot};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::{Duration, Instant};
use tmio_trace::liveness::Life;
use tmio_trace::roll::{self, CLOSED, ENTRY, PLACES};

/// What an entry says, in its upper half; the lower half is the rank.
const UNKNOWN: u64 = 0;
const PRESENT: u64 = 1 << 32;
/// Came too late, or died before it said who it is, or does not take part after all.
const ABSENT: u64 = 2 << 32;
/// Has nothing to do with the others.
const STRANGER: u64 = 3 << 32;

/// How long to wait for ranks that the launcher knows of and that have not enrolled: most likely they have
/// no tracer.
const FOR_THE_OTHERS: Duration = Duration::from_millis(500);
/// How long to wait for ranks that have enrolled and are still in `MPI_Init`.
const FOR_THE_ENROLLED: Duration = Duration::from_secs(10);
/// After which time it is asked whether they are alive.
const UNTIL_DOUBT: Duration = Duration::from_secs(1);

/// The list, with this process on it.
pub(crate) struct Roll {
    /// Its name, which goes when this process has read the list. `None`: others may still need it.
    path: Option<PathBuf>,
    memory: Memory,
    place: usize,
}

/// What became of an attempt to enrol.
pub(crate) enum Enrolment {
    On(Roll),
    /// The others have begun without this process.
    TooLate,
    /// There can be no list.
    Nowhere,
}

/// What the list says when it is closed.
pub(crate) enum Closed {
    /// These ranks are here.
    Together(Members),
    /// The others have begun without this process.
    TooLate,
    /// What is on the list cannot be the ranks of one job.
    Contradiction,
}

/// One of those who begin together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) rank: u32,
    place: usize,
    process: [u64; 2],
}

/// Those who begin together, in order of rank, and the memory that they share.
pub(crate) struct Members {
    memory: Memory,
    list: Vec<Member>,
    /// Which of them this process is.
    pub(crate) own: usize,
}

impl Roll {
    /// Puts this process on the list of its job.
    pub(crate) fn enrol(job: u64) -> Enrolment {
        // SAFETY: the call has no premises.
        let user = unsafe { libc::geteuid() };
        let is_local = |directory: &&Path| tmio_api::keeps_mapped_pages(directory).unwrap_or(false);
        let process = std::process::id();
        // The same one for all ranks: a place that is full or cannot be written is so for each of them.
        let found = tmio_api::preloaded::apart(|| {
            let paths = roll::DIRECTORIES.iter().map(Path::new).filter(is_local);
            let mut paths = paths.map(|directory| directory.join(roll::name(user, job)));
            paths.find_map(|path| match Self::enrol_in(path, process) {
                Enrolment::Nowhere => None,
                other => Some(other),
            })
        });
        found.flatten().unwrap_or(Enrolment::Nowhere)
    }

    pub(crate) fn enrol_in(path: PathBuf, process: u32) -> Enrolment {
        // Somebody may remove the list that was just opened: a few times, and not for ever.
        for _ in 0..8 {
            let enrolled = Memory::open(&path, |memory, allocate| {
                if is_of_the_dead(memory.words()) {
                    let _ = std::fs::remove_file(&path);
                    return Ok(None);
                }
                Self::take_place(memory.words(), process, allocate).map(Some)
            });
            match enrolled {
                Ok(Some((memory, Some(place)))) => {
                    return Enrolment::On(Self { path: Some(path), memory, place });
                }
                Ok(Some((_, None))) => return Enrolment::TooLate,
                Ok(None) => {}
                Err(_) => return Enrolment::Nowhere,
            }
        }
        Enrolment::Nowhere
    }

    /// `None`: the list is closed or full. Called by one process at a time.
    fn take_place(
        words: &[AtomicU64],
        process: u32,
        allocate: &dyn Fn(usize) -> std::io::Result<()>,
    ) -> std::io::Result<Option<usize>> {
        let Some(count) = words.first() else { return Ok(None) };
        let place = count.load(Acquire);
        if place & CLOSED != 0 || place >= PLACES as u64 {
            return Ok(None);
        }
        let index = place as usize;
        allocate(index)?;
        let [process, started] = roll::process(process);
        let entry = words.get(1 + ENTRY * index..).unwrap_or_default();
        for (word, value) in entry.iter().zip([UNKNOWN, process, started, 0]) {
            word.store(value, Relaxed);
        }
        // Only a rank that closes the list may have come between.
        Ok(count.compare_exchange(place, place + 1, AcqRel, Acquire).is_ok().then_some(index))
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        entries(self.memory.words())
    }

    fn settle(&self, what: u64) {
        if let Some(entry) = self.entries().nth(self.place) {
            let _ = entry.who.compare_exchange(UNKNOWN, what, AcqRel, Relaxed);
        }
    }

    /// This process is a rank like the others, and does not take part after all.
    pub(crate) fn decline(self) {
        self.settle(ABSENT);
    }

    /// This process is no rank of the others' job. They may not all have come yet: the list stays, unless
    /// only such as this one are on it.
    pub(crate) fn leave(mut self) {
        self.settle(STRANGER);
        let Some(path) = self.path.take() else { return };
        let is_nobodys = || {
            let is_gone =
                |entry: Entry<'_>| entry.who.load(Acquire) == STRANGER || entry.life() == Life::Dead;
            self.entries().all(is_gone)
        };
        tmio_api::preloaded::apart(|| self.memory.remove_if(&path, is_nobodys));
    }

    /// Says which rank of how many this process is, closes the list, and tells who is on it. `expected`: how
    /// many there should be. `progress` is called while waiting.
    pub(crate) fn close(self, rank: u32, size: u32, expected: u32, progress: &dyn Fn()) -> Closed {
        self.close_within(rank, size, expected, [FOR_THE_OTHERS, FOR_THE_ENROLLED], progress)
    }

    fn close_within(
        self,
        rank: u32,
        size: u32,
        expected: u32,
        [for_the_others, for_the_enrolled]: [Duration; 2],
        progress: &dyn Fn(),
    ) -> Closed {
        if let Some(own) = self.entries().nth(self.place) {
            own.size.store(u64::from(size), Relaxed);
        }
        self.settle(PRESENT | u64::from(rank));
        let began = Instant::now();
        let mut pause = Duration::from_micros(20);
        while began.elapsed() <= for_the_enrolled
            && !self.is_complete(expected, began.elapsed(), for_the_others)
        {
            progress();
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        if let Some(count) = self.memory.words().first() {
            count.fetch_or(CLOSED, AcqRel);
        }
        self.read(rank, size)
    }

    /// Whether there is nobody to wait for any more.
    fn is_complete(&self, expected: u32, waited: Duration, for_the_others: Duration) -> bool {
        let (mut present, mut enrolled, mut settled) = (0, 0, true);
        for entry in self.entries() {
            let who = entry.who.load(Acquire);
            present += u32::from(who & !0xffff_ffff == PRESENT);
            enrolled += u32::from(who != STRANGER);
            settled &= who != UNKNOWN || (waited > UNTIL_DOUBT && entry.life() == Life::Dead);
        }
        let was_patient = waited > for_the_others;
        // Somebody who has enrolled and says nothing may be none of these ranks at all.
        (settled && (enrolled >= expected || was_patient)) || (present >= expected && was_patient)
    }

    /// What everybody reads off a list that is closed.
    fn read(mut self, rank: u32, size: u32) -> Closed {
        let mut list: Vec<Member> = Vec::new();
        let mut fits = true;
        for (place, entry) in self.entries().enumerate() {
            let _ = entry.who.compare_exchange(UNKNOWN, ABSENT, AcqRel, Relaxed);
            let who = entry.who.load(Acquire);
            if who & !0xffff_ffff != PRESENT {
                continue;
            }
            fits &= entry.size.load(Relaxed) == u64::from(size) && list.try_reserve(1).is_ok();
            if fits {
                list.push(Member { rank: who as u32, place, process: entry.process() });
            }
        }
        list.sort_unstable_by_key(|member| member.rank);
        let twice = list.iter().zip(list.iter().skip(1)).any(|(one, next)| one.rank == next.rank);
        if !fits || twice || list.iter().any(|member| member.rank >= size) {
            return Closed::Contradiction;
        }
        let place = self.place;
        match list.iter().position(|member| (member.rank, member.place) == (rank, place)) {
            Some(own) => {
                let memory = self.memory.take(list.iter().map(|member| member.place + 1).max().unwrap_or(0));
                Closed::Together(Members { memory, list, own })
            }
            None => Closed::TooLate,
        }
    }
}

impl Drop for Roll {
    fn drop(&mut self) {
        self.settle(ABSENT);
        // Those who are on the list have it in memory.
        if let Some(path) = &self.path {
            self.memory.remove(path);
        }
    }
}

impl Members {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Member> {
        self.list.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The memory of one of them in which it talks to the others.
    pub(crate) fn slot(&self, index: usize) -> Option<&Slot> {
        self.memory.slot(self.list.get(index)?.place)
    }

    /// Whether one of them still runs.
    pub(crate) fn life(&self, index: usize) -> Life {
        self.list.get(index).map_or(Life::Unknown, |member| life(member.process))
    }
}

/// An entry of the list.
struct Entry<'a> {
    who: &'a AtomicU64,
    id: &'a AtomicU64,
    started: &'a AtomicU64,
    size: &'a AtomicU64,
}

impl Entry<'_> {
    fn process(&self) -> [u64; 2] {
        [self.id.load(Relaxed), self.started.load(Relaxed)]
    }

    fn life(&self) -> Life {
        life(self.process())
    }
}

/// Whether a process still runs, asked without a descriptor that the program could see.
fn life([id, started]: [u64; 2]) -> Life {
    tmio_api::preloaded::apart(|| roll::life(id, started)).unwrap_or(Life::Unknown)
}

fn entries(words: &[AtomicU64]) -> impl Iterator<Item = Entry<'_>> {
    let count = words.first().map_or(0, |count| count.load(Acquire) & !CLOSED) as usize;
    words.get(1..).unwrap_or_default().chunks_exact(ENTRY).take(count).filter_map(|words| match words {
        [who, id, started, size] => Some(Entry { who, id, started, size }),
        _ => None,
    })
}

/// Whether a list was left behind by processes that were killed: a later job has the same name by chance.
fn is_of_the_dead(words: &[AtomicU64]) -> bool {
    let mut any = false;
    let all = entries(words).inspect(|_| any = true).all(|entry| entry.life() == Life::Dead);
    any && all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Release;

    /// One list a test, removed at its end.
    struct List(PathBuf);

    impl List {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("tmio-roll-test-{name}-{}", std::process::id())))
        }

        fn enrol(&self) -> Roll {
            match Roll::enrol_in(self.0.clone(), std::process::id()) {
                Enrolment::On(roll) => roll,
                Enrolment::TooLate => panic!("too late"),
                Enrolment::Nowhere => panic!("nowhere"),
            }
        }
    }

    impl Drop for List {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn ranks(closed: &Closed) -> Option<Vec<u32>> {
        match closed {
            Closed::Together(members) => Some(members.iter().map(|member| member.rank).collect()),
            _ => None,
        }
    }

    const SHORT: [Duration; 2] = [Duration::from_millis(20); 2];

    /// Closes a list on so many processes, which are these ranks of jobs of these sizes.
    fn close(name: &str, expected: u32, whos: &[(u32, u32)]) -> Vec<Closed> {
        let list = List::new(name);
        std::thread::scope(|scope| {
            let rolls: Vec<Roll> = whos.iter().map(|_| list.enrol()).collect();
            let close = |(&(rank, size), roll): (&(u32, u32), Roll)| {
                scope.spawn(move || roll.close(rank, size, expected, &|| ()))
            };
            let threads: Vec<_> = whos.iter().zip(rolls).map(close).collect();
            let closed = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(!list.0.exists());
            closed
        })
    }

    #[test]
    fn all_who_close_read_the_same_list() {
        let whos: Vec<(u32, u32)> = (0..8).rev().map(|rank| (rank, 8)).collect();
        let closed = close("all", 8, &whos);
        assert!(closed.iter().all(|closed| ranks(closed) == Some((0..8).collect())));
        for (own, closed) in (0..8).rev().zip(&closed) {
            let Closed::Together(members) = closed else { unreachable!() };
            assert_eq!(members.own, own);
            members.slot(own).unwrap().step.store(own as u64 + 1, Release);
        }
        let Some(Closed::Together(members)) = closed.first() else { unreachable!() };
        let steps = (0..8).map(|index| members.slot(index).unwrap().step.load(Acquire));
        assert_eq!(steps.collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8], "each has a slot of its own");
        assert!(members.slot(8).is_none() && members.life(3) == Life::Alive);
    }

    #[test]
    fn what_cannot_be_one_job_is_not_believed() {
        for (name, whos) in [
            ("twice", &[(0, 2), (0, 2)][..]),
            ("of-two", &[(0, 2), (1, 2), (0, 2), (1, 2)]),
            ("range", &[(0, 2), (1, 2), (2, 2)]),
            ("size", &[(0, 2), (1, 3)]),
            ("singletons", &[(0, 1), (0, 1), (0, 1)]),
        ] {
            let closed = close(name, whos.len() as u32, whos);
            let contradicts = |closed: &Closed| matches!(closed, Closed::Contradiction);
            assert!(closed.iter().all(contradicts), "{name}");
        }
    }

    #[test]
    fn one_who_is_missing_one_who_declines_and_one_who_is_late() {
        let list = List::new("some");
        let [a, b, c] = [(); 3].map(|()| list.enrol());
        b.decline();
        assert!(!list.0.exists(), "nothing is left behind, whatever becomes of the others");
        // The third is enrolled and alive, and says nothing for as long as anybody waits.
        assert_eq!(ranks(&a.close_within(4, 9, 4, SHORT, &|| ())), Some(vec![4]));
        assert!(matches!(c.close(5, 9, 4, &|| ()), Closed::TooLate), "closed without it");
        assert_eq!(ranks(&list.enrol().close(1, 2, 1, &|| ())), Some(vec![1]), "a list of its own");
    }

    /// Nobody waits for them, and they are not on it; ranks that come after them find the others.
    #[test]
    fn strangers_leave() {
        let list = List::new("strangers");
        let [a, b] = [(); 2].map(|()| list.enrol());
        b.leave();
        let c = list.enrol();
        let closed = std::thread::scope(|scope| {
            let other = scope.spawn(move || c.close(1, 2, 2, &|| ()));
            [a.close(0, 2, 2, &|| ()), other.join().unwrap()]
        });
        assert!(closed.iter().all(|closed| ranks(closed) == Some(vec![0, 1])));
        assert!(!list.0.exists());
        let [a, b] = [(); 2].map(|()| list.enrol());
        a.leave();
        assert!(list.0.exists());
        b.leave();
        assert!(!list.0.exists(), "nobody is on it any more");
    }

    #[test]
    fn nobody_enrols_in_a_closed_list() {
        let list = List::new("closed");
        let roll = list.enrol();
        roll.memory.words()[0].fetch_or(CLOSED, Relaxed);
        assert!(matches!(Roll::enrol_in(list.0.clone(), std::process::id()), Enrolment::TooLate));
    }

    /// A job that was killed in `MPI_Init` has left its list; a later one has the same name for its own, and
    /// processes that have the numbers of the first.
    #[test]
    fn a_list_of_the_dead_is_replaced() {
        let list = List::new("dead");
        let leave_behind = |started: u64, closed: u64| {
            let roll = list.enrol();
            roll.entries().for_each(|entry| entry.started.store(started, Relaxed));
            roll.settle(PRESENT | 1);
            roll.memory.words()[0].fetch_or(closed, Relaxed);
            std::mem::forget(roll);
        };
        for closed in [0, CLOSED] {
            leave_behind(1, closed);
            assert_eq!(ranks(&list.enrol().close(0, 2, 1, &|| ())), Some(vec![0]), "not with the dead");
        }
        // Of one that lives, the list stays.
        let [_, started] = roll::process(std::process::id());
        leave_behind(started, CLOSED);
        assert!(matches!(Roll::enrol_in(list.0.clone(), std::process::id()), Enrolment::TooLate));
    }
}
