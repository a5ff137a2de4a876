//! Several parameters: a term per parameter from its series, then the best combination on all points.
//!
//! 1. Each parameter's [series](crate::lines) gets a single-parameter model; if that is constant, the
//!    parameter is out.
//! 2. With none left, the model is the mean of all points. With one, its series' coefficients compete with
//!    new ones from all points. With more, the [forms](crate::forms) of their terms compete, all coefficients
//!    fitted to all points.
//! 3. Costs are in-sample. The least SMAPE wins.
//!
//! On a cross of points two forms often span the same columns, as `a + b` and `a + ab` do if one factor is
//! constant wherever the other varies. Both then fit alike, and in Extra-P the rounding of the last digit
//! decides. Here the form with fewer factors does, and the model is marked as a [tie](crate::Note::Tie).

use super::{LEAST_CONTRIBUTION, Outcome, Rules, constant_costs, contribution, single};
use crate::cost::{Costs, adjusted_r2, symmetric_error};
use crate::dense::minimum_norm;
use crate::experiment::{mean, sum};
use crate::forms::{design, forms, formula, set_coefficients, size};
use crate::function::{Factor, Formula, Function};
use crate::lines::series;
use crate::points::Points;

/// Two forms whose SMAPEs differ by less than this share of either, or of the values, fit equally well.
const TIE: f64 = 1e-9;

/// The model of points of several parameters.
pub(crate) fn multi(points: &Points, rules: &Rules<'_>) -> Outcome {
    let mut found: Vec<(Factor, Formula)> = Vec::new();
    for parameter in 0..points.dimensions {
        let formula = single(&series(points, parameter), rules).function.leading().clone();
        if let Some(term) = formula.terms.first() {
            found.push((Factor { parameter, exponents: term.factors[0].exponents }, formula));
        }
    }
    let level = mean(&points.values);
    let squares: Vec<f64> = points.values.iter().map(|value| (value - level) * (value - level)).collect();
    let total = sum(&squares);
    match found.as_slice() {
        [] => Outcome {
            function: Function::Formula(Formula::constant(level)),
            costs: constant_costs(&points.values, level),
            tie: false,
        },
        [(factor, line)] => one_left(points, *factor, line, total, rules),
        _ => combined(points, &found.iter().map(|(factor, _)| *factor).collect::<Vec<_>>(), total, rules),
    }
}

/// One parameter matters: its series' coefficients, or better ones from all points.
fn one_left(points: &Points, factor: Factor, line: &Formula, total: f64, rules: &Rules<'_>) -> Outcome {
    let mut reused = line.clone();
    for term in &mut reused.terms {
        term.factors = vec![factor];
    }
    let reused_costs = costs(&reused, points, total);
    let mut refit = reused.clone();
    solve(&mut refit, points);
    let refit_costs = costs(&refit, points, total);
    let better =
        rules.compare_rss && refit_costs.rss < reused_costs.rss || refit_costs.smape < reused_costs.smape;
    let (formula, costs) = if better { (refit, refit_costs) } else { (reused, reused_costs) };
    Outcome { function: Function::Formula(formula), costs, tie: false }
}

/// The best form. Where two fit equally well, rounding decides in Extra-P; here the one with fewer factors
/// does.
fn combined(points: &Points, factors: &[Factor], total: f64, rules: &Rules<'_>) -> Outcome {
    let mut best: Option<(Formula, Costs, usize)> = None;
    let mut tie = false;
    for (index, form) in forms(factors.len()).iter().enumerate() {
        let mut formula = formula(form, factors);
        solve(&mut formula, points);
        let costs = costs(&formula, points, total);
        let Some((_, best_costs, best_size)) = &best else {
            best = Some((formula, costs, size(form)));
            continue;
        };
        let negligible = formula.terms.iter().any(|term| {
            let share =
                contribution(points.iter().map(|(point, y)| (term.coefficient * term.basis(point), y)));
            term.coefficient == 0.0 || share < LEAST_CONTRIBUTION
        });
        if negligible && index > 0 {
            continue;
        }
        let (cost, least) = (rules.cost(&costs), rules.cost(best_costs));
        let floor = if rules.compare_rss { total * TIE * TIE } else { 100.0 * TIE };
        let equal = (cost - least).abs() <= TIE * least.abs().max(cost.abs()) + floor;
        let wins = if equal { size(form) < *best_size } else { cost < least };
        tie = if equal { true } else { tie && !wins };
        if wins {
            best = Some((formula, costs, size(form)));
        }
    }
    let (formula, costs, _) = best.unwrap_or((Formula::constant(mean(&points.values)), Costs::default(), 0));
    Outcome { function: Function::Formula(formula), costs, tie }
}

/// Coefficients by the minimum-norm solution; if columns depend on each other, again with the finest
/// threshold.
fn solve(formula: &mut Formula, points: &Points) {
    let k = formula.terms.len() + 1;
    let rows = design(formula, points);
    let limit = f64::EPSILON * points.len().max(k) as f64;
    let mut solution = minimum_norm(&rows, k, &points.values, limit);
    if solution.rank < k {
        solution = minimum_norm(&rows, k, &points.values, f64::EPSILON / 2.0);
    }
    set_coefficients(formula, &solution.coefficients);
}

/// In-sample costs. The adjusted R² counts factors, not coefficients, and the normalised RSS is not computed.
fn costs(formula: &Formula, points: &Points, total: f64) -> Costs {
    let n = points.len() as f64;
    let mut costs = Costs::default();
    let mut smape = 0.0;
    let mut relative_error = 0.0;
    for (point, actual) in points.iter() {
        let predicted = formula.evaluate(point);
        let difference = predicted - actual;
        costs.rss += difference * difference;
        if difference != 0.0 {
            // Infinite for an actual value of zero, and meant to be.
            costs.relative_rss += (difference / actual) * (difference / actual);
            relative_error += difference.abs() / actual;
        }
        smape += symmetric_error(actual, predicted);
    }
    costs.relative_error = relative_error / n;
    costs.smape = smape / n * 100.0;
    costs.adjusted_r2 = adjusted_r2(costs.rss, total, n, formula.factor_count() as f64 + 1.0);
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::grid;
    use crate::search_space::SearchSpace;

    #[test]
    fn sums_products_and_parameters_that_do_not_matter() {
        let space = SearchSpace::default();
        let rules = Rules { space: &space, cross_validation: true, compare_rss: false };
        let shape = |points: &Points| -> Vec<Vec<usize>> {
            let outcome = multi(points, &rules);
            let terms = &outcome.function.leading().terms;
            terms.iter().map(|term| term.factors.iter().map(|factor| factor.parameter).collect()).collect()
        };
        assert_eq!(shape(&grid(|x, y| 3.0 + x + y * y)), [vec![0], vec![1]]);
        assert_eq!(shape(&grid(|x, y| 3.0 + x * y)), [vec![0, 1]]);
        assert_eq!(shape(&grid(|_, y| 3.0 + y)), [vec![1]]);
        assert!(shape(&grid(|_, _| 3.0)).is_empty());
    }
}
