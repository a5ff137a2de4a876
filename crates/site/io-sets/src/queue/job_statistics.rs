//! What each job got of a server, and how fast: the report's `beegfs-ctl --jobstats` (§3.5).

use super::{JobId, Nanoseconds};
use std::collections::{BTreeMap, VecDeque};

/// How finely bandwidth is kept.
const SLICE: Nanoseconds = 100_000_000;

/// How long it is kept.
const SLICES: u64 = 600;

/// Bytes handled for each job.
#[derive(Clone, Debug, Default)]
pub struct JobStatistics {
    jobs: BTreeMap<JobId, Handled>,
}

#[derive(Clone, Debug, Default)]
struct Handled {
    bytes: u64,
    requests: u64,
    /// Number of a slice, and the bytes in it.
    recent: VecDeque<(u64, u64)>,
}

impl JobStatistics {
    /// A request was handled at the time `now`.
    pub fn handled(&mut self, job: JobId, bytes: u64, now: Nanoseconds) {
        let handled = self.jobs.entry(job).or_default();
        handled.bytes += bytes;
        handled.requests += 1;
        let slice = now / SLICE;
        match handled.recent.back_mut() {
            Some((last, sum)) if *last >= slice => *sum += bytes,
            _ => handled.recent.push_back((slice, bytes)),
        }
        while handled.recent.front().is_some_and(|(first, _)| first + SLICES < slice) {
            handled.recent.pop_front();
        }
    }

    /// The jobs that have had anything handled.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.jobs.keys().copied()
    }

    /// Bytes handled for a job since it was first seen.
    pub fn bytes(&self, job: JobId) -> u64 {
        self.jobs.get(&job).map_or(0, |handled| handled.bytes)
    }

    /// Requests handled for a job since it was first seen.
    pub fn requests(&self, job: JobId) -> u64 {
        self.jobs.get(&job).map_or(0, |handled| handled.requests)
    }

    /// Bytes per second for a job over the last `window` (0.1 s to one minute) before `now`.
    pub fn bandwidth(&self, job: JobId, now: Nanoseconds, window: Nanoseconds) -> f64 {
        let slices = (window / SLICE).clamp(1, SLICES);
        // The slice of `now` is not over yet.
        let after = (now / SLICE).saturating_sub(slices);
        let within = |(slice, bytes): &(u64, u64)| (after..now / SLICE).contains(slice).then_some(*bytes);
        let bytes: u64 =
            self.jobs.get(&job).map_or(0, |handled| handled.recent.iter().filter_map(within).sum());
        bytes as f64 / (slices * SLICE) as f64 * 1e9
    }

    /// A job is over.
    pub fn forget(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_of_the_last_seconds() {
        let mut statistics = JobStatistics::default();
        let second = 1_000_000_000;
        for tenth in 0..100 {
            statistics.handled(1, 10, tenth * SLICE);
            statistics.handled(2, if tenth < 50 { 0 } else { 40 }, tenth * SLICE + 7);
        }
        assert_eq!(statistics.bandwidth(1, 10 * second, second), 100.0);
        assert_eq!(statistics.bandwidth(1, 10 * second, 5 * second), 100.0);
        assert_eq!(statistics.bandwidth(2, 10 * second, 10 * second), 200.0);
        assert_eq!(statistics.bandwidth(2, 12 * second, 4 * second), 200.0);
        assert_eq!(statistics.bandwidth(2, 20 * second, second), 0.0);
        assert_eq!(statistics.bandwidth(3, 10 * second, second), 0.0);
        assert_eq!((statistics.bytes(2), statistics.requests(2)), (2000, 100));
        statistics.forget(2);
        assert_eq!(statistics.jobs().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn what_is_old_is_dropped() {
        let mut statistics = JobStatistics::default();
        (0..10 * SLICES).for_each(|slice| statistics.handled(1, 1, slice * SLICE));
        assert!(statistics.jobs[&1].recent.len() as u64 <= SLICES + 1);
        assert_eq!(statistics.bytes(1), 10 * SLICES);
    }
}
