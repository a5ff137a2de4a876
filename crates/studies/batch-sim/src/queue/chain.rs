//! Rates, and the distribution that they lead to.

use schemars::JsonSchema;
use serde::Serialize;

/// A kind of jobs, and how many of them run.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Member {
    /// How many jobs.
    pub jobs: usize,
    /// Seconds between two phases of I/O, on average.
    pub compute: f64,
    /// Seconds of a phase of I/O if nobody else does any, on average.
    pub service: f64,
}

/// A birth-and-death chain: the length of the queue goes up and down by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Rate from length q to q + 1, for q from 0.
    pub up: Vec<f64>,
    /// Rate from length q + 1 to q, for q from 0.
    pub down: Vec<f64>,
}

impl Chain {
    /// M/M/1/K: arrivals at a constant rate, one server, room for `most`.
    pub fn with_room_for(most: usize, arrival: f64, service: f64) -> Self {
        Chain { up: vec![arrival; most], down: vec![service; most] }
    }

    /// Jobs that compute, come to their I/O, and are served one after the other.
    ///
    /// Jobs of several kinds are mixed: the rate of a computing job is the mean over the jobs, and so is the
    /// time of a phase, weighted with how often each kind comes.
    pub fn of_jobs(members: &[Member]) -> Self {
        let jobs: usize = members.iter().map(|member| member.jobs).sum();
        let rate: f64 = members.iter().map(|member| member.jobs as f64 / member.compute).sum();
        let time: f64 = members.iter().map(|m| m.jobs as f64 / m.compute * m.service).sum::<f64>() / rate;
        let each = rate / jobs.max(1) as f64;
        let up = (0..jobs).map(|queued| (jobs - queued) as f64 * each).collect();
        Chain { up, down: vec![1.0 / time; jobs] }
    }

    /// The longest queue.
    pub fn most(&self) -> usize {
        self.up.len()
    }

    /// How likely each length is in the long run: π(q + 1) = π(q) · up / down.
    pub fn stationary(&self) -> Vec<f64> {
        // By logarithms, so that long queues do not overflow.
        let mut logs = vec![0.0];
        for (up, down) in self.up.iter().zip(&self.down) {
            logs.push(logs[logs.len() - 1] + (up / down).ln());
        }
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// The mean length in the long run.
    pub fn mean(&self) -> f64 {
        self.stationary().iter().enumerate().map(|(length, share)| length as f64 * share).sum()
    }
}

/// Factors for compute and service times that bring the mean length of the queue closest to the measured one
/// (least squares over the given lengths, by golden sections in turn).
///
/// One mean cannot tell two factors apart, so the measured variance is used as well.
pub fn fit(members: &[Member], mean: f64, variance: f64) -> [f64; 2] {
    let error = |factors: [f64; 2]| {
        let scaled: Vec<Member> = members
            .iter()
            .map(|m| Member { compute: m.compute * factors[0], service: m.service * factors[1], ..*m })
            .collect();
        let chain = Chain::of_jobs(&scaled);
        let shares = chain.stationary();
        let found: f64 = shares.iter().enumerate().map(|(q, share)| q as f64 * share).sum();
        let spread: f64 =
            shares.iter().enumerate().map(|(q, share)| (q as f64 - found).powi(2) * share).sum();
        (found - mean).powi(2) + (spread.sqrt() - variance.max(0.0).sqrt()).powi(2)
    };
    let mut factors = [1.0, 1.0];
    for _ in 0..20 {
        for side in 0..2 {
            let at = |log: f64| {
                let mut tried = factors;
                tried[side] = log.exp();
                error(tried)
            };
            factors[side] = golden(at, factors[side].ln() - 1.0, factors[side].ln() + 1.0).exp();
        }
    }
    factors
}

/// Where a function is least between two places.
fn golden(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const PART: f64 = 0.618_033_988_749_894_9;
    for _ in 0..40 {
        let (left, right) = (high - PART * (high - low), low + PART * (high - low));
        if of(left) <= of(right) {
            high = right;
        } else {
            low = left;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M/M/1/K in the textbook's form: π(q) = (1 − ρ) ρ^q / (1 − ρ^(K + 1)).
    #[test]
    fn the_closed_form_of_a_queue_with_room_for_k() {
        for (arrival, service, room) in [(0.5, 1.0, 5), (0.9, 1.0, 20), (2.0, 1.0, 8), (0.01, 3.0, 400)] {
            let load: f64 = arrival / service;
            let of = |q: usize| (1.0 - load) * load.powi(q as i32) / (1.0 - load.powi(room as i32 + 1));
            let found = Chain::with_room_for(room, arrival, service).stationary();
            for (q, share) in found.iter().enumerate() {
                assert!((share - of(q)).abs() <= 1e-12, "{arrival} {q}: {share} {}", of(q));
            }
        }
        let even = Chain::with_room_for(4, 1.0, 1.0).stationary();
        assert!(even.iter().all(|share| (share - 0.2).abs() < 1e-12));
    }

    /// Machines that fail and one that repairs them: π(q) ∝ N! / (N − q)! · ρ^q.
    #[test]
    fn jobs_are_a_finite_source() {
        let chain = Chain::of_jobs(&[Member { jobs: 3, compute: 10.0, service: 2.0 }]);
        let weights = [1.0, 3.0 * 0.2, 6.0 * 0.04, 6.0 * 0.008];
        let sum: f64 = weights.iter().sum();
        for (share, weight) in chain.stationary().iter().zip(weights) {
            assert!((share - weight / sum).abs() < 1e-12);
        }
    }

    #[test]
    fn a_fit_finds_what_a_queue_was_made_with() {
        let guess = [Member { jobs: 6, compute: 20.0, service: 2.0 }];
        let truth = Chain::of_jobs(&[Member { jobs: 6, compute: 14.0, service: 3.0 }]);
        let (mean, shares) = (truth.mean(), truth.stationary());
        let variance = shares.iter().enumerate().map(|(q, share)| (q as f64 - mean).powi(2) * share).sum();
        let [compute, service] = fit(&guess, mean, variance);
        let fitted = Member { jobs: 6, compute: 20.0 * compute, service: 2.0 * service };
        assert!((Chain::of_jobs(&[fitted]).mean() / mean - 1.0).abs() < 0.01, "{compute} {service}");
    }
}
