//! FTIO as a second witness for periodicity: the future work of the paper.
//!
//! It judges bytes over time by their spectrum (Tarraf et al., IPDPS 2024: a frequency whose Z-score stands out), and knows nothing
//! of segments. Bytes over time are those of the merged operations, or, where the log has one, of the heatmap, which Darshan
//! records independently of open and close, and in which it may see what the counters hide.

use crate::category::Direction;
use crate::operation::Operation;
use crate::run::{Bins, Run};
use crate::temporality::spread;
use ftio_core::signal::Signal;
use ftio_core::spectral::SpectralDetector;
use serde::{Deserialize, Serialize};

/// Fewer operations, or bursts of a heatmap, cannot show three periods, which FTIO wants to see; it need not be asked.
const LEAST_BURSTS: usize = 3;
/// Samples for each operation, as FTIO takes them for each phase.
const SAMPLES_PER_OPERATION: usize = 16;
/// Samples at least and at most.
const SAMPLES: (usize, usize) = (256, 16384);

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
        let (from, count, bytes, width) = match evidence {
            Evidence::Operations(operations) => {
                let samples = (SAMPLES_PER_OPERATION * operations.len()).clamp(SAMPLES.0, SAMPLES.1);
                let samples = samples.next_power_of_two();
                let bytes = spread(operations, run.run_time, samples);
                (Shown::Operations, operations.len(), bytes, run.run_time / samples as f64)
            }
            Evidence::Bins(bins) => {
                let of = match direction {
                    Direction::Read => &bins.read,
                    Direction::Write => &bins.write,
                };
                let bytes = of.iter().map(|bytes| *bytes as f64).collect();
                (Shown::Heatmap, bursts(of), bytes, bins.width)
            }
        };
        let bin = (width * 1e9).round() as i64;
        if count < LEAST_BURSTS || bin <= 0 {
            return Witness { period: None, confidence: 0.0, from };
        }
        let samples = bytes.iter().map(|bytes: &f64| bytes / width).collect();
        let signal = Signal { start: 0, bin, samples, abstraction_error: 0.0 };
        let spectral = SpectralDetector::default().detect(&signal);
        let period = spectral.frequency.map(|frequency| 1.0 / frequency);
        Witness { period, confidence: spectral.confidence(), from }
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
