//! One parameter: the likeliest term, if it is better than none.

use super::{Candidate, Outcome, SIGNIFICANCE, Scaled, plausible, price};
use crate::basis::Basis;
use crate::function::{Exponents, Formula, Function};
use crate::line_fit::{Line, WeightedLine, constant};
use crate::noise::{self, NoiseKind};
use crate::points::Points;
use crate::search_space::SearchSpace;
use crate::student;

/// Which shrinking terms to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shrinking {
    /// Those with negative exponents if the series falls more often than it rises.
    #[default]
    WhereFalling,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A term that fits.
#[derive(Debug, Clone, Copy)]
struct Tried {
    index: usize,
    exponents: Exponents,
    line: Line,
    rss: f64,
}

/// The model of a series of one parameter.
pub(crate) fn single(points: &Points, space: &SearchSpace, shrinking: Shrinking) -> Outcome {
    single_on(points, &Basis::defined(space, points), shrinking, noise::kind(points))
}

/// The same, on terms already evaluated at the points.
pub(crate) fn single_on(points: &Points, basis: &Basis, shrinking: Shrinking, kind: NoiseKind) -> Outcome {
    let level = constant(&points.values).constant;
    let flat =
        |candidates| Outcome { function: Function::Formula(Formula::constant(level)), candidates, kind };
    let n = points.len();
    if n < 2 || points.values.iter().all(|value| *value == points.values[0]) {
        let level = points.values.first().copied().unwrap_or(f64::NAN);
        return Outcome {
            function: Function::Formula(Formula::constant(level)),
            candidates: Vec::new(),
            kind,
        };
    }
    let shrinking = match shrinking {
        Shrinking::Always => true,
        Shrinking::Never => false,
        Shrinking::WhereFalling => falls(points),
    };
    let first = Scaled::new(points, kind);
    let tried = fit_all(&first, basis, shrinking);
    let Some(best) = least(&tried, &first) else { return flat(Vec::new()) };
    let (scaled, tried) = match kind {
        NoiseKind::Absolute => (first, tried),
        NoiseKind::Relative => {
            let column = basis.column(best.index);
            let fitted: Vec<f64> = column.iter().map(|x| best.line.constant + best.line.slope * x).collect();
            let scaled = first.by(&fitted);
            let tried = fit_all(&scaled, basis, shrinking);
            (scaled, tried)
        }
    };
    let Some(best) = least(&tried, &scaled) else { return flat(Vec::new()) };

    let least_rss = tried.iter().map(|tried| tried.rss).fold(f64::INFINITY, f64::min);
    let believed = scaled.believed(least_rss, 2);
    let candidates: Vec<Candidate> = tried
        .iter()
        .map(|tried| Candidate {
            formula: Formula::single(tried.line.constant, tried.line.slope, tried.exponents),
            score: scaled.deviance(tried.rss, &believed) + tried.price(points),
        })
        .collect();

    // F test of the term against the constant, with the repetitions' degrees of freedom: F(1, d) = t².
    let weights = scaled.weights();
    let without = WeightedLine::fit(&vec![0.0; n], &points.values, &weights).rss;
    let degrees = n as f64 - 2.0 + believed.degrees;
    let significant = degrees <= 0.0 || {
        let t = ((without - best.rss).max(0.0) * degrees / (best.rss + believed.squares)).sqrt();
        student::significance(t, degrees) < SIGNIFICANCE
    };
    if !significant {
        let mut candidates = plausible(candidates, None);
        // Terms have a coefficient more to fit with; they count for no more than the constant that was chosen.
        let most = candidates.first().map_or(f64::INFINITY, |candidate| candidate.score);
        let score = scaled.deviance(without, &believed).min(most);
        candidates.insert(0, Candidate { formula: Formula::constant(level), score });
        candidates.truncate(super::MOST_ALTERNATIVES);
        return flat(candidates);
    }
    let formula = Formula::single(best.line.constant, best.line.slope, best.exponents);
    let candidates = plausible(candidates, Some(formula.clone()));
    Outcome { function: Function::Formula(formula), candidates, kind }
}

impl Tried {
    /// The price of the term, and a little for a positive quantity that would turn negative in the end.
    fn price(&self, points: &Points) -> f64 {
        const UNSUSTAINABLE: f64 = 1.0;
        let (power, log) = self.exponents.growth();
        let grows = power > 0.0 || power == 0.0 && log > 0.0;
        let unsustainable = grows && self.line.slope < 0.0 && points.values.iter().all(|value| *value >= 0.0);
        price(self.exponents) + if unsustainable { UNSUSTAINABLE } else { 0.0 }
    }
}

/// Fits every term that applies.
fn fit_all(scaled: &Scaled<'_>, basis: &Basis, shrinking: bool) -> Vec<Tried> {
    let weights = scaled.weights();
    let values = &scaled.points.values;
    let positive = values.iter().all(|value| *value >= 0.0);
    let mut tried = Vec::new();
    for (index, (exponents, x)) in basis.iter().enumerate() {
        if !shrinking && (exponents.power.numerator() < 0 || exponents.log.numerator() < 0) {
            continue;
        }
        let WeightedLine { line, rss, .. } = WeightedLine::fit(x, values, &weights);
        let fitted = || x.iter().map(|x| line.constant + line.slope * x);
        let impossible = positive && fitted().zip(values).any(|(fitted, value)| *value > 0.0 && fitted < 0.0);
        if rss.is_finite() && line.slope != 0.0 && !impossible {
            tried.push(Tried { index, exponents, line, rss });
        }
    }
    tried
}

/// The best of them.
fn least(tried: &[Tried], scaled: &Scaled<'_>) -> Option<Tried> {
    let least_rss = tried.iter().map(|tried| tried.rss).fold(f64::INFINITY, f64::min);
    let believed = scaled.believed(least_rss, 2);
    let score = |tried: &Tried| scaled.deviance(tried.rss, &believed) + tried.price(scaled.points);
    tried.iter().copied().min_by(|a, b| score(a).total_cmp(&score(b)))
}

/// Whether more pairs of points fall than rise (the sign of Kendall's τ).
fn falls(points: &Points) -> bool {
    let mut balance = 0i64;
    for a in 0..points.len() {
        for b in 0..a {
            let along = (points.point(a)[0] - points.point(b)[0]) * (points.values[a] - points.values[b]);
            balance += i64::from(along > 0.0) - i64::from(along < 0.0);
        }
    }
    balance < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(coordinates: &[f64], values: &[f64]) -> Outcome {
        single(&Points::single(coordinates, values), &SearchSpace::new(true, true), Shrinking::WhereFalling)
    }

    fn exponents(outcome: &Outcome) -> Exponents {
        outcome.function.leading().terms[0].factors[0].exponents
    }

    #[test]
    fn exact_terms_are_found() {
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let space = SearchSpace::new(true, true);
        for expected in space.exponents() {
            let values: Vec<f64> = coordinates.iter().map(|p| 5.0 + 3.0 * expected.evaluate(*p)).collect();
            assert_eq!(exponents(&model(&coordinates, &values)), *expected);
        }
    }

    #[test]
    fn strong_scaling_needs_no_option() {
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let values: Vec<f64> = coordinates.iter().map(|p| 2.0 + 500.0 / p).collect();
        assert_eq!(exponents(&model(&coordinates, &values)), Exponents::new(-1, 1, 0));
    }

    #[test]
    fn few_points() {
        assert!(model(&[4.0], &[1.0]).function.is_constant());
        assert!(model(&[4.0, 8.0], &[1.0, 1.0]).function.is_constant());
        assert_eq!(exponents(&model(&[4.0, 8.0], &[8.0, 16.0])), Exponents::new(1, 1, 0));
        assert_eq!(
            exponents(&model(&[1.0, 2.0, 4.0, 8.0], &[8.0, 16.0, 32.0, 64.0])),
            Exponents::new(1, 1, 0)
        );
    }

    #[test]
    fn noise_alone_is_constant() {
        let outcome = model(&[2.0, 4.0, 8.0, 16.0, 32.0], &[1.02, 0.99, 1.01, 0.98, 1.01]);
        assert!(outcome.function.is_constant());
        assert_eq!(outcome.candidates.first().map(|candidate| candidate.formula.terms.len()), Some(0));
    }
}
