//! How sure the answer is: a probability, not a score.
//!
//! The confidence is the probability that the period is within 5 % of the mean distance of the phase starts. It is a logistic function
//! of a few signs, whose weights were fitted to generated traces of many settings (the crate `trace-generator`), signals without a
//! period included. `docs/accuracy.md` has the reliability diagram, made with other seeds than those of the fit.

use crate::counting::CLEAR;
use crate::evidence::Evidence;

/// The signs, each between 0 and 1, and larger the more they speak for the period.
pub fn signs(evidence: &Evidence, period: f64) -> [f64; 5] {
    let irregularity = evidence.irregularity.unwrap_or(1.0);
    [
        // Even distances and volumes.
        (1.0 - irregularity).clamp(0.0, 1.0),
        // No other number of phases comes close.
        (1.0 - evidence.rival).clamp(0.0, 1.0),
        // The number of phases holds over many scales.
        (evidence.octaves * evidence.phases as f64 / (4.0 * CLEAR)).clamp(0.0, 1.0),
        // The spectrum finds the same.
        f64::from(u8::from(evidence.spectrum_agrees(period))),
        // The signal repeats.
        evidence.autocorrelation.unwrap_or(0.0).clamp(0.0, 1.0),
    ]
}

/// Weights of the [`signs`], and the constant.
const WEIGHTS: [f64; 5] = [4.0, 2.0, 2.0, 0.5, 1.0];
const CONSTANT: f64 = -3.0;

/// The confidence in a period.
pub fn confidence(evidence: &Evidence, period: f64) -> f64 {
    let sum: f64 = signs(evidence, period).iter().zip(WEIGHTS).map(|(sign, weight)| sign * weight).sum();
    1.0 / (1.0 + (-(CONSTANT + sum)).exp())
}
