//! Outliers by isolation.

use super::{OutlierMethod, Outliers, plane};
use crate::signal::statistics::quantile;
use seeded_random::Random;

/// An isolation forest (Liu, Ting and Zhou, ICDM 2008) on the points (k/K, p_k).
///
/// A tree cuts a sample of the points at a random place of a random coordinate, again and again, until every
/// point is alone or the tree is as deep as log₂ of the sample. A point far from the others is alone after
/// few cuts. With the mean depth h of a point over all trees and the depth c that is expected without
/// outliers, its anomaly score is 2^(−h/c): ½ for an average point, towards 1 for an outlier.
///
/// The random numbers come from a fixed seed: the same spectrum has the same outliers, always.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsolationForest {
    /// Number of trees.
    pub trees: usize,
    /// Points per tree.
    pub sample: usize,
    /// The share of points that are outliers.
    pub contamination: f64,
    /// How close to the largest contribution a candidate must come.
    pub tolerance: f64,
    /// Where the random numbers begin.
    pub seed: u64,
}

impl Default for IsolationForest {
    fn default() -> Self {
        IsolationForest { trees: 100, sample: 256, contamination: 0.001, tolerance: 0.8, seed: 1 }
    }
}

/// A node of a tree: a cut with two branches, or a leaf that adds to the depth.
enum Node {
    Cut { coordinate: usize, place: f64, below: usize, above: usize },
    Leaf { depth: f64 },
}

impl IsolationForest {
    /// The anomaly score of every frequency, 0 to 1.
    pub fn anomaly(&self, contributions: &[f64]) -> Vec<f64> {
        let points = plane(contributions);
        let sample = self.sample.min(points.len());
        if sample < 2 {
            return vec![0.5; points.len()];
        }
        let limit = (sample as f64).log2().ceil() as usize;
        let mut random = Random::new(self.seed);
        let mut depths = vec![0.0; points.len()];
        let mut order: Vec<usize> = (0..points.len()).collect();
        for _ in 0..self.trees.max(1) {
            for i in 0..sample {
                order.swap(i, i + random.below(points.len() - i));
            }
            let mut tree = Vec::new();
            grow(&points, &mut order[..sample].to_vec(), limit, 0, &mut random, &mut tree);
            for (depth, point) in depths.iter_mut().zip(&points) {
                *depth += depth_of(&tree, *point);
            }
        }
        let expected = self.trees.max(1) as f64 * expected_depth(sample);
        depths.iter().map(|depth| (-depth / expected).exp2()).collect()
    }

    /// Which frequencies are among the share that counts as outliers, and the score of each minus the limit:
    /// negative for outliers.
    pub fn as_published(&self, contributions: &[f64]) -> (Vec<usize>, Vec<f64>) {
        let negative: Vec<f64> = self.anomaly(contributions).iter().map(|score| -score).collect();
        let offset = quantile(&negative, self.contamination);
        let scores: Vec<f64> = negative.iter().map(|score| score - offset).collect();
        ((1..=scores.len()).filter(|&k| scores[k - 1] < 0.0).collect(), scores)
    }
}

/// Grow a tree over the points `which`; the new node is the last one of `tree`. Returns its index.
fn grow(
    points: &[[f64; 2]],
    which: &mut [usize],
    limit: usize,
    depth: usize,
    random: &mut Random,
    tree: &mut Vec<Node>,
) -> usize {
    let range = |coordinate: usize, which: &[usize]| {
        let values = which.iter().map(|&i| points[i][coordinate]);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let leaf = |tree: &mut Vec<Node>, count: usize| {
        tree.push(Node::Leaf { depth: depth as f64 + expected_depth(count) });
        tree.len() - 1
    };
    if depth >= limit || which.len() < 2 {
        return leaf(tree, which.len());
    }
    // A coordinate in which all points agree cannot be cut: then the other one.
    let first = random.below(2);
    let cut = [first, 1 - first].into_iter().find_map(|coordinate| {
        let (low, high) = range(coordinate, which);
        (low < high).then_some((coordinate, low, high))
    });
    let Some((coordinate, low, high)) = cut else { return leaf(tree, which.len()) };
    let place = (low + (high - low) * random.unit()).min(high.next_down());
    which.sort_unstable_by(|&a, &b| points[a][coordinate].total_cmp(&points[b][coordinate]));
    let border = which.partition_point(|&i| points[i][coordinate] <= place);
    let (lower, upper) = which.split_at_mut(border);
    let below = grow(points, lower, limit, depth + 1, random, tree);
    let above = grow(points, upper, limit, depth + 1, random, tree);
    tree.push(Node::Cut { coordinate, place, below, above });
    tree.len() - 1
}

fn depth_of(tree: &[Node], point: [f64; 2]) -> f64 {
    let mut node = tree.len() - 1;
    loop {
        match tree[node] {
            Node::Leaf { depth } => return depth,
            Node::Cut { coordinate, place, below, above } => {
                node = if point[coordinate] <= place { below } else { above };
            }
        }
    }
}

/// The mean depth of a search in a random tree of n points: 2·H(n−1) − 2(n−1)/n, with H(i) ≈ ln i + γ.
fn expected_depth(n: usize) -> f64 {
    const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;
    match n {
        0 | 1 => 0.0,
        2 => 1.0,
        n => {
            let n = n as f64;
            2.0 * ((n - 1.0).ln() + EULER_GAMMA) - 2.0 * (n - 1.0) / n
        }
    }
}

impl OutlierMethod for IsolationForest {
    fn find(&self, contributions: &[f64]) -> Outliers {
        let equal = contributions.windows(2).all(|pair| pair[0] == pair[1]);
        if equal || contributions.iter().any(|p| !p.is_finite()) {
            return Outliers { scores: vec![0.0; contributions.len()], ..Outliers::default() };
        }
        let anomaly = self.anomaly(contributions);
        // At least the share that counts as outliers, at least one point.
        let limit = quantile(&anomaly, 1.0 - self.contamination.max(1.0 / anomaly.len() as f64));
        let singled_out: Vec<usize> = (1..=anomaly.len()).filter(|&k| anomaly[k - 1] >= limit).collect();
        let scores = anomaly.iter().map(|score| (score - 0.5).max(0.0)).collect();
        Outliers::above_mean(contributions, scores, &singled_out, self.tolerance)
    }
}
