//! Time that a program lost waiting for nonblocking operations.
//!
//! One `MPI_Waitall` may complete many operations. Each of them records the same wait, but the program lost
//! that time once. So the lost time of a thread is the length of the *union* of its waits, not the sum over
//! operations. A thread is in one call at a time: its waits are either the same or apart, and operations of
//! one wait are recorded one after the other.

use std::collections::BTreeMap;
use tmio_trace::{Flags, Operation};

/// Sums up the lost time of all threads of all ranks.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// The last wait of each thread of each rank.
    last: BTreeMap<(u32, u16), (i64, i64)>,
    lost: i128,
}

impl Waiting {
    /// Take in a nonblocking operation.
    pub fn add(&mut self, rank: u32, op: &Operation) {
        let Some(times) = op.nonblocking else { return };
        if op.flags.contains(Flags::TESTED) {
            // The tracer has divided the time in tests among the operations tested.
            self.lost += i128::from(times.test_time.max(0));
            return;
        }
        self.lost += length(op.start, times.issued);
        self.wait(rank, op.thread, (times.deadline, op.end));
    }

    /// Take in a wait of a thread; what of it is new, in nanoseconds.
    pub fn wait(&mut self, rank: u32, thread: u16, (from, to): (i64, i64)) -> i128 {
        let last = self.last.entry((rank, thread)).or_insert((from, from));
        let shared = length(from.max(last.0), to.min(last.1));
        let new = length(from, to) - shared;
        self.lost += new;
        *last = if shared > 0 { (from.min(last.0), to.max(last.1)) } else { (from, to) };
        new
    }

    /// Nanoseconds lost in all.
    pub fn lost(&self) -> i128 {
        self.lost
    }
}

fn length(from: i64, to: i64) -> i128 {
    (i128::from(to) - i128::from(from)).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tmio_trace::{AsyncTimes, Direction, FilePointer, OpKind};

    /// Issued for 1 ns at `start`, waited for from `deadline` to `end`.
    fn op(thread: u16, start: i64, deadline: i64, end: i64) -> Operation {
        Operation {
            kind: OpKind::data(Direction::Write, FilePointer::Explicit, true, false, false),
            flags: Flags::default(),
            thread,
            file: 1,
            offset: 0,
            bytes: 10,
            start,
            end,
            nonblocking: Some(AsyncTimes {
                issued: start + 1,
                deadline,
                pending_until: start + 1,
                test_time: 0,
            }),
        }
    }

    fn lost(ops: &[(u32, Operation)]) -> i128 {
        let mut waiting = Waiting::default();
        ops.iter().for_each(|(rank, op)| waiting.add(*rank, op));
        waiting.lost()
    }

    #[test]
    fn one_wait_counts_once_per_thread() {
        let shared = [op(0, 0, 100, 150), op(0, 10, 100, 150), op(0, 20, 100, 150)];
        assert_eq!(lost(&shared.map(|op| (0, op))), 3 + 50);
        // The same times on another rank or thread are another wait.
        assert_eq!(lost(&[(0, op(0, 0, 100, 150)), (1, op(0, 0, 100, 150))]), 2 + 100);
        assert_eq!(lost(&[(0, op(0, 0, 100, 150)), (0, op(1, 0, 100, 150))]), 2 + 100);
        // Waits apart add up; overlapping ones do so once.
        assert_eq!(lost(&[(0, op(0, 0, 100, 150)), (0, op(0, 1, 200, 210))]), 2 + 60);
        assert_eq!(lost(&[(0, op(0, 0, 100, 150)), (0, op(0, 1, 120, 170))]), 2 + 70);
        // Nothing to wait for.
        assert_eq!(lost(&[(0, op(0, 0, 100, 90))]), 1);
    }

    #[test]
    fn tests_count_as_recorded() {
        let mut tested = op(0, 0, 100, 150);
        tested.flags = Flags::TESTED;
        if let Some(times) = &mut tested.nonblocking {
            times.test_time = 7;
        }
        assert_eq!(lost(&[(0, tested)]), 7);
    }
}
