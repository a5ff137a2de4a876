//! Where and when to start a job: the partition and the moment with least interference (paper, 6.4).
//!
//! What a partition will have to do is expected to be what it did at the same time of day in the last days.
//! A job interferes as far as it and the others together want more than the partition can do.

use crate::server_log::ServerLog;
use crate::statistics::{mean, quantile_of};
use schemars::JsonSchema;
use serde::Serialize;

const DAY: f64 = 86_400.0;

/// A partition to choose.
#[derive(Clone, Debug)]
pub struct Partition {
    /// What it did.
    pub log: ServerLog,
    /// What it can do, in bytes per second.
    pub capacity: f64,
}

impl Partition {
    /// A partition that can do what it did in its best moments, unless its capacity is known.
    pub fn new(log: ServerLog, capacity: Option<f64>) -> Self {
        let capacity = capacity.unwrap_or_else(|| {
            let mut all: Vec<f64> = log.logged().collect();
            quantile_of(&mut all, 0.999)
        });
        Partition { log, capacity }
    }

    /// What others are expected to do, second by second from a moment on.
    pub fn expected(&self, from: f64, seconds: usize, days: usize) -> Vec<f64> {
        let usual = mean(&self.log.logged().collect::<Vec<_>>());
        let at = |second: usize| {
            let moment = from + second as f64 + 0.5;
            // Only what is past: a moment within the log is known from the days before as well.
            let past: Vec<f64> =
                (1..=days).filter_map(|day| self.log.at(moment - DAY * day as f64)).collect();
            if past.is_empty() { usual } else { mean(&past) }
        };
        (0..seconds).map(at).collect()
    }
}

/// A partition and a moment.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Placement {
    /// The partition.
    pub partition: String,
    /// Seconds to wait before the start.
    pub wait: f64,
    /// The share of the job's bytes that finds the partition busy.
    pub interference: f64,
    /// Seconds by which these bytes are late.
    pub delay: f64,
    /// Seconds saved, beside starting on the first partition at once; waiting is not counted.
    pub gain: f64,
    /// The partition's capacity in bytes per second.
    pub capacity: f64,
}

/// For each partition the best moment to start within `wait` seconds after `now`, the best partition first.
/// `days` are the days that are looked at.
pub fn place(
    signature: &[f64],
    partitions: &[Partition],
    now: f64,
    wait: f64,
    days: usize,
) -> Vec<Placement> {
    let longest = wait.max(0.0) as usize;
    let step = (longest / 600).max(1);
    let mut at_once = None;
    let mut out = Vec::new();
    for partition in partitions {
        let others = partition.expected(now, signature.len() + longest, days);
        let judged = |wait: usize| {
            let excess = excess(signature, &others[wait..], partition.capacity);
            let bytes = signature.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            Placement {
                partition: partition.log.name.clone(),
                wait: wait as f64,
                interference: excess / bytes,
                delay: if partition.capacity > 0.0 { excess / partition.capacity } else { 0.0 },
                gain: 0.0,
                capacity: partition.capacity,
            }
        };
        let first = judged(0);
        let usual = *at_once.get_or_insert(first.delay);
        let best = (1..=longest / step).map(|i| judged(i * step)).fold(first, |best, one| {
            // Waiting must be worth it: less interference, not rounding.
            if one.interference < best.interference - 1e-6 { one } else { best }
        });
        out.push(Placement { gain: usual - best.delay, ..best });
    }
    out.sort_by(|a, b| a.interference.total_cmp(&b.interference).then(a.wait.total_cmp(&b.wait)));
    out
}

/// Bytes of the job that find the partition busy.
fn excess(signature: &[f64], others: &[f64], capacity: f64) -> f64 {
    signature.iter().zip(others).map(|(own, others)| (own + others - capacity).max(0.0).min(*own)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two days in steps of 10 s; busy at full capacity from `from` to `to` seconds of each day.
    fn partition(name: &str, from: f64, to: f64) -> Partition {
        let line = |i: i32| {
            let time = 10.0 * f64::from(i);
            (time, if (from..to).contains(&(time % DAY)) { 10.0 } else { 1.0 })
        };
        Partition::new(ServerLog::new(name, (0..17_280).map(line).collect()).unwrap(), Some(10.0))
    }

    #[test]
    fn the_idle_partition_and_the_idle_time() {
        let signature = vec![5.0; 100];
        let now = 2.0 * DAY + 1000.0;
        let partitions = [partition("busy", 0.0, 1500.0), partition("idle", 50_000.0, 51_000.0)];
        let found = place(&signature, &partitions, now, 0.0, 2);
        assert_eq!((found[0].partition.as_str(), found[0].interference), ("idle", 0.0));
        assert!(found[1].interference > 0.99 && found[1].gain == 0.0);
        assert!((found[0].gain - 50.0).abs() < 1.0, "{found:?}");
        let found = place(&signature, &partitions[..1], now, 600.0, 2);
        assert!((found[0].wait - 500.0).abs() <= 2.0 && found[0].interference < 0.01, "{found:?}");
    }

    #[test]
    fn capacity_is_what_it_did_at_best() {
        let found = Partition::new(partition("x", 0.0, 5000.0).log, None);
        assert_eq!(found.capacity, 10.0);
    }
}
