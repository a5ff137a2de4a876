//! Extra-P 4.2.5's decisions, reproduced.
//!
//! Everything here is as Extra-P does it, including what it does wrong: the constant is judged in-sample
//! while terms are judged leave-one-out, its adjusted R² is one, and a file must be complete. What it should
//! be is in [`crate::statistical`].

mod multi;
mod refining;
mod segmented;
mod single;

pub(crate) use multi::multi;
pub(crate) use refining::refining;
pub(crate) use segmented::segmented;
pub(crate) use single::{single, single_on};

use crate::cost::Costs;
use crate::function::Function;

/// Smallest share of a value that a term must reach somewhere.
const LEAST_CONTRIBUTION: f64 = 0.0005;

/// A model with the costs Extra-P reports for it.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub function: Function,
    pub costs: Costs,
    /// Whether another form fits the points equally well, so that rounding would decide.
    pub tie: bool,
}

/// Options of the single-parameter search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub space: &'a crate::search_space::SearchSpace,
    /// Judge terms leave-one-out rather than in-sample.
    pub cross_validation: bool,
    /// Compare RSS rather than SMAPE.
    pub compare_rss: bool,
}

impl Rules<'_> {
    fn cost(&self, costs: &Costs) -> f64 {
        if self.compare_rss { costs.rss } else { costs.smape }
    }
}

/// Greatest share of a measured value that a term accounts for. NaN (zero of zero) anywhere makes it NaN, as
/// in NumPy.
fn contribution(terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    terms.fold(f64::NEG_INFINITY, |greatest, (term, actual)| {
        let share = (term / actual).abs();
        if greatest.is_nan() || share.is_nan() { f64::NAN } else { greatest.max(share) }
    })
}

/// Costs of a constant: in-sample, the relative error that of the last non-zero point, the adjusted R² one.
fn constant_costs(values: &[f64], constant: f64) -> Costs {
    let mut costs = Costs::default();
    let mut smape = 0.0;
    for &actual in values {
        let difference = constant - actual;
        costs.rss += difference * difference;
        if actual != 0.0 {
            costs.relative_rss += (difference / actual).powi(2);
            costs.relative_error = difference.abs() / actual;
        }
        smape += crate::cost::symmetric_error(actual, constant);
    }
    costs.smape = smape / values.len() as f64 * 100.0;
    let mean = crate::experiment::mean(values);
    costs.normalised_rss = if mean == 0.0 { f64::NAN } else { costs.rss.sqrt() / mean };
    costs.adjusted_r2 = 1.0;
    costs
}

/// In-sample costs as Extra-P computes them for a single parameter without cross-validation, and for
/// segments.
fn plain_costs(actual: &[f64], predicted: &[f64]) -> Costs {
    let n = actual.len() as f64;
    let mut costs = Costs::default();
    let (mut symmetric, mut counted) = (0.0, 0.0);
    for (&actual, &predicted) in actual.iter().zip(predicted) {
        let difference = predicted - actual;
        costs.rss += difference * difference;
        costs.relative_rss += (difference / actual).powi(2);
        costs.relative_error += difference.abs() / actual / n;
        if actual.abs() + predicted.abs() != 0.0 {
            symmetric += crate::cost::symmetric_error(actual, predicted);
            counted += 1.0;
        }
    }
    costs.smape = symmetric / counted * 100.0;
    let mean = crate::experiment::mean(actual);
    costs.normalised_rss = if mean == 0.0 { f64::NAN } else { costs.rss.sqrt() / mean };
    costs
}
