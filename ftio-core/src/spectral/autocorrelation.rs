//! A second opinion on the period: how well the signal matches itself, shifted (paper, II-C "Autocorrelation").
//!
//! The autocorrelation function (ACF) at lag l is the correlation of the signal with itself l samples later; it has a
//! peak wherever l is about a multiple of the period. The distances between its peaks are candidates for the period.
//! They are averaged after outliers among them are removed, and their coefficient of variation tells how far
//! they agree: c_a = 1 − σ/mean. Comparing them with the period T_d from the DFT gives c_s, and the
//! *refined confidence* is (c_d + c_a + c_s) / 3.

use realfft::RealFftPlanner;
use serde::Serialize;

/// Peaks of the ACF below this do not count (paper: 0.15).
pub const MIN_HEIGHT: f64 = 0.15;

/// Between two peaks the ACF must fall by this much, or the lower is a ripple on the higher.
///
/// The published method has no such rule and counts each ripple; at a high sampling frequency there are thousands.
pub const MIN_DROP: f64 = 0.1;

/// Distances further than this many standard deviations from their mean are dropped.
const MAX_DEVIATION: f64 = 1.0;

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
    /// Find the period in evenly spaced samples, `step` seconds apart; `None` without at least one pair of peaks.
    pub fn of(samples: &[f64], step: f64) -> Option<Self> {
        let acf = acf(samples);
        // Lag 0 is the first peak: the signal matches itself perfectly, and the first period is counted from there.
        let mut peaks = vec![0];
        peaks.extend(peaks_after_drop(&acf, MIN_HEIGHT, MIN_DROP));
        let distances: Vec<f64> = peaks.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * step).collect();
        // A distance is as good as the lower of its two peaks.
        let weights: Vec<f64> = peaks.windows(2).map(|pair| acf[pair[0]].min(acf[pair[1]])).collect();
        let (mean, deviation) = weighted(&distances, &weights)?;
        let near = |d: f64| (d - mean).abs() <= MAX_DEVIATION * deviation * (1.0 + 1e-9);
        let (candidates, weights): (Vec<f64>, Vec<f64>) =
            distances.iter().zip(&weights).filter(|(d, _)| near(**d)).unzip();
        let (period, deviation) = weighted(&candidates, &weights)?;
        Some(Autocorrelation { period, confidence: (1.0 - deviation / period).clamp(0.0, 1.0), candidates })
    }

    /// c_s: how similar a period from elsewhere is to the candidates, as 1 − coefficient of variation of all together.
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
/// By two FFTs (Wiener–Khinchin): the ACF is the inverse transform of |X|². Padding with zeros to 2N keeps the end of the
/// signal from meeting its beginning. A constant signal has no ACF and gives zeros.
pub fn acf(samples: &[f64]) -> Vec<f64> {
    let n = samples.len();
    let mean = samples.iter().sum::<f64>() / n.max(1) as f64;
    let energy: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    let scale = samples.iter().map(|x| x.abs()).fold(0.0, f64::max);
    if n < 2 || energy <= 1e-20 * scale * scale * n as f64 {
        return vec![0.0; n];
    }
    let length = (2 * n).next_power_of_two();
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
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

/// Local maxima of at least `height`, each separated from the next by a valley `drop` below both.
///
/// The descent from the first value does not count as a peak: it starts at lag 0.
fn peaks_after_drop(values: &[f64], height: f64, drop: f64) -> Vec<usize> {
    let mut peaks = Vec::new();
    let (mut low, mut high, mut high_at) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    let mut rising = false;
    for (i, &x) in values.iter().enumerate() {
        if rising {
            if x > high {
                (high, high_at) = (x, i);
            } else if x < high - drop {
                if high >= height {
                    peaks.push(high_at);
                }
                (rising, low) = (false, x);
            }
        } else if x < low {
            low = x;
        } else if x > low + drop {
            (rising, high, high_at) = (true, x, i);
        }
    }
    peaks
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
        let found = Autocorrelation::of(&samples, 1.0).unwrap();
        assert!((found.period - 100.0).abs() < 2.0, "{found:?}");
    }

    #[test]
    fn no_peaks_no_period() {
        assert_eq!(Autocorrelation::of(&[], 1.0), None);
        assert_eq!(Autocorrelation::of(&[5.0; 100], 1.0), None);
        let ramp: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(Autocorrelation::of(&ramp, 1.0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

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
