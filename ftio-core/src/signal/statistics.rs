//! Medians, spreads and ratios of a few numbers.

/// The middle one of some values, the upper one of two; 0 of none.
pub fn upper_median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        _ => *values.select_nth_unstable_by(middle, f64::total_cmp).1,
    }
}

/// The median: the mean of the two in the middle if their number is even; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd { *upper } else { (*upper + below.iter().copied().fold(f64::NEG_INFINITY, f64::max)) / 2.0 }
}

/// The spread of most values, outliers or not: the median distance from the median, as a standard deviation.
pub fn robust_spread(values: &[f64]) -> f64 {
    let middle = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&distances)
}

/// The standard deviation; 0 of none.
pub fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// σ/mean.
pub fn variation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
    if mean > 0.0 { square.sqrt() / mean } else { 0.0 }
}
/// How evenly a sum is spread over its parts: 1 if all are equal, 1 divided by their number if one has all of
/// it, 0 if there is nothing.
pub fn evenness(parts: &[f64]) -> f64 {
    let sum: f64 = parts.iter().sum();
    let squares: f64 = parts.iter().map(|part| part * part).sum();
    if squares > 0.0 { sum * sum / (parts.len() as f64 * squares) } else { 0.0 }
}

/// How many times as large the larger of two numbers is.
pub fn ratio(a: f64, b: f64) -> f64 {
    (a / b).max(b / a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_evenness_of_parts() {
        assert_eq!(evenness(&[2.0; 5]), 1.0);
        assert_eq!(evenness(&[0.0, 3.0, 0.0, 0.0]), 0.25);
        assert_eq!(evenness(&[0.0; 3]), 0.0);
        assert_eq!(evenness(&[]), 0.0);
    }
}
