//! FTIO as a second witness for periodicity: the future work of the paper.
//!
//! It hears the same operations, or, where the log has one, the heatmap: bytes over time that Darshan recorded
//! independently of open and close, in which it may see what the counters hide.

use crate::category::Direction;
use crate::operation::Operation;
use crate::run::{Bins, Run};
use ftio_core::detect::{Options, detect};
use ftio_core::request::{Class, Mode, Request};
use ftio_core::source::{InMemory, Job};
use serde::{Deserialize, Serialize};

/// Fewer operations, or bursts of a heatmap, cannot show three periods, which FTIO wants to see; it need not be asked.
const LEAST_BURSTS: usize = 3;

/// What FTIO says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// The period in seconds; `None` if not periodic.
    pub period: Option<f64>,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// What it was shown.
    pub from: Shown,
}

/// What a witness was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// The merged operations.
    Operations,
    /// Darshan's heatmap.
    Heatmap,
}

/// What there is to show.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Evidence<'a> {
    Operations(&'a [Operation]),
    Bins(&'a Bins),
}

impl Witness {
    pub(crate) fn ask(evidence: Evidence<'_>, direction: Direction, run: &Run) -> Witness {
        let (class, mode) = match direction {
            Direction::Read => (Class::ReadSync, Mode::Read),
            Direction::Write => (Class::WriteSync, Mode::Write),
        };
        let request = |start: f64, end: f64, bytes: u64| {
            Request::new(nanoseconds(start), nanoseconds(end), bytes, class)
        };
        let (from, bursts, requests, frequency): (Shown, usize, Vec<Request>, Option<f64>) = match evidence {
            Evidence::Operations(operations) => {
                let requests = operations.iter().map(|op| request(op.start, op.end, op.bytes)).collect();
                (Shown::Operations, operations.len(), requests, None)
            }
            Evidence::Bins(bins) => {
                let of = match direction {
                    Direction::Read => &bins.read,
                    Direction::Write => &bins.write,
                };
                let bin = |(at, bytes): (usize, &u64)| {
                    request(at as f64 * bins.width, (at + 1) as f64 * bins.width, *bytes)
                };
                let requests = of.iter().enumerate().filter(|(_, bytes)| **bytes > 0).map(bin).collect();
                (Shown::Heatmap, bursts(of), requests, Some(1.0 / bins.width))
            }
        };
        let silent = Witness { period: None, confidence: 0.0, from };
        if bursts < LEAST_BURSTS {
            return silent;
        }
        let job = Job {
            ranks: u32::try_from(run.ranks).unwrap_or(u32::MAX),
            start: Some(0),
            end: Some(nanoseconds(run.run_time)),
            complete: true,
            ..Job::default()
        };
        let options = Options { mode: Some(mode), frequency, ..Options::default() };
        match detect("", InMemory { requests: &requests, job }, &options) {
            Ok(analysis) => {
                Witness { period: analysis.detection.period, confidence: analysis.detection.confidence, from }
            }
            Err(_) => silent,
        }
    }
}

/// How often bins rise above nothing, or above their mean, whichever is more often.
fn bursts(bins: &[u64]) -> usize {
    let rises = |above: f64| {
        let mut was = false;
        bins.iter().filter(|bytes| !std::mem::replace(&mut was, **bytes as f64 > above) && was).count()
    };
    let mean = bins.iter().map(|bytes| *bytes as f64).sum::<f64>() / bins.len().max(1) as f64;
    rises(0.0).max(rises(mean))
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_counted_from_nothing_or_from_the_mean() {
        assert_eq!(bursts(&[]), 0);
        assert_eq!(bursts(&[5, 5, 5, 5]), 1);
        assert_eq!(bursts(&[1, 0, 1, 0, 9]), 3);
        assert_eq!(bursts(&[1, 9, 1, 9, 1, 9, 9]), 3);
    }
}
