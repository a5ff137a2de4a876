//! Outliers by their local density.

use super::{OutlierMethod, Outliers, distance, plane};
use crate::signal::statistics::quantile;

/// The local outlier factor (Breunig et al., SIGMOD 2000) of the points (k/K, p_k).
///
/// The *reachability* of a from b is their distance, but at least the distance from b to its n-th neighbour.
/// The local density of a point is the inverse of its mean reachability from its n neighbours; its factor is
/// the mean density of these neighbours divided by its own. Inside a cluster that is about 1; 1.5 and more is
/// an outlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalOutlierFactor {
    /// How many neighbours are looked at.
    pub neighbours: usize,
    /// From which factor on a frequency is an outlier.
    pub threshold: f64,
    /// How close to the largest contribution a candidate must come.
    pub tolerance: f64,
}

impl Default for LocalOutlierFactor {
    fn default() -> Self {
        LocalOutlierFactor { neighbours: 20, threshold: 1.5, tolerance: 0.8 }
    }
}

/// Keeps densities finite where points coincide.
const TINY: f64 = 1e-10;

struct Neighbourhood {
    /// For each point its neighbours and their distances, nearest first.
    nearest: Vec<Vec<(f64, usize)>>,
}

impl LocalOutlierFactor {
    /// The factor of every frequency.
    pub fn factors(&self, contributions: &[f64]) -> Vec<f64> {
        let points = plane(contributions);
        let count = self.count(points.len());
        if count == 0 {
            return vec![1.0; points.len()];
        }
        let around = Neighbourhood::of(&points, count, false);
        let density = around.densities(&around);
        around.factors(&density, &density)
    }

    /// Which frequencies the published tool takes: those whose factor *as a new point*, which has itself as
    /// its nearest neighbour, lies above all but one in a thousand of the factors proper; and its score for
    /// each, the lower the less normal.
    pub fn as_published(&self, contributions: &[f64]) -> (Vec<usize>, Vec<f64>) {
        let points = plane(contributions);
        let count = self.count(points.len());
        if count == 0 {
            return (Vec::new(), vec![0.0; points.len()]);
        }
        let around = Neighbourhood::of(&points, count, false);
        let density = around.densities(&around);
        let negative: Vec<f64> = around.factors(&density, &density).iter().map(|factor| -factor).collect();
        let offset = quantile(&negative, 0.001);
        let with_itself = Neighbourhood::of(&points, count, true);
        let new_density = with_itself.densities(&around);
        let scores: Vec<f64> =
            with_itself.factors(&density, &new_density).iter().map(|factor| -factor - offset).collect();
        ((1..=scores.len()).filter(|&k| scores[k - 1] < 0.0).collect(), scores)
    }

    fn count(&self, points: usize) -> usize {
        self.neighbours.min(points.saturating_sub(1))
    }
}

impl Neighbourhood {
    fn of(points: &[[f64; 2]], count: usize, with_itself: bool) -> Self {
        Neighbourhood { nearest: (0..points.len()).map(|i| nearest(points, i, count, with_itself)).collect() }
    }

    /// Local reachability densities; `reference` knows the n-th neighbour of each point.
    fn densities(&self, reference: &Neighbourhood) -> Vec<f64> {
        let reach = |&(d, j): &(f64, usize)| d.max(reference.nearest[j].last().map_or(0.0, |last| last.0));
        let mean = |near: &Vec<(f64, usize)>| near.iter().map(reach).sum::<f64>() / near.len() as f64;
        self.nearest.iter().map(|near| 1.0 / (mean(near) + TINY)).collect()
    }

    fn factors(&self, of_neighbours: &[f64], own: &[f64]) -> Vec<f64> {
        let factor = |(near, own): (&Vec<(f64, usize)>, &f64)| {
            near.iter().map(|&(_, j)| of_neighbours[j] / own).sum::<f64>() / near.len() as f64
        };
        self.nearest.iter().zip(own).map(factor).collect()
    }
}

/// The `count` points nearest to point i, nearest first; of equals, the lower frequency.
fn nearest(points: &[[f64; 2]], i: usize, count: usize, with_itself: bool) -> Vec<(f64, usize)> {
    let mut near: Vec<(f64, usize)> = Vec::with_capacity(count + 1);
    if with_itself {
        near.push((0.0, i));
    }
    let mut consider = |j: usize| {
        let entry = (distance(points[i], points[j]), j);
        if near.len() < count || near.last().is_some_and(|last| entry.0 < last.0) {
            let place = near.partition_point(|other| (other.0, other.1) < entry);
            near.insert(place, entry);
            near.truncate(count);
        }
        near.len() < count || near.last().is_some_and(|last| (points[j][0] - points[i][0]).abs() <= last.0)
    };
    // Outwards on both sides, until the frequency alone is too far away.
    let (mut left, mut right) = (i.checked_sub(1), Some(i + 1).filter(|j| *j < points.len()));
    while left.is_some() || right.is_some() {
        left = left.filter(|&j| consider(j)).and_then(|j| j.checked_sub(1));
        right = right.filter(|&j| consider(j)).map(|j| j + 1).filter(|j| *j < points.len());
    }
    near
}

impl OutlierMethod for LocalOutlierFactor {
    fn find(&self, contributions: &[f64]) -> Outliers {
        if contributions.iter().any(|p| !p.is_finite()) {
            return Outliers::default();
        }
        let factors = self.factors(contributions);
        let singled_out: Vec<usize> =
            (1..=factors.len()).filter(|&k| factors[k - 1] >= self.threshold).collect();
        let scores = factors.iter().map(|factor| factor - 1.0).collect();
        Outliers::above_mean(contributions, scores, &singled_out, self.tolerance)
    }
}
