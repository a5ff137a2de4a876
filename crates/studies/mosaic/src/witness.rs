//! FTIO as a second witness for periodicity: the future work of the paper.
//!
//! It is asked for the period of the bytes over time, exactly as `ftio` would be, and knows nothing of
//! segments. Bytes over time are those of the merged operations, or, where the log has one, of the heatmap,
//! which Darshan records independently of open and close, and in which it may see what the counters hide.

use crate::category::Direction;
use crate::operation::{Bins, Operation};
use ftio_core::detect::{Options, detect_period};
use ftio_core::signal::runs::runs_above;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sources::request::{Class, Mode, Request, Span};
use sources::time::nanoseconds;
use sources::{Job, Source, SourceError};

/// Fewer operations, or bursts of a heatmap, cannot show three periods, which FTIO wants to see; it need not
/// be asked.
const MIN_BURSTS: usize = 3;

/// What FTIO says.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Witness {
    /// The period in seconds; `None` if not periodic, or if there is no single one.
    pub period: Option<f64>,
    /// All periods: two at once, that of the larger volume first, or several that follow one another.
    #[serde(default)]
    pub periods: Vec<f64>,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
    /// What it was shown.
    pub from: Shown,
}

/// What a witness was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
    pub(crate) fn ask(evidence: Evidence<'_>, direction: Direction, run_time: f64) -> Witness {
        let class = match direction {
            Direction::Read => Class::ReadSync,
            Direction::Write => Class::WriteSync,
        };
        let (from, count, requests, bin) = match evidence {
            Evidence::Operations(operations) => {
                let requests = operations.iter().map(|operation| {
                    Request::new(
                        nanoseconds(operation.start),
                        nanoseconds(operation.end),
                        operation.bytes,
                        class,
                    )
                });
                (Shown::Operations, operations.len(), requests.collect(), None)
            }
            Evidence::Bins(bins) => {
                let of = match direction {
                    Direction::Read => &bins.read,
                    Direction::Write => &bins.write,
                };
                let edge = |index: usize| nanoseconds(index as f64 * bins.width);
                let filled = of.iter().enumerate().filter(|(_, bytes)| **bytes > 0);
                let requests = filled.map(|(i, &bytes)| Request::new(edge(i), edge(i + 1), bytes, class));
                (Shown::Heatmap, bursts(of), requests.collect(), Some(nanoseconds(bins.width)))
            }
        };
        let nothing = Witness { period: None, periods: Vec::new(), confidence: 0.0, from };
        if count < MIN_BURSTS || bin.is_some_and(|bin| bin <= 0) {
            return nothing;
        }
        let end = Some(nanoseconds(run_time)).filter(|end| *end > 0);
        let job = Job { start: Some(0), end, complete: true, sampled: bin, ..Job::default() };
        let mode = if class == Class::ReadSync { Mode::Read } else { Mode::Write };
        let options = Options { mode: Some(mode), ..Options::default() };
        match detect_period(OverTime { requests, bin, job }, &options) {
            Ok(Some(found)) => Witness {
                period: found.period,
                periods: found.periods.iter().map(|one| one.period).collect(),
                confidence: found.confidence,
                from,
            },
            _ => nothing,
        }
    }
}

/// Bytes over time, as FTIO reads them.
struct OverTime {
    requests: Vec<Request>,
    /// Width of the bins that the bytes were in before, in nanoseconds.
    bin: Option<i64>,
    job: Job,
}

impl Source for OverTime {
    fn bin(&self) -> Option<i64> {
        self.bin
    }

    fn read(self: Box<Self>, _: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        visit(&self.requests);
        Ok(self.job)
    }
}

/// How often bins rise above nothing, or above their mean, whichever is more often.
fn bursts(bins: &[u64]) -> usize {
    let bins: Vec<f64> = bins.iter().map(|bytes| *bytes as f64).collect();
    let mean = bins.iter().sum::<f64>() / bins.len().max(1) as f64;
    runs_above(&bins, 0.0).count().max(runs_above(&bins, mean).count())
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
