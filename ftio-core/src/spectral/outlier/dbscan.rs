//! Outliers by density-based clustering.

use super::{OutlierMethod, Outliers, distance, plane};

/// DBSCAN (Ester et al., KDD 1996) on the points (k/K, p_k): what belongs to no cluster is an outlier.
///
/// A point with at least [`min_points`](Self::min_points) points within ε of it, itself included, is a core;
/// a point within ε of a core belongs to a cluster; the others are noise. As in the published tool,
///
/// > ε² = ((p_max − p_min)·(1 − tolerance))² + (1/K)²
///
/// so that neighbouring frequencies of equal contribution are always in one cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dbscan {
    /// How close to the largest contribution a candidate must come.
    pub tolerance: f64,
    /// How many points make a core.
    pub min_points: usize,
}

impl Default for Dbscan {
    fn default() -> Self {
        Dbscan { tolerance: 0.8, min_points: 2 }
    }
}

impl Dbscan {
    /// The ε used for these contributions.
    pub fn epsilon(&self, contributions: &[f64]) -> f64 {
        let largest = contributions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = contributions.iter().copied().fold(f64::INFINITY, f64::min);
        let last = contributions.len() as f64;
        let step = if contributions.len() > 1 { 2.0 / last - 1.0 / last } else { 0.0 };
        (((largest - smallest) * (1.0 - self.tolerance)).powi(2) + step.powi(2)).sqrt()
    }

    /// The frequencies that belong to no cluster.
    pub fn noise(&self, contributions: &[f64]) -> Vec<usize> {
        let points = plane(contributions);
        let epsilon = self.epsilon(contributions);
        // Points are sorted by frequency: neighbours are found by looking left and right until that alone is
        // too far.
        let near = |i: usize| {
            let within =
                move |j: &usize, points: &[[f64; 2]]| (points[*j][0] - points[i][0]).abs() <= epsilon;
            let points = &points;
            let left = (0..i).rev().take_while(move |j| within(j, points));
            let right = (i + 1..points.len()).take_while(move |j| within(j, points));
            left.chain(right).filter(move |&j| distance(points[i], points[j]) <= epsilon)
        };
        let is_core: Vec<bool> = (0..points.len())
            .map(|i| near(i).take(self.min_points.saturating_sub(1)).count() + 1 >= self.min_points)
            .collect();
        (0..points.len()).filter(|&i| !is_core[i] && !near(i).any(|j| is_core[j])).map(|i| i + 1).collect()
    }
}

impl OutlierMethod for Dbscan {
    fn find(&self, contributions: &[f64]) -> Outliers {
        if contributions.iter().any(|p| !p.is_finite()) {
            return Outliers::default();
        }
        let noise = self.noise(contributions);
        Outliers::above_mean(contributions, contributions.to_vec(), &noise, self.tolerance)
    }
}
