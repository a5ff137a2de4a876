//! A second opinion on the period: how well the signal matches itself, shifted (paper, II-C
//! "Autocorrelation").
//!
//! The autocorrelation function (ACF) at lag l is the correlation of the signal with itself l samples later;
//! it has a peak wherever l is about a multiple of the period. Peaks are local maxima of at least 0.15, lag 0
//! left out. The distances from one to the next are candidates for the period (with one peak only, its lag);
//! those further from their mean than their deviation, both weighted by the height of the later peak, are
//! dropped. The period is the mean of the rest, and their coefficient of variation tells how far they agree:
//! c_a = 1 − σ/mean. Together with the period T_d from elsewhere it gives c_s, and the *refined confidence*
//! is (c_d + c_a + c_s) / 3.

use crate::spectral::fft;
use crate::spectral::find_peaks::{PeakRules, find_peaks};
use serde::Serialize;

/// Peaks of the ACF below this do not count (paper: 0.15).
pub const MIN_HEIGHT: f64 = 0.15;

/// What the autocorrelation says about the period.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Autocorrelation {
    /// The period in seconds.
    pub period: f64,
    /// c_a, between 0 and 1.
    pub confidence: f64,
    /// Distances between peaks, in seconds, without outliers.
    pub candidates: Vec<f64>,
}

impl Autocorrelation {
    /// Find the period in evenly spaced samples, `step` seconds apart; `None` without a peak.
    pub fn of(samples: &[f64], step: f64) -> Option<Self> {
        let acf = acf(samples);
        let peaks = find_peaks(&acf, &PeakRules { height: Some(MIN_HEIGHT), ..PeakRules::default() });
        let (distances, weights): (Vec<f64>, Vec<f64>) = match peaks[..] {
            [only] => (vec![only as f64 * step], vec![1.0]),
            _ => peaks.windows(2).map(|pair| ((pair[1] - pair[0]) as f64 * step, acf[pair[1]])).unzip(),
        };
        let (mean, deviation) = weighted(&distances, &weights)?;
        // Equal distances have no deviation, but for rounding.
        let near = |d: &f64| (d - mean).abs() <= deviation + 1e-9 * mean;
        let candidates: Vec<f64> = distances.into_iter().filter(near).collect();
        let (period, deviation) = weighted(&candidates, &vec![1.0; candidates.len()])?;
        Some(Autocorrelation { period, confidence: (1.0 - deviation / period).clamp(0.0, 1.0), candidates })
    }

    /// c_s: how similar a period from elsewhere is to the candidates, as 1 − coefficient of variation of all
    /// together.
    pub fn similarity(&self, period: f64) -> f64 {
        let mut all = self.candidates.clone();
        all.push(period);
        let ones = vec![1.0; all.len()];
        weighted(&all, &ones).map_or(0.0, |(mean, deviation)| (1.0 - deviation / mean).clamp(0.0, 1.0))
    }

    /// (c_d + c_a + c_s) / 3 for a period and its confidence from the DFT.
    pub fn refined_confidence(&self, period: f64, confidence: f64) -> f64 {
        (confidence + self.confidence + self.similarity(period)) / 3.0
    }
}

/// The autocorrelation for lags 0 … N−1: Σ_n (x_n − x̄)(x_{n+l} − x̄) / (N·variance), so that lag 0 is 1.
///
/// By two FFTs (Wiener–Khinchin): the ACF is the inverse transform of |X|². Padding with zeros to 2N keeps
/// the end of the signal from meeting its beginning. A constant signal has no ACF and gives zeros.
pub fn acf(samples: &[f64]) -> Vec<f64> {
    let n = samples.len();
    let mean = samples.iter().sum::<f64>() / n.max(1) as f64;
    let energy: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    let scale = samples.iter().map(|x| x.abs()).fold(0.0, f64::max);
    if n < 2 || energy <= 1e-20 * scale * scale * n as f64 {
        return vec![0.0; n];
    }
    let length = (2 * n).next_power_of_two();
    let (forward, inverse) = (fft::forward(length), fft::inverse(length));
    let mut signal: Vec<f64> = samples.iter().map(|x| x - mean).collect();
    signal.resize(length, 0.0);
    let mut spectrum = forward.make_output_vec();
    if forward.process(&mut signal, &mut spectrum).is_err() {
        return vec![0.0; n];
    }
    for x in &mut spectrum {
        *x = x.norm_sqr().into();
    }
    if inverse.process(&mut spectrum, &mut signal).is_err() {
        return vec![0.0; n];
    }
    signal.truncate(n);
    let unit = signal[0];
    signal.iter_mut().for_each(|x| *x /= unit);
    signal
}

/// The samples, smoothed by a Gaussian whose deviation is `width` samples; what is outside counts as the
/// nearest sample.
pub fn smoothed(samples: &[f64], width: f64) -> Vec<f64> {
    if width <= 0.0 || samples.is_empty() {
        return samples.to_vec();
    }
    let reach = (3.0 * width).ceil() as usize;
    let weights: Vec<f64> = (0..=reach).map(|i| (-0.5 * (i as f64 / width).powi(2)).exp()).collect();
    let total = weights[0] + 2.0 * weights[1..].iter().sum::<f64>();
    let last = samples.len() - 1;
    let at = |i: usize| {
        let sides =
            (1..=reach).map(|d| weights[d] * (samples[i.saturating_sub(d)] + samples[(i + d).min(last)]));
        (weights[0] * samples[i] + sides.sum::<f64>()) / total
    };
    (0..samples.len()).map(at).collect()
}

/// Weighted mean and standard deviation; `None` unless there is a positive mean.
fn weighted(values: &[f64], weights: &[f64]) -> Option<(f64, f64)> {
    let total: f64 = weights.iter().sum();
    let average =
        |f: &dyn Fn(f64) -> f64| values.iter().zip(weights).map(|(v, w)| f(*v) * w).sum::<f64>() / total;
    let mean = average(&|v| v);
    let deviation = average(&|v| (v - mean).powi(2)).max(0.0).sqrt();
    (mean > 0.0 && deviation.is_finite()).then_some((mean, deviation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use std::f64::consts::TAU;

    /// The definition.
    fn slow_acf(samples: &[f64]) -> Vec<f64> {
        let n = samples.len();
        let mean = samples.iter().sum::<f64>() / n as f64;
        let at =
            |lag: usize| (0..n - lag).map(|i| (samples[i] - mean) * (samples[i + lag] - mean)).sum::<f64>();
        (0..n).map(|lag| at(lag) / at(0)).collect()
    }

    #[test]
    fn the_definition_on_an_example() {
        // x − mean = (1, −1, 1, −1): products 4, −3, 2, −1.
        assert_eq!(slow_acf(&[2.0, 0.0, 2.0, 0.0]), [1.0, -0.75, 0.5, -0.25]);
    }

    #[test]
    fn a_cosine_repeats_with_its_period() {
        let samples: Vec<f64> = (0..400).map(|i| 3.0 + (TAU * f64::from(i) / 25.0).cos()).collect();
        let found = Autocorrelation::of(&samples, 0.5).unwrap();
        assert!((found.period - 12.5).abs() < 0.2, "{found:?}");
        assert!(found.confidence > 0.95);
        assert!(found.similarity(12.5) > 0.95 && found.similarity(25.0) < 0.9);
        let refined = found.refined_confidence(12.5, 0.8);
        assert!((refined - (0.8 + found.confidence + found.similarity(12.5)) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn ripples_on_bursts_are_not_periods() {
        // Bursts of 20 samples every 100, whose bandwidth goes up and down.
        let burst = |i: usize| if i % 100 < 20 { 3.0 + (i % 3) as f64 } else { 0.0 };
        let samples: Vec<f64> = (0..2000).map(burst).collect();
        let found = Autocorrelation::of(&smoothed(&samples, 6.0), 1.0).unwrap();
        assert!((found.period - 100.0).abs() < 2.0, "{found:?}");
    }

    #[test]
    fn distances_that_stray_are_dropped() {
        // Impulses 10 apart, one of them 3 late: peaks at multiples of 10 and beside them.
        let mut samples = vec![0.0; 400];
        (0..40).for_each(|i| samples[10 * i] = 1.0);
        let found = Autocorrelation::of(&samples, 0.1).unwrap();
        assert!((found.period - 1.0).abs() < 1e-9 && (found.confidence - 1.0).abs() < 1e-9, "{found:?}");
        assert!((found.similarity(1.0) - 1.0).abs() < 1e-9);
        // One peak only: its lag. Two bursts of 5, 30 apart.
        let two: Vec<f64> = (0..60).map(|i| if i % 30 < 5 { 1.0 } else { 0.0 }).collect();
        let found = Autocorrelation::of(&two, 1.0).unwrap();
        assert_eq!((found.period, found.confidence), (30.0, 1.0));
    }

    #[test]
    fn smoothing_keeps_the_sum_inside() {
        let mut samples = vec![0.0; 101];
        samples[50] = 1.0;
        let smooth = smoothed(&samples, 3.0);
        assert!((smooth.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(
            (smooth[50] - 0.133).abs() < 1e-3 && (smooth[53] / smooth[50] - (-0.5f64).exp()).abs() < 1e-9
        );
        assert_eq!(smoothed(&[4.0; 9], 2.0), vec![4.0; 9]);
        assert_eq!(smoothed(&samples, 0.0), samples);
    }

    #[test]
    fn no_peaks_no_period() {
        assert_eq!(Autocorrelation::of(&[], 1.0), None);
        assert_eq!(Autocorrelation::of(&[5.0; 100], 1.0), None);
        let ramp: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(Autocorrelation::of(&ramp, 1.0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_fast_way_agrees(samples in prop::collection::vec(0f64..1e3, 2..120)) {
            let spread = samples.iter().any(|x| (x - samples[0]).abs() > 1.0);
            prop_assume!(spread);
            for (fast, slow) in acf(&samples).iter().zip(slow_acf(&samples)) {
                prop_assert!((fast - slow).abs() < 1e-9);
            }
        }
    }
}
