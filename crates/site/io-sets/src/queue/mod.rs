//! The queue of one server: which request is handled next.
//!
//! Report §3.5. Requests carry the id of their job and its priority, and a priority is a set. Two levels:
//!
//! - **between sets** by credits: each set may have as many requests handled in a row as its priority is
//!   larger than the smallest one waiting, which gets one; then it is the next set's turn. So the requests
//!   handled, and with them the bandwidth, are in proportion to the priorities. A set with nothing left to
//!   handle gives up the rest of its credit;
//! - **within a set** exclusively: jobs in the order of their ids, the next one only when the one before has
//!   nothing waiting.
//!
//! A server that has anything waiting handles something: exclusivity never makes it idle. Each server has a
//! queue of its own and decides alone.
//!
//! # Nobody starves
//!
//! The report leaves open what happens when a job never stops making requests, or when those before it in its
//! set keep the server busy together: a job may wait for ever. [`Patience`] is the remedy. A job that has
//! waited for a part of its set's period without being served comes before the others of its set, whoever has
//! waited longest first, for at most as long as it has had to wait. Jobs are still served one at a time; only
//! the order changes, and only where somebody would wait unreasonably long. The server needs to know no more
//! than before: the priority names the set, and the set its period. `docs/set-10.md` has measurements.

mod jobs;

use crate::rules::{Priority, Set};
use jobs::Jobs;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

/// The id of a job, as requests carry it.
pub type JobId = u32;

/// Nanoseconds of a server's clock.
pub type Nanoseconds = u64;

/// How long a job may wait without being served while others of its set are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Patience {
    /// For ever, as in the report.
    Endless,
    /// For this part of the set's period (10ⁱ seconds).
    OfPeriod(f64),
}

impl Patience {
    /// In the set of this priority.
    fn length(self, priority: Priority) -> Option<Nanoseconds> {
        match self {
            Patience::Endless => None,
            Patience::OfPeriod(part) => {
                // A job of unknown period is a set of its own, unless ids collide: then as if its priority
                // meant a period.
                let period = Set::of_priority(priority).map_or(1.0 / priority.value(), Set::period);
                Some((part.max(0.0) * period * 1e9) as Nanoseconds)
            }
        }
    }
}

impl Default for Patience {
    /// For a whole period, which costs nothing where the jobs of a set have the time to do their I/O one
    /// after the other.
    fn default() -> Self {
        Patience::OfPeriod(1.0)
    }
}

/// The queue of one server. `R` is whatever the server needs to handle a request.
#[derive(Clone, Debug)]
pub struct Queue<R> {
    /// Sets with requests waiting.
    sets: BTreeMap<Priority, Jobs<R>>,
    /// Sets without, for what they know about their jobs.
    resting: BTreeMap<Priority, Jobs<R>>,
    patience: Patience,
    /// The set whose turn it is, and how many requests it may still have handled.
    current: Option<(Priority, u64)>,
    waiting: usize,
}

/// What is handled next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next<R> {
    /// Whose it is.
    pub job: JobId,
    /// Its set.
    pub priority: Priority,
    /// The request.
    pub request: R,
}

impl<R> Default for Queue<R> {
    fn default() -> Self {
        Queue::new(Patience::default())
    }
}

impl<R> Queue<R> {
    /// An empty queue.
    pub fn new(patience: Patience) -> Self {
        Queue { sets: BTreeMap::new(), resting: BTreeMap::new(), patience, current: None, waiting: 0 }
    }

    /// A request arrives at the time `now`.
    pub fn push(&mut self, job: JobId, priority: Priority, request: R, now: Nanoseconds) {
        let jobs = self.sets.entry(priority).or_insert_with(|| {
            self.resting.remove(&priority).unwrap_or_else(|| Jobs::new(self.patience.length(priority)))
        });
        jobs.push(job, request, now);
        self.waiting += 1;
    }

    /// The request to handle at the time `now`; `None` only if none is waiting.
    pub fn pop(&mut self, now: Nanoseconds) -> Option<Next<R>> {
        let (priority, credit) = match self.current {
            Some((priority, credit)) if credit > 0 && self.sets.contains_key(&priority) => (priority, credit),
            current => {
                let priority = self.following(current.map(|(priority, _)| priority))?;
                (priority, self.credit(priority))
            }
        };
        self.current = Some((priority, credit - 1));
        let jobs = self.sets.get_mut(&priority)?;
        let (job, request) = jobs.pop(now)?;
        if jobs.is_empty()
            && let Some(jobs) = self.sets.remove(&priority)
            && self.patience != Patience::Endless
            && Set::of_priority(priority).is_some()
        {
            self.resting.insert(priority, jobs);
        }
        self.waiting -= 1;
        Some(Next { job, priority, request })
    }

    /// How many requests are waiting.
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Is none waiting?
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The set after this one: the next smaller priority, or again the largest.
    fn following(&self, current: Option<Priority>) -> Option<Priority> {
        let below = current.and_then(|priority| self.sets.range((Unbounded, Excluded(priority))).next_back());
        below.or_else(|| self.sets.last_key_value()).map(|(priority, _)| *priority)
    }

    /// How many requests of a set are handled in a row: scaled so that the smallest priority waiting gets
    /// one.
    fn credit(&self, priority: Priority) -> u64 {
        let smallest = self.sets.first_key_value().map_or(priority, |(smallest, _)| *smallest);
        let (own, smallest) = (u64::from(priority.stored()), u64::from(smallest.stored()));
        ((own + smallest / 2) / smallest).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Set;

    fn of(period: f64) -> Priority {
        Set::of_period(period).unwrap().priority()
    }

    fn jobs(queue: &mut Queue<u32>) -> Vec<JobId> {
        std::iter::from_fn(|| queue.pop(0).map(|next| next.job)).collect()
    }

    #[test]
    fn figure_2_one_job_after_the_other() {
        let mut queue = Queue::default();
        for (job, request) in [(2, 1), (1, 1), (2, 2), (1, 2), (1, 3), (2, 3)] {
            queue.push(job, of(10.0), request, 0);
        }
        assert_eq!(queue.len(), 6);
        let order: Vec<_> =
            std::iter::from_fn(|| queue.pop(0).map(|next| (next.job, next.request))).collect();
        assert_eq!(order, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]);
        assert!(queue.is_empty());
    }

    #[test]
    fn figure_3_two_for_one() {
        let mut queue = Queue::default();
        let (low, high) = (Priority::from_stored(7).unwrap(), Priority::from_stored(14).unwrap());
        for request in 0..6 {
            queue.push(1, low, request, 0);
            queue.push(2, high, request, 0);
        }
        assert_eq!(jobs(&mut queue), [2, 2, 1, 2, 2, 1, 2, 2, 1, 1, 1, 1]);
    }

    #[test]
    fn new_requests_of_the_first_job_come_first() {
        let mut queue = Queue::default();
        queue.push(1, of(10.0), 0, 0);
        queue.push(2, of(10.0), 0, 0);
        assert_eq!(queue.pop(0).unwrap().job, 1);
        assert_eq!(queue.pop(0).unwrap().job, 2, "the server does not wait for more of job 1");
        queue.push(2, of(10.0), 1, 0);
        queue.push(1, of(10.0), 1, 0);
        assert_eq!(jobs(&mut queue), [1, 2]);
    }

    #[test]
    fn credit_may_be_spent_by_several_jobs_of_a_set() {
        let mut queue = Queue::default();
        for request in 0..4 {
            queue.push(1, of(10.0), request, 0);
            queue.push(2, of(10.0), request, 0);
            queue.push(3, of(100.0), request, 0);
        }
        assert_eq!(jobs(&mut queue), [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
        for request in 0..12 {
            queue.push(1 + request / 6, of(10.0), request, 0);
            queue.push(3, of(100.0), request, 0);
        }
        // Ten, of two jobs, then one of the set with the smallest priority.
        assert_eq!(&jobs(&mut queue)[..13], &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 2, 2]);
    }
}
