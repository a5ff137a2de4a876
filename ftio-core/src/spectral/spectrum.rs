//! The discrete Fourier transform of the signal, and how much each frequency contributes to it.
//!
//! With N samples over Δt seconds the DFT (paper, II-B)
//!
//! > X_k = Σ_n x_n · e^(−2πi·k·n/N)
//!
//! answers for the frequencies f_k = k/Δt. The signal is real, so the half k ≤ N/2 says it all: the
//! *single-sided* spectrum, in which every component but the constant X_0 and the one at half the sampling
//! frequency stands for two.

use crate::spectral::fft;
use realfft::num_complex::Complex64;
use schemars::JsonSchema;
use serde::Serialize;
use std::f64::consts::TAU;

/// What a spectrum is measured in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// p_k = |X_k|²/N. Strong components stand out more; the default of the paper.
    #[default]
    Power,
    /// |X_k|.
    Amplitude,
}

/// The DFT of N real samples.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// X_k for k = 0 ..= ⌊N/2⌋.
    pub coefficients: Vec<Complex64>,
    /// N.
    pub samples: usize,
    /// Δt in seconds.
    pub duration: f64,
}

impl Spectrum {
    /// The `count` strongest waves by these contributions of the frequencies k = 1, 2, …, strongest first.
    pub fn strongest(&self, contributions: &[f64], count: usize) -> Vec<(usize, TopFrequency)> {
        let mut order: Vec<usize> = (1..=contributions.len()).collect();
        order.sort_by(|&a, &b| contributions[b - 1].total_cmp(&contributions[a - 1]));
        let describe = |k: usize| {
            let wave = self.wave(k);
            let (frequency, amplitude, phase) = (wave.frequency, wave.amplitude, wave.phase);
            (k, TopFrequency { frequency, amplitude, phase, power: contributions[k - 1] })
        };
        order.into_iter().take(count).map(describe).collect()
    }

    /// Transform samples that span `duration` seconds.
    pub fn of(samples: &[f64], duration: f64) -> Self {
        let n = samples.len();
        if n == 0 {
            return Spectrum { coefficients: Vec::new(), samples: 0, duration };
        }
        let transform = fft::forward(n);
        let mut input = samples.to_vec();
        let mut coefficients = transform.make_output_vec();
        // The only error is a wrong length, and both lengths come from the plan.
        if transform.process(&mut input, &mut coefficients).is_err() {
            coefficients.fill(Complex64::default());
        }
        Spectrum { coefficients, samples: n, duration }
    }

    /// The frequency f_k = k/Δt in Hz.
    pub fn frequency(&self, k: usize) -> f64 {
        k as f64 / self.duration
    }

    /// The highest k of the single-sided spectrum, ⌊N/2⌋.
    pub fn last(&self) -> usize {
        self.samples / 2
    }

    /// Single-sided contributions for k = 1 ..= ⌊N/2⌋, summing up to 1 (or all 0 for a constant signal).
    ///
    /// Element `k − 1` belongs to k. The constant part X_0 is left out: bandwidth is never negative, so that
    /// it is always among the largest and says nothing about periods. For even N the component k = N/2 exists
    /// once and counts once.
    pub fn contributions(&self, measure: Measure) -> Vec<f64> {
        let mut out: Vec<f64> = (1..=self.last()).map(|k| 2.0 * self.raw(k, measure)).collect();
        if self.samples.is_multiple_of(2)
            && let Some(nyquist) = out.last_mut()
        {
            *nyquist /= 2.0;
        }
        normalise(&mut out);
        out
    }

    /// As [`contributions`](Self::contributions), but with k = N/2 counted twice like the published tool
    /// does.
    pub fn contributions_as_published(&self, measure: Measure) -> Vec<f64> {
        let mut out: Vec<f64> = (1..=self.last()).map(|k| 2.0 * self.raw(k, measure)).collect();
        normalise(&mut out);
        out
    }

    fn raw(&self, k: usize, measure: Measure) -> f64 {
        match measure {
            Measure::Power => self.coefficients[k].norm_sqr() / self.samples as f64,
            Measure::Amplitude => self.coefficients[k].norm(),
        }
    }

    /// The cosine wave that component k adds to the signal (paper, Eq. 1).
    pub fn wave(&self, k: usize) -> Wave {
        let twice = k != 0 && 2 * k != self.samples;
        let x = self.coefficients.get(k).copied().unwrap_or_default();
        Wave {
            frequency: self.frequency(k),
            amplitude: x.norm() * if twice { 2.0 } else { 1.0 } / self.samples.max(1) as f64,
            phase: x.arg(),
        }
    }

    /// The position of the peak at k between the bins, in bins: k + δ with |δ| ≤ ½.
    ///
    /// A wave whose frequency is no multiple of 1/Δt leaks into its neighbours. For a single wave between k
    /// and k+1 the coefficients of the two bins have opposite signs, and the ratio ρ of their amplitudes
    /// gives its place: δ = ρ/(1 + ρ) (Rife and Vincent, Bell System Technical Journal 49(2), 1970).
    /// Neighbours that do not fit this leave the peak on its bin.
    pub fn peak_position(&self, k: usize) -> f64 {
        if k < 2 || k >= self.last() {
            return k as f64;
        }
        let (left, middle, right) =
            (self.coefficients[k - 1], self.coefficients[k], self.coefficients[k + 1]);
        let (neighbour, sign) = if right.norm_sqr() >= left.norm_sqr() { (right, 1.0) } else { (left, -1.0) };
        let ratio = neighbour.norm() / middle.norm();
        if (neighbour * middle.conj()).re >= 0.0 || !ratio.is_finite() {
            return k as f64;
        }
        k as f64 + sign * (ratio / (1.0 + ratio)).min(0.5)
    }

    /// [Contributions](Self::contributions) as they would be if every peak fell on a bin.
    ///
    /// A wave halfway between two bins gives each of them only 40 % of its power, and then its second
    /// harmonic, which falls on a bin, may look stronger: half the true period would be found. So each peak
    /// gets back the power (sin πδ / πδ)⁻² that it lost by its distance δ from the bin, and the neighbour
    /// that it leaked into gives up its own.
    pub fn whole_peaks(&self, measure: Measure) -> Vec<f64> {
        let flat = self.contributions(measure);
        let mut whole = flat.clone();
        for k in 2..self.last() {
            let (left, middle, right) = (flat[k - 2], flat[k - 1], flat[k]);
            let delta = self.peak_position(k) - k as f64;
            // Of two equal neighbours the left one is the peak.
            if delta == 0.0 || middle <= left || middle < right {
                continue;
            }
            let loss = (std::f64::consts::PI * delta).sin() / (std::f64::consts::PI * delta);
            whole[k - 1] = match measure {
                Measure::Power => middle / loss.powi(2),
                Measure::Amplitude => middle / loss,
            };
            if delta.abs() > 0.25 {
                whole[if delta > 0.0 { k } else { k - 2 }] = 0.0;
            }
        }
        normalise(&mut whole);
        whole
    }
}

/// A cosine wave: `amplitude · cos(2π · frequency · t + phase)`, t in seconds from the start of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// In Hz.
    pub frequency: f64,
    /// In the unit of the samples.
    pub amplitude: f64,
    /// In radians, at the start of the window.
    pub phase: f64,
}

impl Wave {
    /// The value at `t` seconds after the start of the window.
    pub fn at(&self, t: f64) -> f64 {
        self.amplitude * (TAU * self.frequency * t + self.phase).cos()
    }

    /// The wave of that frequency that the samples contain: its DTFT at an arbitrary frequency.
    ///
    /// Each sample is taken at the middle of its bin.
    pub fn in_samples(samples: &[f64], step: f64, frequency: f64) -> Wave {
        let x = Centred::of(samples).fourier_at(step * frequency);
        let shift = Complex64::from_polar(1.0, -TAU * frequency * step / 2.0);
        let x = x * shift;
        Wave { frequency, amplitude: 2.0 * x.norm() / samples.len().max(1) as f64, phase: x.arg() }
    }
}

/// Samples without their mean, whose transform is asked for at one frequency after the other.
#[derive(Clone, Debug)]
pub struct Centred(Vec<f64>);

impl Centred {
    /// Of some samples.
    pub fn of(samples: &[f64]) -> Self {
        let mean = samples.iter().sum::<f64>() / samples.len().max(1) as f64;
        Centred(samples.iter().map(|x| x - mean).collect())
    }

    /// Σ_n (x_n − mean) · e^(−2πi·ν·n) at ν cycles per sample.
    pub fn fourier_at(&self, cycles_per_sample: f64) -> Complex64 {
        self.parts(cycles_per_sample, 256).sum()
    }

    /// The same for any ν close to this one, quickly and nearly.
    pub fn near(&self, cycles_per_sample: f64) -> Near<'_> {
        /// Fewer samples are summed up each time.
        const FEW: usize = 2048;
        /// Parts of the sum: between neighbours, what is near differs by a small part of a turn.
        const PARTS: usize = 256;
        let length = self.0.len().div_ceil(PARTS);
        let parts = match self.0.len() {
            ..FEW => Vec::new(),
            _ => self.parts(cycles_per_sample, length).collect(),
        };
        Near { centred: self, around: cycles_per_sample, length, parts }
    }

    /// Parts of that sum, of `length` samples each, by rotating phasors that are renewed with each: several
    /// at once, so that the processor need not wait for one rotation before it begins the next.
    fn parts(&self, cycles_per_sample: f64, length: usize) -> impl Iterator<Item = Complex64> + '_ {
        const LANES: usize = 4;
        let phasor = move |n: usize| turned(cycles_per_sample * n as f64);
        let turn = phasor(LANES);
        self.0.chunks(length).enumerate().map(move |(part, chunk)| {
            let (mut real, mut imaginary) = ([0.0; LANES], [0.0; LANES]);
            let first: [Complex64; LANES] = std::array::from_fn(|lane| phasor(part * length + lane));
            let (mut cosines, mut sines) = (first.map(|phasor| phasor.re), first.map(|phasor| phasor.im));
            let (whole, rest) = chunk.as_chunks::<LANES>();
            for samples in whole {
                for lane in 0..LANES {
                    let (cosine, sine, x) = (cosines[lane], sines[lane], samples[lane]);
                    real[lane] += cosine * x;
                    imaginary[lane] += sine * x;
                    cosines[lane] = cosine * turn.re - sine * turn.im;
                    sines[lane] = cosine * turn.im + sine * turn.re;
                }
            }
            for (lane, x) in rest.iter().enumerate() {
                real[lane] += cosines[lane] * x;
                imaginary[lane] += sines[lane] * x;
            }
            Complex64::new(real.iter().sum(), imaginary.iter().sum())
        })
    }
}

/// e^(−2πi·turns), the turns taken modulo one before they are multiplied by 2π.
fn turned(turns: f64) -> Complex64 {
    Complex64::from_polar(1.0, -TAU * turns.fract())
}

/// The Fourier sum of samples near one frequency: within a bin or so of the DFT.
#[derive(Clone, Debug)]
pub struct Near<'a> {
    centred: &'a Centred,
    around: f64,
    /// Samples of each part of the sum.
    length: usize,
    parts: Vec<Complex64>,
}

impl Near<'_> {
    /// The sum at so many cycles per sample: every part is turned as its middle is.
    pub fn at(&self, cycles_per_sample: f64) -> Complex64 {
        if self.parts.is_empty() {
            return self.centred.fourier_at(cycles_per_sample);
        }
        let off = cycles_per_sample - self.around;
        let middle = |part: usize| (part * self.length) as f64 + 0.5 * (self.length - 1) as f64;
        self.parts.iter().enumerate().map(|(part, sum)| sum * turned(off * middle(part))).sum()
    }
}

fn normalise(values: &mut [f64]) {
    let sum: f64 = values.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        values.iter_mut().for_each(|value| *value /= sum);
    } else {
        values.fill(0.0);
    }
}

/// A wave of the spectrum.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TopFrequency {
    /// A frequency of the spectrum, k/Δt.
    pub frequency: f64,
    /// Amplitude of the cosine in bytes per second.
    pub amplitude: f64,
    /// Phase in radians at the start of the window.
    pub phase: f64,
    /// Share of the power of the signal (without its mean).
    pub power: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// The definition, word by word.
    fn naive_dft(samples: &[f64]) -> Vec<Complex64> {
        let n = samples.len();
        (0..=n / 2)
            .map(|k| {
                let term =
                    |(i, x): (usize, &f64)| Complex64::from_polar(*x, -TAU * ((k * i) % n) as f64 / n as f64);
                samples.iter().enumerate().map(term).sum()
            })
            .collect()
    }

    fn close(a: &[Complex64], b: &[Complex64], scale: f64) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).norm() < 1e-10 * (1.0 + scale))
    }

    #[test]
    fn the_definition_on_textbook_pairs() {
        let one = Complex64::new(1.0, 0.0);
        // An impulse has all frequencies alike; a constant has none but 0.
        assert!(close(&naive_dft(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), &[one; 4], 1.0));
        let mut flat = [Complex64::default(); 4];
        flat[0] = one * 6.0;
        assert!(close(&naive_dft(&[1.0; 6]), &flat, 1.0));
        // cos(2π·2n/8) is N/2 at k = 2; sin is −i·N/2.
        let cosine: Vec<_> = (0..8).map(|n| (TAU * 2.0 * f64::from(n) / 8.0).cos()).collect();
        let sine: Vec<_> = (0..8).map(|n| (TAU * 2.0 * f64::from(n) / 8.0).sin()).collect();
        let mut pair = [Complex64::default(); 5];
        pair[2] = one * 4.0;
        assert!(close(&naive_dft(&cosine), &pair, 1.0));
        pair[2] = Complex64::new(0.0, -4.0);
        assert!(close(&naive_dft(&sine), &pair, 1.0));
        // An impulse at n = 1 turns by −2πk/N.
        let shifted = naive_dft(&[0.0, 1.0, 0.0, 0.0]);
        assert!(close(&shifted, &[one, Complex64::new(0.0, -1.0), -one], 1.0));
    }

    #[test]
    fn the_fast_transform_agrees_for_all_small_sizes() {
        for n in 1..200usize {
            let samples: Vec<f64> = (0..n).map(|i| ((i * i + 7 * i) % 31) as f64 - 3.0).collect();
            let fast = Spectrum::of(&samples, 1.0).coefficients;
            assert!(close(&fast, &naive_dft(&samples), 31.0 * n as f64), "N = {n}");
        }
    }

    #[test]
    fn contributions_of_known_signals() {
        let cosine: Vec<f64> = (0..64).map(|n| 5.0 + (TAU * 4.0 * f64::from(n) / 64.0).cos()).collect();
        let p = Spectrum::of(&cosine, 1.0).contributions(Measure::Power);
        assert_eq!(p.len(), 32);
        assert!((p[3] - 1.0).abs() < 1e-12);
        assert!(Spectrum::of(&[2.0; 16], 1.0).contributions(Measure::Power).iter().all(|p| p.is_finite()));
        // Parseval: the power of the alternating part is shared out in full.
        let samples = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0];
        let spectrum = Spectrum::of(&samples, 1.0);
        let mean = samples.iter().sum::<f64>() / 6.0;
        let energy: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
        let total: f64 =
            (1..=3).map(|k| spectrum.raw(k, Measure::Power) * if k == 3 { 1.0 } else { 2.0 }).sum();
        assert!((total - energy).abs() < 1e-12 * energy);
    }

    #[test]
    fn waves_add_up_to_the_signal() {
        for n in [15u32, 16] {
            let samples: Vec<f64> = (0..n).map(|i| f64::from((i * 5) % 7)).collect();
            let spectrum = Spectrum::of(&samples, f64::from(n));
            for (i, x) in samples.iter().enumerate() {
                let sum: f64 = (0..=spectrum.last()).map(|k| spectrum.wave(k).at(i as f64)).sum();
                assert!((sum - x).abs() < 1e-12, "N = {n}, sample {i}: {sum} for {x}");
            }
        }
    }

    #[test]
    fn a_peak_between_two_bins_is_located() {
        for true_k in [9.6, 10.0, 10.25, 10.49] {
            let samples: Vec<f64> =
                (0..400).map(|n| (TAU * true_k * f64::from(n) / 400.0 + 1.0).cos()).collect();
            let spectrum = Spectrum::of(&samples, 1.0);
            let found = spectrum.peak_position(10);
            assert!((found - true_k).abs() < 0.06, "{found} for {true_k}");
        }
    }

    #[test]
    fn a_peak_between_two_bins_is_whole() {
        // Halfway between 10 and 11, and a weaker wave on a bin: the stronger one must win.
        let wave = |k: f64, n: i32| (TAU * k * f64::from(n) / 400.0).cos();
        let samples: Vec<f64> = (0..400).map(|n| wave(10.5, n) + 0.8 * wave(21.0, n)).collect();
        let spectrum = Spectrum::of(&samples, 1.0);
        let (flat, whole) = (spectrum.contributions(Measure::Power), spectrum.whole_peaks(Measure::Power));
        let strongest = |p: &[f64]| (1..=p.len()).max_by(|&a, &b| p[a - 1].total_cmp(&p[b - 1])).unwrap();
        assert_eq!(strongest(&flat), 21);
        assert!([10, 11].contains(&strongest(&whole)));
        assert!((whole[20] / whole[9].max(whole[10]) - 0.64).abs() < 0.1, "{:?}", &whole[8..22]);
    }

    #[test]
    fn the_transform_between_bins_agrees_on_the_bins() {
        let samples: Vec<f64> = (0..1000).map(|i| f64::from((i * 37) % 101)).collect();
        let spectrum = Spectrum::of(&samples, 1.0);
        for k in [1, 7, 499] {
            let x = Centred::of(&samples).fourier_at(k as f64 / 1000.0);
            assert!((x - spectrum.coefficients[k]).norm() < 1e-7);
        }
    }

    #[test]
    fn near_a_frequency_the_quick_sum_is_nearly_the_exact_one() {
        for n in [100, 2048, 30_011] {
            let samples: Vec<f64> = (0..n).map(|i| f64::from((i * 37) % 101) + f64::from(i % 40)).collect();
            let centred = Centred::of(&samples);
            let size: f64 = samples.iter().map(|x| x * x).sum::<f64>().sqrt() * f64::from(n).sqrt();
            let near = centred.near(0.025);
            for off in [-0.75, -0.1, 0.0, 0.4, 0.75] {
                let at = 0.025 + off / f64::from(n);
                assert!((near.at(at) - centred.fourier_at(at)).norm() < 1e-4 * size, "{n} {off}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_fast_transform_agrees_on_random_input(samples in prop::collection::vec(-1e3f64..1e3, 1..300)) {
            let fast = Spectrum::of(&samples, 1.0).coefficients;
            prop_assert!(close(&fast, &naive_dft(&samples), 1e3 * samples.len() as f64));
        }
    }
}
