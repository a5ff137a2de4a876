//! Periods worth trying: the mean distance, modes of the distances and of those to the next but one and so
//! on, and what autocorrelation and spectrum say.

use super::hypothesis::Marked;

/// Distances up to that to the eighth next phase are looked at; in long lists to the third.
const NEXT: usize = 8;
const NEXT_OF_MANY: usize = 3;
const MANY: usize = 600;

/// The periods to try for a list.
pub fn seeds(marked: &Marked, distances: &[f64], duration: f64, everywhere: &[f64]) -> Vec<f64> {
    let count = marked.starts.len();
    let mut found = vec![marked.list.regularity.period];
    found.extend(modes(distances, 0.03, 3, None));
    let mut sorted = distances.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64) as usize];
    let longest = 4.0 * at(0.9);
    let next = (count - 1).min(if count <= MANY { NEXT } else { NEXT_OF_MANY });
    let starts = &marked.starts;
    let pairs = (1..=next).flat_map(|k| (k..count).map(move |j| starts[j] - starts[j - k]));
    let pairs: Vec<f64> = pairs.filter(|distance| *distance <= longest).collect();
    let by_chance = (count * count) as f64 / duration;
    found.extend(modes(&pairs, 0.04, 4, Some(by_chance)));
    let range = 0.8 * sorted[distances.len() / 10]..=(duration / 2.0).min(1.5 * longest);
    found.extend(everywhere.iter().filter(|period| range.contains(period)));
    found
}

/// Modes of positive numbers on a logarithmic scale of this bandwidth; with so many expected `by_chance` per
/// unit, the most significant ones.
fn modes(values: &[f64], bandwidth: f64, top: usize, by_chance: Option<f64>) -> Vec<f64> {
    /// More bins are no density.
    const MOST: usize = 20_000;
    /// Bins on each side that a value is spread over, with σ of two bins.
    const RADIUS: usize = 6;
    let logarithms: Vec<f64> = values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect();
    let low = logarithms.iter().copied().fold(f64::INFINITY, f64::min) - 0.1;
    let high = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 0.1;
    if logarithms.is_empty() || !(low.is_finite() && high.is_finite()) {
        return Vec::new();
    }
    let bins = ((high - low) / (bandwidth / 2.0)) as usize + 1;
    if bins > MOST {
        return Vec::new();
    }
    let width = (high - low) / bins as f64;
    let mut density = vec![0.0; bins + 2 * RADIUS];
    let kernel: Vec<f64> =
        (0..=2 * RADIUS).map(|i| (-0.5 * ((i as f64 - RADIUS as f64) / 2.0).powi(2)).exp()).collect();
    let mut counts = vec![0.0; bins];
    for logarithm in &logarithms {
        counts[(((logarithm - low) / width) as usize).min(bins - 1)] += 1.0;
    }
    for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        density[bin..=bin + 2 * RADIUS].iter_mut().zip(&kernel).for_each(|(d, weight)| *d += count * weight);
    }
    let mut density = density[RADIUS..RADIUS + bins].to_vec();
    let centre = |bin: usize| low + (bin as f64 + 0.5) * width;
    if let Some(by_chance) = by_chance {
        for (bin, value) in density.iter_mut().enumerate() {
            let expected = by_chance * centre(bin).exp() * bandwidth * 2.5;
            *value = (*value - expected) / (expected + 1.0).sqrt();
        }
    }
    let at = |bin: Option<usize>| bin.and_then(|bin| density.get(bin)).copied().unwrap_or(f64::NEG_INFINITY);
    let is_peak = |&bin: &usize| {
        density[bin] > 0.0 && density[bin] >= at(bin.checked_sub(1)) && density[bin] > at(Some(bin + 1))
    };
    let mut peaks: Vec<usize> = (0..bins).filter(is_peak).collect();
    peaks.sort_by(|&a, &b| density[b].total_cmp(&density[a]));
    peaks.truncate(top);
    let mean_near = |bin: usize| {
        let near = logarithms.iter().filter(|value| (*value - centre(bin)).abs() <= 1.5 * bandwidth);
        let (sum, count) = near.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        if count > 0.0 { (sum / count).exp() } else { centre(bin).exp() }
    };
    peaks.into_iter().map(mean_near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_of_two_distances() {
        let values: Vec<f64> =
            (0..40).map(|i| if i % 3 == 0 { 20.0 } else { 9.9 + 0.01 * f64::from(i % 5) }).collect();
        let found = modes(&values, 0.03, 3, None);
        assert!((found[0] / 9.92 - 1.0).abs() < 0.01 && (found[1] / 20.0 - 1.0).abs() < 0.01, "{found:?}");
        assert!(modes(&[], 0.03, 3, None).is_empty());
    }
}
