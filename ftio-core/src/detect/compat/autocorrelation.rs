//! The period by autocorrelation, as the Python FTIO 0.0.9 finds it.

use crate::spectral::autocorrelation::{MIN_HEIGHT, acf};
use crate::spectral::find_peaks::{PeakRules, find_peaks};

/// Period in seconds and c_a; `None` without two peaks, or where the weights add up to nothing.
///
/// Candidates are the distances between peaks of the ACF, weighted by the *differences* of the peaks'
/// heights, which are mostly negative; the weighted variance may then be negative too, and its absolute value
/// is used. Outliers are looked for among the distances of more than one sample, but removed by their
/// position from the list of all distances.
pub fn autocorrelation(samples: &[f64], frequency: f64) -> Option<(f64, f64)> {
    let acf = acf(samples);
    let peaks = find_peaks(&acf, &PeakRules { height: Some(MIN_HEIGHT), ..PeakRules::default() });
    let distances: Vec<f64> = peaks.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / frequency).collect();
    let weights: Vec<f64> = peaks.windows(2).map(|pair| acf[pair[1]] - acf[pair[0]]).collect();
    let all: Vec<(f64, f64)> = distances.into_iter().zip(weights).collect();
    let long: Vec<(f64, f64)> = all.iter().copied().filter(|(d, _)| *d > 1.0 / frequency).collect();
    let kept: Vec<(f64, f64)> = match weighted(&long) {
        Some((mean, deviation)) if deviation != 0.0 => {
            let outlier = |i: usize| long.get(i).is_some_and(|(d, _)| ((d - mean) / deviation).abs() > 1.0);
            (0..all.len()).filter(|&i| !outlier(i)).map(|i| all[i]).collect()
        }
        _ => all,
    };
    let (mean, deviation) = weighted(&kept)?;
    (mean > 0.0).then(|| (mean, 1.0 - (deviation / mean).abs()))
}

/// Weighted mean, and the square root of the absolute weighted variance.
fn weighted(values: &[(f64, f64)]) -> Option<(f64, f64)> {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    if values.is_empty() || total == 0.0 || !total.is_finite() {
        return None;
    }
    let mean = values.iter().map(|(value, weight)| value * weight).sum::<f64>() / total;
    let variance = values.iter().map(|(value, weight)| (value - mean).powi(2) * weight).sum::<f64>() / total;
    Some((mean, variance.abs().sqrt()))
}
