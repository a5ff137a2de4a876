//! The thread's own memory: whether it is inside MPI already, and where its records go.

use crate::process::clock;
use crate::process::preloaded;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Release;
pub use tmio_spool::thread::ThreadState;
use tmio_trace::raw::TickScale;

/// Runs `body` with what the calling thread remembers.
#[inline(always)]
pub fn with<T>(body: impl FnOnce(&ThreadState) -> T) -> T {
    // SAFETY: the place belongs to the calling thread, which lives until `body` returns, and holds a state
    // from the beginning.
    body(unsafe { &*preloaded::thread_state() })
}

/// Number of the thread within its process, given out at its first record.
#[inline(always)]
pub fn number(thread: &ThreadState) -> u16 {
    thread.number_if_any().unwrap_or_else(|| new_number(thread))
}

#[cold]
#[inline(never)]
fn new_number(thread: &ThreadState) -> u16 {
    // The object gives them out; a record that finds no room does it.
    preloaded::get().map(|core| (core.in_flight)(thread));
    thread.number_if_any().unwrap_or(u16::MAX - 1)
}

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

/// Tells when the oldest split collective under way began, between its two calls.
pub fn set_split_since(ticks: Option<u64>) {
    if let Some(word) = split_since() {
        word.store(ticks.unwrap_or(0), Release);
    }
}

fn split_since() -> Option<&'static AtomicU64> {
    let head = (preloaded::get()?.spool)();
    if head.is_null() {
        return None;
    }
    // SAFETY: the head of the spool has so many words.
    Some(unsafe { &*head.add(tmio_spool::layout::SPLIT_SINCE) })
}
