//! The autocorrelation of the bandwidth as a witness: how well does the signal match itself one period later?
//!
//! The bandwidth is cut at the one that half of the bytes exceed, so that a few very fast requests do not
//! dwarf the rest, and the autocorrelation is corrected for the part of the signal that has left the window.

use crate::phases::scale_space::median_by_volume;
use crate::signal::Signal;
use crate::spectral::autocorrelation::acf;
use std::cell::RefCell;
use std::collections::HashMap;

/// Samples that the autocorrelation looks at; finer ones are merged.
const SAMPLES: usize = 1 << 14;

/// The signal is blurred by this share of the lag, and the highest value within this share of it counts.
const BLUR: f64 = 0.05;
const SLACK: f64 = 0.03;

/// The autocorrelation of a signal.
#[derive(Clone, Debug)]
pub struct Correlation {
    /// Seconds per lag.
    step: f64,
    values: Vec<f64>,
    known: RefCell<HashMap<i64, f64>>,
}

/// The bandwidth, cut at `ceiling`, in at most so many samples; and the seconds of each.
pub fn cut_bandwidth(signal: &Signal, ceiling: f64, samples: usize) -> (Vec<f64>, f64) {
    let thin = signal.merged(signal.samples.len().div_ceil(samples));
    let step = thin.step();
    (thin.samples.into_iter().map(|x| x.min(ceiling)).collect(), step)
}

impl Correlation {
    /// Of a signal.
    pub fn of(signal: &Signal) -> Self {
        Correlation::cut_at(signal, median_by_volume(&signal.samples))
    }

    /// Of a signal, half of whose bytes exceed the bandwidth `ceiling`.
    pub fn cut_at(signal: &Signal, ceiling: f64) -> Self {
        let (samples, step) = cut_bandwidth(signal, ceiling, SAMPLES);
        let n = samples.len() as f64;
        let mut values = acf(&samples);
        values.iter_mut().enumerate().for_each(|(lag, value)| *value *= n / (n - lag as f64).max(0.1 * n));
        Correlation { step, values, known: RefCell::default() }
    }

    /// The autocorrelation near a period, −1 … 1; 0 where it cannot be told.
    pub fn at(&self, period: f64) -> f64 {
        let key = (period.ln() * 300.0).round() as i64;
        if let Some(&known) = self.known.borrow().get(&key) {
            return known;
        }
        let value =
            self.blurred(period / self.step, (BLUR * period / self.step * std::f64::consts::SQRT_2).max(0.4));
        self.known.borrow_mut().insert(key, value);
        value
    }

    /// The highest value near a lag, of the signal blurred by `sigma` (both in samples).
    fn blurred(&self, lag: f64, sigma: f64) -> f64 {
        let n = self.values.len();
        let (from, to) = (((1.0 - SLACK) * lag) as isize, ((1.0 + SLACK) * lag) as isize + 1);
        if to as f64 >= 0.9 * n as f64 {
            return 0.0;
        }
        let radius = (3.0 * sigma) as isize + 1;
        let stride = (radius / 40).max(1) as usize;
        let offsets = (-radius..=radius).step_by(stride);
        let kernel: Vec<(isize, f64)> =
            offsets.map(|k| (k, (-0.5 * (k as f64 / sigma).powi(2)).exp())).collect();
        let around = |lag: isize| {
            let value = |k: isize| self.values[((lag + k).unsigned_abs()).min(n - 1)];
            kernel.iter().map(|&(k, weight)| weight * value(k)).sum::<f64>()
        };
        let unit: f64 = kernel.iter().map(|(_, weight)| weight).sum();
        let own = around(0);
        if own <= 0.02 * unit {
            return 0.0;
        }
        let step = ((to - from) / 24).max(1) as usize;
        let highest = (from..=to).step_by(step).map(around).fold(f64::NEG_INFINITY, f64::max);
        (highest / own).clamp(-1.0, 1.0)
    }

    /// Peaks at several scales as (period, height), the highest first.
    pub fn peaks(&self) -> Vec<(f64, f64)> {
        const PER_SCALE: usize = 6;
        let mut found = Vec::new();
        for scale in 0..6 {
            let factor = 1usize << (2 * scale);
            if self.values.len() / factor < 24 {
                break;
            }
            let merged =
                self.values.chunks_exact(factor).map(|part| part.iter().sum::<f64>() / factor as f64);
            let mut values: Vec<f64> = merged.collect();
            let last = (0.55 * values.len() as f64) as usize;
            if scale > 0 {
                let at =
                    |i: isize| usize::try_from(i).ok().and_then(|i| values.get(i)).copied().unwrap_or(0.0);
                let smooth = |i: isize| 0.25 * at(i - 1) + 0.5 * at(i) + 0.25 * at(i + 1);
                values = (0..values.len() as isize).map(smooth).collect();
            }
            found.extend(self.peaks_of(&values[..last], factor, if scale > 0 { 3 } else { 2 }, PER_SCALE));
        }
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }

    /// The highest peaks from the lag `first` on that stand out of the lowest value before them.
    fn peaks_of(&self, values: &[f64], factor: usize, first: usize, most: usize) -> Vec<(f64, f64)> {
        let mut lowest = f64::INFINITY;
        let mut found: Vec<usize> = Vec::new();
        for i in 0..values.len() {
            lowest = lowest.min(values[i]);
            let is_peak =
                i >= 1 && i + 1 < values.len() && values[i] > values[i - 1] && values[i] >= values[i + 1];
            if is_peak && i >= first && values[i] - lowest > 0.05 && values[i] > 0.03 {
                found.push(i);
            }
        }
        found.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        found.truncate(most);
        let located = |&lag: &usize| {
            let (left, middle, right) = (values[lag - 1], values[lag], values[lag + 1]);
            let curve = left - 2.0 * middle + right;
            let off = if curve == 0.0 { 0.0 } else { 0.5 * (left - right) / curve };
            let centre = if factor > 1 { 0.5 * (1.0 - 1.0 / factor as f64) } else { 0.0 };
            ((lag as f64 + off + centre) * factor as f64 * self.step, middle)
        };
        found.iter().map(located).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_match_themselves_one_period_later() {
        let samples = (0..4000).map(|i| if i % 50 < 10 { 1.0 } else { 0.0 }).collect();
        let signal = Signal { start: 0, bin: 500_000_000, samples, abstraction_error: 0.0 };
        let found = Correlation::of(&signal);
        assert!(found.at(25.0) > 0.95 && found.at(32.0) < 0.3, "{} {}", found.at(25.0), found.at(32.0));
        assert_eq!(found.at(1950.0), 0.0);
        assert!((found.peaks()[0].0 / 25.0).fract().min(1.0 - (found.peaks()[0].0 / 25.0).fract()) < 0.05);
    }
}
