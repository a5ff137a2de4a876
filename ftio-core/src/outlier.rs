//! Which frequencies stand out of the spectrum.
//!
//! The strongest frequency of a spectrum always exists; it means something only if it is an *outlier* among the others
//! (paper, II-B 2). A method gets the normalised [contributions](crate::spectrum::Spectrum::contributions) of
//! k = 1, 2, … and gives back a score for each and the set of candidates. Every method also says how sure
//! it is of one candidate. Element `k − 1` of every list belongs to frequency k.

/// A way of finding outliers in a spectrum.
pub trait OutlierMethod {
    /// Score all frequencies and select the candidates.
    fn find(&self, contributions: &[f64]) -> Outliers;

    /// Confidence in candidate k, between 0 and 1, where the frequencies in `ignored` are harmonics of others.
    fn confidence(&self, outliers: &Outliers, k: usize, ignored: &[usize]) -> f64;
}

/// What an [`OutlierMethod`] found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outliers {
    /// One score per frequency; what it means depends on the method (the Z-score, for [`ZScore`]).
    pub scores: Vec<f64>,
    /// The candidates k for the dominant frequency, ascending.
    pub candidates: Vec<usize>,
}

impl Outliers {
    /// The score of frequency k, 0 where there is none.
    pub fn score(&self, k: usize) -> f64 {
        k.checked_sub(1).and_then(|i| self.scores.get(i)).copied().unwrap_or(0.0)
    }
}

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
}

impl OutlierMethod for ZScore {
    fn find(&self, contributions: &[f64]) -> Outliers {
        let n = contributions.len() as f64;
        let mean = contributions.iter().sum::<f64>() / n;
        let variance = contributions.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / n;
        let deviation = variance.sqrt();
        // Equal contributions (an impulse, a constant, nothing at all) have no outliers; rounding must not make some.
        if contributions.is_empty() || deviation <= 1e-12 * mean {
            return Outliers { scores: vec![0.0; contributions.len()], candidates: Vec::new() };
        }
        let score = |p: &f64| {
            let z = (p - mean) / deviation;
            if self.as_published { z.abs() } else { z }
        };
        let scores: Vec<f64> = contributions.iter().map(score).collect();
        let largest = scores.iter().copied().fold(0.0, f64::max);
        let is_candidate = |z: f64| self.is_outlier(z) && self.is_near_largest(z, largest);
        let candidates = (1..=scores.len()).filter(|&k| is_candidate(scores[k - 1])).collect();
        Outliers { scores, candidates }
    }

    /// c_k = ½ (z_k / Σ_{I₁} z_i + z_k / Σ_{I₂} z_i) (paper, II-C), each sum without the harmonics.
    fn confidence(&self, outliers: &Outliers, k: usize, ignored: &[usize]) -> f64 {
        let largest = outliers.scores.iter().copied().fold(0.0, f64::max);
        let mut ignored: Vec<usize> = ignored.to_vec();
        ignored.sort_unstable();
        let (mut of_outliers, mut near_largest) = (0.0, 0.0);
        for (i, &z) in outliers.scores.iter().enumerate() {
            let (outlier, near) = (self.is_outlier(z), self.is_near_largest(z, largest));
            if (outlier || near) && ignored.binary_search(&(i + 1)).is_err() {
                of_outliers += if outlier { z } else { 0.0 };
                near_largest += if near { z } else { 0.0 };
            }
        }
        let z = outliers.score(k);
        let share = |member: bool, sum: f64| if member && sum > 0.0 { z / sum } else { 0.0 };
        let first = share(self.is_outlier(z), of_outliers);
        let second = share(self.is_near_largest(z, largest), near_largest);
        ((first + second) / 2.0).clamp(0.0, 1.0)
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
        assert!((ZScore::default().confidence(&found, 12, &[]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn confidence_is_shared_among_outliers() {
        // Scores by hand: I₁ = {1, 2, 4}, I₂ = {1, 2}.
        let outliers = Outliers { scores: vec![10.0, 9.0, 0.0, 5.0, -1.0], candidates: vec![1, 2] };
        let z = ZScore::default();
        assert!((z.confidence(&outliers, 1, &[]) - 0.5 * (10.0 / 24.0 + 10.0 / 19.0)).abs() < 1e-12);
        // Without the harmonic 2 the sums shrink.
        assert!((z.confidence(&outliers, 1, &[2]) - 0.5 * (10.0 / 15.0 + 1.0)).abs() < 1e-12);
        // An outlier far from the largest has only the first half.
        assert!((z.confidence(&outliers, 4, &[]) - 0.5 * (5.0 / 24.0)).abs() < 1e-12);
        assert_eq!(z.confidence(&outliers, 3, &[]), 0.0);
        assert_eq!(z.confidence(&outliers, 99, &[]), 0.0);
    }

    #[test]
    fn the_limits_themselves_count_in_the_paper_only() {
        let outliers = |z: &ZScore| (z.is_outlier(3.0), z.is_near_largest(8.0, 10.0));
        assert_eq!(outliers(&ZScore::default()), (true, true));
        assert_eq!(outliers(&ZScore { as_published: true, ..ZScore::default() }), (false, false));
    }

    #[test]
    fn nothing_stands_out_of_equals() {
        for p in [vec![], vec![0.0; 8], vec![1.0 / 3.0; 3], vec![1.0]] {
            assert!(ZScore::default().find(&p).candidates.is_empty());
        }
    }
}
