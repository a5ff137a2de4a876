//! A job asks the arbiter of its file system for its turn (`TMIO_IOSETS`, off by default).
//!
//! ```text
//! ranks ── page in shared memory ── agent of the node ── arbiter
//! ```
//!
//! Before a data operation a rank looks at the gate of its node. If it is open, the rank goes: that is a few
//! atomic operations in a line of the cache of its own. If it is closed, the rank wakes the agent and waits;
//! the agent asks the arbiter and opens the gate. When all ranks of the node have been idle for a moment, the
//! agent closes the gate and gives the lease back.
//!
//! What keeps the job going, whatever happens:
//!
//! - the gate is before the call: nothing is held while waiting there, and operations under way are never
//!   waited for;
//! - the lease belongs to the job, and a rank may always enter a collective call that another rank has
//!   entered;
//! - nonblocking operations and split collectives never wait;
//! - without a connection the gate is open. An arbiter that does not answer is left within a second, an agent
//!   that has died likewise, and no rank waits longer than its patience;
//! - while a rank waits, it drives MPI's progress, so that others who need it are not held up.

mod agent;
mod link;
mod page;

use crate::{IoSets, Place};
use agent::Who;
use page::{Page, sleep_while, wake};
use std::fmt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
use std::time::{Duration, Instant};

/// The page, while the job asks.
static PAGE: AtomicPtr<Page> = AtomicPtr::new(std::ptr::null_mut());
static CHOICE: std::sync::OnceLock<IoSets> = std::sync::OnceLock::new();
static PROCESS: std::sync::OnceLock<Process> = std::sync::OnceLock::new();
/// The count of the agent when it was given up: until it changes, no rank waits for it.
static GIVEN_UP: AtomicU32 = AtomicU32::new(0);

/// How many files are remembered.
const FILES: usize = 256;
/// The handles of files, and what is known of each: 0 nothing, 1 not asked for, else its slot and two more.
static HANDLES: [AtomicUsize; FILES] = [const { AtomicUsize::new(0) }; FILES];
static KNOWN: [AtomicU32; FILES] = [const { AtomicU32::new(0) }; FILES];
/// By slot: how many collective calls this rank has come to.
static CALLS: [AtomicU32; crate::COLLECTIVE_SLOTS] = [const { AtomicU32::new(0) }; crate::COLLECTIVE_SLOTS];
const LEFT_OUT: u32 = 1;

/// What the gate needs of the process that it is in.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Whether tracing continues; if not, no rank waits any longer.
    pub is_on: fn() -> bool,
    /// Called by each thread of the gate at its start: its calls are not the program's.
    pub begin_own_work: fn(),
    /// A random number.
    pub random: fn() -> u64,
    /// Prints a line that the user must see.
    pub warn: fn(fmt::Arguments<'_>),
    /// Prints a line for those who ask for more.
    pub info: fn(fmt::Arguments<'_>),
}

/// Begins to ask; called by all ranks of a node that began together, of which `rank` 0 has the agent.
pub fn start(choice: &IoSets, job: &str, run: u64, host: &str, place: Place, process: Process) {
    let Place { rank, ranks, of } = place;
    let process = PROCESS.get_or_init(|| process);
    let page = match Page::attach(run, ranks, rank) {
        Ok(page) => &*Box::leak(Box::new(page)),
        Err(error) => {
            return (process.warn)(format_args!(
                "TMIO_IOSETS: no shared memory ({error}); this rank does not wait"
            ));
        }
    };
    let _ = CHOICE.set(choice.clone());
    if rank == 0 {
        // Open until there is an arbiter.
        page.open();
        let who = Who { job: job.to_owned(), run, host: host.to_owned(), ranks, has_others: of > ranks };
        if !agent::start(page, choice.clone(), who, process) {
            return (process.warn)(format_args!("TMIO_IOSETS: there can be no thread; nobody waits"));
        }
    }
    PAGE.store(std::ptr::from_ref(page).cast_mut(), Release);
}

#[inline(always)]
fn page() -> Option<&'static Page> {
    let page = PAGE.load(Relaxed);
    // SAFETY: null, or a page that lives as long as the process. What it holds was written before the
    // process's threads could see the pointer: it is stored in `MPI_Init`.
    unsafe { page.as_ref() }
}

/// An operation under way. Ends when it is dropped.
#[derive(Debug)]
pub struct Turn(Option<&'static AtomicU32>);

impl Turn {
    /// The operation has moved this number of bytes.
    #[inline(always)]
    pub fn moved(&self, bytes: u64) {
        if let (Some(_), Some(page)) = (self.0, page()) {
            page.own.bytes.fetch_add(bytes, Relaxed);
        }
    }
}

impl Drop for Turn {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(left) = self.0 {
            left.fetch_add(1, SeqCst);
        }
    }
}

/// Before an operation that moves data: waits for the job's turn. `progress` lets MPI work meanwhile. Costs
/// one relaxed load if the job does not ask.
#[inline(always)]
pub fn enter(file: usize, collective: bool, progress: impl FnMut()) -> Turn {
    match page() {
        None => Turn(None),
        Some(page) => enter_page(page, file, collective, progress),
    }
}

#[inline(never)]
fn enter_page(page: &'static Page, file: usize, collective: bool, progress: impl FnMut()) -> Turn {
    let known = of_file(file);
    if known == LEFT_OUT {
        return Turn(None);
    }
    let call = if collective { Some(next_call(known)) } else { None };
    // Entered first, looked second: the closing side sees the operation, or this sees the closed gate.
    page.own.entered.fetch_add(1, SeqCst);
    if !page.is_open() && !may_follow(page, call) {
        page.own.left.fetch_add(1, SeqCst);
        wait(page, call, progress);
    }
    if let Some((entered, number)) =
        call.and_then(|(slot, number)| Some((page.head.collective.get(slot)?, number)))
    {
        entered.fetch_max(number, SeqCst);
    }
    Turn(Some(&page.own.left))
}

/// The slot of a collective call, and its number.
type Call = (usize, u32);

fn next_call(known: u32) -> Call {
    let slot = known.saturating_sub(2) as usize % crate::COLLECTIVE_SLOTS;
    let number = CALLS.get(slot).map_or(0, |calls| calls.fetch_add(1, Relaxed));
    (slot, number.wrapping_add(1))
}

/// A rank that has entered a collective call waits for the others inside MPI: they follow.
fn may_follow(page: &Page, call: Option<Call>) -> bool {
    let entered = call.and_then(|(slot, number)| Some((page.head.collective.get(slot)?, number)));
    entered.is_some_and(|(entered, number)| number <= entered.load(SeqCst))
}

/// An operation that must not wait begins: the arbiter hears that the job does I/O.
#[inline(always)]
pub fn announce(file: usize, bytes: u64) {
    if let Some(page) = page() {
        announce_on(page, file, bytes);
    }
}

#[inline(never)]
fn announce_on(page: &Page, file: usize, bytes: u64) {
    if of_file(file) == LEFT_OUT {
        return;
    }
    page.own.entered.fetch_add(1, SeqCst);
    page.own.left.fetch_add(1, SeqCst);
    page.own.bytes.fetch_add(bytes, Relaxed);
    if !page.is_open() {
        page.own.unscheduled.fetch_add(1, Relaxed);
        page.head.wish.fetch_add(1, SeqCst);
        wake(&page.head.wish);
    }
}

/// At the closed gate. When this returns, the operation is entered.
#[cold]
fn wait(page: &Page, call: Option<Call>, mut progress: impl FnMut()) {
    let began = Instant::now();
    let patience = CHOICE.get().map_or(Duration::ZERO, |choice| choice.patience);
    let mut beats = page.head.beats.load(SeqCst);
    if beats == GIVEN_UP.load(Relaxed) {
        // An agent that has not begun yet was not asked.
        page.own.opened.fetch_add(u32::from(beats != 0), Relaxed);
        page.own.entered.fetch_add(1, SeqCst);
        return;
    }
    if let Some((slot, number)) = call {
        page.head.wanted.store((slot as u64) << 32 | u64::from(number), SeqCst);
    }
    page.own.waits.fetch_add(1, Relaxed);
    page.own.waiting.fetch_add(1, SeqCst);
    page.head.wish.fetch_add(1, SeqCst);
    wake(&page.head.wish);
    let mut heard = began;
    let mut nap = Duration::from_millis(1);
    loop {
        let gate = page.head.gate.load(SeqCst);
        if gate & page::OPEN != 0 || may_follow(page, call) {
            page.own.entered.fetch_add(1, SeqCst);
            if page.is_open() || may_follow(page, call) {
                break;
            }
            page.own.left.fetch_add(1, SeqCst);
            continue;
        }
        sleep_while(&page.head.gate, gate, nap);
        nap = (2 * nap).min(Duration::from_millis(20));
        progress();
        let now = page.head.beats.load(SeqCst);
        if now != beats {
            (beats, heard) = (now, Instant::now());
        }
        let dead = heard.elapsed() > crate::SILENT;
        if dead {
            GIVEN_UP.store(beats, Relaxed);
        }
        if began.elapsed() > patience {
            // For all ranks, until they are idle again.
            page.open();
        }
        if dead || began.elapsed() > patience || !PROCESS.get().is_some_and(|process| (process.is_on)()) {
            page.own.opened.fetch_add(1, Relaxed);
            page.own.entered.fetch_add(1, SeqCst);
            break;
        }
    }
    page.own.waiting.fetch_sub(1, SeqCst);
    page.own.waited.fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
}

/// Where a handle is remembered. Handles are addresses.
fn place(file: usize) -> usize {
    (file >> 4 ^ file >> 12) % FILES
}

fn of_file(file: usize) -> u32 {
    let place = place(file);
    match (HANDLES.get(place), KNOWN.get(place)) {
        (Some(handle), Some(known)) if handle.load(Acquire) == file => known.load(Relaxed),
        _ => 0,
    }
}

/// A file was opened.
pub fn opened(file: usize, name: &str) {
    let (Some(_), Some(choice)) = (page(), CHOICE.get()) else { return };
    let slot = name.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let slot = slot % crate::COLLECTIVE_SLOTS as u32;
    let known = if choice.covers(name) { slot + 2 } else { LEFT_OUT };
    let place = place(file);
    if let (Some(handle), Some(place)) = (HANDLES.get(place), KNOWN.get(place)) {
        place.store(known, Relaxed);
        handle.store(file, Release);
    }
}

/// The job ends: the agent says so, and what there is to say is said.
pub fn finish(is_first: bool) {
    let (Some(page), Some(process)) = (page(), PROCESS.get()) else { return };
    PAGE.store(std::ptr::null_mut(), SeqCst);
    if !is_first {
        return;
    }
    agent::stop(page, Duration::from_millis(100));
    let of = |get: fn(&page::Line) -> u64| page.lines.iter().map(get).sum::<u64>();
    let opened = of(|line| line.opened.load(Relaxed).into());
    let address = CHOICE.get().map_or_else(String::new, |choice| choice.address.to_string());
    let problem = agent::PROBLEM.try_lock().and_then(|mut problem| problem.take());
    match (problem, agent::CONNECTED.load(Relaxed)) {
        (Some(problem), _) => {
            (process.warn)(format_args!(
                "TMIO_IOSETS: {address}: {problem}; the job did not wait for its turn"
            ));
        }
        (None, false) => {
            (process.warn)(format_args!(
                "TMIO_IOSETS: no arbiter at {address}; the job did not wait for its turn"
            ));
        }
        (None, true) if opened > 0 => (process.warn)(format_args!(
            "TMIO_IOSETS: {opened} operations went on without an answer of {address}"
        )),
        _ => {}
    }
    (process.info)(format_args!(
        "TMIO_IOSETS: ranks waited {} times, {:.3} s in all; {} nonblocking operations began without a turn",
        of(|line| line.waits.load(Relaxed).into()),
        of(|line| line.waited.load(Relaxed)) as f64 * 1e-9,
        of(|line| line.unscheduled.load(Relaxed).into()),
    ));
}

/// The process ends without `MPI_Finalize`, perhaps in a signal handler: only atomics and `futex`.
pub fn abandon(is_first: bool) {
    let Some(page) = page() else { return };
    PAGE.store(std::ptr::null_mut(), SeqCst);
    if is_first {
        page.open();
        agent::stop(page, Duration::ZERO);
    }
}
