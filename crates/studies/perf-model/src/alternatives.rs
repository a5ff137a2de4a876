//! What else a series may become beyond the measured scales.
//!
//! The formulas that a model is chosen from have one term, sometimes two, and never end. But costs add up,
//! and resources are finite: a second term, or a limit, shows in the measurements only when it is larger than
//! their scatter. How well such curves explain the points gives each its share of the interval.

use crate::function::{Exponents, Formula};
use crate::model::Model;
use crate::points::Points;
use crate::statistical::{Scaled, fitted, pairs, prices, residuals};

/// A curve and its share of the plausibility, in the unit of [`crate::model::Alternative`].
#[derive(Debug)]
pub(crate) struct Curve {
    pub formula: Formula,
    pub weight: f64,
    /// Where it saturates, if it does.
    pub limit: Option<f64>,
}

/// Limits that are tried, in units of the largest measured scale.
const LIMITS: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Powers that approach a limit.
const POWERS: [Exponents; 2] = [Exponents::new(1, 1, 0), Exponents::new(1, 2, 0)];
/// What a limit costs, in units of minus twice the log-likelihood.
const MAX_FACTOR: f64 = 2.0;
/// Curves less likely than the model by more than this are left out: 2 ln 100.
const MAX_DEVIANCE: f64 = 9.2;
/// Fewest points that can speak for a limit.
const MIN_SEEN_POINTS: usize = 4;

/// A parameter as a curve with a limit sees it.
pub(crate) fn limit(p: f64, limit: Option<f64>) -> f64 {
    limit.map_or(p, |limit| p / (1.0 + p / limit))
}

/// Pairs of terms and curves with a limit that explain the points about as well as the model does.
pub(crate) fn beyond(model: &Model) -> Vec<Curve> {
    let points = &model.data;
    let positive = points.iter().all(|(point, value)| value > 0.0 && point.iter().all(|p| *p > 0.0));
    let Some(best) = model.alternatives.iter().reduce(|a, b| if b.weight > a.weight { b } else { a }) else {
        return Vec::new();
    };
    if points.dimensions != 1 || !positive {
        return Vec::new();
    }
    let before: Vec<f64> = points.iter().map(|(point, _)| best.formula.evaluate(point)).collect();
    let scaled = Scaled::new(points, model.kind).by(&before);
    let known = residuals(&best.formula, &scaled);
    let mut curves: Vec<(Formula, f64, Option<f64>, f64)> = Vec::new();
    let two = pairs(&scaled, |_| true);
    let new = |formula: &Formula| !model.alternatives.iter().any(|other| other.formula.same_terms(formula));
    curves.extend(
        two.into_iter().filter(|(formula, _)| new(formula)).map(|(formula, rss)| (formula, rss, None, 0.0)),
    );
    if points.len() >= MIN_SEEN_POINTS {
        let largest = points.ranges()[0].1;
        for at in LIMITS.map(|share| share * largest) {
            let curved = Points {
                coordinates: points.coordinates.iter().map(|p| limit(*p, Some(at))).collect(),
                ..points.clone()
            };
            let scaled = Scaled {
                points: &curved,
                kind: scaled.kind,
                scale: scaled.scale.clone(),
                replicates: scaled.replicates,
            };
            for power in POWERS {
                let found = fitted(Formula::single(0.0, 1.0, power), &scaled);
                curves.extend(found.map(|(formula, rss)| (formula, rss, Some(at), MAX_FACTOR)));
            }
        }
    }
    let least = curves.iter().map(|curve| curve.1).fold(known, f64::min);
    let believed = scaled.believed(least, 2);
    let score = |formula: &Formula, rss: f64, price: f64| {
        let extra = formula.terms.len() as f64 * (points.len() as f64 + believed.degrees).ln();
        scaled.deviance(rss, &believed, 2) + extra + prices(formula) + price
    };
    let reference = score(&best.formula, known, 0.0);
    curves
        .into_iter()
        .map(|(formula, rss, limit, price)| (score(&formula, rss, price) - reference, formula, limit))
        .filter(|(worse, ..)| *worse < MAX_DEVIANCE)
        .map(|(worse, formula, limit)| Curve { formula, limit, weight: best.weight * (-worse / 2.0).exp() })
        .collect()
}
