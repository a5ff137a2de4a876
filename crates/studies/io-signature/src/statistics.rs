//! Means, medians and correlations.

pub use ::statistics::{mean, median, median_deviation, quantile, quantile_of};

/// The mean of the middle half: as steady as a mean, and foreign values do no harm.
pub(crate) fn middle_mean(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let cut = values.len() / 4;
    mean(&values[cut..values.len() - cut])
}

/// Pearson's correlation of the first values of both, as many as both have; 0 where one is constant.
pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    let scale = (aa * bb).sqrt();
    if scale > 0.0 { (ab / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The largest normalised cross-correlation over shifts of up to `most` values in both directions, with the
/// shift of `a` that it needs. What is shifted out counts as missing, so that a shift never helps by
/// leaving something out.
pub fn cross_correlation(a: &[f64], b: &[f64], most: usize) -> (f64, isize) {
    let n = a.len().min(b.len());
    let centred = |values: &[f64]| -> Vec<f64> {
        let mean = mean(&values[..n]);
        values[..n].iter().map(|value| value - mean).collect()
    };
    let (a, b) = (centred(a), centred(b));
    let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    let scale = (square(&a) * square(&b)).sqrt();
    if scale <= 0.0 {
        return (0.0, 0);
    }
    let most = most.min(n.saturating_sub(1)) as isize;
    let mut best = (f64::NEG_INFINITY, 0);
    for shift in (0..=most).flat_map(|shift| [shift, -shift]) {
        let (from_a, from_b) = if shift >= 0 { (shift as usize, 0) } else { (0, (-shift) as usize) };
        let sum: f64 = a[from_a..].iter().zip(&b[from_b..]).map(|(a, b)| a * b).sum();
        if sum > best.0 {
            best = (sum, shift);
        }
    }
    (best.0 / scale, best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.25), 2.5);
        assert_eq!(quantile(&[5.0], 0.9), 5.0);
        assert_eq!(middle_mean(&[100.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn correlations() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0, 9.0]) - 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
        let burst = |at: usize| -> Vec<f64> { (0..50).map(|i| f64::from(u8::from(i / 5 == at))).collect() };
        let (found, shift) = cross_correlation(&burst(5), &burst(3), 20);
        assert!(found > 0.97 && shift == 10, "{found} {shift}");
        assert!(cross_correlation(&burst(5), &burst(3), 3).0 < 0.5);
    }
}
