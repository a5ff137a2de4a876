//! Lines of the spectrum as a witness, and as a hypothesis of their own where a series of samples is coarse
//! or noisy.
//!
//! As in the [autocorrelation](crate::estimate::correlation), the bandwidth is cut at the one that half of
//! the bytes exceed.

use crate::estimate::correlation::cut_bandwidth;
use crate::phases::scale_space::median_by_volume;
use crate::signal::Signal;
use crate::spectral::fft;
use crate::spectral::refine::maximum;
use crate::spectral::spectrum::Centred;

/// Samples whose spectrum is taken.
const SAMPLES: usize = 1 << 13;

/// A line stands out by more than this many standard deviations.
const MIN_Z: f64 = 2.0;

/// At most this many lines are kept.
const KEPT: usize = 5;

/// The neighbours of a frequency are those up to this many times lower or higher, but not its multiples, nor
/// those this close to it or to them.
const NEIGHBOURS: f64 = 3.0;
const APART: f64 = 1.5;
const LEAST_NEIGHBOURS: usize = 4;

/// A line of the spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its period in seconds.
    pub period: f64,
    /// Standard deviations above the mean power.
    pub z: f64,
}

/// The power of each frequency k/duration, k = 1, 2, …, as a share of the whole.
#[derive(Clone, Debug)]
pub struct Powers {
    powers: Vec<f64>,
    /// Seconds that were transformed, and per sample.
    duration: f64,
    step: f64,
}

impl Powers {
    /// Of a signal.
    pub fn of(signal: &Signal) -> Self {
        Powers::cut_at(signal, median_by_volume(&signal.samples))
    }

    /// Of a signal, half of whose bytes exceed the bandwidth `ceiling`.
    pub fn cut_at(signal: &Signal, ceiling: f64) -> Self {
        let (mut samples, step) = cut_bandwidth(signal, ceiling, SAMPLES);
        let n = samples.len();
        let mean = samples.iter().sum::<f64>() / n.max(1) as f64;
        samples.iter_mut().for_each(|x| *x -= mean);
        let mut powers = Vec::new();
        if n >= 2 {
            let transform = fft::forward(n);
            let mut spectrum = transform.make_output_vec();
            if transform.process(&mut samples, &mut spectrum).is_ok() {
                powers = spectrum.iter().skip(1).map(|x| x.norm_sqr()).collect();
            }
        }
        let sum: f64 = powers.iter().sum();
        if sum > 0.0 {
            powers.iter_mut().for_each(|power| *power /= sum);
        }
        Powers { powers, duration: n as f64 * step, step }
    }

    /// The strongest lines, strongest first.
    pub fn lines(&self) -> Vec<Line> {
        let powers = &self.powers;
        let n = powers.len() as f64;
        if powers.len() < 3 || powers.iter().sum::<f64>() <= 0.0 {
            return Vec::new();
        }
        let mean = powers.iter().sum::<f64>() / n;
        let deviation = (powers.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / n).sqrt();
        let z = |i: usize| (powers[i] - mean) / deviation;
        let at = |i: Option<usize>| i.and_then(|i| powers.get(i)).copied().unwrap_or(-1.0);
        let stands_out =
            |&i: &usize| z(i) > MIN_Z && powers[i] >= at(i.checked_sub(1)) && powers[i] > at(Some(i + 1));
        let mut found: Vec<usize> = (0..powers.len()).filter(stands_out).collect();
        found.sort_by(|&a, &b| powers[b].total_cmp(&powers[a]));
        found.truncate(KEPT);
        let located = |&i: &usize| {
            let (left, middle, right) = (at(i.checked_sub(1)), powers[i], at(Some(i + 1)));
            let mut off = 0.0;
            if left > 0.0 && right > 0.0 {
                let (a, b, c) = (left.ln(), middle.ln(), right.ln());
                let curve = a - 2.0 * b + c;
                off = if curve < 0.0 { (0.5 * (a - c) / curve).clamp(-0.5, 0.5) } else { 0.0 };
            }
            Line { period: self.duration / (i as f64 + 1.0 + off), z: z(i) }
        };
        found.iter().map(located).collect()
    }

    /// How far a period stands out of the frequencies around it: the logarithm of its power over the one that
    /// a power law through these gives there. What wanders at random has much power at low frequencies, and
    /// always some strongest one; but that one is not far above the others near it.
    pub fn above_neighbours(&self, period: f64) -> f64 {
        let place = self.duration / period;
        let is_multiple = |k: f64| {
            let multiple = (k / place).round().max(1.0);
            (k - multiple * place).abs() <= APART
        };
        let from = ((place / NEIGHBOURS) as usize).max(1);
        let to = ((place * NEIGHBOURS) as usize).min(self.powers.len());
        let points: Vec<(f64, f64)> = (from..=to)
            .filter(|&k| !is_multiple(k as f64))
            .map(|k| ((k as f64).ln(), self.powers[k - 1].max(1e-300).ln()))
            .collect();
        let n = points.len() as f64;
        let nearest = place.round() as usize;
        let own = nearest.saturating_sub(1).max(1)..=(nearest + 1).min(self.powers.len());
        let own = own.map(|k| self.powers[k - 1]).fold(1e-300, f64::max).ln();
        if points.len() < LEAST_NEIGHBOURS {
            return 0.0;
        }
        let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
        let (across, along) = points.iter().fold((0.0, 0.0), |(across, along), point| {
            (across + (point.0 - x) * (point.1 - y), along + (point.0 - x).powi(2))
        });
        let slope = if along > 0.0 { across / along } else { 0.0 };
        own - (y + slope * (place.ln() - x))
    }

    /// Share of the power within a bin or two of 1/period and its multiples, less what as many bins hold on
    /// average. A series of samples `sampled` seconds apart has no higher frequencies.
    pub fn of_comb(&self, period: f64, sampled: f64) -> f64 {
        let width = (sampled / self.step).max(1.0);
        let top = ((self.powers.len() + 1) as f64 / width) as usize;
        let first = self.duration / period;
        let mut hit = vec![false; self.powers.len() + 1];
        for multiple in 1..=8usize {
            let k = (multiple as f64 * first).round() as usize;
            let reach = if multiple < 4 { 1 } else { 2 };
            if k + reach >= top.min(hit.len()) {
                break;
            }
            hit[k.saturating_sub(reach).max(1)..=k + reach].iter_mut().for_each(|hit| *hit = true);
        }
        let (mut sum, mut bins) = (0.0, 0.0);
        for (k, _) in hit.iter().enumerate().filter(|(_, hit)| **hit) {
            sum += self.powers[k - 1];
            bins += 1.0;
        }
        (sum - bins / top.max(1) as f64).max(0.0)
    }
}

/// A signal with some 32 samples a period, and how many multiples of the frequency these, and the samples
/// that it was made from, can tell.
fn thinned(signal: &Signal, period: f64, sampled: f64) -> (Signal, usize) {
    let factor = ((period / signal.step() / 32.0) as usize).max(1);
    let mut thin = signal.merged(factor);
    // The last one may be made of fewer, which bends the wave.
    thin.samples.truncate(signal.samples.len() / factor);
    let multiples = (period / thin.step().max(sampled) / 2.5).clamp(1.0, 4.0) as usize;
    (thin, multiples)
}

/// The period near one, at most 0.6 frequencies of the spectrum away, at which the fundamental and up to
/// three multiples of it are strongest.
pub fn refined(signal: &Signal, period: f64, sampled: f64) -> f64 {
    let (thin, multiples) = thinned(signal, period, sampled);
    let step = thin.step();
    let centred = Centred::of(&thin.samples);
    let power = |frequency: f64| {
        (1..=multiples)
            .map(|multiple| centred.fourier_at(multiple as f64 * frequency * step).norm_sqr())
            .sum::<f64>()
    };
    let reach = 0.6 / (thin.samples.len() as f64 * step);
    1.0 / maximum(power, 1.0 / period - reach, 1.0 / period + reach)
}

/// The period near one with which a constant, a wave and up to three multiples of it fit a signal best (least
/// squares). Unlike the spectrum, it needs no whole number of periods, so it is exact for very few of them.
/// `None` if it is not nearer than `slack`, a share of the period.
pub fn fitted(signal: &Signal, period: f64, sampled: f64, slack: f64) -> Option<f64> {
    /// What is found this near to `slack`, as a share of it, may be further away.
    const EDGE: f64 = 0.95;
    let (thin, multiples) = thinned(signal, period, sampled);
    let explained = |period: f64| -unexplained(&thin.samples, thin.step() / period, multiples);
    let found = maximum(explained, period * (1.0 - slack), period * (1.0 + slack));
    ((found / period - 1.0).abs() < EDGE * slack).then_some(found)
}

/// The sum of squares that a constant, a wave of `frequency` turns a sample and its multiples leave.
fn unexplained(samples: &[f64], frequency: f64, multiples: usize) -> f64 {
    let turn = |i: usize, k: usize| std::f64::consts::TAU * frequency * (k * i) as f64;
    let n = samples.len();
    let mut basis: Vec<Vec<f64>> = vec![vec![1.0; n]];
    for k in 1..=multiples {
        basis.push((0..n).map(|i| turn(i, k).cos()).collect());
        basis.push((0..n).map(|i| turn(i, k).sin()).collect());
    }
    let mut rest = samples.to_vec();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let take_off = |from: &mut [f64], share: f64, other: &[f64]| {
        from.iter_mut().zip(other).for_each(|(x, y)| *x -= share * y);
    };
    // Gram and Schmidt: every wave without what those before it explain.
    for place in 0..basis.len() {
        let (done, open) = basis.split_at_mut(place);
        let one = &mut open[0];
        for other in done.iter() {
            let share = dot(one, other);
            take_off(one, share, other);
        }
        let length = dot(one, one).sqrt();
        if length > 1e-6 * (n as f64).sqrt() {
            one.iter_mut().for_each(|x| *x /= length);
        } else {
            one.fill(0.0);
        }
        let share = dot(&rest, one);
        take_off(&mut rest, share, one);
    }
    dot(&rest, &rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn cosine(period: f64) -> Signal {
        let samples = (0..3000).map(|i| 1.0 + (TAU * f64::from(i) / period).cos()).collect();
        Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 }
    }

    #[test]
    fn a_cosine_is_one_line() {
        let signal = cosine(37.3);
        let powers = Powers::of(&signal);
        let lines = powers.lines();
        assert!((lines[0].period / 37.3 - 1.0).abs() < 0.003 && lines[0].z > 10.0, "{lines:?}");
        assert!((refined(&signal, lines[0].period, 1.0) / 37.3 - 1.0).abs() < 2e-4);
        assert!(powers.of_comb(37.3, 1.0) > 0.6 && powers.of_comb(50.0, 1.0) < 0.05);
    }

    #[test]
    fn few_periods_are_fitted_exactly_from_anywhere() {
        for (number, length) in [330, 390, 451, 512].into_iter().enumerate() {
            for eighth in 0..8 {
                let at = |i: usize| TAU * (i as f64 / 97.3 + f64::from(eighth) / 8.0);
                let samples = (0..length).map(|i| 50.0 + 40.0 * at(i).sin()).collect();
                let signal = Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 };
                let found = fitted(&signal, 97.3 * (0.95 + 0.03 * number as f64), 1.0, 0.1).unwrap();
                assert!((found / 97.3 - 1.0).abs() < 1e-3, "{length} {eighth}: {found}");
                assert_eq!(fitted(&signal, 97.3 * 1.3, 1.0, 0.1), None);
            }
        }
    }

    #[test]
    fn a_wave_stands_out_of_a_random_walk_and_the_walk_does_not() {
        let mut random = seeded_random::Random::new(7);
        // The period of a wave of that height, and of what wanders at random beside it.
        let mut above = |height: f64| {
            let mut value = 1000.0;
            let samples = (0..2000).map(|i| {
                value += random.unit() - 0.5;
                value + height * (TAU * f64::from(i) / 200.0).cos()
            });
            let samples = samples.collect();
            let signal = Signal { start: 0, bin: 1_000_000_000, samples, abstraction_error: 0.0 };
            Powers::of(&crate::phases::without_pedestal(&signal)).above_neighbours(200.0)
        };
        for _ in 0..20 {
            let (walk, wave) = (above(0.0), above(8.0));
            assert!(walk < 3.0 && wave > 4.0, "{walk} {wave}");
        }
    }
}
