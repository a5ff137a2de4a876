//! What the metadata server had to bear (paper III-B3c): opens, closes and seeks, second by second.
//!
//! Darshan tells when the first and the last open of a file were, and how many there were in between; they
//! are taken as evenly spread. Seeks are taken as made with the opens (so does the paper), closes as one for
//! each open. A *second* is one of those into which the run is divided from its begin, and a *spike* such a
//! second with many requests.

use crate::category::Load;
use crate::thresholds::Thresholds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs of more seconds (46 days) are counted as if all that follows happened in the last.
const MAX_SECONDS: usize = 4_000_000;

/// So many requests, evenly from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requests {
    /// The first, in seconds since the job began.
    pub start: f64,
    /// The last.
    pub end: f64,
    /// How many.
    pub count: u64,
}

/// Requests of the same second become one.
pub(crate) fn thin_out(metadata: &mut Vec<Requests>) {
    metadata.sort_unstable_by(|a, b| a.start.total_cmp(&b.start).then(a.end.total_cmp(&b.end)));
    let short = |requests: &Requests| requests.end as u64 == requests.start as u64;
    metadata.dedup_by(|next, last| {
        let same = short(next) && short(last) && next.start as u64 == last.start as u64;
        if same {
            last.count = last.count.saturating_add(next.count);
        }
        same
    });
}

/// Counts requests in every second of a run.
#[derive(Clone, Debug)]
pub struct Seconds {
    bins: Vec<u64>,
    total: u64,
}

impl Seconds {
    /// For a run of that length.
    pub fn new(run_time: f64) -> Self {
        let count = (run_time.max(0.0) as usize).saturating_add(1).min(MAX_SECONDS);
        Seconds { bins: vec![0; count], total: 0 }
    }

    /// Add requests. All of them are counted in whole numbers.
    pub fn add(&mut self, requests: &Requests) {
        if requests.count == 0 {
            return;
        }
        self.total = self.total.saturating_add(requests.count);
        let last = self.bins.len() - 1;
        let bin = |time: f64| (time.max(0.0) as usize).min(last);
        let (from, to) = (bin(requests.start), bin(requests.end));
        let span = requests.end - requests.start;
        if from >= to || span <= 0.0 {
            self.bins[from] = self.bins[from].saturating_add(requests.count);
        } else if requests.count <= (to - from) as u64 {
            // Fewer than seconds: one by one, the first at the start and the last at the end.
            let steps = (requests.count - 1).max(1) as f64;
            for i in 0..requests.count {
                let at = bin(requests.start + span * (i as f64 / steps));
                self.bins[at] = self.bins[at].saturating_add(1);
            }
        } else {
            let mut before = 0;
            for at in from..=to {
                let share = ((at as f64 + 1.0 - requests.start) / span).clamp(0.0, 1.0);
                let until = if at == to { requests.count } else { (share * requests.count as f64) as u64 };
                self.bins[at] = self.bins[at].saturating_add(until.saturating_sub(before));
                before = before.max(until);
            }
        }
    }

    /// What the rules say of the sum.
    pub fn judge(&self, ranks: u64, run_time: f64, thresholds: &Thresholds) -> Metadata {
        let highest = self.bins.iter().copied().max().unwrap_or(0);
        let spikes = self.bins.iter().filter(|count| **count as f64 >= thresholds.spike).count() as u64;
        let rate = if run_time > 0.0 { self.total as f64 / run_time } else { self.total as f64 };
        let mut loads = Vec::new();
        if (self.total as f64) < thresholds.metadata_per_rank * ranks as f64 {
            loads.push(Load::InsignificantLoad);
        } else {
            let several = spikes as f64 >= thresholds.spikes;
            if highest as f64 > thresholds.high_spike {
                loads.push(Load::HighSpike);
            }
            if several && rate >= thresholds.density {
                loads.push(Load::HighDensity);
            }
            if several {
                loads.push(Load::MultipleSpikes);
            }
        }
        Metadata { operations: self.total, highest, spikes, rate, loads }
    }
}

/// The load on the metadata server.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Metadata {
    /// Opens, closes and seeks.
    pub operations: u64,
    /// Those of the second that had the most.
    pub highest: u64,
    /// Seconds with many.
    pub spikes: u64,
    /// Operations a second, on average.
    pub rate: f64,
    /// Its categories.
    pub loads: Vec<Load>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(requests: &[(f64, f64, u64)], ranks: u64, run_time: f64) -> Metadata {
        let mut seconds = Seconds::new(run_time);
        for &(start, end, count) in requests {
            seconds.add(&Requests { start, end, count });
        }
        seconds.judge(ranks, run_time, &Thresholds::default())
    }

    #[test]
    fn fewer_operations_than_ranks_are_insignificant() {
        assert_eq!(judged(&[(1.0, 1.0, 99)], 100, 10.0).loads, [Load::InsignificantLoad]);
        assert_eq!(judged(&[(1.0, 1.0, 100)], 100, 10.0).loads, []);
        // Even if they come at once.
        assert_eq!(judged(&[(1.0, 1.0, 999)], 1000, 10.0).loads, [Load::InsignificantLoad]);
        assert_eq!(judged(&[], 0, 0.0).loads, []);
    }

    #[test]
    fn a_high_spike_is_more_than_250_in_a_second() {
        assert_eq!(judged(&[(1.5, 1.5, 250)], 1, 1e3).loads, []);
        assert_eq!(judged(&[(1.5, 1.5, 251)], 1, 1e3).loads, [Load::HighSpike]);
        // The same in two seconds.
        assert_eq!(judged(&[(1.5, 1.5, 126), (2.5, 2.5, 125)], 1, 1e3).loads, []);
    }

    #[test]
    fn multiple_spikes_are_5_of_50() {
        let at = |seconds: u64, count: u64| -> Vec<(f64, f64, u64)> {
            (0..seconds).map(|i| (10.0 * i as f64, 10.0 * i as f64, count)).collect()
        };
        assert_eq!(judged(&at(5, 50), 1, 1e3).loads, [Load::MultipleSpikes]);
        assert_eq!(judged(&at(4, 50), 1, 1e3).loads, []);
        assert_eq!(judged(&at(5, 49), 1, 1e3).loads, []);
    }

    #[test]
    fn high_density_is_50_a_second_throughout() {
        let of = |per_second: u64, last: u64| {
            let mut requests: Vec<(f64, f64, u64)> =
                (0..9).map(|i| (f64::from(i), f64::from(i), per_second)).collect();
            requests.push((9.0, 9.0, last));
            judged(&requests, 1, 10.0).loads
        };
        assert_eq!(of(50, 50), [Load::HighDensity, Load::MultipleSpikes]);
        assert_eq!(of(50, 49), [Load::MultipleSpikes]);
        // Dense on average, but in fewer than five seconds.
        let four: Vec<(f64, f64, u64)> = (0..4).map(|i| (f64::from(i), f64::from(i), 200)).collect();
        assert_eq!(judged(&four, 1, 10.0).loads, []);
    }

    #[test]
    fn requests_are_spread_and_none_is_lost() {
        let mut seconds = Seconds::new(10.0);
        seconds.add(&Requests { start: 0.5, end: 4.5, count: 400 });
        assert_eq!(&seconds.bins[..6], [50, 100, 100, 100, 50, 0]);
        let mut seconds = Seconds::new(100.0);
        seconds.add(&Requests { start: 10.0, end: 90.0, count: 3 });
        assert_eq!((seconds.bins[10], seconds.bins[50], seconds.bins[90]), (1, 1, 1));
        seconds.add(&Requests { start: 10.0, end: 90.0, count: 1 });
        seconds.add(&Requests { start: 0.0, end: 1e12, count: 1001 });
        assert_eq!(seconds.bins.iter().sum::<u64>(), 1005);
    }
}
