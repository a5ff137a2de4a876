//! A thread inside a wrapper, and an operation of it that is not recorded yet.

use crate::process::preloaded;
use crate::process::thread::ThreadState;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, compiler_fence};
use tmio_spool::layout;

/// A time before every operation, and not the 0 that means "none".
const AT_AN_UNKNOWN_TIME: u64 = 1;

/// Operations for which there was no spool.
static NOWHERE: AtomicU64 = AtomicU64::new(0);

/// How many operations of this rank are kept nowhere, because there was no spool.
pub(crate) fn kept_nowhere() -> i64 {
    NOWHERE.load(Relaxed) as i64
}

/// Enters the outermost wrapper of this thread; `None` inside another one.
///
/// `from_mpi` tells whether the call comes from MPI itself, or from a tool between us and MPI; it is
/// asked only when a wrapper was entered and not left. A call that comes from elsewhere is the
/// program's own: either MPI has called back into it, or the earlier call was left by a jump, and
/// nothing of ours ran then.
#[inline(always)]
pub fn enter(thread: &ThreadState, from_mpi: impl FnOnce() -> bool) -> Option<Entered<'_>> {
    if thread.inside.get() && !take_over(thread, from_mpi) {
        return None;
    }
    thread.inside.set(true);
    Some(Entered(thread))
}

/// Whether a call may take the place of the one that this thread has not left.
#[cold]
fn take_over(thread: &ThreadState, from_mpi: impl FnOnce() -> bool) -> bool {
    if from_mpi() {
        return false;
    }
    leave(thread);
    true
}

/// Notes that this thread is about to begin an operation. The clock is read after this, so that whoever
/// flushes either sees the note or has read the clock before.
#[inline(always)]
pub fn begin(thread: &ThreadState) -> InFlight<'_> {
    match thread.in_flight.get() {
        Some(word) => word.store(AT_AN_UNKNOWN_TIME, Release),
        None => begin_without_word(thread),
    }
    compiler_fence(SeqCst);
    InFlight(thread)
}

#[inline(always)]
fn leave(thread: &ThreadState) {
    match thread.in_flight.get() {
        Some(word) => word.store(0, Release),
        None => leave_without_word(thread),
    }
}

/// The first operation of a thread, which gets its word, or one of a thread for which there is none.
#[cold]
#[inline(never)]
fn begin_without_word(thread: &ThreadState) {
    let Some(core) = preloaded::get() else { return };
    // The first operation of all makes the spool, and has the helper started.
    let head = (core.spool)();
    if head.is_null() {
        NOWHERE.fetch_add(1, Relaxed);
        return;
    }
    (core.keep)();
    let word = (core.in_flight)(thread);
    // SAFETY: null, or a word of the spool, which stays as long as the process.
    if let Some(word) = unsafe { word.as_ref() } {
        word.store(AT_AN_UNKNOWN_TIME, Release);
        thread.in_flight.set(Some(word));
    } else if !thread.without_word.replace(true) {
        count_of_those_without(head).fetch_add(1, SeqCst);
    }
}

#[cold]
#[inline(never)]
fn leave_without_word(thread: &ThreadState) {
    if thread.without_word.replace(false)
        && let Some(core) = preloaded::get()
    {
        let head = (core.spool)();
        if !head.is_null() {
            count_of_those_without(head).fetch_sub(1, SeqCst);
        }
    }
}

fn count_of_those_without(head: *const AtomicU64) -> &'static AtomicU64 {
    // SAFETY: the head of the spool has so many words, and stays as long as the process.
    unsafe { &*head.add(layout::WITHOUT_WORD) }
}

/// The thread is inside a wrapper. What MPI (or another tool) calls meanwhile is not counted again.
///
/// When the wrapper is left by a C++ exception, dropping this ends it; when it is left by `longjmp`, or its
/// stack is never returned to, the next call of the program does ([`enter`]).
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
        if let Some(word) = self.0.in_flight.get() {
            word.store(ticks, Relaxed);
        }
    }
}

impl Drop for InFlight<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        leave(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::enter;
    use crate::process::thread::with;

    #[test]
    fn only_the_outermost_wrapper_counts() {
        with(|thread| {
            let entered = enter(thread, || true);
            assert!(entered.is_some());
            assert!(enter(thread, || true).is_none(), "MPI calls itself");
            drop(entered);
            assert!(enter(thread, || true).is_some());
        });
    }

    #[test]
    fn a_wrapper_that_was_left_without_notice_gives_way_to_the_next_call_of_the_program() {
        with(|thread| {
            std::mem::forget(enter(thread, || true));
            assert!(enter(thread, || true).is_none(), "nobody can tell");
            assert!(enter(thread, || false).is_some(), "the program calls");
            assert!(enter(thread, || true).is_some(), "and that call was left");
        });
    }
}
