//! Samples on one grid of seconds, of one length, above one background (paper, 5.1).

use crate::statistics::mean;

/// A sample at one value a second, by linear interpolation between the middles of the log's intervals;
/// intervals shorter than a second are averaged. The second k reaches from k to k + 1.
pub fn to_seconds(values: &[f64], step: f64) -> Vec<f64> {
    let seconds = (values.len() as f64 * step + 1e-6).floor() as usize;
    if values.is_empty() || step.is_nan() || step <= 0.0 {
        return Vec::new();
    }
    if (step - 1.0).abs() < 1e-9 {
        return values.to_vec();
    }
    if step < 1.0 {
        return (0..seconds).map(|second| averaged(values, second as f64 / step, 1.0 / step)).collect();
    }
    (0..seconds).map(|second| at(values, (second as f64 + 0.5) / step - 0.5)).collect()
}

/// The same as published, for the paper's log of 2 s: between two values their mean is inserted.
pub fn with_means_inserted(values: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(2 * values.len());
    for pair in values.windows(2) {
        out.extend([pair[0], (pair[0] + pair[1]) / 2.0]);
    }
    out.extend(values.last());
    out
}

/// The value at a place between indices; beyond the ends the first or last value.
pub(crate) fn at(values: &[f64], place: f64) -> f64 {
    let last = values.len() - 1;
    let place = place.clamp(0.0, last as f64);
    let below = (place as usize).min(last);
    let above = (below + 1).min(last);
    let share = place - below as f64;
    values[below] * (1.0 - share) + values[above] * share
}

fn averaged(values: &[f64], from: f64, length: f64) -> f64 {
    let (to, mut sum) = ((from + length).min(values.len() as f64), 0.0);
    let mut index = from as usize;
    while (index as f64) < to && index < values.len() {
        let overlap = (index as f64 + 1.0).min(to) - (index as f64).max(from);
        sum += overlap.max(0.0) * values[index];
        index += 1;
    }
    if to > from { sum / (to - from) } else { 0.0 }
}

/// A sample of n values shrunk to m: the values ⌊i·n/(n − m)⌋, i = 0 … n − m − 1, are left out. A sample
/// that is 4 % too long loses its 1st, 26th, 51st … value.
pub fn shrink(values: &[f64], length: usize) -> Vec<f64> {
    let surplus = values.len().saturating_sub(length);
    let mut dropped = (0..surplus).map(|i| i * values.len() / surplus).peekable();
    let mut out = Vec::with_capacity(length);
    for (index, value) in values.iter().enumerate() {
        if dropped.next_if_eq(&index).is_none() {
            out.push(*value);
        }
    }
    out
}

/// The level of what is always there: the mean of all values below the mean of all values.
pub fn background(samples: &[Vec<f64>]) -> f64 {
    let total: usize = samples.iter().map(Vec::len).sum();
    let overall = samples.iter().flatten().sum::<f64>() / total.max(1) as f64;
    let below: Vec<f64> = samples.iter().flatten().copied().filter(|value| *value < overall).collect();
    mean(&below)
}

/// Samples without that level; nothing goes below 0.
pub fn subtract(samples: &mut [Vec<f64>], level: f64) {
    samples.iter_mut().flatten().for_each(|value| *value = (*value - level).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seconds_become_one() {
        assert_eq!(with_means_inserted(&[1.0, 3.0, 2.0]), [1.0, 2.0, 3.0, 2.5, 2.0]);
        assert_eq!(to_seconds(&[1.0, 3.0], 2.0), [1.0, 1.5, 2.5, 3.0]);
        assert_eq!(to_seconds(&[1.0, 3.0], 1.0), [1.0, 3.0]);
        assert_eq!(to_seconds(&[1.0, 3.0, 5.0, 7.0], 0.5), [2.0, 6.0]);
        assert_eq!(to_seconds(&[4.0; 10], 0.3), [4.0; 3]);
        assert!(to_seconds(&[], 2.0).is_empty() && to_seconds(&[1.0], 0.0).is_empty());
    }

    #[test]
    fn the_mean_survives() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 17)).collect();
        for step in [0.25, 0.7, 2.0, 5.0] {
            let found = mean(&to_seconds(&values, step));
            assert!((found / mean(&values) - 1.0).abs() < 0.02, "{step}: {found}");
        }
    }

    #[test]
    fn four_percent_too_long() {
        let values: Vec<f64> = (0..104).map(f64::from).collect();
        let short = shrink(&values, 100);
        assert_eq!(short.len(), 100);
        let gone: Vec<f64> = values.iter().copied().filter(|value| !short.contains(value)).collect();
        assert_eq!(gone, [0.0, 26.0, 52.0, 78.0]);
        assert_eq!(shrink(&values, 104), values);
        assert_eq!(shrink(&values, 200), values);
    }

    #[test]
    fn background_is_the_mean_below_the_mean() {
        let mut samples = vec![vec![1.0, 1.0, 10.0], vec![1.0, 3.0, 2.0]];
        assert_eq!(background(&samples), 1.25);
        subtract(&mut samples, 1.5);
        assert_eq!(samples, [vec![0.0, 0.0, 8.5], vec![0.0, 1.5, 0.5]]);
    }
}
