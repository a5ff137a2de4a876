//! Outliers by the Z-score.

use super::{OutlierMethod, Outliers};

/// How many standard deviations a contribution lies above the mean (paper, Eq. 2 and 3).
///
/// > z_k = (p_k − p̄) / σ, and k is a candidate if z_k ≥ 3 and z_k / z_max ≥ tolerance
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZScore {
    /// How close to the largest score a candidate must come; 0.8 in the paper.
    pub tolerance: f64,
    /// From which score on a frequency is an outlier; 3 in the paper.
    pub threshold: f64,
    /// Score by |p_k − p̄| and compare by `>` instead of `≥`, as the published tool does.
    pub as_published: bool,
}

impl Default for ZScore {
    fn default() -> Self {
        ZScore { tolerance: 0.8, threshold: 3.0, as_published: false }
    }
}

impl ZScore {
    fn reaches(&self, value: f64, limit: f64) -> bool {
        if self.as_published { value > limit } else { value >= limit }
    }

    /// I₁ of the paper: z_k ≥ 3.
    fn is_outlier(&self, score: f64) -> bool {
        self.reaches(score, self.threshold)
    }

    /// I₂ of the paper: z_k / z_max ≥ tolerance.
    fn is_near_largest(&self, score: f64, largest: f64) -> bool {
        largest > 0.0 && self.reaches(score / largest, self.tolerance)
    }

    /// The scores alone.
    pub fn scores(&self, contributions: &[f64]) -> Vec<f64> {
        let n = contributions.len() as f64;
        let mean = contributions.iter().sum::<f64>() / n;
        let variance = contributions.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / n;
        let deviation = variance.sqrt();
        // Equal contributions (an impulse, a constant, nothing at all) have no outliers; rounding must not
        // make some.
        if !deviation.is_finite() || deviation <= 1e-12 * mean {
            return vec![0.0; contributions.len()];
        }
        let score = |p: &f64| {
            let z = (p - mean) / deviation;
            if self.as_published { z.abs() } else { z }
        };
        contributions.iter().map(score).collect()
    }
}

impl OutlierMethod for ZScore {
    fn find(&self, contributions: &[f64]) -> Outliers {
        let scores = self.scores(contributions);
        let largest = scores.iter().copied().fold(0.0, f64::max);
        let those = |is: &dyn Fn(f64) -> bool| (1..=scores.len()).filter(|&k| is(scores[k - 1])).collect();
        let outliers = those(&|z| self.is_outlier(z));
        let near_largest = those(&|z| self.is_near_largest(z, largest));
        Outliers::new(scores, outliers, near_largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peak_among_equals() {
        // 49 times 0.01 and once 0.51: mean 0.02, σ = 0.07, z = 7.
        let mut p = vec![0.01; 50];
        p[11] = 0.51;
        let found = ZScore::default().find(&p);
        assert_eq!(found.candidates, [12]);
        assert!((found.score(12) - 7.0).abs() < 1e-12);
        assert!((found.score(1) + 1.0 / 7.0).abs() < 1e-12);
        assert!((found.confidence(12, &[]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_limits_themselves_count_in_the_paper_only() {
        let outliers = |z: &ZScore| (z.is_outlier(3.0), z.is_near_largest(8.0, 10.0));
        assert_eq!(outliers(&ZScore::default()), (true, true));
        assert_eq!(outliers(&ZScore { as_published: true, ..ZScore::default() }), (false, false));
    }
}
