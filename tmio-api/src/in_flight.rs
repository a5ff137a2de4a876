//! A thread inside a wrapper, and an operation of it that is not recorded yet.

use crate::buffers;
use crate::thread::ThreadState;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::compiler_fence;

/// A time before every operation, and not the 0 that means "none".
const AT_AN_UNKNOWN_TIME: u64 = 1;

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

    /// Notes that this thread is about to begin an operation. The clock is read after this, so that whoever
    /// flushes either sees the note or has read the clock before.
    #[inline(always)]
    pub fn begin(&self) -> InFlight<'_> {
        match self.slot() {
            Some(slot) => slot.begin(AT_AN_UNKNOWN_TIME),
            None => self.begin_without_slot(),
        }
        compiler_fence(SeqCst);
        InFlight(self)
    }

    #[inline(always)]
    fn leave(&self) {
        match self.slot() {
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
}

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
        if let Some(slot) = self.0.slot() {
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
    use crate::thread::with;

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
