//! What each thread remembers: whether it is inside an MPI call already, and where its records go.
//!
//! Nothing here has a destructor, so that a thread may end at any time and in any order.

use crate::recorder;
use crate::slot::Slot;
use std::cell::Cell;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// What one thread remembers, in one line of the cache. Finding it may cost a call (not on x86-64), so wrappers do it once.
#[derive(Debug)]
#[repr(align(64))]
pub struct ThreadState {
    /// Address of the marker in the frame of the outermost wrapper; 0 outside.
    outermost: Cell<usize>,
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
    // SAFETY: null is no reference, so that zeros are the `None` of an option of them; the compiler checks it here.
    assert!(unsafe { std::mem::zeroed::<Option<Slot>>() }.is_none());
};

static THREADS: AtomicU16 = AtomicU16::new(0);

/// Runs `body` with what the calling thread remembers.
#[inline(always)]
pub fn with<T>(body: impl FnOnce(&ThreadState) -> T) -> T {
    // SAFETY: the place belongs to the calling thread, which lives until `body` returns, and holds a state from the beginning.
    body(unsafe { &*place() })
}

/// Thread-local variables of a library are found by a call into the dynamic linker, which costs as much as all the rest of a
/// record. This one lies at a fixed distance from the thread pointer ("initial exec"), for which Rust has no word.
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
    #[inline(never)]
    fn begin_without_slot(&self, ticks: u64) {
        if let Some(recorder) = recorder::recorder() {
            recorder.begin_without_slot(self, ticks);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_without_slot(&self) {
        if let Some(recorder) = recorder::recorder() {
            recorder.without_slot.leave(self);
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
    pub(crate) fn number(&self) -> u16 {
        match self.number.get() {
            0 => self.new_number(),
            number => number - 1,
        }
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
