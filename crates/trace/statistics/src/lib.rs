//! Medians, quantiles and spreads of a few numbers. Of none, each of them is 0.
//!
//! [`phases`] tells which requests belong together.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

mod silence;

pub use silence::{Phase, phases};

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The middle one of some values, the upper one of two.
pub fn upper_median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        _ => *values.select_nth_unstable_by(middle, f64::total_cmp).1,
    }
}

/// The median: the mean of the two in the middle if their number is even.
pub fn median(values: &[f64]) -> f64 {
    median_of(&mut values.to_vec())
}

/// The same without a copy; changes the order.
pub fn median_of(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd { *upper } else { (*upper + below.iter().copied().fold(f64::NEG_INFINITY, f64::max)) / 2.0 }
}

/// The value below which that share of the values lies, between two values in proportion, as NumPy's
/// `percentile` does.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    quantile_of(&mut values.to_vec(), share)
}

/// The same without a copy; changes the order.
pub fn quantile_of(values: &mut [f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    if place > below as f64 { low + (place - below as f64) * (high - low) } else { low }
}

/// The median distance from `middle`, scaled to be the standard deviation of normal values.
pub fn median_deviation(values: &[f64], middle: f64) -> f64 {
    let mut distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median_of(&mut distances)
}

/// The spread of most values, outliers or not: the median distance from the median, as a standard deviation.
pub fn robust_spread(values: &[f64]) -> f64 {
    median_deviation(values, median(values))
}

/// The standard deviation of the values themselves (they are no sample).
pub fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = mean(values);
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The coefficient of variation: the standard deviation over the mean. 0 if the mean is not positive.
pub fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    if mean > 0.0 { deviation(values) / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_the_sorted_list() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[5.0, 1.0]), 3.0);
        assert_eq!(median(&[9.0, 1.0, 4.0]), 4.0);
        assert_eq!(median(&[9.0, 1.0, 4.0, 6.0]), 5.0);
        assert_eq!(upper_median([9.0, 1.0, 4.0, 6.0].into_iter()), 6.0);
        assert_eq!(upper_median([].into_iter()), 0.0);
    }

    #[test]
    fn quantiles_are_interpolated() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), 2.5);
        assert_eq!(quantile(&[4.0, 1.0], 0.0), 1.0);
        assert_eq!(quantile(&[4.0], 0.9), 4.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.25), 2.5);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn spreads() {
        assert_eq!(variation(&[1.25, 0.75, 1.25, 0.75]), 0.25);
        assert_eq!((variation(&[]), variation(&[-1.0]), deviation(&[])), (0.0, 0.0, 0.0));
        assert_eq!(robust_spread(&[1.0, 2.0, 3.0, 1000.0]), 1.4826);
    }
}
