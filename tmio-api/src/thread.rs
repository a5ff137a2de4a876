//! What each thread remembers: whether it is inside an MPI call already, and where its records go.
//!
//! Nothing here has a destructor, so that a thread may end at any time and in any order.

use crate::buffers;
use crate::clock;
use crate::slot::Slot;
use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU16, AtomicU64, compiler_fence};
use tmio_trace::spool::TickScale;

/// What one thread remembers, in one line of the cache. Finding it may cost a call (not on x86-64), so
/// wrappers do it once.
#[derive(Debug)]
#[repr(align(64))]
pub struct ThreadState {
    /// A wrapper was entered and not left.
    inside: Cell<bool>,
    /// Pieces of tmio's own work that the thread is in: its system calls are not the program's.
    own_work: Cell<u8>,
    /// Calls of MPI that the thread is in and that are not operations on files, such as `MPI_Init`.
    in_mpi: Cell<u8>,
    pub(crate) slot: Cell<Option<Slot>>,
    /// Number of the thread within its process and one more; 0: it has none yet.
    number: Cell<u16>,
    /// Since when it is in an operation without having a slot; 0: it is not.
    homeless: Cell<u64>,
    /// The file that the thread used last: handle, state of the file table, number.
    last_handle: Cell<usize>,
    last_changes: Cell<u64>,
    last_number: Cell<u32>,
}

// A thread begins with zeros.
const _: () = {
    assert!(size_of::<ThreadState>() == 64);
    // SAFETY: null is no reference, so that zeros are the `None` of an option of them; the compiler checks
    // it here.
    assert!(unsafe { std::mem::zeroed::<Option<Slot>>() }.is_none());
};

/// How long a store of a processor may take until all others see it, with a large margin: nanoseconds by
/// which a promise about operations stays behind the clock. A fence in every operation would be the other
/// way.
pub(crate) const SETTLING: i64 = 1_000_000;

/// A time, in nanoseconds, at which an operation that began at `ticks` had surely not begun: its start will be
/// told by another pair of readings than `scale`, and the rate of a counter is known to 0.01 % at first.
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
    /// Enters the outermost wrapper of this thread; `None` inside another one.
    ///
    /// `from_mpi` tells whether the call comes from MPI itself, or from a tool between us and MPI; it is
    /// asked only when a wrapper was entered and not left. A call that comes from elsewhere is the
    /// program's own: either MPI has called back into it, or the earlier call was left by a jump, and
    /// nothing of ours ran then.
    #[inline(always)]
    pub fn enter(&self, from_mpi: impl FnOnce() -> bool) -> Option<Entered<'_>> {
        if self.inside.get() && !self.take_over(from_mpi) {
            return None;
        }
        self.inside.set(true);
        Some(Entered(self))
    }

    /// Whether a call may take the place of the one that this thread has not left.
    #[cold]
    fn take_over(&self, from_mpi: impl FnOnce() -> bool) -> bool {
        if from_mpi() {
            return false;
        }
        self.leave();
        true
    }

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

    /// What the calling thread does from here on until [`end_own_work`](Self::end_own_work) is tmio's own work.
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
        self.slot.set(None);
        self.homeless.set(0);
    }

    /// Notes that this thread is about to begin an operation. The clock is read after this, so that whoever
    /// flushes either sees the note or has read the clock before.
    #[inline(always)]
    pub fn begin(&self) -> InFlight<'_> {
        match self.slot.get() {
            Some(slot) => slot.begin(AT_AN_UNKNOWN_TIME),
            None => self.begin_without_slot(),
        }
        compiler_fence(SeqCst);
        InFlight(self)
    }

    #[inline(always)]
    fn leave(&self) {
        match self.slot.get() {
            Some(slot) => slot.end(),
            None => self.leave_without_slot(),
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_without_slot(&self) {
        if let Some(buffers) = buffers::get() {
            buffers.begin_without_slot(self, AT_AN_UNKNOWN_TIME);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_without_slot(&self) {
        if let Some(buffers) = buffers::get() {
            buffers.without_slot.leave(self);
        }
    }

    /// The number of the file that the thread used last, if that is `handle` and nothing has changed since.
    #[inline(always)]
    pub(crate) fn remembered_file(&self, handle: usize, changes: u64) -> Option<u32> {
        let same = self.last_handle.get() == handle && self.last_changes.get() == changes;
        same.then(|| self.last_number.get())
    }

    pub(crate) fn remember_file(&self, handle: usize, changes: u64, number: u32) {
        self.last_handle.set(handle);
        self.last_changes.set(changes);
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

/// A time before every operation, and not the 0 that means "none".
const AT_AN_UNKNOWN_TIME: u64 = 1;

/// The thread is inside a wrapper. What MPI (or another tool) calls meanwhile is not counted again.
///
/// When the wrapper is left by a C++ exception, dropping this ends it; when it is left by `longjmp`, or its
/// stack is never returned to, the next call of the program does ([`ThreadState::enter`]).
#[derive(Debug)]
pub struct Entered<'a>(&'a ThreadState);

impl Drop for Entered<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.inside.set(false);
    }
}

/// The thread is in an operation that is not recorded yet. Dropped when it is, or will not be.
#[derive(Debug)]
pub struct InFlight<'a>(&'a ThreadState);

impl InFlight<'_> {
    /// When the operation began.
    #[inline(always)]
    pub fn since(&self, ticks: u64) {
        if let Some(slot) = self.0.slot.get() {
            slot.begin(ticks);
        }
    }
}

impl Drop for InFlight<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_wrapper_counts() {
        with(|thread| {
            let entered = thread.enter(|| true);
            assert!(entered.is_some());
            assert!(thread.enter(|| true).is_none(), "MPI calls itself");
            drop(entered);
            assert!(thread.enter(|| true).is_some());
        });
    }

    #[test]
    fn a_wrapper_that_was_left_without_notice_gives_way_to_the_next_call_of_the_program() {
        with(|thread| {
            std::mem::forget(thread.enter(|| true));
            assert!(thread.enter(|| true).is_none(), "nobody can tell");
            assert!(thread.enter(|| false).is_some(), "the program calls");
            assert!(thread.enter(|| true).is_some(), "and that call was left");
        });
    }
}
