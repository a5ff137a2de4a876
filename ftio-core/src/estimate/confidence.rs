//! How sure the answer is: a probability, not a score.
//!
//! The confidence is the probability that the period is within 5 % of the mean distance of the phase starts. It is a logistic function
//! of a few signs, whose weights were fitted to generated traces of many settings (the crate `trace-generator`), signals without a
//! period included. `docs/accuracy.md` has the reliability diagram, made with other seeds than those of the fit.

use crate::estimate::evidence::Evidence;
use crate::phases::CLEAR;

/// The signs, each between 0 and 1, and larger the more they speak for the period.
pub fn signs(evidence: &Evidence, period: f64) -> [f64; 4] {
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
    ]
}

/// Weights of the [`signs`], and the constant (`cargo run --release -p ftio-core --example calibrate`): logistic regression on 2806 answers, 2725 of them right. The autocorrelation got no
/// weight: where phases are even, it adds nothing.
const WEIGHTS: [f64; 4] = [2.96, 3.45, 2.26, 0.26];
const CONSTANT: f64 = -3.36;

/// The confidence in a period.
pub fn confidence(evidence: &Evidence, period: f64) -> f64 {
    let sum: f64 = signs(evidence, period).iter().zip(WEIGHTS).map(|(sign, weight)| sign * weight).sum();
    1.0 / (1.0 + (-(CONSTANT + sum)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_more_confidence() {
        let evidence = |irregularity: f64, rival: f64, octaves: f64| Evidence {
            phases: 20,
            irregularity: Some(irregularity),
            rival,
            octaves,
            ..Evidence::default()
        };
        let clear = confidence(&evidence(0.05, 0.1, 4.0), 10.0);
        assert!(clear > 0.98, "{clear}");
        let doubtful = confidence(&evidence(0.9, 0.9, 0.4), 10.0);
        assert!(doubtful < 0.3, "{doubtful}");
        let confirmed = Evidence { spectrum_period: Some(10.1), ..evidence(0.9, 0.9, 0.4) };
        assert!(confidence(&confirmed, 10.0) > doubtful);
    }
}
