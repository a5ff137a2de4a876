//! Power and autocorrelation of a reading, cut at its level: one transform and one back.

use crate::renewal::signal::Bandwidth;
use crate::renewal::table::{
    BINS_OF_CORRELATION, BINS_OF_PERIOD, BLUR, BLUR_LEAST, BLUR_LOST, BLUR_PARTS, BLUR_REACH, CORRELATED,
    FAR_LAG, FEWEST_BINS, FEWEST_PAIRS, FEWEST_REFINED, FINE_BINS, FLAT, GOLDEN, HALF_LAGS, HALVINGS, LAGS,
    LEAST_CYCLES, LINE_APART, LINE_LEAST, LINE_WIDTH, MULTIPLES, NEAR_LAG, PARTS_OF_WINDOW, REFINED,
    RESOLUTIONS, SAMPLES_OF_WAVE, STANDS_OUT, STRONGEST, TWO_SAMPLES,
};
use crate::signal::statistics::{deviation, mean};
use crate::spectral::fft::{forward, inverse};
use std::f64::consts::{SQRT_2, TAU};

/// A line of the spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its period in seconds.
    pub period: f64,
    /// By how many standard deviations it exceeds the mean power.
    pub z: f64,
}

/// What a reading is made of.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// The bandwidth cut at its level, without its mean.
    samples: Vec<f64>,
    step: f64,
    /// Shares of the power, by frequency.
    power: Vec<f64>,
    /// Samples of the transform: with zeros after those of the bandwidth.
    padded: usize,
    /// Autocorrelation by lag.
    correlation: Vec<f64>,
    /// … added up to each lag.
    sums: Vec<f64>,
    /// The strongest lines.
    pub lines: Vec<Line>,
    /// Lags of the highest maxima of the autocorrelation, in seconds.
    pub peaks: Vec<f64>,
}

impl Spectrum {
    /// Of a signal, cut at this level.
    pub fn of(signal: &Bandwidth, level: f64) -> Self {
        let merged = signal.merged(FINE_BINS);
        let mut samples: Vec<f64> = merged.bins.iter().map(|x| x.min(level)).collect();
        let middle = mean(&samples);
        samples.iter_mut().for_each(|x| *x -= middle);
        let n = samples.len();
        let padded = (2 * n).next_power_of_two();
        let (mut power, correlation) = transformed(&samples, padded);
        if let Some(native) = signal.native {
            let known = (power.len() as f64 * (merged.step / native).min(1.0)) as usize;
            power.truncate(known.max(FEWEST_BINS));
        }
        let all: f64 = power[1..].iter().sum();
        power.iter_mut().for_each(|power| *power /= all.max(f64::MIN_POSITIVE));
        power[0] = 0.0;
        let add = |sum: &mut f64, value: &f64| {
            *sum += value;
            Some(*sum)
        };
        let sums = [0.0].into_iter().chain(correlation.iter().scan(0.0, add)).collect();
        let mut found = Spectrum {
            samples,
            step: merged.step,
            power,
            padded,
            correlation,
            sums,
            lines: Vec::new(),
            peaks: Vec::new(),
        };
        found.lines = found.strongest();
        found.peaks = found.maxima();
        found
    }

    /// The length of the window in seconds.
    pub fn duration(&self) -> f64 {
        self.samples.len() as f64 * self.step
    }

    /// How many places of the spectrum a line is wide.
    fn oversampled(&self) -> f64 {
        self.padded as f64 / self.samples.len() as f64
    }

    /// The place of a period in the spectrum.
    fn place(&self, period: f64) -> f64 {
        self.padded as f64 * self.step / period
    }

    /// The highest autocorrelation near one period, of the signal blurred by a twentieth of it.
    pub fn correlation(&self, period: f64) -> f64 {
        let n = self.samples.len() as f64;
        let lag = period / self.step;
        let (low, high) = ((1.0 - NEAR_LAG) * lag, (1.0 + NEAR_LAG) * lag + 1.0);
        if high >= FAR_LAG * n {
            return 0.0;
        }
        // The mean of the autocorrelation in each part of a Gaussian.
        let width = (BLUR * lag * SQRT_2).max(BLUR_LEAST);
        let part = (BLUR_REACH * width / BLUR_PARTS as f64).max(1.0);
        let weight = |k: i64| (-(k as f64 * part / width).powi(2) / 2.0).exp();
        let kernel: [f64; BLUR_PARTS + 1] = std::array::from_fn(|k| weight(k as i64));
        let mean = |at: f64| (self.summed(at + part / 2.0) - self.summed(at - part / 2.0)) / part;
        let blurred = |lag: f64| {
            let pair = |k: usize| kernel[k] * (mean(lag - k as f64 * part) + mean(lag + k as f64 * part));
            kernel[0] * mean(lag) + (1..=BLUR_PARTS).map(pair).sum::<f64>()
        };
        let (whole, weights) = (blurred(0.0), kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>());
        if whole <= BLUR_LOST * weights {
            return 0.0;
        }
        let lags = (0..=LAGS).map(|i| low + (high - low) * i as f64 / LAGS as f64);
        let highest = lags.map(blurred).fold(f64::NEG_INFINITY, f64::max);
        (highest / whole).clamp(-1.0, 1.0)
    }

    /// The autocorrelation of lags from −½ to `at` − ½ added up; it is the same before 0 as after it.
    fn summed(&self, lag: f64) -> f64 {
        // Lag i takes from i − ½ to i + ½.
        let place = (lag.abs() + 1.0 / 2.0).min(self.correlation.len() as f64);
        let (whole, part) = (place as usize, place.fract());
        let more = self.correlation.get(whole).map_or(0.0, |value| part * value);
        let sum = self.sums[whole] + more - self.correlation[0] / 2.0;
        if lag < 0.0 { -sum } else { sum }
    }

    /// The power at 1/T and its next multiples.
    pub fn comb(&self, period: f64) -> f64 {
        let width = LINE_WIDTH * self.oversampled();
        let mut sum = 0.0;
        for multiple in 1..=MULTIPLES {
            let place = multiple as f64 * self.place(period);
            let low = ((place - width).floor() as usize).max(1);
            let high = ((place + width).ceil() as usize).min(self.power.len() - 1);
            if low > high || period / (multiple as f64) < TWO_SAMPLES * self.step {
                break;
            }
            sum += self.power[low..=high].iter().copied().fold(0.0, f64::max);
        }
        sum
    }

    /// The power of a line and its multiples, less what as many places have on average.
    pub fn share(&self, period: f64) -> f64 {
        let width = (LINE_WIDTH * self.oversampled()) as usize + 1;
        let n = self.power.len();
        let mut hit = vec![false; n];
        for multiple in 1..=2 * MULTIPLES {
            let place = (multiple as f64 * self.place(period)) as usize;
            hit.iter_mut()
                .take(place + width + 2)
                .skip(place.saturating_sub(width).max(1))
                .for_each(|hit| *hit = true);
        }
        let some = self.power.iter().zip(&hit).filter(|(_, hit)| **hit);
        let (sum, count) = some.fold((0.0, 0), |(sum, count), (power, _)| (sum + power, count + 1));
        (sum - count as f64 / n as f64).max(0.0)
    }

    /// Does a line hold all the time? Its weakest quarter of the window against the mean.
    pub fn steady(&self, period: f64) -> f64 {
        let turn = TAU / period * self.step;
        let n = self.samples.len();
        let (each, more) = (n / PARTS_OF_WINDOW, n % PARTS_OF_WINDOW);
        let mut from = 0;
        let mut amplitudes = Vec::with_capacity(PARTS_OF_WINDOW);
        for part in 0..PARTS_OF_WINDOW {
            let to = from + each + usize::from(part < more);
            let (cosine, sine) = wave_of(self.samples[from..to].iter().copied(), turn);
            amplitudes.push(cosine.hypot(sine));
            from = to;
        }
        let weakest = amplitudes.iter().copied().fold(f64::INFINITY, f64::min);
        weakest / mean(&amplitudes).max(f64::MIN_POSITIVE)
    }

    fn strongest(&self) -> Vec<Line> {
        let power = &self.power;
        if power.len() < FEWEST_BINS || power.iter().sum::<f64>() <= 0.0 {
            return Vec::new();
        }
        let (usual, spread) = (mean(&power[1..]), deviation(&power[1..]).max(f64::MIN_POSITIVE));
        let z = |k: usize| (power[k] - usual) / spread;
        let is_peak = |k: &usize| {
            z(*k) > LINE_LEAST
                && power[*k] >= power[k - 1]
                && power[*k] > power[k + 1]
                && *k as f64 >= LEAST_CYCLES * self.oversampled()
        };
        let mut peaks: Vec<usize> = (1..power.len() - 1).filter(is_peak).collect();
        peaks.sort_by(|&a, &b| power[b].total_cmp(&power[a]));
        let mut taken: Vec<usize> = Vec::new();
        for k in peaks {
            if taken.len() == STRONGEST {
                break;
            }
            if taken.iter().all(|other| k.abs_diff(*other) as f64 > LINE_APART * self.oversampled()) {
                taken.push(k);
            }
        }
        let line = |&k: &usize| {
            let height = |k: usize| power[k].max(f64::MIN_POSITIVE).ln();
            let (before, at, after) = (height(k - 1), height(k), height(k + 1));
            let bend = before - 2.0 * at + after;
            let off = if bend < 0.0 { (before - after) / 2.0 / bend } else { 0.0 };
            Line { period: self.padded as f64 * self.step / (k as f64 + off), z: z(k) }
        };
        taken.iter().map(line).collect()
    }

    fn maxima(&self) -> Vec<f64> {
        let mut found: Vec<(f64, f64)> = Vec::new();
        for resolution in 0..RESOLUTIONS {
            let factor = 1 << (2 * resolution);
            let n = self.samples.len() / factor;
            if n < BINS_OF_CORRELATION {
                break;
            }
            let chunks = self.correlation[..n * factor].chunks(factor);
            let mut lags: Vec<f64> = chunks.map(|some| some.iter().sum::<f64>() / factor as f64).collect();
            if resolution > 0 {
                let old = lags.clone();
                let at = |i: usize| old.get(i).copied().unwrap_or(0.0);
                let before = |i: usize| i.checked_sub(1).map_or(0.0, at);
                for (i, lag) in lags.iter_mut().enumerate() {
                    *lag = (before(i) + 2.0 * at(i) + at(i + 1)) / 2.0 / 2.0;
                }
            }
            let last = (HALF_LAGS * n as f64) as usize;
            let mut lowest = f64::INFINITY;
            let mut tops: Vec<usize> = Vec::new();
            for i in 0..last {
                lowest = lowest.min(lags[i]);
                let is_peak = i >= 2 && i + 1 < last && lags[i] > lags[i - 1] && lags[i] >= lags[i + 1];
                if is_peak && lags[i] - lowest > STANDS_OUT && lags[i] > CORRELATED {
                    tops.push(i);
                }
            }
            tops.sort_by(|&a, &b| lags[b].total_cmp(&lags[a]));
            for &i in tops.iter().take(STRONGEST) {
                let bend = lags[i - 1] - 2.0 * lags[i] + lags[i + 1];
                let off = if bend == 0.0 { 0.0 } else { (lags[i - 1] - lags[i + 1]) / 2.0 / bend };
                let middle = (1.0 - 1.0 / factor as f64) / 2.0;
                found.push((lags[i], (i as f64 + off + middle) * factor as f64 * self.step));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        found.into_iter().map(|(_, lag)| lag).collect()
    }
}

/// The wave in some samples that turns by so much from one to the next: its two parts.
fn wave_of(samples: impl Iterator<Item = f64>, turn: f64) -> (f64, f64) {
    let (step_sine, step_cosine) = turn.sin_cos();
    let (mut cosine, mut sine) = (0.0, 0.0);
    // Turning a vector takes less than the functions of its angle.
    let (mut c, mut s) = (1.0, 0.0);
    for x in samples {
        (cosine, sine) = (cosine + x * c, sine + x * s);
        (c, s) = (c * step_cosine - s * step_sine, s * step_cosine + c * step_sine);
    }
    (cosine, sine)
}

/// The power spectrum, and the autocorrelation, each lag by as many pairs as it has.
fn transformed(samples: &[f64], padded: usize) -> (Vec<f64>, Vec<f64>) {
    let n = samples.len();
    let (there, back) = (forward(padded), inverse(padded));
    let mut input = samples.to_vec();
    input.resize(padded, 0.0);
    let mut spectrum = there.make_output_vec();
    // Lengths are those that the plans were made for.
    let _ = there.process(&mut input, &mut spectrum);
    let power: Vec<f64> = spectrum.iter().map(|amplitude| amplitude.norm_sqr()).collect();
    spectrum.iter_mut().zip(&power).for_each(|(amplitude, power)| *amplitude = (*power).into());
    let _ = back.process(&mut spectrum, &mut input);
    let whole = input[0];
    let pairs = |lag: usize| n as f64 / (n as f64 - lag as f64).max(FEWEST_PAIRS * n as f64);
    let correlation = |lag: usize| if whole > 0.0 { input[lag] / whole * pairs(lag) } else { 0.0 };
    (power, (0..n).map(correlation).collect())
}

/// What a constant, a wave that turns by so much from one value to the next, and its multiples explain of
/// some values: the squares of the best fit. Of few cycles they are not independent of one another.
fn explained(values: &[f64], turn: f64, multiples: usize) -> f64 {
    let n = values.len() as f64;
    // The sums of cosines and sines of 0, 1, 2 … turns.
    let sums = |turn: f64| {
        let half = (turn / 2.0).sin();
        if half.abs() < FLAT {
            return (n, 0.0);
        }
        let (sine, cosine) = ((n - 1.0) * turn / 2.0).sin_cos();
        let size = (n * turn / 2.0).sin() / half;
        (size * cosine, size * sine)
    };
    // A constant is the cosine of no turn; odd columns are cosines, and even ones sines.
    let multiple = |column: usize| column.div_ceil(2) as f64 * turn;
    let is_sine = |column: usize| column > 0 && column.is_multiple_of(2);
    let product = |a: usize, b: usize| {
        let (sum, difference) = (sums(multiple(a) + multiple(b)), sums(multiple(a) - multiple(b)));
        match (is_sine(a), is_sine(b)) {
            (false, false) => (difference.0 + sum.0) / 2.0,
            (true, true) => (difference.0 - sum.0) / 2.0,
            (true, false) => (sum.1 + difference.1) / 2.0,
            (false, true) => (sum.1 - difference.1) / 2.0,
        }
    };
    let size = 2 * multiples + 1;
    let mut matrix: Vec<Vec<f64>> = (0..size).map(|a| (0..size).map(|b| product(a, b)).collect()).collect();
    let mut right = vec![values.iter().sum::<f64>()];
    for multiple in 1..=multiples {
        let (cosine, sine) = wave_of(values.iter().copied(), multiple as f64 * turn);
        right.extend([cosine, sine]);
    }
    let mut squares = 0.0;
    for i in 0..size {
        let pivot = matrix[i][i];
        // What those before explain as well.
        if pivot < FLAT * n {
            continue;
        }
        squares += right[i] * right[i] / pivot;
        for j in i + 1..size {
            let factor = matrix[j][i] / pivot;
            right[j] -= factor * right[i];
            let (above, below) = matrix.split_at_mut(j);
            below[0].iter_mut().zip(&above[i]).skip(i).for_each(|(x, y)| *x -= factor * y);
        }
    }
    squares
}

/// The frequency near 1/T at which a wave and up to three multiples explain most, as a period.
pub fn refined(signal: &Bandwidth, period: f64) -> f64 {
    let bins = signal.bins.len() as f64 / (period / signal.step / BINS_OF_PERIOD).max(1.0);
    let merged = signal.merged((bins as usize).max(FEWEST_REFINED));
    let finest = merged.step.max(signal.native.unwrap_or(0.0));
    let multiples = (period / finest / SAMPLES_OF_WAVE).clamp(1.0, MULTIPLES as f64) as usize;
    let power = |frequency: f64| explained(&merged.bins, TAU * frequency * merged.step, multiples);
    let apart = 2.0 * LINE_WIDTH / (REFINED - 1) as f64;
    let frequency = |i: usize| 1.0 / period + (i as f64 * apart - LINE_WIDTH) / merged.duration();
    let powers: Vec<f64> = (0..REFINED).map(|i| power(frequency(i))).collect();
    let best = (0..REFINED).fold(0, |best, i| if powers[i] > powers[best] { i } else { best });
    let mut low = frequency(best.saturating_sub(1));
    let mut high = frequency((best + 1).min(REFINED - 1));
    for _ in 0..HALVINGS {
        let (a, b) = (low + (high - low) * GOLDEN, high - (high - low) * GOLDEN);
        if power(a) > power(b) { high = b } else { low = a }
    }
    2.0 / (low + high)
}
