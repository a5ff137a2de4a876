//! What each thread remembers: whether it is inside an MPI call already, and where its records go.
//!
//! Nothing here has a destructor, so that a thread may end at any time and in any order.

use crate::clock;
use crate::slot::{Head, Records, Slot};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU16, AtomicU64, compiler_fence};
use tmio_trace::spool::TickScale;

/// What one thread remembers, in one line of the cache. Finding it may cost a call (not on x86-64), so
/// wrappers do it once.
#[derive(Debug)]
#[repr(align(64))]
pub struct ThreadState {
    /// A wrapper was entered and not left.
    pub(crate) inside: Cell<bool>,
    /// Pieces of tmio's own work that the thread is in: its system calls are not the program's.
    own_work: Cell<u8>,
    /// Calls of MPI that the thread is in and that are not operations on files, such as `MPI_Init`.
    in_mpi: Cell<u8>,
    /// Records of signal handlers in a row that have interrupted the storing of one and the same record …
    interruptions: Cell<u8>,
    /// … of which this is the place.
    interrupted_at: Cell<u16>,
    /// The thread's slot. While it stores a record there, `free_head` is `None`: a signal handler that comes
    /// meanwhile keeps its own record elsewhere.
    free_head: Cell<Option<&'static Head>>,
    head: Cell<Option<&'static Head>>,
    records: Cell<MaybeUninit<Records>>,
    /// Number of the thread within its process and one more; 0: it has none yet.
    number: Cell<u16>,
    /// Since when it is in an operation without having a slot; 0: it is not.
    homeless: Cell<u64>,
    /// The file that the thread used last: handle, state of the file table, number.
    last_handle: Cell<usize>,
    /// As many bits of it as there is room for.
    last_changes: Cell<u32>,
    last_number: Cell<u32>,
}

// A thread begins with zeros.
const _: () = {
    assert!(size_of::<ThreadState>() == 64);
    // SAFETY: null is no reference, so that zeros are the `None` of an option of them; the compiler checks
    // it here.
    assert!(unsafe { std::mem::zeroed::<Option<&'static Head>>() }.is_none());
};

/// How long a store of a processor may take until all others see it, with a large margin: nanoseconds by
/// which a promise about operations stays behind the clock. A fence in every operation would be the other
/// way.
pub(crate) const SETTLING: i64 = 1_000_000;

/// A time, in nanoseconds, at which an operation that began at `ticks` had surely not begun: its start will
/// be told by another pair of readings than `scale`, and the rate of a counter is known to 0.01 % at first.
pub(crate) fn before(ticks: u64, scale: TickScale) -> i64 {
    let start = scale.to_ns(ticks);
    start - SETTLING - (clock::monotonic() - start).max(0) / 1000
}

/// When the oldest split collective under way began, in ticks; 0: there is none.
static SPLIT_SINCE: AtomicU64 = AtomicU64::new(0);

/// Tells when the oldest split collective under way began, between its two calls.
pub fn set_split_since(ticks: Option<u64>) {
    SPLIT_SINCE.store(ticks.unwrap_or(0), Release);
}

pub(crate) fn split_since() -> u64 {
    SPLIT_SINCE.load(Acquire)
}

static THREADS: AtomicU16 = AtomicU16::new(0);

/// Runs `body` with what the calling thread remembers.
#[inline(always)]
pub fn with<T>(body: impl FnOnce(&ThreadState) -> T) -> T {
    // SAFETY: the place belongs to the calling thread, which lives until `body` returns, and holds a state
    // from the beginning.
    body(unsafe { &*place() })
}

/// Thread-local variables of a library are found by a call into the dynamic linker, which costs as much as
/// all the rest of a record. This one lies at a fixed distance from the thread pointer ("initial exec"),
/// for which Rust has no word.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[inline(always)]
fn place() -> *const ThreadState {
    let place: *const ThreadState;
    // SAFETY: reads the thread pointer and adds the distance, which the dynamic linker has filled in.
    unsafe {
        std::arch::asm!(
            "mov {place}, qword ptr fs:[0]",
            "add {place}, qword ptr [rip + tmio_thread_state@GOTTPOFF]",
            place = out(reg) place,
            options(pure, nomem, nostack),
        );
    }
    place
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
std::arch::global_asm!(
    ".pushsection .tbss.tmio_thread_state, \"awT\", @nobits",
    ".globl tmio_thread_state",
    ".hidden tmio_thread_state",
    ".p2align 6",
    "tmio_thread_state:",
    ".zero 64",
    ".size tmio_thread_state, 64",
    ".popsection",
);

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn place() -> *const ThreadState {
    thread_local! {
        // SAFETY: zeros are the state in which a thread begins, see above.
        static STATE: ThreadState = const { unsafe { std::mem::zeroed() } };
    }
    STATE.with(std::ptr::from_ref)
}

impl ThreadState {
    /// Whether the thread does work of tmio's own.
    #[inline(always)]
    pub fn is_own_work(&self) -> bool {
        self.own_work.get() != 0
    }

    /// Whether the thread is inside MPI: what it does is MPI's doing.
    #[inline(always)]
    pub fn is_in_mpi(&self) -> bool {
        self.inside.get() || self.in_mpi.get() != 0
    }

    /// What the calling thread does from here on until [`end_own_work`](Self::end_own_work) is tmio's own
    /// work.
    #[inline]
    pub fn begin_own_work(&self) {
        self.own_work.set(self.own_work.get().saturating_add(1));
    }

    /// See [`begin_own_work`](Self::begin_own_work).
    #[inline]
    pub fn end_own_work(&self) {
        self.own_work.set(self.own_work.get().saturating_sub(1));
    }

    /// Runs a call of MPI that is no operation on a file.
    pub fn inside_mpi<T>(&self, call: impl FnOnce() -> T) -> T {
        self.in_mpi.set(self.in_mpi.get().saturating_add(1));
        let result = call();
        self.in_mpi.set(self.in_mpi.get().saturating_sub(1));
        result
    }

    /// In the child of a fork: the slot is the parent's, and whatever was under way is not.
    pub(crate) fn begin_anew(&self) {
        self.inside.set(false);
        self.own_work.set(0);
        self.in_mpi.set(0);
        self.set_slot(None);
        self.interruptions.set(0);
        self.homeless.set(0);
    }

    /// Where the thread's records go. `None`: it has no slot, or is storing a record just now.
    #[inline(always)]
    pub(crate) fn slot(&self) -> Option<Slot> {
        let head = self.free_head.get()?;
        // SAFETY: the records are set before the head, and only together with it.
        Some(Slot::of(head, unsafe { self.records.get().assume_init() }))
    }

    pub(crate) fn set_slot(&self, slot: Option<Slot>) {
        self.free_head.set(None);
        compiler_fence(SeqCst);
        let parts = slot.map(Slot::parts);
        if let Some((_, records)) = parts {
            self.records.set(MaybeUninit::new(records));
        }
        self.interruptions.set(0);
        self.head.set(parts.map(|(head, _)| head));
        compiler_fence(SeqCst);
        self.free_head.set(self.head.get());
    }

    /// Stores a record in the thread's slot. A signal handler that comes meanwhile finds no slot: it would
    /// store its record in the same place. `false`: there is no slot, or no room.
    #[inline(always)]
    pub(crate) fn in_slot(&self, store: impl FnOnce(Slot) -> bool) -> bool {
        let Some(slot) = self.slot() else { return false };
        self.free_head.set(None);
        compiler_fence(SeqCst);
        let stored = store(slot);
        compiler_fence(SeqCst);
        self.free_head.set(Some(slot.parts().0));
        stored
    }

    /// Whether this is a signal handler that has interrupted the thread while it stored a record. If an
    /// earlier handler has left that by a jump for good, which shows after a while, the answer is no, and the
    /// thread has no slot any more.
    pub(crate) fn is_interrupted(&self) -> bool {
        const NEVER_SO_MANY: u8 = 100;
        let Some(head) = self.head.get().filter(|_| self.free_head.get().is_none()) else { return false };
        let at = Slot::place_in(head) as u16;
        let before = if self.interrupted_at.replace(at) == at { self.interruptions.get() } else { 0 };
        self.interruptions.set(before.saturating_add(1));
        if before < NEVER_SO_MANY {
            return true;
        }
        self.set_slot(None);
        false
    }

    /// The number of the file that the thread used last, if that is `handle` and nothing has changed since.
    #[inline(always)]
    pub(crate) fn remembered_file(&self, handle: usize, changes: u64) -> Option<u32> {
        let same = self.last_handle.get() == handle && self.last_changes.get() == changes as u32;
        same.then(|| self.last_number.get())
    }

    pub(crate) fn remember_file(&self, handle: usize, changes: u64, number: u32) {
        self.last_handle.set(handle);
        self.last_changes.set(changes as u32);
        self.last_number.set(number);
    }

    pub(crate) fn homeless_since(&self) -> Option<u64> {
        Some(self.homeless.get()).filter(|&ticks| ticks != 0)
    }

    pub(crate) fn set_homeless(&self, since: Option<u64>) {
        self.homeless.set(since.unwrap_or(0));
    }

    /// Number of the thread within its process, given out at its first record.
    #[inline(always)]
    pub fn number(&self) -> u16 {
        match self.number.get() {
            0 => self.new_number(),
            number => number - 1,
        }
    }

    /// The same, if it was given out.
    #[inline(always)]
    pub fn number_if_any(&self) -> Option<u16> {
        self.number.get().checked_sub(1)
    }

    #[cold]
    #[inline(never)]
    fn new_number(&self) -> u16 {
        let next = THREADS.fetch_update(Relaxed, Relaxed, |n| (n < u16::MAX - 1).then_some(n + 1));
        let number = next.unwrap_or(u16::MAX - 1);
        self.number.set(number + 1);
        number
    }
}
