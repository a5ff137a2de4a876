//! How far to trust a signature: leave each sample out and look what changes.

use crate::consensus::Consensus;
use crate::resample::shrink;
use crate::statistics::{correlation, cross_correlation, mean};
use serde::Serialize;

/// How far a signature can be trusted. 1 is perfect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// The cross-correlation with the truth that can be expected: how much the signature changes when a
    /// sample is left out, on average.
    pub mean: f64,
    /// The same for the sample whose absence changes most.
    pub minimum: f64,
    /// Mean correlation of each sample with the signature of the others. Noise of the sample lowers it,
    /// however good the signature is.
    pub agreement: f64,
    /// The least of these correlations.
    pub agreement_minimum: f64,
}

/// What an edge costs that a log of this resolution cannot place better, as a share of the length of the
/// bursts.
const PER_EDGE: f64 = 0.2;

/// A constant delay is no error of a signature; by that many seconds it is looked for.
const SHIFT: usize = 5;

impl Quality {
    /// Of a signature and its samples; also the agreement of each sample with the signature of the others.
    pub(crate) fn of(found: &Consensus, samples: &[Vec<f64>]) -> (Self, Vec<f64>) {
        let count = samples.len();
        if found.spans.is_empty() || count < 2 {
            return (Quality::default(), vec![0.0; count]);
        }
        let (mut expected, mut agreements) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for left_out in 0..count {
            let other = found.without(left_out, samples);
            // With one of s samples missing, a mean moves by its own error divided by √(s − 1): squared,
            // the jackknife's factor.
            let change = 1.0 - cross_correlation(&other, &found.series, SHIFT).0;
            expected.push(1.0 - (count - 1) as f64 * change);
            agreements.push(correlation(&other, &shrink(&samples[left_out], other.len())));
        }
        let length: f64 = found.spans.iter().map(|span| span.end - span.start).sum();
        let blurred = PER_EDGE * found.spans.len() as f64 / length.max(1.0);
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let quality = Quality {
            mean: (mean(&expected) - blurred).clamp(0.0, 1.0),
            minimum: (least(&expected) - blurred).clamp(0.0, 1.0),
            agreement: mean(&agreements),
            agreement_minimum: least(&agreements),
        };
        (quality, agreements)
    }
}
