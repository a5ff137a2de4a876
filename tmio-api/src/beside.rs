//! Bytes that passed through functions that are looked at, and were not recorded: on pipes and sockets, in
//! files that are left out, inside MPI-IO. What the kernel counts more than these and the records went past
//! all of them.

use crate::thread::ThreadState;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use tmio_trace::Direction;

/// Threads add in different lines of the cache, as far as there are enough.
#[repr(align(64))]
struct Line {
    read: AtomicU64,
    written: AtomicU64,
}

const LINES: usize = 16;
static SUMS: [Line; LINES] = [const { Line { read: AtomicU64::new(0), written: AtomicU64::new(0) } }; LINES];

/// Calls are looked at.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Notes that calls are looked at from here on: before, nothing can be said.
pub fn watch() {
    WATCHED.store(true, Relaxed);
}

/// Notes that a call of this thread has moved bytes that are not recorded.
#[inline]
pub fn add(thread: &ThreadState, direction: Direction, bytes: i64) {
    let Ok(bytes) = u64::try_from(bytes) else { return };
    let place = std::ptr::from_ref(thread).addr().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
    if let Some(line) = SUMS.get(place % LINES) {
        let sum = if direction == Direction::Read { &line.read } else { &line.written };
        sum.fetch_add(bytes, Relaxed);
    }
}

/// Bytes that were read and written so far. `None`: nobody has looked.
pub(crate) fn sums() -> Option<(u64, u64)> {
    WATCHED.load(Relaxed).then(all)
}

fn all() -> (u64, u64) {
    let sum = |of: fn(&Line) -> &AtomicU64| SUMS.iter().map(|line| of(line).load(Relaxed)).sum();
    (sum(|line| &line.read), sum(|line| &line.written))
}

/// In the child of a fork, which begins with none.
pub(crate) fn forget() {
    for line in &SUMS {
        line.read.store(0, Relaxed);
        line.written.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread;

    #[test]
    fn all_threads_are_added_up() {
        let before = all();
        let work = || {
            thread::with(|thread| {
                add(thread, Direction::Read, 5);
                add(thread, Direction::Write, 7);
                add(thread, Direction::Write, -1);
            });
        };
        let threads: Vec<_> = (0..20).map(|_| std::thread::spawn(work)).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(all(), (before.0 + 100, before.1 + 140));
    }
}
