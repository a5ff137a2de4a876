//! Jobs that start before the first of the queue, because they do not delay it.

use super::{Batch, balance};
use crate::engine::EventKind;
use crate::job::Job;

/// When the first of the queue can start by the estimates, and the nodes that it leaves free then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reservation {
    pub time: f64,
    pub extra: u32,
}

/// The earliest time at which `need` nodes are free, if some are now and others are later.
pub(super) fn earliest(mut ends: Vec<(f64, u32)>, mut available: u32, need: u32, now: f64) -> Reservation {
    if available >= need {
        return Reservation { time: now, extra: available - need };
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ends = ends.into_iter().peekable();
    while let Some((time, nodes)) = ends.next() {
        available += nodes;
        let more_now = ends.peek().is_some_and(|(next, _)| *next == time);
        if available >= need && !more_now {
            return Reservation { time, extra: available - need };
        }
    }
    Reservation { time: f64::INFINITY, extra: 0 }
}

impl Batch<'_> {
    /// The earliest time at which `need` nodes are free, if running jobs take as long as estimated and give
    /// back now what they were lent.
    pub(super) fn reservation(&self, need: u32) -> Reservation {
        let available = self.available();
        if available >= need {
            return Reservation { time: self.now, extra: available - need };
        }
        let lent = |place: usize| if self.mebf() { self.running[place].lent() } else { 0 };
        let ends = (0..self.running.len())
            .map(|place| (self.running[place].frees(self.now), self.running[place].nodes - lent(place)))
            .collect();
        earliest(ends, available, need, self.now)
    }

    /// Start jobs behind the first one; has any started?
    pub(super) fn backfill(&mut self, head: usize) -> bool {
        let mut available = self.available();
        if available == 0 || self.queue.len() < 2 {
            return false;
        }
        let need = self.jobs[head].preferred.min(self.settings.nodes);
        let mut reserved = self.reservation(need);
        let mut any = false;
        if self.settings.balance {
            let Some(best) = self.balanced(available, reserved) else { return false };
            self.start(best, self.jobs[best].preferred, EventKind::Backfill);
            return true;
        }
        let mut place = 1;
        while place < self.queue.len() && available > 0 {
            let index = self.queue[place];
            let job = &self.jobs[index];
            if !self.may_start(job, available, reserved) {
                place += 1;
                continue;
            }
            let nodes = job.preferred;
            if self.now + job.estimate > reserved.time {
                reserved.extra -= nodes;
            }
            available -= nodes;
            self.start(index, nodes, EventKind::Backfill);
            any = true;
        }
        any
    }

    /// A job that fits now, and is over before the first of the queue can start or leaves it enough nodes.
    fn may_start(&self, job: &Job, available: u32, reserved: Reservation) -> bool {
        let nodes = job.preferred;
        nodes <= available && (self.now + job.estimate <= reserved.time || nodes <= reserved.extra)
    }

    /// Of the first jobs that may start, the one that leaves the machine's I/O close to the workload's and
    /// came first, or else the one that brings it closest.
    fn balanced(&self, available: u32, reserved: Reservation) -> Option<usize> {
        let allowed = self.queue[1..].iter().copied();
        let allowed = allowed.filter(|index| self.may_start(&self.jobs[*index], available, reserved));
        let close = balance::TOLERANCE * self.balance.workload();
        let mut best: Option<(f64, usize)> = None;
        for index in allowed.take(balance::CHOICE) {
            let away = self.away_with(&self.jobs[index], self.jobs[index].preferred);
            if away <= close {
                return Some(index);
            }
            if best.is_none_or(|(least, _)| away < least) {
                best = Some((away, index));
            }
        }
        best.map(|(_, index)| index)
    }
}
