//! The signal made of its strongest waves (paper, Eq. 1, with some of the terms).

use crate::spectral::fft;
use crate::spectral::spectrum::{Measure, Spectrum, TopFrequency};
use realfft::num_complex::Complex64;
use schemars::JsonSchema;
use serde::Serialize;

/// The mean bandwidth and some cosine waves.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Reconstruction {
    /// The constant part.
    pub mean: f64,
    /// The strongest waves, strongest first.
    pub waves: Vec<TopFrequency>,
    /// Share of the power of the signal (without its mean) that they hold: 1 if nothing is missing.
    pub power: f64,
    /// The sum of mean and waves, one value per sample of the signal.
    pub samples: Vec<f64>,
}

/// Add up the mean and the `count` strongest waves.
pub fn reconstruct(spectrum: &Spectrum, count: usize) -> Reconstruction {
    let contributions = spectrum.contributions(Measure::Power);
    let strongest = spectrum.strongest(&contributions, count);
    let order: Vec<usize> = strongest.iter().map(|(k, _)| *k).collect();
    Reconstruction {
        mean: spectrum.coefficients.first().map_or(0.0, |x| x.re / spectrum.samples as f64),
        waves: strongest.into_iter().map(|(_, wave)| wave).collect(),
        power: order.iter().map(|&k| contributions[k - 1]).sum::<f64>().min(1.0),
        samples: add_up(spectrum, &order),
    }
}

/// The inverse transform of the chosen coefficients.
fn add_up(spectrum: &Spectrum, chosen: &[usize]) -> Vec<f64> {
    let n = spectrum.samples;
    if n == 0 {
        return Vec::new();
    }
    let mut kept = vec![Complex64::default(); spectrum.coefficients.len()];
    for &k in chosen.iter().chain(&[0]) {
        kept[k] = spectrum.coefficients[k] / n as f64;
    }
    // The constant part, and the one at half the sampling frequency, are real; rounding may say otherwise.
    kept[0].im = 0.0;
    if n.is_multiple_of(2) {
        kept[n / 2].im = 0.0;
    }
    let inverse = fft::inverse(n);
    let mut samples = inverse.make_output_vec();
    if inverse.process(&mut kept, &mut samples).is_err() {
        samples.fill(0.0);
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_waves_are_the_signal_and_some_are_nearly() {
        for n in [15u32, 16, 101] {
            let samples: Vec<f64> = (0..n).map(|i| f64::from((i * 5) % 7) + 1.0).collect();
            let spectrum = Spectrum::of(&samples, f64::from(n));
            let whole = reconstruct(&spectrum, n as usize);
            assert!((whole.power - 1.0).abs() < 1e-12 && whole.samples.len() == samples.len());
            assert!(whole.samples.iter().zip(&samples).all(|(a, b)| (a - b).abs() < 1e-12));
            // What is missing is the rest of the power (Parseval), and the waves say the same as the samples.
            let some = reconstruct(&spectrum, 3);
            let energy: f64 = samples.iter().map(|x| (x - some.mean).powi(2)).sum();
            let missing: f64 = samples.iter().zip(&some.samples).map(|(a, b)| (a - b).powi(2)).sum();
            assert!((missing / energy - (1.0 - some.power)).abs() < 1e-12);
            for (i, sample) in some.samples.iter().enumerate() {
                let wave = |w: &TopFrequency| {
                    w.amplitude * (std::f64::consts::TAU * w.frequency * i as f64 + w.phase).cos()
                };
                let sum = some.mean + some.waves.iter().map(wave).sum::<f64>();
                assert!((sum - sample).abs() < 1e-9, "N = {n}, sample {i}: {sum} for {sample}");
            }
        }
    }

    #[test]
    fn nothing_of_nothing() {
        assert_eq!(reconstruct(&Spectrum::of(&[], 0.0), 3), Reconstruction::default());
        assert_eq!(reconstruct(&Spectrum::of(&[4.0], 1.0), 3).samples, [4.0]);
        assert_eq!(reconstruct(&Spectrum::of(&[4.0, 4.0], 1.0), 0).samples, [4.0, 4.0]);
    }
}
