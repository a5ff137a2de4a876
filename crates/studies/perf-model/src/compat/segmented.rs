//! Segmented: two models if windows of five points suddenly stop being modelled well.
//!
//! Every window of five neighbouring points gets a model of its own. Windows on one side of a change are
//! modelled well, those across it badly: the middle one of the bad windows is where the change is.

use super::single::constant;
use super::{Outcome, Rules, plain_costs, single};
use crate::cost::adjusted_r2;
use crate::function::{Formula, Function};
use crate::points::Points;

const WINDOW: usize = 5;
/// A window this badly modelled (√RSS over the mean) means that there are segments.
const BAD: f64 = 0.5;
/// A window this badly modelled contains the change.
const SUSPECT: f64 = 0.1;
/// So does one this many times worse than the one before.
const JUMP: f64 = 4.0;
/// Keeps the ratio of two errors finite.
const SAME_COST: f64 = 1e-16;

/// The model of a series of one parameter, in one or two segments.
pub(crate) fn segmented(points: &Points, rules: &Rules<'_>) -> Outcome {
    let points = points.select(points.ascending());
    if points.len() < WINDOW {
        return single(&points, rules);
    }
    let windows = points.len() - (WINDOW - 1);
    let errors: Vec<f64> = (0..windows)
        .map(|start| single(&points.select(start..start + WINDOW), rules).costs.normalised_rss.abs())
        .collect();
    let jumps: Vec<f64> = (0..windows)
        .map(|k| if k == 0 { f64::NEG_INFINITY } else { errors[k] / (errors[k - 1] + SAME_COST) })
        .collect();
    // A NaN among the errors hides the greatest one, among the ratios it is skipped.
    let worst = errors
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) });
    let jump = jumps.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(worst > BAD || jump > JUMP) {
        return single(&points, rules);
    }
    let suspects: Vec<usize> = (0..windows).filter(|&k| errors[k] >= SUSPECT || jumps[k] > JUMP).collect();
    let Some(&window) = suspects.get(suspects.len() / 2) else { return single(&points, rules) };
    // Exactly three bad windows: both segments share the middle point. Otherwise the change is in a gap.
    let (last, first) = if suspects.len() == WINDOW - 2 {
        (window + WINDOW / 2, window + WINDOW / 2)
    } else {
        let before = (window + windows - 1) % windows;
        (before + WINDOW / 2, before + WINDOW / 2 + 1)
    };
    let formula = |outcome: Outcome| -> Formula { outcome.function.leading().clone() };
    let formulas = Box::new([
        formula(single(&points.select(0..last + 1), rules)),
        formula(single(&points.select(first..points.len()), rules)),
    ]);
    let function = Function::Segmented {
        lower_end: points.point(last)[0],
        upper_start: points.point(first)[0],
        formulas,
    };
    let predicted: Vec<f64> = points.iter().map(|(point, _)| function.evaluate(point)).collect();
    let mut costs = plain_costs(&points.values, &predicted);
    let (_, total) = constant(&points.values);
    costs.adjusted_r2 = adjusted_r2(costs.rss, total.rss, points.len() as f64, 2.0);
    Outcome { function, costs, tie: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_space::SearchSpace;

    #[test]
    fn a_parabola_that_becomes_a_line() {
        let coordinates: Vec<f64> = (1..=10).map(f64::from).collect();
        let values: Vec<f64> = coordinates.iter().map(|p| if *p <= 6.0 { p * p } else { 30.0 + p }).collect();
        let space = SearchSpace::default();
        let rules = Rules { space: &space, cross_validation: true, compare_rss: false };
        let outcome = segmented(&Points::single(&coordinates, &values), &rules);
        let Function::Segmented { lower_end, upper_start, formulas } = outcome.function else {
            panic!("not segmented")
        };
        assert_eq!((lower_end, upper_start), (6.0, 6.0));
        assert_eq!(formulas[0].terms[0].factors[0].exponents.power.to_string(), "2");
        assert_eq!(formulas[1].terms[0].factors[0].exponents.power.to_string(), "1");
    }
}
