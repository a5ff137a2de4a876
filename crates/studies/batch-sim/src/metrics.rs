//! What came out of a simulation, in numbers.

use crate::engine::Outcome;
use crate::job::Job;
use schemars::JsonSchema;
use serde::Serialize;

/// Shorter jobs count as if they took this long, so that a short wait of a tiny job is no catastrophe.
const MIN_BOUNDED: f64 = 10.0;

/// Numbers about a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Metrics {
    /// Seconds from the first submission to the last end.
    pub makespan: f64,
    /// Seconds from submission to start, on average.
    pub mean_wait: f64,
    /// Mean over jobs of (end − submission) / time on the preferred nodes, where times under 10 s count as
    /// 10 s, and results under 1 as 1.
    pub mean_bounded_slowdown: f64,
    /// What 95 % of the jobs do not exceed.
    pub p95_bounded_slowdown: f64,
    /// Share of the machine's node-seconds, over the makespan, in which jobs ran.
    pub utilisation: f64,
    /// The same for the work done: node-seconds that the jobs would need on their preferred nodes.
    pub useful_utilisation: f64,
    /// Node-seconds that changes of size cost.
    pub lost_node_seconds: f64,
    /// Mean over time of the sum of the running jobs' bandwidths, in bytes per second.
    pub bandwidth_mean: f64,
    /// Its largest value.
    pub bandwidth_peak: f64,
    /// Its variance over the makespan.
    pub bandwidth_variance: f64,
    /// How often running jobs were expanded.
    pub expansions: usize,
    /// How often running jobs were shrunk.
    pub shrinks: usize,
}

impl Metrics {
    /// Of a simulation of these jobs on a machine with so many nodes.
    pub fn of(jobs: &[Job], outcome: &Outcome, nodes: u32) -> Self {
        let count = jobs.len().max(1) as f64;
        let first = outcome.jobs.iter().map(|run| run.submit).fold(f64::INFINITY, f64::min);
        let last = outcome.jobs.iter().map(|run| run.end).fold(f64::NEG_INFINITY, f64::max);
        let makespan = (last - first).max(0.0);
        let pairs = || jobs.iter().zip(&outcome.jobs);
        let mut slowdowns: Vec<f64> =
            pairs().map(|(job, run)| ((run.end - run.submit) / job.time.max(MIN_BOUNDED)).max(1.0)).collect();
        slowdowns.sort_by(f64::total_cmp);
        let capacity = f64::from(nodes) * makespan;
        let of_capacity = |value: f64| if capacity > 0.0 { value / capacity } else { 0.0 };
        let course = bandwidth(jobs, outcome);
        let (mean, variance) = moments(&course, first, last);
        let of = |kind| outcome.events.iter().filter(|event| event.kind == kind).count();
        Metrics {
            makespan,
            mean_wait: outcome.jobs.iter().map(|run| run.start - run.submit).sum::<f64>() / count,
            mean_bounded_slowdown: slowdowns.iter().sum::<f64>() / count,
            p95_bounded_slowdown: statistics::quantile(&slowdowns, 0.95),
            utilisation: of_capacity(outcome.jobs.iter().map(crate::JobRun::node_seconds).sum()),
            useful_utilisation: of_capacity(jobs.iter().map(|job| job.time * f64::from(job.preferred)).sum()),
            lost_node_seconds: outcome.lost,
            bandwidth_mean: mean,
            bandwidth_peak: course.iter().map(|(_, value)| *value).fold(0.0, f64::max),
            bandwidth_variance: variance,
            expansions: of(crate::EventKind::Expand),
            shrinks: of(crate::EventKind::Shrink),
        }
    }
}

/// The sum of the running jobs' bandwidths: a value from each time on.
pub fn bandwidth(jobs: &[Job], outcome: &Outcome) -> Vec<(f64, f64)> {
    course(outcome, |place, nodes| jobs[place].mean_bandwidth(nodes))
}

/// The nodes on which jobs run: a value from each time on.
pub fn nodes_in_use(outcome: &Outcome) -> Vec<(f64, f64)> {
    course(outcome, |_, nodes| f64::from(nodes))
}

fn course(outcome: &Outcome, value: impl Fn(usize, u32) -> f64) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (place, run) in outcome.jobs.iter().enumerate() {
        for (from, to, nodes) in run.stretches() {
            let value = value(place, nodes);
            steps.push((from, value));
            steps.push((to, -value));
        }
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut out: Vec<(f64, f64)> = Vec::new();
    // Added up afresh where nothing is left, so that rounding does not pile up.
    let mut sum = 0.0;
    for (time, step) in steps {
        sum += step;
        match out.last_mut() {
            Some(last) if last.0 == time => last.1 = sum,
            _ => out.push((time, sum)),
        }
    }
    out.iter_mut().for_each(|(_, value)| *value = value.max(0.0));
    out
}

/// Mean and variance over time.
fn moments(course: &[(f64, f64)], first: f64, last: f64) -> (f64, f64) {
    let length = last - first;
    if !(length > 0.0 && length.is_finite()) {
        return (0.0, 0.0);
    }
    let over_time = |of: &dyn Fn(f64) -> f64| {
        let ends = course.iter().skip(1).map(|(time, _)| *time).chain([last]);
        let inside: f64 = course.iter().zip(ends).map(|((from, value), to)| of(*value) * (to - from)).sum();
        let before = course.first().map_or(length, |(from, _)| from - first);
        (inside + of(0.0) * before) / length
    };
    let mean = over_time(&|value| value);
    (mean, over_time(&|value| (value - mean).powi(2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Policy, Settings, simulate};

    #[test]
    fn two_jobs_by_hand() {
        let mut jobs = vec![Job::rigid(1, 0.0, 2, 100.0), Job::rigid(2, 0.0, 1, 20.0)];
        (jobs[0].io_share, jobs[0].bandwidth) = (0.5, 8.0);
        let settings = Settings { nodes: 2, policy: Policy::Fcfs, ..Settings::default() };
        let metrics = Metrics::of(&jobs, &simulate(&jobs, &settings).unwrap(), 2);
        assert_eq!((metrics.makespan, metrics.mean_wait), (120.0, 50.0));
        assert_eq!(metrics.mean_bounded_slowdown, (1.0 + 6.0) / 2.0);
        assert_eq!(metrics.p95_bounded_slowdown, 1.0 + 0.95 * 5.0);
        assert!((metrics.utilisation - 220.0 / 240.0).abs() < 1e-12);
        // 4 B/s for 100 of 120 s.
        let mean = 4.0 * 100.0 / 120.0;
        assert!((metrics.bandwidth_mean - mean).abs() < 1e-12);
        let variance = (100.0 * (4.0f64 - mean).powi(2) + 20.0 * mean * mean) / 120.0;
        assert!((metrics.bandwidth_variance - variance).abs() < 1e-9);
    }
}
