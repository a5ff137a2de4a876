//! How far to trust a signature: leave each sample out in turn and look what changes.
//!
//! Four things make a signature differ from the truth, and each shows in the samples:
//!
//! * The log cannot say when, within a step, a burst begins or ends: every edge is a slope as wide as a step.
//! * The edges are means over samples. How far they move when a sample is left out gives their standard
//!   error (the jackknife: times √(s − 1)), and so does how much the time from one edge to the next differs
//!   between samples; both count. A delay that all edges have in common is no error.
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
use schemars::JsonSchema;
use serde::Serialize;

/// How far a signature can be trusted. 1 is perfect.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
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

/// Below this [`mean`](Quality::mean), a signature is not to be relied on.
pub const DOUBTFUL: f64 = 0.8;

/// The squared difference of a jump and a slope of width w is w/12.
const SHIFT_SLOPE: f64 = 1.0 / 12.0;

/// The other losses, as shares of what they would be without slopes. By least squares over simulated runs
/// (all applications, kinds and amounts of noise of trace-generator's `server_log`), first with the seeds 0
/// to 7, then with 100 to 109; `scripts/bench signature` uses 0 to 19.
const MOVED: f64 = 0.27;
const LEFT_OVER: f64 = 0.08;
const DISAGREED: f64 = 0.012;

/// A constant delay is no error of a signature; by that many seconds it is looked for.
const MAX_SHIFT: usize = 5;

/// Seconds beside a burst that belong to its slopes.
const NEAR_PHASES: f64 = 4.0;

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
            least = least.min(cross_correlation(&series, &found.series, MAX_SHIFT).0);
            agreements.push(correlation(&series, &shrink(&samples[left_out], series.len())));
            moved.push(spans);
        }
        let agreement = mean(&agreements);
        let middle = mean(&found.series);
        let energy: f64 = found.series.iter().map(|value| (value - middle) * (value - middle)).sum();
        let squares: f64 = found.spans.iter().map(|span| 2.0 * span.height * span.height).sum();
        let loss = SHIFT_SLOPE * step.max(1.0) * squares / (2.0 * energy)
            + MOVED * movement(&found.spans, &moved, &found.scatter()) / (2.0 * energy)
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

/// The sum over all edges of the standard error of their times, times the square of their height. Two
/// estimates of it are averaged: by bursts without each of the samples, and by the scatter of the time from
/// one edge to the next.
fn movement(spans: &[Span], without: &[Vec<Span>], scatter: &[f64]) -> f64 {
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
    let left_out = |edge: usize| {
        let middle = moved.iter().map(|by| by[edge]).sum::<f64>() / count;
        let squares = moved.iter().map(|by| (by[edge] - middle).powi(2)).sum::<f64>();
        squares * (count - 1.0) / count
    };
    let walk = walk(scatter, &weights);
    let error = |edge: usize| {
        let scattered = walk.get(edge).map_or(0.0, |square| square * MIDDLE_HALF / count);
        ((left_out(edge) + scattered) / 2.0).sqrt()
    };
    weights.iter().enumerate().map(|(edge, weight)| weight * error(edge)).sum()
}

/// The variance of the mean of the middle half, where that of the mean is 1.
const MIDDLE_HALF: f64 = 1.44;

/// The variance of the time of each edge, when times from one to the next have these deviations: they add
/// up. A delay common to all, by weight, is taken off.
fn walk(deviations: &[f64], weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    // The weight of all edges behind each of them, that one included: so much of its error is common.
    let mut behind = vec![0.0; deviations.len()];
    let mut sum = 0.0;
    for (share, weight) in behind.iter_mut().zip(weights).rev() {
        sum += weight / total;
        *share = sum;
    }
    // Edge e has the error Σ ε_j (j ≤ e) less the common Σ b_j ε_j.
    let squares: Vec<f64> = deviations.iter().map(|one| one * one).collect();
    let missed: Vec<f64> =
        squares.iter().zip(&behind).map(|(square, share)| square * share * share).collect();
    let (mut kept, mut rest) = (0.0, missed.iter().sum::<f64>());
    let variance = |((square, share), missed): ((&f64, &f64), &f64)| {
        kept += square * (1.0 - share) * (1.0 - share);
        rest -= missed;
        (kept + rest).max(0.0)
    };
    squares.iter().zip(&behind).zip(&missed).map(variance).collect()
}

/// The energy of what the samples have in common outside the bursts.
fn left_over(found: &Consensus) -> f64 {
    let level = level_outside(&found.median, &found.spans);
    let (mut sum, mut next) = (0.0, 0);
    for (second, value) in found.median.iter().enumerate() {
        let time = second as f64 + 0.5;
        while found.spans.get(next).is_some_and(|span| span.end + NEAR_PHASES < time) {
            next += 1;
        }
        if found.spans.get(next).is_none_or(|span| time < span.start - NEAR_PHASES) {
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
        let still = [0.0; 4];
        assert!(movement(&spans, &[later(0.0), later(1.0), later(-2.0)], &still) < 1e-9);
        let drift = |by: f64| vec![span(10.0, 20.0), span(50.0 + by, 60.0 + by)];
        assert!(movement(&spans, &[drift(0.0), drift(1.0), drift(-1.0)], &still) > 1.0);
        // Only the first pause differs: that is common to all. The second one: half of them are late.
        assert!(walk(&[3.0, 0.0, 0.0, 0.0], &[1.0; 4]).iter().all(|square| *square < 1e-9));
        assert_eq!(walk(&[0.0, 0.0, 2.0, 0.0], &[1.0; 4]), [1.0; 4]);
    }
}
