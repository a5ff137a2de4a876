//! Medians, spreads and ratios of a few numbers.

pub use ::statistics::{
    deviation, mean, median, median_deviation, quantile, robust_spread, upper_median, variation,
};

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
