//! Which frequencies stand out of the spectrum.
//!
//! The strongest frequency of a spectrum always exists; it means something only if it is an *outlier* among
//! the others (paper, II-B 2). A method gets the normalised
//! [contributions](crate::spectral::spectrum::Spectrum::contributions) of k = 1, 2, … and scores each. Two
//! sets follow from the scores: the outliers I₁, and the frequencies I₂ whose score comes close to the
//! largest one; the candidates are in both. Element `k − 1` of every list of scores belongs to frequency k.
//!
//! | method | a frequency is an outlier if | its score |
//! |---|---|---|
//! | [`ZScore`] | it lies three standard deviations above the mean | standard deviations above the mean |
//! | [`Dbscan`] | it has no neighbour in the plane of frequency and contribution | contribution |
//! | [`IsolationForest`] | random cuts separate it from the others early | anomaly score above that of the average point |
//! | [`LocalOutlierFactor`] | its surroundings are much emptier than those of its neighbours | factor above 1 |
//! | [`Peaks`] | it is a local maximum near the highest one | contribution |
//!
//! The last four are those of the published tool beside the Z-score. They look at points of a plane, and
//! would call an exceptionally weak frequency an outlier as well; only those above the mean contribution
//! count here.

mod dbscan;
mod isolation_forest;
mod local_outlier_factor;
mod peaks;
mod zscore;

pub use dbscan::Dbscan;
pub use isolation_forest::IsolationForest;
pub use local_outlier_factor::LocalOutlierFactor;
pub use peaks::Peaks;
pub use zscore::ZScore;

/// A way of finding outliers in a spectrum.
pub trait OutlierMethod {
    /// Score all frequencies and select the candidates.
    fn find(&self, contributions: &[f64]) -> Outliers;
}

/// What an [`OutlierMethod`] found. All sets are ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outliers {
    /// One score per frequency; what it means depends on the method.
    pub scores: Vec<f64>,
    /// I₁ of the paper: the frequencies that stand out.
    pub outliers: Vec<usize>,
    /// I₂ of the paper: the frequencies that come close to the strongest.
    pub near_largest: Vec<usize>,
    /// The candidates k for the dominant frequency.
    pub candidates: Vec<usize>,
    /// What a second method says; candidates are outliers for both.
    pub second: Option<Box<Outliers>>,
}

impl Outliers {
    /// From the sets I₁ and I₂, with the candidates in both.
    pub fn new(scores: Vec<f64>, outliers: Vec<usize>, near_largest: Vec<usize>) -> Self {
        let candidates = outliers.iter().copied().filter(|k| near_largest.binary_search(k).is_ok()).collect();
        Outliers { scores, outliers, near_largest, candidates, second: None }
    }

    /// From those that a method singles out of the plane: only contributions above the mean count, and a
    /// candidate comes close to the largest of them.
    fn above_mean(contributions: &[f64], scores: Vec<f64>, singled_out: &[usize], tolerance: f64) -> Self {
        let mean = contributions.iter().sum::<f64>() / contributions.len().max(1) as f64;
        let contribution = |k: usize| contributions[k - 1];
        let outliers: Vec<usize> =
            singled_out.iter().copied().filter(|&k| contribution(k) > mean * (1.0 + 1e-12)).collect();
        let largest = contributions.iter().copied().fold(0.0, f64::max);
        let near = |&k: &usize| contribution(k) >= tolerance * largest;
        let near_largest = outliers.iter().copied().filter(near).collect();
        Outliers::new(scores, outliers, near_largest)
    }

    /// The score of frequency k, 0 where there is none.
    pub fn score(&self, k: usize) -> f64 {
        k.checked_sub(1).and_then(|i| self.scores.get(i)).copied().unwrap_or(0.0)
    }

    /// Does frequency k stand out?
    pub fn stands_out(&self, k: usize) -> bool {
        self.outliers.binary_search(&k).is_ok()
    }

    /// Only the candidates that stand out for a second method too.
    pub fn confirmed_by(mut self, second: Outliers) -> Self {
        self.candidates.retain(|&k| second.stands_out(k));
        self.second = Some(Box::new(second));
        self
    }

    /// Confidence in candidate k, where the frequencies in `ignored` (ascending) are harmonics of others.
    ///
    /// > c_k = ½ (s_k / Σ_{I₁} s_i + s_k / Σ_{I₂} s_i)
    ///
    /// (paper, II-C, there with the Z-score as s), each sum without the harmonics. With two methods, the mean
    /// of both.
    pub fn confidence(&self, k: usize, ignored: &[usize]) -> f64 {
        let share = |set: &[usize]| {
            let sum: f64 =
                set.iter().filter(|k| ignored.binary_search(k).is_err()).map(|&k| self.score(k)).sum();
            if set.binary_search(&k).is_ok() && sum > 0.0 { self.score(k) / sum } else { 0.0 }
        };
        let own = ((share(&self.outliers) + share(&self.near_largest)) / 2.0).clamp(0.0, 1.0);
        match &self.second {
            Some(second) => (own + second.confidence(k, ignored)) / 2.0,
            None => own,
        }
    }
}

/// The points (k/K, p_k) of the plane that some methods look at.
fn plane(contributions: &[f64]) -> Vec<[f64; 2]> {
    let last = contributions.len() as f64;
    contributions.iter().zip(1..).map(|(&p, k)| [f64::from(k) / last, p]).collect()
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_shared_among_outliers() {
        // Scores by hand: I₁ = {1, 2, 4}, I₂ = {1, 2}.
        let scores = vec![10.0, 9.0, 0.0, 5.0, -1.0];
        let outliers = Outliers::new(scores, vec![1, 2, 4], vec![1, 2]);
        assert_eq!(outliers.candidates, [1, 2]);
        assert!((outliers.confidence(1, &[]) - 0.5 * (10.0 / 24.0 + 10.0 / 19.0)).abs() < 1e-12);
        // Without the harmonic 2 the sums shrink.
        assert!((outliers.confidence(1, &[2]) - 0.5 * (10.0 / 15.0 + 1.0)).abs() < 1e-12);
        // An outlier far from the largest has only the first half.
        assert!((outliers.confidence(4, &[]) - 0.5 * (5.0 / 24.0)).abs() < 1e-12);
        assert_eq!(outliers.confidence(3, &[]), 0.0);
        assert_eq!(outliers.confidence(99, &[]), 0.0);
    }

    #[test]
    fn two_methods_must_agree() {
        let one = Outliers::new(vec![4.0, 4.0, 0.0], vec![1, 2], vec![1, 2]);
        let two = Outliers::new(vec![0.0, 7.0, 0.0], vec![2], vec![2]);
        let both = one.confirmed_by(two);
        assert_eq!(both.candidates, [2]);
        assert!((both.confidence(2, &[]) - (0.5 + 1.0) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn every_method_finds_a_single_peak_and_nothing_among_equals() {
        let methods: [&dyn OutlierMethod; 5] = [
            &ZScore::default(),
            &Dbscan::default(),
            &IsolationForest::default(),
            &LocalOutlierFactor::default(),
            &Peaks::default(),
        ];
        let mut peak: Vec<f64> = (0..200).map(|i| 0.001 + 1e-5 * f64::from(i * 7 % 13)).collect();
        peak[30] = 0.6;
        for (i, method) in methods.iter().enumerate() {
            let found = method.find(&peak);
            assert_eq!(found.candidates, [31], "method {i}");
            assert!(found.confidence(31, &[]) > 0.5, "method {i}");
            for equal in [vec![], vec![0.0; 8], vec![1.0 / 3.0; 3], vec![1.0], vec![f64::NAN; 9]] {
                assert!(method.find(&equal).candidates.is_empty(), "method {i}: {equal:?}");
            }
        }
    }
}
