//! How strong which period is when: the continuous wavelet transform.
//!
//! The DFT says which periods a signal has, but not when. The wavelet transform compares the signal around
//! each instant with a short wave packet of each period: the Morlet wavelet, a complex exponential under a
//! Gaussian of about six oscillations,
//!
//! > ψ(η) = π^(−¼) · e^(iω₀η) · e^(−η²/2), ω₀ = 6
//!
//! stretched to the scale s = period · (ω₀ + √(2 + ω₀²)) / 4π (Torrence and Compo, Bulletin of the American
//! Meteorological Society 79(1), 1998). The comparison is a convolution, done for each scale by one FFT. To
//! both ends the signal is continued by its mirror image, so that its edges are no jumps.

use crate::spectral::fft;
use realfft::num_complex::Complex64;
use std::f64::consts::{PI, TAU};

/// ω₀ of the wavelet.
const OMEGA: f64 = 6.0;

/// Periods per octave.
pub const PER_OCTAVE: usize = 8;

/// The power of each period at each instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalogram {
    /// Seconds per column.
    pub step: f64,
    /// The periods, in seconds, ascending by a factor of 2^(1/8).
    pub periods: Vec<f64>,
    /// For each period the power |W|² at each instant.
    pub power: Vec<Vec<f64>>,
}

impl Scalogram {
    /// Transform samples that are `step` seconds apart, for periods of 4 samples to a quarter of the whole.
    pub fn of(samples: &[f64], step: f64) -> Self {
        let n = samples.len();
        let mut periods = Vec::new();
        let mut period = 4.0;
        while period <= n as f64 / 4.0 {
            periods.push(period);
            period *= 2f64.powf(1.0 / PER_OCTAVE as f64);
        }
        let power = Mirrored::of(samples)
            .map_or_else(Vec::new, |signal| periods.iter().map(|&period| signal.power(period)).collect());
        Scalogram { step, periods: periods.iter().map(|period| period * step).collect(), power }
    }

    /// For each instant the number of the strongest period; empty if there are no periods.
    pub fn ridge(&self) -> Vec<usize> {
        let columns = self.power.first().map_or(0, Vec::len);
        let strongest = |i: usize| {
            (0..self.power.len())
                .rev()
                .max_by(|&a, &b| self.power[a][i].total_cmp(&self.power[b][i]))
                .unwrap_or(0)
        };
        (0..columns).map(strongest).collect()
    }

    /// The same with at most `columns` columns, the mean power of each.
    pub fn thinned(&self, columns: usize) -> Scalogram {
        let count = self.power.first().map_or(0, Vec::len);
        let group = count.div_ceil(columns.max(1)).max(1);
        let mean = |chunk: &[f64]| chunk.iter().sum::<f64>() / chunk.len() as f64;
        let thin = |row: &Vec<f64>| row.chunks(group).map(mean).collect();
        Scalogram {
            step: self.step * group as f64,
            periods: self.periods.clone(),
            power: self.power.iter().map(thin).collect(),
        }
    }
}

/// The transform of a signal followed by its mirror image.
struct Mirrored {
    /// Samples of the signal proper.
    count: usize,
    spectrum: Vec<Complex64>,
}

impl Mirrored {
    fn of(samples: &[f64]) -> Option<Self> {
        let count = samples.len();
        if count == 0 || samples.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let mean = samples.iter().sum::<f64>() / count as f64;
        let mut input: Vec<f64> = samples.iter().chain(samples.iter().rev()).map(|x| x - mean).collect();
        let forward = fft::forward(2 * count);
        let mut spectrum = forward.make_output_vec();
        forward.process(&mut input, &mut spectrum).ok()?;
        Some(Mirrored { count, spectrum })
    }

    /// |W|² at each sample for a period in samples.
    fn power(&self, period: f64) -> Vec<f64> {
        let scale = period * (OMEGA + (2.0 + OMEGA * OMEGA).sqrt()) / (4.0 * PI);
        let length = 2 * self.count;
        // Only positive frequencies: the transform of ψ is negligible elsewhere.
        let weight = |k: usize| {
            let omega = TAU * k as f64 / length as f64;
            PI.powf(-0.25) * (TAU * scale).sqrt() * (-(scale * omega - OMEGA).powi(2) / 2.0).exp()
        };
        let weighted: Vec<Complex64> = self
            .spectrum
            .iter()
            .enumerate()
            .map(|(k, x)| if k == 0 { Complex64::default() } else { x * weight(k) })
            .collect();
        analytic(&weighted, length).into_iter().take(self.count).map(|w| w.norm_sqr()).collect()
    }
}

/// The complex signal that has these coefficients at frequencies 0 ..= length/2, and nothing at negative
/// ones.
///
/// Two real inverse transforms: one of the coefficients for the real part, one of −i times them for the
/// imaginary part.
fn analytic(coefficients: &[Complex64], length: usize) -> Vec<Complex64> {
    let real = real_part(coefficients.to_vec(), length);
    let imaginary = real_part(coefficients.iter().map(|x| x * Complex64::new(0.0, -1.0)).collect(), length);
    real.into_iter().zip(imaginary).map(|(re, im)| Complex64::new(re, im)).collect()
}

fn real_part(mut coefficients: Vec<Complex64>, length: usize) -> Vec<f64> {
    // The real part of a signal has half of each coefficient at either sign; the planner adds up both.
    let scale = 0.5 / length as f64;
    coefficients.iter_mut().for_each(|x| *x *= scale);
    if let Some(first) = coefficients.first_mut() {
        *first = Complex64::default();
    }
    if let Some(last) = coefficients.last_mut().filter(|_| length.is_multiple_of(2)) {
        *last = Complex64::default();
    }
    let inverse = fft::inverse(length);
    let mut out = inverse.make_output_vec();
    if inverse.process(&mut coefficients, &mut out).is_err() {
        out.fill(0.0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: the signal, continued by its mirror images, times the conjugate wavelet around each
    /// instant.
    fn slowly(samples: &[f64], period: f64) -> Vec<f64> {
        let n = samples.len() as i64;
        let mean = samples.iter().sum::<f64>() / n as f64;
        let scale = period * (OMEGA + (2.0 + OMEGA * OMEGA).sqrt()) / (4.0 * PI);
        let at = |i: i64| {
            let i = i.rem_euclid(2 * n);
            samples[(if i < n { i } else { 2 * n - 1 - i }) as usize] - mean
        };
        let reach = (8.0 * scale) as i64;
        let transform = |t: i64| -> Complex64 {
            (t - reach..=t + reach)
                .map(|i| {
                    let eta = (i - t) as f64 / scale;
                    let envelope = PI.powf(-0.25) * (-eta * eta / 2.0).exp() / scale.sqrt();
                    Complex64::from_polar(envelope, -OMEGA * eta) * at(i)
                })
                .sum()
        };
        (0..n).map(|t| transform(t).norm_sqr()).collect()
    }

    #[test]
    fn the_fast_way_agrees_with_the_definition() {
        let samples: Vec<f64> = (0..150).map(|i| f64::from((i * i + 3 * i) % 17)).collect();
        let fast = Scalogram::of(&samples, 1.0);
        for (period, row) in fast.periods.iter().zip(&fast.power).step_by(5) {
            let slow = slowly(&samples, *period);
            let highest = slow.iter().copied().fold(0.0, f64::max);
            for (a, b) in row.iter().zip(&slow) {
                assert!((a - b).abs() < 1e-6 * highest, "period {period}: {a} for {b}");
            }
        }
    }

    #[test]
    fn the_ridge_follows_a_cosine() {
        let samples: Vec<f64> = (0..1000)
            .map(f64::from)
            .map(|t| if t < 500.0 { (TAU * t / 20.0).cos() } else { (TAU * t / 50.0).cos() })
            .collect();
        let scalogram = Scalogram::of(&samples, 0.5);
        let ridge = scalogram.ridge();
        let period = |i: usize| scalogram.periods[ridge[i]];
        assert!((5..450).all(|i| (period(i) / 10.0).log2().abs() <= 0.1), "{}", period(200));
        assert!((560..995).all(|i| (period(i) / 25.0).log2().abs() <= 0.1), "{}", period(700));
        let thin = scalogram.thinned(100);
        assert_eq!((thin.power[0].len(), thin.step), (100, 5.0));
    }

    #[test]
    fn too_short_or_not_a_number() {
        assert!(Scalogram::of(&[], 1.0).ridge().is_empty());
        assert!(Scalogram::of(&[1.0; 8], 1.0).ridge().is_empty());
        assert!(Scalogram::of(&[f64::NAN; 64], 1.0).ridge().is_empty());
    }
}
