//! Nonblocking phases: requests of a rank that overlap in time, taken together.
//!
//! A program that issues 32 requests, computes, and waits for all of them needs the same bandwidth to hide
//! its I/O as one that issues a single large request. So what it requires, and what it got, are those of the
//! union: the bytes of all requests of a phase over the time from the first issue to the first deadline, or
//! to the last completion.

use std::collections::BTreeMap;
use tmio_trace::Operation;

/// A rank's phases beyond this number are closed, the earliest ones first. Requests are recorded as they
/// complete, so that none comes for a phase that is many phases ago.
const OPEN_PHASES: usize = 1024;

/// Sums over the phases of all ranks.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// Of each rank, phases by the time of their first issue; they do not overlap.
    open: BTreeMap<u32, BTreeMap<i64, Phase>>,
    closed: Totals,
}

/// Nanoseconds and bytes over all phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// From the first issue to the first deadline.
    pub required_time: i128,
    /// From the first issue to the last completion.
    pub actual_time: i128,
    /// Bytes of the requests that were tested before they were finished …
    pub tested_bytes: u128,
    /// … and the time from the first issue of these to the last unsuccessful test.
    pub tested_time: i128,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    first_deadline: i64,
    last_done: i64,
    /// Bytes, first issue and last unsuccessful test of requests that were tested.
    tested: Option<(u128, i64, i64)>,
}

impl Phases {
    /// Take in a nonblocking operation.
    pub fn add(&mut self, rank: u32, op: &Operation) {
        let Some(times) = op.nonblocking else { return };
        let phases = self.open.entry(rank).or_default();
        let was_tested = times.pending_until > times.issued;
        let mut start = op.start;
        let mut phase = Phase {
            first_deadline: times.deadline.max(op.start),
            last_done: op.end.max(op.start),
            tested: was_tested.then_some((u128::from(op.bytes), op.start, times.pending_until)),
        };
        // Phases that it overlaps become one with it: the last ones that begin before its end.
        while let Some((&begin, &other)) = phases.range(..=phase.last_done).next_back()
            && other.last_done >= start
        {
            phases.remove(&begin);
            start = start.min(begin);
            phase = phase.with(other);
        }
        phases.insert(start, phase);
        while phases.len() > OPEN_PHASES
            && let Some((start, phase)) = phases.pop_first()
        {
            self.closed.add(start, phase);
        }
    }

    /// The sums so far.
    pub fn totals(&self) -> Totals {
        let mut totals = self.closed;
        for (&start, &phase) in self.open.values().flatten() {
            totals.add(start, phase);
        }
        totals
    }
}

impl Phase {
    fn with(self, other: Phase) -> Phase {
        let tested = match (self.tested, other.tested) {
            (Some((a, a_from, a_to)), Some((b, b_from, b_to))) => {
                Some((a + b, a_from.min(b_from), a_to.max(b_to)))
            }
            (one, another) => one.or(another),
        };
        Phase {
            first_deadline: self.first_deadline.min(other.first_deadline),
            last_done: self.last_done.max(other.last_done),
            tested,
        }
    }
}

impl Totals {
    fn add(&mut self, start: i64, phase: Phase) {
        let length = |from: i64, to: i64| (i128::from(to) - i128::from(from)).max(0);
        self.required_time += length(start, phase.first_deadline);
        self.actual_time += length(start, phase.last_done);
        if let Some((bytes, from, to)) = phase.tested {
            self.tested_bytes += bytes;
            self.tested_time += length(from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeded_random::Random;
    use tmio_trace::{AsyncTimes, Direction, FilePointer, Flags, OpKind};

    fn op(start: i64, deadline: i64, end: i64) -> Operation {
        Operation {
            kind: OpKind::data(Direction::Write, FilePointer::Explicit, true, false, false),
            flags: Flags::default(),
            thread: 0,
            file: 1,
            offset: 0,
            bytes: 10,
            start,
            end,
            nonblocking: Some(AsyncTimes { issued: start, deadline, pending_until: start, test_time: 0 }),
        }
    }

    fn times(ops: &[(u32, Operation)]) -> (i128, i128) {
        let mut phases = Phases::default();
        ops.iter().for_each(|(rank, op)| phases.add(*rank, op));
        let totals = phases.totals();
        (totals.required_time, totals.actual_time)
    }

    #[test]
    fn overlapping_requests_count_once() {
        assert_eq!(times(&[(0, op(0, 500, 510))]), (500, 510));
        let many: Vec<_> = (0..32).map(|i| (0, op(i, 500, 510 + i))).collect();
        assert_eq!(times(&many), (500, 541));
        // Apart, or of another rank, they are phases of their own.
        assert_eq!(times(&[(0, op(0, 50, 60)), (0, op(100, 150, 160))]), (100, 120));
        assert_eq!(times(&[(0, op(0, 50, 60)), (1, op(0, 50, 60))]), (100, 120));
        // One that overlaps two joins them.
        assert_eq!(times(&[(0, op(0, 50, 60)), (0, op(100, 150, 160)), (0, op(55, 105, 110))]), (50, 160));
    }

    /// The obvious way: sort by start, and merge.
    fn slow(mut ops: Vec<Operation>) -> (i128, i128) {
        ops.sort_by_key(|op| op.start);
        let mut merged: Vec<(i64, i64, i64)> = Vec::new();
        for op in ops {
            let deadline = op.nonblocking.unwrap().deadline;
            match merged.last_mut() {
                Some(last) if op.start <= last.2 => {
                    *last = (last.0, last.1.min(deadline), last.2.max(op.end));
                }
                _ => merged.push((op.start, deadline, op.end)),
            }
        }
        merged.iter().fold((0, 0), |sum, m| (sum.0 + i128::from(m.1 - m.0), sum.1 + i128::from(m.2 - m.0)))
    }

    #[test]
    fn any_order_gives_the_same_as_sorting() {
        let mut random = Random::new(7);
        for _ in 0..200 {
            let ops: Vec<Operation> = (0..40)
                .map(|_| {
                    let start = random.below(1000) as i64;
                    let deadline = start + random.below(20) as i64;
                    op(start, deadline, deadline + random.below(20) as i64)
                })
                .collect();
            let tagged: Vec<_> = ops.iter().map(|op| (3, *op)).collect();
            assert_eq!(times(&tagged), slow(ops));
        }
    }
}
