//! How many phases there are, seen at every scale.
//!
//! Looked at closely, a phase is many requests; from afar, phases flow together. In between there is a range
//! of scales at which one phase is one bump of the bandwidth, and over that range the number of bumps does
//! not change. So the bandwidth is smoothed with Gaussians whose widths grow geometrically (scale space:
//! Witkin, IJCAI 1983), and at each width the maxima are counted whose *persistence* (the drop on both sides
//! before a higher one is reached; Edelsbrunner, Letscher and Zomorodian, FOCS 2000) exceeds a quarter of the
//! range of the smoothed bandwidth. Scales in a row with the same count are a [`Level`].
//!
//! Two precautions: the bandwidth is cut at the one that half of the bytes exceed, so that a few very fast
//! requests do not dwarf the rest; and at its ends the signal is continued by its mirror image, so that the
//! edges of the window are no phases.

use crate::phases::thresholds::{FOOT, MAX_PHASES, PERSISTENCE, WIDTHS_PER_OCTAVE as PER_OCTAVE};
use crate::signal::Signal;

/// Scales in a row at which the same number of phases is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The finest and the coarsest width (σ of the Gaussian) in seconds.
    pub scales: (f64, f64),
    /// The place of each maximum: index of a sample of the signal.
    pub peaks: Vec<usize>,
    /// Where the rise to each maximum but the first begins.
    pub valleys: Vec<usize>,
    /// How far the bandwidth falls between phases: (high − low)/(high + low) of the mean maximum and the mean
    /// minimum.
    pub contrast: f64,
}

impl Level {
    /// Octaves over which the count holds.
    pub fn octaves(&self) -> f64 {
        (self.scales.1 / self.scales.0).log2() + 1.0 / f64::from(PER_OCTAVE)
    }
}

/// All levels of a signal whose bandwidth is cut at `ceiling`, from fine to coarse, down to a single phase.
pub fn levels(signal: &Signal, ceiling: f64) -> Vec<Level> {
    let n = signal.samples.len();
    if n < 8 {
        return Vec::new();
    }
    let mut smooth: Vec<f64> = signal.samples.iter().map(|x| x.min(ceiling)).collect();
    let mut smoother = Vec::new();
    // Samples of the signal in one of `smooth`, and the width reached so far in samples of `smooth`.
    let (mut group, mut reached) = (1usize, 0.0f64);
    let mut levels: Vec<Level> = Vec::new();
    let mut step = -PER_OCTAVE;
    loop {
        let sigma = 2f64.powf(f64::from(step) / f64::from(PER_OCTAVE)) / group as f64;
        if step > -PER_OCTAVE {
            blur(&smooth, (sigma * sigma - reached * reached).max(0.0).sqrt(), &mut smoother);
            std::mem::swap(&mut smooth, &mut smoother);
            reached = sigma;
        }
        let (peaks, valleys) = extrema(&smooth);
        let width = sigma * group as f64 * signal.step();
        let contrast = contrast(&smooth, &peaks, &valleys);
        match levels.last_mut() {
            Some(last) if last.peaks.len() == peaks.len() => last.scales.1 = width,
            _ if peaks.len() > MAX_PHASES => {}
            _ => {
                let place = |i: &usize| (i * group + group / 2).min(n - 1);
                let (peaks, valleys) =
                    (peaks.iter().map(place).collect(), valleys.iter().map(place).collect());
                levels.push(Level { scales: (width, width), peaks, valleys, contrast });
            }
        }
        if peaks.len() <= 1 && reached > 1.0 || smooth.len() < 16 {
            return levels;
        }
        if sigma >= 4.0 {
            smooth = smooth.chunks(2).map(|pair| pair.iter().sum::<f64>() / pair.len() as f64).collect();
            group *= 2;
            reached /= 2.0;
        }
        step += 1;
    }
}

fn contrast(samples: &[f64], peaks: &[usize], valleys: &[usize]) -> f64 {
    let mean =
        |places: &[usize]| places.iter().map(|&i| samples[i]).sum::<f64>() / places.len().max(1) as f64;
    let (high, low) = (mean(peaks), mean(valleys));
    if high + low > 0.0 { (high - low) / (high + low) } else { 0.0 }
}

/// The bandwidth at which, or below which, half of the volume is transferred.
pub fn median_by_volume(samples: &[f64]) -> f64 {
    let mut positive: Vec<f64> = samples.iter().copied().filter(|x| *x > 0.0).collect();
    let half = positive.iter().sum::<f64>() / 2.0;
    // It is in the lower or in the upper half of what is left, until that is little.
    let (mut left, mut below) = (&mut positive[..], 0.0);
    while left.len() > 32 {
        let (lower, middle, upper) = left.select_nth_unstable_by(left.len() / 2, f64::total_cmp);
        let sum = below + lower.iter().sum::<f64>();
        if sum >= half {
            left = lower;
        } else if sum + *middle >= half {
            return *middle;
        } else {
            (left, below) = (upper, sum + *middle);
        }
    }
    left.sort_unstable_by(f64::total_cmp);
    let reaches = |x: &&f64| {
        below += **x;
        below >= half
    };
    let found = left.iter().find(reaches).or(left.last());
    found.copied().unwrap_or(0.0)
}

/// Where so many samples are silent, they stay so; and so many are blurred together.
const BLOCK: usize = 1 << 8;
const LANES: usize = 8;

/// Convolution with a Gaussian of that width in samples, into `out`; the ends are mirrored.
fn blur(samples: &[f64], sigma: f64, out: &mut Vec<f64>) {
    if sigma <= 0.0 {
        samples.clone_into(out);
        return;
    }
    let radius = (3.5 * sigma).ceil() as usize;
    let mut kernel: Vec<f64> = (0..=radius).map(|i| (-0.5 * (i as f64 / sigma).powi(2)).exp()).collect();
    let sum = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
    kernel.iter_mut().for_each(|weight| *weight /= sum);
    let n = samples.len();
    let mirrored = |i: isize| match samples.get(i as usize) {
        Some(sample) => *sample,
        None => {
            let period = 2 * n as isize;
            // Mostly it is not far outside, and a division takes long.
            let i = match i {
                i if (0..period).contains(&i) => i,
                i if (-period..0).contains(&i) => i + period,
                i => i.rem_euclid(period),
            } as usize;
            samples[if i < n { i } else { 2 * n - 1 - i }]
        }
    };
    let slow = |i: usize| {
        let i = i as isize;
        let pairs = (1..=radius).map(|d| kernel[d] * (mirrored(i - d as isize) + mirrored(i + d as isize)));
        kernel[0] * samples[i as usize] + pairs.sum::<f64>()
    };
    let edge = radius.min(n);
    out.resize(n, 0.0);
    for i in (0..edge).chain(n.saturating_sub(radius).max(edge)..n) {
        out[i] = slow(i);
    }
    // Some samples at a time, which stay in registers while all weights are gone through.
    for from in (edge..n.saturating_sub(radius)).step_by(BLOCK) {
        let to = (from + BLOCK).min(n - radius);
        let block = &mut out[from..to];
        // Silence stays silence.
        if samples[from - radius..to + radius].iter().all(|sample| *sample == 0.0) {
            block.fill(0.0);
            continue;
        }
        let (lanes, rest) = block.as_chunks_mut::<LANES>();
        for (chunk, values) in lanes.iter_mut().enumerate() {
            let first = from + chunk * LANES;
            let mut sums = [0.0; LANES];
            sums.iter_mut().zip(&samples[first..]).for_each(|(sum, sample)| *sum = kernel[0] * sample);
            for (d, weight) in kernel.iter().enumerate().skip(1) {
                let pairs = samples[first - d..][..LANES].iter().zip(&samples[first + d..][..LANES]);
                sums.iter_mut().zip(pairs).for_each(|(sum, (a, b))| *sum += weight * (a + b));
            }
            *values = sums;
        }
        let first = to - rest.len();
        for (i, value) in (first..).zip(rest) {
            let weights = kernel.iter().enumerate().skip(1);
            let sum = |sum, (d, weight): (usize, &f64)| sum + weight * (samples[i - d] + samples[i + d]);
            *value = weights.fold(kernel[0] * samples[i], sum);
        }
    }
}

/// Maxima that persist, and the foot of the rise to each but the first: the last place that is about as low
/// as the lowest since the maximum before. Beyond both ends the signal counts as low.
fn extrema(samples: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let low = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let high = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let enough = PERSISTENCE * (high - low);
    let (mut peaks, mut valleys) = (Vec::new(), Vec::new());
    if enough <= 1e-9 * high.abs() || !enough.is_finite() {
        return (peaks, valleys);
    }
    let mut rising = false;
    // The extreme value since the last turn, and where.
    let (mut extreme, mut place) = (low, 0);
    for (i, &x) in samples.iter().enumerate() {
        if rising {
            if x > extreme {
                (extreme, place) = (x, i);
            }
            if extreme - x >= enough {
                peaks.push(place);
                (rising, extreme, place) = (false, x, i);
            }
        } else {
            extreme = extreme.min(x);
            if x <= extreme + FOOT * enough {
                place = i;
            }
            if x - extreme >= enough {
                if !peaks.is_empty() {
                    valleys.push(place);
                }
                (rising, extreme, place) = (true, x, i);
            }
        }
    }
    if rising {
        peaks.push(place);
    }
    (peaks, valleys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(samples: Vec<f64>) -> Signal {
        Signal { start: 0, bin: 100_000_000, samples, abstraction_error: 0.0 }
    }

    fn blurred(samples: &[f64], sigma: f64) -> Vec<f64> {
        // Whatever is in it is overwritten.
        let mut out = vec![7.0; 3000];
        blur(samples, sigma, &mut out);
        out
    }

    #[test]
    fn bursts_of_requests_are_counted_as_requests_and_as_bursts() {
        // Ten bursts of four requests: 5 on, 5 off, then 60 off.
        let on = |i: usize| i % 100 < 40 && i % 10 < 5;
        let found = levels(&signal((0..1000).map(|i| if on(i) { 1.0 } else { 0.0 }).collect()), 1.0);
        let octaves =
            |count: usize| found.iter().filter(|l| l.peaks.len() == count).map(Level::octaves).sum::<f64>();
        assert!(octaves(40) > 1.0 && octaves(10) > 1.0, "{found:#?}");
        let ten = found.iter().find(|level| level.peaks.len() == 10).unwrap();
        assert_eq!(ten.valleys.len(), 9);
        for (i, peak) in ten.peaks.iter().enumerate() {
            assert!((100 * i..100 * i + 40).contains(peak), "{peak}");
        }
    }

    #[test]
    fn flat_and_tiny_signals() {
        assert!(levels(&signal(vec![1.0; 4]), 1.0).is_empty());
        assert!(levels(&signal(vec![1.0; 100]), 1.0).iter().all(|level| level.peaks.is_empty()));
        assert!(levels(&signal(vec![0.0; 100]), 1.0).iter().all(|level| level.peaks.is_empty()));
    }

    #[test]
    fn the_blur_keeps_the_sum() {
        let samples: Vec<f64> = (0..50).map(|i| f64::from(i * i % 17)).collect();
        for sigma in [0.3, 1.0, 5.0, 40.0] {
            let sum: f64 = blurred(&samples, sigma).iter().sum();
            assert!((sum / samples.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_blur_is_the_convolution_that_it_says() {
        for n in [1usize, 2, 7, 50, 1030, 2100] {
            let samples: Vec<f64> = (0..n).map(|i| (i * i % 17) as f64).collect();
            let at = |i: isize| {
                let i = i.rem_euclid(2 * n as isize) as usize;
                samples[i.min(2 * n - 1 - i)]
            };
            for sigma in [0.3f64, 1.0, 5.0, 40.0] {
                let radius = (3.5 * sigma).ceil() as isize;
                let weight = |d: isize| (-0.5 * (d as f64 / sigma).powi(2)).exp();
                let all: f64 = (-radius..=radius).map(weight).sum();
                for (i, &value) in blurred(&samples, sigma).iter().enumerate() {
                    let sum: f64 = (-radius..=radius).map(|d| weight(d) * at(i as isize + d)).sum();
                    assert!((value - sum / all).abs() < 1e-9, "{n} {sigma} {i}");
                }
            }
        }
    }

    #[test]
    fn half_the_volume() {
        assert_eq!(median_by_volume(&[0.0, 1.0, 1.0, 1.0, 2.0, 10.0]), 10.0);
        assert_eq!(median_by_volume(&[3.0, 3.0, 4.0]), 3.0);
        assert_eq!(median_by_volume(&[]), 0.0);
        // As by summing up the sorted samples.
        let mut samples: Vec<f64> = (0..5000u32).map(|i| f64::from(i * i % 7919)).collect();
        let found = median_by_volume(&samples);
        samples.sort_unstable_by(f64::total_cmp);
        let (total, mut sum) = (samples.iter().sum::<f64>(), 0.0);
        let mut reaches = samples.iter().filter(|x| {
            sum += **x;
            2.0 * sum >= total
        });
        assert_eq!(reaches.next(), Some(&found));
    }
}
