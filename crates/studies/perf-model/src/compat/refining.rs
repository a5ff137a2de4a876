//! Refining: integer exponents first, then ever finer fractions between the best one's neighbours.
//!
//! The plane of exponents (power, log) is searched along four lines: powers 0 to 5 with each of the
//! logarithm's exponents 0, 1 and 2, and the logarithm alone. On each line the best integer exponent and its
//! neighbours make an interval; a round tries the mediants on both sides of its centre and halves it towards
//! the winner. Rounds end when no line gets better by a factor of two, or after ten.

use super::single::{Hypothesis, best, constant};
use super::{LEAST_CONTRIBUTION, Outcome, Rules, contribution};
use crate::basis::Basis;
use crate::fraction::Fraction;
use crate::function::{Exponents, Formula, Function};
use crate::points::Points;

const GREATEST_POWER: i32 = 5;
const GREATEST_LOG: i32 = 2;
const MAX_REFINEMENTS: usize = 10;
/// A round's best must be this much better than the best so far, and more after each round that was not.
const ACCEPTANCE: f64 = 1.5;
/// The search ends when no slice improves by this factor.
const TERMINATION: f64 = 2.0;
/// A term must be this much better than the constant.
const NONCONSTANCY: f64 = 1.3;

/// A line through the plane of exponents: one of them varies, the other is fixed.
#[derive(Debug, Clone, Copy)]
enum Slice {
    /// All powers, with this exponent of the logarithm.
    Powers(i32),
    /// All exponents of the logarithm, without a power.
    Logs,
}

impl Slice {
    fn exponents(self, varied: Fraction) -> Exponents {
        match self {
            Slice::Powers(log) => Exponents { power: varied, log: Fraction::whole(log) },
            Slice::Logs => Exponents { power: Fraction::ZERO, log: varied },
        }
    }

    fn coarse(self) -> Vec<Fraction> {
        let greatest = match self {
            Slice::Powers(_) => GREATEST_POWER,
            Slice::Logs => GREATEST_LOG,
        };
        (0..=greatest).map(Fraction::whole).collect()
    }
}

/// Search interval of a slice.
#[derive(Debug, Clone, Copy)]
struct Interval {
    left: Fraction,
    centre: Fraction,
    right: Fraction,
}

impl Interval {
    /// The neighbours of the winner among the coarse exponents.
    fn around(coarse: &[Fraction], winner: usize) -> Self {
        let left = coarse[winner.saturating_sub(1)];
        let mut right = coarse[(winner + 1).min(coarse.len() - 1)];
        if left == right {
            right = Fraction::whole(right.numerator() + 1);
        }
        Interval { left, centre: coarse[winner], right }
    }
}

/// The model of a series of one parameter.
pub(crate) fn refining(points: &Points, rules: &Rules<'_>) -> Outcome {
    let (level, constant_costs) = constant(&points.values);
    let outcome = |formula, costs| Outcome { function: Function::Formula(formula), costs, tie: false };
    let fallback = || outcome(Formula::constant(level), constant_costs);
    if constant_costs.rss == 0.0 || points.len() < 2 {
        return fallback();
    }
    let coordinates: Vec<f64> = points.parameter(0).collect();
    let values = &points.values;
    let logs = coordinates.iter().all(|p| *p >= 1.0);
    let mut slices = vec![Slice::Powers(0)];
    if logs {
        slices.extend([Slice::Powers(1), Slice::Powers(2), Slice::Logs]);
    }
    let search = |slice: Slice, varied: &[Fraction]| {
        let exponents: Vec<Exponents> = varied.iter().map(|varied| slice.exponents(*varied)).collect();
        best(&Basis::new(exponents, &coordinates), values, constant_costs.rss, rules, None)
    };

    let mut states = Vec::new();
    let mut kept: Vec<Hypothesis> = Vec::new();
    for slice in slices {
        let coarse = slice.coarse();
        if let Some(winner) = search(slice, &coarse) {
            states.push((slice, Interval::around(&coarse, winner.index), winner.costs.smape));
            kept.push(winner);
        }
    }
    let mut acceptance = ACCEPTANCE;
    for _ in 0..MAX_REFINEMENTS {
        let mut round: Vec<Hypothesis> = Vec::new();
        let mut improvement = f64::NEG_INFINITY;
        for (slice, interval, previous) in &mut states {
            let lower = interval.left.mediant(interval.centre);
            let upper = interval.centre.mediant(interval.right);
            let Some(winner) = search(*slice, &[lower, interval.centre, upper]) else { continue };
            *interval = match winner.index {
                0 => Interval { left: interval.left, centre: lower, right: interval.centre },
                1 => Interval { left: lower, centre: interval.centre, right: upper },
                _ => Interval { left: interval.centre, centre: upper, right: interval.right },
            };
            improvement = improvement.max(*previous / winner.costs.smape);
            *previous = winner.costs.smape;
            round.push(winner);
        }
        let (Some(step), Some(so_far)) = (least(&round, rules), least(&kept, rules)) else { break };
        if so_far.costs.smape / step.costs.smape >= acceptance {
            kept.push(step.clone());
            acceptance = ACCEPTANCE;
        } else {
            acceptance *= ACCEPTANCE;
        }
        if improvement.is_nan() || improvement < TERMINATION {
            break;
        }
    }
    let Some(winner) = least(&kept, rules) else { return fallback() };
    let share = contribution(
        coordinates.iter().zip(values).map(|(p, y)| (winner.line.slope * winner.exponents.evaluate(*p), *y)),
    );
    if constant_costs.smape / winner.costs.smape < NONCONSTANCY || share < LEAST_CONTRIBUTION {
        return fallback();
    }
    outcome(winner.formula(), winner.costs)
}

/// The first hypothesis of least cost.
fn least<'a>(hypotheses: &'a [Hypothesis], rules: &Rules<'_>) -> Option<&'a Hypothesis> {
    hypotheses
        .iter()
        .reduce(|best, next| if rules.cost(&next.costs) < rules.cost(&best.costs) { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_space::SearchSpace;

    #[test]
    fn finds_an_exponent_between_the_grid() {
        let coordinates: Vec<f64> = (1..=8).map(|k| f64::from(1 << k)).collect();
        let values: Vec<f64> = coordinates.iter().map(|p| 1.0 + p.powf(0.6)).collect();
        let space = SearchSpace::default();
        let rules = Rules { space: &space, cross_validation: true, compare_rss: false };
        let outcome = refining(&Points::single(&coordinates, &values), &rules);
        let found = outcome.function.leading().terms[0].factors[0].exponents;
        assert_eq!(found, Exponents::new(3, 5, 0), "{found:?}");
    }
}
