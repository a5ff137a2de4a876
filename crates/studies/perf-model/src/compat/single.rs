//! One parameter: the best single term, judged by the error at each point of a fit to all the others.
//!
//! 1. The constant is the mean; its costs are in-sample. If its residuals are exactly zero, it is the model.
//! 2. Each term `x = p^i · log2(p)^j` is fitted n times, each time to all points but one. If the constant of
//!    such a fit is below 0.0005 of the least value it was fitted to, it is taken for zero. The errors at the
//!    points left out make the costs.
//! 3. The coefficients are those of a fit to all points, whose constant is left as it is.
//! 4. A term is out if its costs are not finite, or if nowhere does it make up 0.0005 of a measured value.
//! 5. The least SMAPE wins; a later term must be strictly better, and the first one to beat is the constant.
//!
//! Without cross-validation, one fit to all points gives both coefficients and costs, a constant below 0.001
//! of the least value is zero and stays so, and points where both sides are zero do not count in the mean of
//! SMAPE.

use super::{LEAST_CONTRIBUTION, Outcome, Rules, constant_costs, contribution, plain_costs};
use crate::basis::Basis;
use crate::cost::{Costs, adjusted_r2};
use crate::experiment::mean;
use crate::function::{Exponents, Formula, Function};
use crate::line_fit::{Line, fit, leave_one_out};
use crate::points::Points;

/// Below this share of the least training value a constant is taken for zero, in each leave-one-out fit.
const ZERO_CONSTANT: f64 = 0.0005;
/// The same without cross-validation, where the zero is kept.
const ZERO_CONSTANT_IN_SAMPLE: f64 = 1e-3;

/// A term that was tried.
#[derive(Debug, Clone)]
pub(super) struct Hypothesis {
    pub exponents: Exponents,
    pub line: Line,
    pub costs: Costs,
    /// Position in the list it was tried from.
    pub index: usize,
}

impl Hypothesis {
    pub(super) fn formula(&self) -> Formula {
        Formula::single(self.line.constant, self.line.slope, self.exponents)
    }
}

/// The model of a series of one parameter.
pub(crate) fn single(points: &Points, rules: &Rules<'_>) -> Outcome {
    single_on(points, rules, None)
}

/// The same, on terms already evaluated at the points.
pub(crate) fn single_on(points: &Points, rules: &Rules<'_>, basis: Option<&Basis>) -> Outcome {
    let (constant, costs) = constant(&points.values);
    let outcome = |formula, costs| Outcome { function: Function::Formula(formula), costs, tie: false };
    if costs.rss == 0.0 || points.len() < 2 {
        return outcome(Formula::constant(constant), costs);
    }
    let own;
    let basis = match basis {
        Some(basis) => basis,
        None => {
            own = Basis::compat(rules.space, points);
            &own
        }
    };
    match best(basis, &points.values, costs.rss, rules, Some(rules.cost(&costs))) {
        Some(hypothesis) => outcome(hypothesis.formula(), hypothesis.costs),
        None => outcome(Formula::constant(constant), costs),
    }
}

/// The mean and its costs.
pub(super) fn constant(values: &[f64]) -> (f64, Costs) {
    let constant = mean(values);
    (constant, constant_costs(values, constant))
}

/// The first of the best terms, if any is strictly better than the cost to beat. With nothing to beat, the
/// first valid term counts whatever it contributes, as in Extra-P.
pub(super) fn best(
    basis: &Basis,
    values: &[f64],
    total: f64,
    rules: &Rules<'_>,
    to_beat: Option<f64>,
) -> Option<Hypothesis> {
    let mut best: Option<Hypothesis> = None;
    let mut least = to_beat;
    let trainer = Trainer::new(values);
    for (index, (exponents, x)) in basis.iter().enumerate() {
        if exponents.power.is_zero() && exponents.log.is_zero() {
            continue;
        }
        let (line, costs) = judge(x, values, total, rules.cross_validation, &trainer);
        if !costs.rss.is_finite() {
            continue;
        }
        let cost = rules.cost(&costs);
        if let Some(least) = least {
            let share = contribution(x.iter().zip(values).map(|(x, y)| (line.slope * x, *y)));
            let better = cost < least;
            if line.slope == 0.0 || share < LEAST_CONTRIBUTION || !better {
                continue;
            }
        }
        least = Some(cost);
        best = Some(Hypothesis { exponents, line, costs, index });
    }
    best
}

/// What leave-one-out needs to know about the values besides the term.
struct Trainer {
    sum: f64,
    /// Least value, where it is, and the least of the others.
    least: (f64, usize, f64),
}

impl Trainer {
    fn new(values: &[f64]) -> Self {
        let mut least = (f64::INFINITY, 0, f64::INFINITY);
        for (index, &value) in values.iter().enumerate() {
            if value < least.0 {
                least = (value, index, least.0);
            } else if value < least.2 {
                least.2 = value;
            }
        }
        Trainer { sum: crate::experiment::sum(values), least }
    }

    fn least_without(&self, index: usize) -> f64 {
        if index == self.least.1 { self.least.2 } else { self.least.0 }
    }
}

/// Fits a term and says what it costs.
fn judge(x: &[f64], values: &[f64], total: f64, cross_validation: bool, trainer: &Trainer) -> (Line, Costs) {
    let n = values.len() as f64;
    let mut line = fit(x, values);
    let mut costs = Costs::default();
    if cross_validation {
        leave_one_out(x, values, |left_out, mut line| {
            clean(&mut line, trainer.least_without(left_out), ZERO_CONSTANT);
            let actual = values[left_out];
            costs.add(actual, line.constant + line.slope * x[left_out], n);
            // Extra-P adds the root of the running sum, not of the final one.
            let training_mean = (trainer.sum - actual) / (n - 1.0);
            costs.normalised_rss += costs.rss.sqrt() / training_mean / n;
        });
    } else {
        clean(&mut line, trainer.least.0, ZERO_CONSTANT_IN_SAMPLE);
        let predicted: Vec<f64> = x.iter().map(|x| line.constant + line.slope * x).collect();
        costs = plain_costs(values, &predicted);
    }
    costs.adjusted_r2 = adjusted_r2(costs.rss, total, n, 2.0);
    (line, costs)
}

fn clean(line: &mut Line, least: f64, share: f64) {
    let small =
        if least == 0.0 { line.constant.abs() < share } else { (line.constant / least).abs() < share };
    if small {
        line.constant = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_space::SearchSpace;

    fn model(coordinates: &[f64], values: &[f64]) -> Outcome {
        let space = SearchSpace::default();
        let rules = Rules { space: &space, cross_validation: true, compare_rss: false };
        single(&Points::single(coordinates, values), &rules)
    }

    #[test]
    fn exact_terms_are_found() {
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        for exponents in crate::search_space::GROWING {
            let values: Vec<f64> = coordinates.iter().map(|p| 5.0 + 3.0 * exponents.evaluate(*p)).collect();
            let outcome = model(&coordinates, &values);
            let found = outcome.function.leading();
            assert_eq!(found.terms[0].factors[0].exponents, exponents, "{exponents:?}");
            assert!((found.terms[0].coefficient - 3.0).abs() < 1e-7);
        }
    }

    #[test]
    fn constants_and_single_points() {
        assert_eq!(model(&[1.0, 2.0, 3.0], &[4.0; 3]).function, Function::Formula(Formula::constant(4.0)));
        assert_eq!(model(&[1.0], &[4.0]).function, Function::Formula(Formula::constant(4.0)));
        assert!(model(&[1.0, 2.0, 3.0], &[0.0; 3]).costs.normalised_rss.is_nan());
    }
}
