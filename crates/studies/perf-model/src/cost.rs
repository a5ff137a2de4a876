//! How far a model is from the measurements.

use serde::Serialize;

/// Distances between measurements `y` and predictions `f`, over `n` points.
///
/// Two variants exist of each: *in-sample*, where the prediction at a point comes from a fit that saw the
/// point, and *leave-one-out*, where it comes from a fit to all the others. The second is the one that says
/// something about prediction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Costs {
    /// Residual sum of squares, Σ (f − y)².
    pub rss: f64,
    /// Relative residual sum of squares, Σ ((f − y) / y)².
    pub relative_rss: f64,
    /// √RSS over the mean of y.
    pub normalised_rss: f64,
    /// Symmetric mean absolute percentage error, 100/n · Σ 2 |f − y| / (|f| + |y|).
    pub smape: f64,
    /// Mean of |f − y| / |y|.
    pub relative_error: f64,
    /// 1 − (RSS/TSS) · (n − 1) / (n − k), with TSS the RSS about the mean and k the number of coefficients.
    /// Zero for a constant: it explains nothing of the variation.
    pub adjusted_r2: f64,
}

impl Costs {
    /// Costs of predictions, by the definitions above. A point with y = 0 is left out of the relative ones.
    pub(crate) fn of(actual: &[f64], predicted: &[f64], coefficients: usize) -> Costs {
        let n = actual.len() as f64;
        let mean = crate::experiment::mean(actual);
        let mut costs = Costs::default();
        let mut total = 0.0;
        for (&actual, &predicted) in actual.iter().zip(predicted) {
            costs.add(actual, predicted, n);
            total += (actual - mean) * (actual - mean);
        }
        costs.normalised_rss = if mean == 0.0 { f64::NAN } else { costs.rss.sqrt() / mean.abs() };
        costs.adjusted_r2 =
            if coefficients < 2 { 0.0 } else { adjusted_r2(costs.rss, total, n, coefficients as f64) };
        costs
    }

    /// Adds one of `n` points to the sums and means.
    pub(crate) fn add(&mut self, actual: f64, predicted: f64, n: f64) {
        let difference = predicted - actual;
        self.rss += difference * difference;
        if actual != 0.0 {
            let relative = difference / actual;
            self.relative_rss += relative * relative;
            self.relative_error += relative.abs() / n;
        }
        self.smape += symmetric_error(actual, predicted) / n * 100.0;
    }
}

/// 2 |f − y| / (|f| + |y|), and zero where both are zero.
pub(crate) fn symmetric_error(actual: f64, predicted: f64) -> f64 {
    let magnitude = actual.abs() + predicted.abs();
    if magnitude == 0.0 { 0.0 } else { (predicted - actual).abs() / magnitude * 2.0 }
}

/// 1 − (RSS/TSS) · (n − 1) / (n − k).
pub(crate) fn adjusted_r2(rss: f64, total: f64, n: f64, coefficients: f64) -> f64 {
    1.0 - rss / total * (n - 1.0) / (n - coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_by_hand() {
        let costs = Costs::of(&[1.0, 2.0, 4.0], &[1.0, 3.0, 4.0], 2);
        assert_eq!(costs.rss, 1.0);
        assert_eq!(costs.relative_rss, 0.25);
        assert!((costs.smape - 100.0 / 3.0 * 2.0 / 5.0).abs() < 1e-12);
        assert!((costs.relative_error - 0.5 / 3.0).abs() < 1e-12);
        assert!((costs.normalised_rss - 3.0 / 7.0).abs() < 1e-12);
        let total = 16.0 / 9.0 + 1.0 / 9.0 + 25.0 / 9.0;
        assert!((costs.adjusted_r2 - (1.0 - 1.0 / total * 2.0)).abs() < 1e-12);
        assert_eq!(Costs::of(&[0.0, 0.0], &[0.0, 0.0], 1).smape, 0.0);
    }
}
