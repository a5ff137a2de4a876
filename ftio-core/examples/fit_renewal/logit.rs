//! The conditional logit: weights that make the right alternatives of every trace most probable, *none* being
//! one of them with a score of 0.

use crate::rows::{Row, Seen};
use ftio_core::renewal::table::TWIN;
use ftio_core::renewal::weights::{COUNT, Sign, WEIGHTS};
use std::collections::HashMap;

pub type Weights = [f64; COUNT];

/// Alternatives of a trace, stacked.
pub struct Stack {
    pub kind: &'static str,
    /// The features of one after the other.
    features: Vec<[f64; COUNT]>,
    right: Vec<bool>,
    /// What a twin adds to *none*, for those that have one.
    twins: Vec<f64>,
    /// Is *none* right, because there is no period or because no alternative is right?
    none: bool,
}

impl Stack {
    pub fn of(trace: &Seen, keep: impl Fn(&Row) -> bool) -> Self {
        let right = trace.right();
        let kept: Vec<usize> = (0..trace.rows.len()).filter(|&i| keep(&trace.rows[i])).collect();
        let right: Vec<bool> = kept.iter().map(|&i| right[i]).collect();
        let features = kept.iter().map(|&i| trace.rows[i].features).collect();
        let twins = kept.iter().map(|&i| if trace.rows[i].has_twin { TWIN } else { 0.0 }).collect();
        let none = trace.is_none() || !right.contains(&true);
        Stack { kind: trace.kind, features, right, twins, none }
    }

    /// The score of each alternative relative to the highest, as a power, that of *none*, and all together.
    fn powers(&self, weights: &Weights) -> (Vec<f64>, f64, f64) {
        let mut powers: Vec<f64> = self.features.iter().map(|row| dot(row, weights)).collect();
        let highest = powers.iter().copied().fold(0.0, f64::max);
        powers.iter_mut().for_each(|power| *power = (*power - highest).exp());
        let none = (-highest).exp() + dot(&powers, &self.twins);
        let all = powers.iter().sum::<f64>() + none;
        (powers, none, all)
    }

    fn good(&self, powers: &[f64], none: f64) -> f64 {
        let hits: f64 =
            powers.iter().zip(&self.right).filter(|(_, right)| **right).map(|(power, _)| power).sum();
        (hits + if self.none { none } else { 0.0 }).max(1e-300)
    }

    /// Minus the logarithm of the probability of what is right.
    pub fn loss(&self, weights: &Weights) -> f64 {
        let (powers, none, all) = self.powers(weights);
        -(self.good(&powers, none) / all).max(1e-12).ln()
    }

    /// The same, and its slope, which is added to that given.
    fn slope(&self, weights: &Weights, by: f64, slope: &mut Weights) -> f64 {
        let (powers, none, all) = self.powers(weights);
        let good = self.good(&powers, none);
        for (i, (row, power)) in self.features.iter().zip(&powers).enumerate() {
            let hits = f64::from(self.right[i]) + if self.none { self.twins[i] } else { 0.0 };
            let push = by * power * ((1.0 + self.twins[i]) / all - hits / good);
            if push.abs() > 1e-15 {
                slope.iter_mut().zip(row).for_each(|(slope, x)| *slope += push * x);
            }
        }
        -by * (good / all).ln()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The mean over traces with the same weight for every kind.
pub fn mean_loss<'a>(losses: impl Iterator<Item = (&'a str, f64)>) -> f64 {
    let mut kinds: HashMap<&str, (f64, f64)> = HashMap::new();
    for (kind, loss) in losses {
        let (sum, count) = kinds.entry(kind).or_default();
        (*sum, *count) = (*sum + loss, *count + 1.0);
    }
    let mut means: Vec<f64> = kinds.values().map(|(sum, count)| sum / count).collect();
    means.sort_by(f64::total_cmp);
    means.iter().sum::<f64>() / means.len().max(1) as f64
}

/// How to fit.
#[derive(Clone)]
pub struct How {
    /// The penalty on weights in units of the deviation of their features.
    pub l2: f64,
    /// Which features to use.
    pub used: [bool; COUNT],
    /// Weights to begin with.
    pub near: Weights,
    /// Weights that the penalty draws towards; what they do not know is drawn less.
    pub towards: Weights,
}

/// The most that a feature is drawn towards nothing which those weights do not know.
const NEW: f64 = 0.001;

/// The best weights.
pub fn fit(traces: &[&Stack], how: &How) -> Weights {
    let rows = || traces.iter().flat_map(|trace| &trace.features);
    let count = rows().count().max(1) as f64;
    let mut scale = [0.0; COUNT];
    for (i, (scale, weight)) in scale.iter_mut().zip(WEIGHTS).enumerate() {
        let mean = rows().map(|row| row[i]).sum::<f64>() / count;
        let deviation = (rows().map(|row| (row[i] - mean).powi(2)).sum::<f64>() / count).sqrt();
        let is_used = how.used[i] && (deviation > 1e-9 || weight.sign == Sign::Constant);
        *scale = match weight.sign {
            _ if !is_used => 0.0,
            Sign::Constant => 1.0,
            _ => 1.0 / deviation,
        };
    }
    let mut of_kind: HashMap<&str, f64> = HashMap::new();
    traces.iter().for_each(|trace| *of_kind.entry(trace.kind).or_default() += 1.0);
    let kinds = of_kind.len() as f64;
    let loss = |at: &Weights| {
        let weights = std::array::from_fn(|i| at[i] * scale[i]);
        let (mut value, mut slope) = (0.0, [0.0; COUNT]);
        for trace in traces {
            value += trace.slope(&weights, 1.0 / (kinds * of_kind[trace.kind]), &mut slope);
        }
        for i in 0..COUNT {
            slope[i] *= scale[i];
            if WEIGHTS[i].sign != Sign::Constant && scale[i] > 0.0 {
                let l2 = if how.towards[i] == 0.0 { how.l2.min(NEW) } else { how.l2 };
                let off = at[i] - how.towards[i] / scale[i];
                value += l2 * off * off / 2.0;
                slope[i] += l2 * off;
            }
        }
        (value, slope)
    };
    let bound = |i: usize, x: f64| match WEIGHTS[i].sign {
        Sign::For => x.max(0.0),
        Sign::Against => x.min(0.0),
        Sign::Free | Sign::Constant => x,
    };
    let start = std::array::from_fn(|i| bound(i, if scale[i] == 0.0 { 0.0 } else { how.near[i] / scale[i] }));
    let best = minimise(loss, bound, start);
    std::array::from_fn(|i| best[i] * scale[i])
}

/// The minimum of a smooth function within bounds (Broyden, Fletcher, Goldfarb and Shanno; a step is cut at
/// the bounds, and what is at one and pushes beyond it is held).
fn minimise(
    function: impl Fn(&Weights) -> (f64, Weights),
    bound: impl Fn(usize, f64) -> f64,
    start: Weights,
) -> Weights {
    const STEPS: usize = 300;
    const ENOUGH: f64 = 1e-7;
    let identity = || {
        let mut inverse = vec![[0.0; COUNT]; COUNT];
        (0..COUNT).for_each(|i| inverse[i][i] = 1.0);
        inverse
    };
    let mut inverse = identity();
    let mut at = start;
    let (mut value, mut slope) = function(&at);
    let mut still = 0;
    for _ in 0..STEPS {
        let free: Vec<bool> = (0..COUNT)
            .map(|i| bound(i, at[i] - 1e-6 * slope[i].signum()) != at[i] || slope[i] == 0.0)
            .collect();
        let pushed: Weights = std::array::from_fn(|i| if free[i] { slope[i] } else { 0.0 });
        let direction: Weights =
            std::array::from_fn(|i| if free[i] { -dot(&inverse[i], &pushed) } else { 0.0 });
        let mut length = 1.0;
        let (next, next_value, next_slope) = loop {
            let next: Weights = std::array::from_fn(|i| bound(i, at[i] + length * direction[i]));
            let (next_value, next_slope) = function(&next);
            let downhill: f64 = (0..COUNT).map(|i| slope[i] * (next[i] - at[i])).sum();
            if next_value <= value + 1e-4 * downhill || length < 1e-8 {
                break (next, next_value, next_slope);
            }
            length /= 2.0;
        };
        let moved: Weights = std::array::from_fn(|i| next[i] - at[i]);
        let turned: Weights = std::array::from_fn(|i| next_slope[i] - slope[i]);
        let curvature = dot(&moved, &turned);
        if curvature > 1e-12 {
            let image: Weights = std::array::from_fn(|i| dot(&inverse[i], &turned));
            let factor = (1.0 + dot(&turned, &image) / curvature) / curvature;
            for i in 0..COUNT {
                for j in 0..COUNT {
                    let cross = image[i] * moved[j] + moved[i] * image[j];
                    inverse[i][j] += factor * moved[i] * moved[j] - cross / curvature;
                }
            }
        }
        let gained = value - next_value;
        if gained > 0.0 {
            (at, value, slope) = (next, next_value, next_slope);
        }
        if gained < ENOUGH {
            still += 1;
            inverse = identity();
        } else {
            still = 0;
        }
        if still == 2 {
            break;
        }
    }
    at
}
