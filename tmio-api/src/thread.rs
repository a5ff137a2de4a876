//! What each thread remembers: whether it is inside an MPI call already, and where its records go.
//!
//! Nothing here has a destructor, so that a thread may end at any time and in any order.

use crate::recorder;
use crate::slot::Slot;
use std::cell::Cell;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// What one thread remembers. Fetching it costs a call, so wrappers do it once.
#[derive(Debug)]
pub struct ThreadState {
    /// Address of the marker in the frame of the outermost wrapper; 0 outside.
    outermost: Cell<usize>,
    pub(crate) slot: Cell<Option<&'static Slot>>,
    number: Cell<u16>,
    /// Since when it is in an operation without having a slot; 0: it is not.
    homeless: Cell<u64>,
    /// The file that the thread used last: handle, state of the file table, number.
    pub(crate) last_file: Cell<(usize, u64, u32)>,
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState {
            outermost: Cell::new(0),
            slot: Cell::new(None),
            number: Cell::new(u16::MAX),
            homeless: Cell::new(0),
            last_file: Cell::new((0, u64::MAX, 0)),
        }
    };
}

static THREADS: AtomicU16 = AtomicU16::new(0);

/// Runs `body` with what the calling thread remembers.
#[inline]
pub fn with<T>(body: impl FnOnce(&ThreadState) -> T) -> T {
    STATE.with(body)
}

impl ThreadState {
    /// Enters the outermost wrapper of this thread; `None` inside another one. `marker` lies in the
    /// wrapper's own frame.
    #[inline(always)]
    pub fn enter<'a>(&'a self, marker: &'a Cell<usize>) -> Option<Entered<'a>> {
        let here = std::ptr::from_ref(marker).addr();
        let outer = self.outermost.get();
        if outer != 0 && here < outer && is_live(outer) {
            return None;
        }
        marker.set(here ^ LIVE);
        self.outermost.set(here);
        Some(Entered { marker, outermost: &self.outermost })
    }

    /// Notes that this thread is inside an operation since `ticks`, until [`leave`](Self::leave).
    #[inline]
    pub fn begin(&self, ticks: u64) {
        match self.slot.get() {
            Some(slot) => slot.begin(ticks),
            None => self.begin_without_slot(ticks),
        }
    }

    /// The operation that [`begin`](Self::begin) announced is recorded, or will not be.
    #[inline]
    pub fn leave(&self) {
        match self.slot.get() {
            Some(slot) => slot.end(),
            None => self.leave_without_slot(),
        }
    }

    #[cold]
    fn begin_without_slot(&self, ticks: u64) {
        if let Some(recorder) = recorder::recorder() {
            recorder.begin_without_slot(self, ticks);
        }
    }

    #[cold]
    fn leave_without_slot(&self) {
        if let Some(recorder) = recorder::recorder() {
            recorder.without_slot.leave(self);
        }
    }

    pub(crate) fn homeless_since(&self) -> Option<u64> {
        Some(self.homeless.get()).filter(|&ticks| ticks != 0)
    }

    pub(crate) fn set_homeless(&self, since: Option<u64>) {
        self.homeless.set(since.unwrap_or(0));
    }

    /// Number of the thread within its process, given out at its first record.
    #[inline(always)]
    pub(crate) fn number(&self) -> u16 {
        match self.number.get() {
            u16::MAX => self.new_number(),
            number => number,
        }
    }

    #[cold]
    fn new_number(&self) -> u16 {
        let next = THREADS.fetch_update(Relaxed, Relaxed, |n| (n < u16::MAX - 1).then_some(n + 1));
        let number = next.unwrap_or(u16::MAX - 1);
        self.number.set(number);
        number
    }
}

/// Marks the frame of a wrapper, so that what MPI (or another tool) calls inside is not counted again.
///
/// The marker lies in the wrapper's own frame and holds a value that only a live wrapper puts
/// there. When the frame was left by a C++ exception, dropping this takes the mark away; when it
/// was left by `longjmp`, nothing runs, but the next wrapper finds a mark that is not below it on
/// the stack, or that later frames have overwritten, and knows that it is stale.
#[derive(Debug)]
pub struct Entered<'a> {
    marker: &'a Cell<usize>,
    outermost: &'a Cell<usize>,
}

/// What a live marker holds, combined with its own address.
const LIVE: usize = 0x746d_696f_5f6c_6976;

/// A place for the mark in the caller's frame.
pub const fn marker() -> Cell<usize> {
    Cell::new(0)
}

#[cold]
fn is_live(marker: usize) -> bool {
    // SAFETY: `marker` is the address of an aligned word on this thread's stack, in a frame above
    // the current one: that memory is mapped and readable, whatever holds it now.
    let value = unsafe { std::ptr::read_volatile(std::ptr::with_exposed_provenance::<usize>(marker)) };
    value == marker ^ LIVE
}

impl Drop for Entered<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.marker.set(0);
        self.outermost.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn nested() -> bool {
        let marker = marker();
        with(|thread| thread.enter(&marker).is_none())
    }

    #[test]
    fn only_the_outermost_wrapper_counts() {
        let outer = marker();
        with(|thread| {
            let entered = thread.enter(&outer);
            assert!(entered.is_some());
            assert!(nested());
            drop(entered);
            assert!(!nested());
        });
    }

    #[test]
    fn a_frame_that_was_left_without_notice_is_recognised() {
        #[inline(never)]
        fn leave_without_notice(depth: usize) -> usize {
            if depth > 0 {
                return std::hint::black_box(leave_without_notice(depth - 1)) + 1;
            }
            let marker = marker();
            with(|thread| std::mem::forget(thread.enter(&marker)));
            0
        }
        leave_without_notice(3);
        assert!(!nested(), "a shallower call");
        leave_without_notice(0);
        #[inline(never)]
        fn deeper(depth: usize) -> bool {
            let noise = std::hint::black_box([depth; 64]);
            if depth > 0 { deeper(depth - 1) && noise[0] == depth } else { !nested() }
        }
        assert!(deeper(5), "a deeper call over the remains of the frame");
    }
}
