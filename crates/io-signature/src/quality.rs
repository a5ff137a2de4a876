//! How far to trust a signature: leave each sample out in turn and look what changes.
//!
//! Four things make a signature differ from the truth, and each shows in the samples:
//!
//! * The log cannot say when, within a step, a burst begins or ends: every edge is a slope as wide as a step.
//! * The edges are means over samples. How far they move when a sample is left out gives their standard
//!   error (the jackknife: times √(s − 1)); a delay that all edges have in common is no error.
//! * A burst may be missing: then the samples have something in common that is not in the signature.
//! * Noise in the samples: how little each agrees with the signature of the others.
//!
//! A signature of energy E (its squares, less their mean) that differs from the truth by d correlates with
//! it by about 1 − Σd²/2E. The [`mean`](Quality::mean) quality is 1 less the sum of these four losses.

use crate::align::level_outside;
use crate::consensus::Consensus;
use crate::resample::shrink;
use crate::spans::Span;
use crate::statistics::{correlation, cross_correlation, mean};
use serde::Serialize;

/// How far a signature can be trusted. 1 is perfect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// The cross-correlation with the truth that can be expected.
    pub mean: f64,
    /// The least cross-correlation of the signature with one that lacks a sample.
    pub minimum: f64,
    /// Mean correlation of each sample with the signature of the others. Noise of the sample lowers it,
    /// however good the signature is.
    pub agreement: f64,
    /// The least of these correlations.
    pub agreement_minimum: f64,
}

/// The squared difference of a jump and a slope of width w is w/12.
const SLOPE: f64 = 1.0 / 12.0;

/// The other losses, as shares of what they would be without slopes. Least squares over simulated runs (all
/// applications, kinds and amounts of noise of trace-generator's `server_log`), with seeds that `scripts/bench
/// signature` does not use.
const MOVED: f64 = 0.23;
const LEFT_OVER: f64 = 0.09;
const DISAGREED: f64 = 0.013;

/// A constant delay is no error of a signature; by that many seconds it is looked for.
const SHIFT: usize = 5;

/// Seconds beside a burst that belong to its slopes.
const BESIDE: f64 = 4.0;

impl Quality {
    /// Of a signature and its samples, logged every `step` seconds; also the agreement of each sample with
    /// the signature of the others.
    pub(crate) fn of(found: &Consensus, samples: &[Vec<f64>], step: f64) -> (Self, Vec<f64>) {
        let count = samples.len();
        if found.spans.is_empty() || count < 2 {
            return (Quality::default(), vec![0.0; count]);
        }
        let (mut least, mut agreements, mut moved) = (1.0f64, Vec::new(), Vec::new());
        for left_out in 0..count {
            let (series, spans) = found.without(left_out, samples);
            least = least.min(cross_correlation(&series, &found.series, SHIFT).0);
            agreements.push(correlation(&series, &shrink(&samples[left_out], series.len())));
            moved.push(spans);
        }
        let agreement = mean(&agreements);
        let middle = mean(&found.series);
        let energy: f64 = found.series.iter().map(|value| (value - middle) * (value - middle)).sum();
        let squares: f64 = found.spans.iter().map(|span| 2.0 * span.height * span.height).sum();
        let loss = SLOPE * step.max(1.0) * squares / (2.0 * energy)
            + MOVED * movement(&found.spans, &moved) / (2.0 * energy)
            + LEFT_OVER * left_over(found) / energy
            + DISAGREED * (1.0 - agreement);
        let quality = Quality {
            mean: if loss.is_nan() { 0.0 } else { (1.0 - loss).clamp(0.0, 1.0) },
            minimum: least.clamp(0.0, 1.0),
            agreement,
            agreement_minimum: agreements.iter().copied().fold(f64::INFINITY, f64::min),
        };
        (quality, agreements)
    }
}

/// The sum over all edges of the standard error of their times, times the square of their height.
fn movement(spans: &[Span], without: &[Vec<Span>]) -> f64 {
    let count = without.len() as f64;
    let edges = |spans: &[Span]| -> Vec<f64> { spans.iter().flat_map(|one| [one.start, one.end]).collect() };
    let weights: Vec<f64> = spans.iter().flat_map(|one| [one.height * one.height; 2]).collect();
    let (whole, total) = (edges(spans), weights.iter().sum::<f64>());
    let moved: Vec<Vec<f64>> = without
        .iter()
        .map(|spans| {
            let by: Vec<f64> = edges(spans).iter().zip(&whole).map(|(there, here)| there - here).collect();
            let common = by.iter().zip(&weights).map(|(by, weight)| weight * by).sum::<f64>() / total;
            by.into_iter().map(|by| by - common).collect()
        })
        .collect();
    let error = |edge: usize| {
        let middle = moved.iter().map(|by| by[edge]).sum::<f64>() / count;
        let squares = moved.iter().map(|by| (by[edge] - middle).powi(2)).sum::<f64>();
        (squares * (count - 1.0) / count).sqrt()
    };
    weights.iter().enumerate().map(|(edge, weight)| weight * error(edge)).sum()
}

/// The energy of what the samples have in common outside the bursts.
fn left_over(found: &Consensus) -> f64 {
    let level = level_outside(&found.median, &found.spans);
    let (mut sum, mut next) = (0.0, 0);
    for (second, value) in found.median.iter().enumerate() {
        let time = second as f64 + 0.5;
        while found.spans.get(next).is_some_and(|span| span.end + BESIDE < time) {
            next += 1;
        }
        if found.spans.get(next).is_none_or(|span| time < span.start - BESIDE) {
            sum += (value - level).max(0.0).powi(2);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: f64, end: f64) -> Span {
        Span { start, end, height: 2.0 }
    }

    #[test]
    fn a_common_delay_is_no_error() {
        let spans = [span(10.0, 20.0), span(50.0, 60.0)];
        let later = |by: f64| vec![span(10.0 + by, 20.0 + by), span(50.0 + by, 60.0 + by)];
        assert!(movement(&spans, &[later(0.0), later(1.0), later(-2.0)]) < 1e-9);
        let drift = |by: f64| vec![span(10.0, 20.0), span(50.0 + by, 60.0 + by)];
        assert!(movement(&spans, &[drift(0.0), drift(1.0), drift(-1.0)]) > 1.0);
    }
}
