//! Many operations as one record: what a trace still tells when it may not grow as before.
//!
//! Operations of one kind, file and thread that begin in the same stretch of time become one that reaches
//! from the first start to the last end and has the bytes of all. How many there were and how long they took
//! is told beside it. Of nonblocking ones, the time from issue to deadline is the sum over those that do not
//! overlap, so that the bandwidth that they required stays right; the time that they cost is in `test_time`.

use crate::{AsyncTimes, Flags, Operation};
use std::collections::HashMap;
use tmio_spool::cell::identity;

/// What a record stands for that is more than one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Number of operations.
    pub count: u32,
    /// Sum of their durations, in nanoseconds.
    pub time: i64,
}

impl Merged {
    /// An operation by itself.
    pub fn one(op: &Operation) -> Self {
        Self { count: 1, time: op.end.saturating_sub(op.start) }
    }
}

/// Collects operations that are to be merged.
#[derive(Debug, Default)]
pub struct Merger {
    /// Length of the stretches of time, in nanoseconds.
    width: i64,
    groups: Vec<Group>,
    places: HashMap<(u64, i64), usize>,
}

#[derive(Debug)]
struct Group {
    op: Operation,
    merged: Merged,
    /// First issue, first deadline and last end of the overlapping requests that came last …
    phase: (i64, i64, i64),
    /// … and the time from issue to deadline of those before.
    windows: i64,
    wait: (i64, i64),
    lost: i64,
}

impl Group {
    fn new(op: Operation) -> Self {
        let deadline = op.nonblocking.map_or(op.end, |times| times.deadline);
        let mut group = Group {
            op: Operation { offset: -1, ..op },
            merged: Merged { count: 0, time: 0 },
            phase: (op.start, deadline, op.end),
            windows: 0,
            wait: (deadline, deadline),
            lost: 0,
        };
        group.op.bytes = 0;
        group.add(&op);
        group
    }

    fn add(&mut self, op: &Operation) {
        let sum = &mut self.op;
        sum.bytes = sum.bytes.saturating_add(op.bytes);
        (sum.start, sum.end) = (sum.start.min(op.start), sum.end.max(op.end));
        self.merged.count = self.merged.count.saturating_add(1);
        self.merged.time = self.merged.time.saturating_add(op.end.saturating_sub(op.start).max(0));
        let Some(times) = op.nonblocking else { return };
        let (issue, deadline, end) = self.phase;
        if op.start > end {
            self.windows += (deadline - issue).max(0);
            self.phase = (op.start, times.deadline, op.end);
        } else {
            self.phase = (issue.min(op.start), deadline.min(times.deadline), end.max(op.end));
        }
        if op.flags.contains(Flags::TESTED) {
            self.lost += times.test_time.max(0);
            return;
        }
        // One wait for several operations counts once.
        let (from, to) = (times.deadline, op.end);
        let shared = (to.min(self.wait.1) - from.max(self.wait.0)).max(0);
        self.lost += (times.issued - op.start).max(0) + (to - from).max(0) - shared;
        self.wait = if shared > 0 { (from.min(self.wait.0), to.max(self.wait.1)) } else { (from, to) };
    }

    fn finish(mut self) -> (Operation, Merged) {
        if let Some(times) = &mut self.op.nonblocking {
            let (issue, deadline, _) = self.phase;
            let window = self.windows + (deadline - issue).max(0);
            let start = self.op.start;
            let deadline = start.saturating_add(window).min(self.op.end);
            *times = AsyncTimes { issued: start, deadline, pending_until: start, test_time: self.lost };
            self.op.flags = self.op.flags.with(Flags::TESTED);
        }
        (self.op, self.merged)
    }
}

impl Merger {
    /// Starts over, for at most `count` operations and stretches of `width` nanoseconds. `false`: there is
    /// no memory for it.
    pub fn restart(&mut self, count: usize, width: i64) -> bool {
        self.width = width.max(1);
        self.groups.clear();
        self.places.clear();
        // Most operations have their like.
        let room = count.min(1024);
        self.groups.try_reserve(room).is_ok() && self.places.try_reserve(room).is_ok()
    }

    /// Takes an operation in. `false`: there is no memory for it.
    pub fn push(&mut self, op: &Operation) -> bool {
        let flags = if op.kind.is_nonblocking() { op.flags.with(Flags::TESTED) } else { op.flags };
        let identity = identity(op.file, op.kind, flags, op.thread);
        let key = (identity, op.start.div_euclid(self.width));
        if let Some(group) = self.places.get(&key).and_then(|&place| self.groups.get_mut(place)) {
            group.add(op);
            return true;
        }
        let room = self.groups.try_reserve(1).is_ok() && self.places.try_reserve(1).is_ok();
        if room {
            self.places.insert(key, self.groups.len());
            self.groups.push(Group::new(*op));
        }
        room
    }

    /// What became of them, in the order in which they began.
    pub fn finish(&mut self) -> impl Iterator<Item = (Operation, Merged)> {
        self.groups.sort_unstable_by_key(|group| group.op.start);
        self.groups.drain(..).map(Group::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, FilePointer, OpKind};

    fn write(start: i64, end: i64, file: u32, nonblocking: bool) -> Operation {
        Operation {
            kind: OpKind::data(Direction::Write, FilePointer::Explicit, nonblocking, false, false),
            flags: Flags::default(),
            thread: 0,
            file,
            offset: 77,
            bytes: 10,
            start,
            end,
            nonblocking: nonblocking.then_some(AsyncTimes {
                issued: start + 1,
                deadline: end - 5,
                pending_until: start + 1,
                test_time: 0,
            }),
        }
    }

    fn merge(width: i64, ops: &[Operation]) -> Vec<(Operation, Merged)> {
        let mut merger = Merger::default();
        assert!(merger.restart(ops.len(), width) && ops.iter().all(|op| merger.push(op)));
        merger.finish().collect()
    }

    #[test]
    fn bytes_times_and_numbers_stay() {
        let ops = [
            write(5, 9, 1, false),
            write(20, 22, 1, false),
            write(30, 31, 2, false),
            write(101, 104, 1, false),
        ];
        let merged = merge(100, &ops);
        let seen: Vec<_> = merged
            .iter()
            .map(|(op, merged)| (op.file, op.start, op.end, op.bytes, merged.count, merged.time))
            .collect();
        assert_eq!(seen, [(1, 5, 22, 20, 2, 6), (2, 30, 31, 10, 1, 1), (1, 101, 104, 10, 1, 3)]);
        assert!(merged.iter().all(|(op, _)| op.offset == -1 && op.nonblocking.is_none()));
    }

    #[test]
    fn what_nonblocking_operations_required_and_cost_stays() {
        // Two that overlap and have one wait, then one by itself.
        let ops = [write(0, 30, 1, true), write(10, 30, 1, true), write(50, 70, 1, true)];
        let [(op, merged)] = merge(1000, &ops).try_into().unwrap();
        let times = op.nonblocking.unwrap();
        assert_eq!((op.start, op.end, op.bytes, merged.count, merged.time), (0, 70, 30, 3, 70));
        assert_eq!(times.deadline - op.start, 25 + 15);
        // Three calls of 1 ns, and two waits of 5 ns.
        assert_eq!((op.lost_time(), times.pending_until), (3 + 10, times.issued));
    }
}
