//! A signature beside the truth, where that is known: a trace of the application, or of the simulator.

use crate::signature::Signature;
use crate::statistics::{correlation, cross_correlation};
use schemars::JsonSchema;
use serde::Serialize;

/// How a signature compares with the truth (paper, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Comparison {
    /// The largest normalised cross-correlation over shifts.
    pub cross_correlation: f64,
    /// The shift that it needs, in seconds: positive if the signature is late.
    pub shift: f64,
    /// Pearson's correlation without a shift.
    pub correlation: f64,
    /// Bytes of the signature by bytes of the truth.
    pub volume: f64,
    /// Bursts of the truth that the signature has.
    pub found: usize,
    /// Bursts of the truth.
    pub bursts: usize,
    /// Bursts of the signature that the truth does not have.
    pub foreign: usize,
}

/// At most by this many seconds a signature is shifted.
const MAX_OFFSET: usize = 300;

/// Compare with the truth, one value a second, and its bursts from start to end.
pub fn compare(signature: &Signature, truth: &[f64], bursts: &[(f64, f64)]) -> Comparison {
    let (cross, shift) = cross_correlation(&signature.series, truth, MAX_OFFSET);
    let total: f64 = truth.iter().sum();
    let mut taken = vec![false; signature.bursts.len()];
    let mut found = 0;
    for (number, &(start, end)) in bursts.iter().enumerate() {
        // Nearer to this burst than to its neighbours, and not by more than a third of the distance.
        let before = number.checked_sub(1).map_or(f64::INFINITY, |before| start - bursts[before].1);
        let behind = bursts.get(number + 1).map_or(f64::INFINITY, |next| next.0 - end);
        let reach = (before.min(behind) / 3.0).clamp(1.0, 60.0);
        let hit = (0..taken.len()).find(|&i| {
            let middle = (signature.bursts[i].start + signature.bursts[i].end) / 2.0;
            !taken[i] && (start - reach..=end + reach).contains(&middle)
        });
        if let Some(hit) = hit {
            taken[hit] = true;
            found += 1;
        }
    }
    Comparison {
        cross_correlation: cross,
        shift: shift as f64,
        correlation: correlation(&signature.series, truth),
        volume: if total > 0.0 { signature.bytes / total } else { 0.0 },
        found,
        bursts: bursts.len(),
        foreign: taken.iter().filter(|taken| !**taken).count(),
    }
}

/// The bursts of a series without noise: where it is above a tenth of its largest value, joined over gaps
/// of up to 3 s.
pub fn bursts_of(series: &[f64]) -> Vec<(f64, f64)> {
    let least = 0.1 * series.iter().copied().fold(0.0, f64::max);
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (second, _) in series.iter().enumerate().filter(|(_, value)| **value > least) {
        let (start, end) = (second as f64, second as f64 + 1.0);
        match out.last_mut() {
            Some(last) if start - last.1 <= 3.0 => last.1 = end,
            _ => out.push((start, end)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::Burst;

    #[test]
    fn found_missed_and_foreign() {
        let mut truth = vec![0.0; 300];
        truth[50..60].fill(4.0);
        truth[200..210].fill(2.0);
        assert_eq!(bursts_of(&truth), [(50.0, 60.0), (200.0, 210.0)]);
        let mut series = vec![0.0; 300];
        series[52..62].fill(4.0);
        series[120..130].fill(1.0);
        let burst = |start: f64| Burst {
            start,
            crest: start,
            end: start + 10.0,
            bytes: 0.0,
            height: 0.0,
            votes: 1,
            samples: 1,
        };
        let signature = Signature {
            bytes: 45.0,
            series,
            bursts: vec![burst(52.0), burst(120.0)],
            ..Signature::default()
        };
        let found = compare(&signature, &truth, &bursts_of(&truth));
        assert_eq!((found.found, found.bursts, found.foreign), (1, 2, 1));
        assert_eq!(found.shift, 2.0);
        assert_eq!(found.volume, 0.75);
    }
}
