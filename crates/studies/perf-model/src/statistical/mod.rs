//! The default mode: terms chosen by how likely they make the measurements.
//!
//! What differs from Extra-P, and why:
//!
//! * **Weights.** Run times scatter in proportion to their size, so that a plain least-squares fit listens to
//!   the largest runs only. Each residual is divided by the scale of its point (see [`crate::noise`]).
//! * **Choice.** All terms have two coefficients, so that the likeliest is the one with the least weighted
//!   residuals S. With unknown variance and coefficients, ν repetitions beyond the first and their sum of
//!   squares Q, minus twice the log-likelihood is `(n − 2 + ν) · ln(S + Q)` up to a constant. A small price
//!   on unusual exponents breaks near-ties in favour of `p` rather than `p^(4/5)`.
//! * **Constant or not** is a test of significance, with the same standard for both: is the term's
//!   improvement over the constant larger than chance allows?
//! * **A second term** is added if it is significant by a stricter standard.
//! * **Falling series** are offered shrinking terms.
//! * **No negative coefficients** in what was never negative: costs add up. With several parameters, a form
//!   that needs one is dropped.

mod multi;
mod pairs;
mod search;
mod segmented;

pub(crate) use multi::multi;
pub(crate) use pairs::with_second_term;
pub use search::Shrinking;
pub(crate) use search::{single, single_on};
pub(crate) use segmented::segmented;

use crate::function::{Exponents, Formula, Function};
use crate::noise::{self, NoiseKind, Replicates};
use crate::points::Points;

/// Odds at which two models count as told apart: minus twice the log-likelihood differs by 2 ln 20.
pub(crate) const TELLING: f64 = 5.991_464_547_107_98;
/// Alternatives less likely than the best by more than this are not kept: 2 ln 100.
const PLAUSIBLE: f64 = 9.210_340_371_976_18;
/// At most this many alternatives are kept.
const MAX_ALTERNATIVES: usize = 8;
/// A term is believed if chance would explain its improvement over the constant with less than this
/// probability.
const SIGNIFICANCE: f64 = 0.01;
/// Relative residuals below this are rounding, not information.
const ROUNDING: f64 = 1e-11;

/// A model that was tried, with its score: minus twice the log-likelihood plus the price of its form.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub formula: Formula,
    pub score: f64,
}

/// A model, what else is plausible, and how points were weighted.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub function: Function,
    /// Plausible models in order of score, the chosen one first.
    pub candidates: Vec<Candidate>,
    pub kind: NoiseKind,
}

/// Points with the scale in which each one's residual counts.
#[derive(Debug)]
pub(crate) struct Scaled<'a> {
    pub points: &'a Points,
    pub kind: NoiseKind,
    pub scale: Vec<f64>,
    pub replicates: Replicates,
}

impl<'a> Scaled<'a> {
    /// Scales by the measured values, or by their greatest.
    pub(crate) fn new(points: &'a Points, kind: NoiseKind) -> Self {
        let scale = match kind {
            NoiseKind::Relative => points.values.iter().map(|value| value.abs()).collect(),
            NoiseKind::Absolute => {
                let greatest = points.values.iter().fold(0.0f64, |greatest, value| greatest.max(value.abs()));
                vec![if greatest > 0.0 { greatest } else { 1.0 }; points.len()]
            }
        };
        let replicates = replicates(points, &scale);
        Scaled { points, kind, scale, replicates }
    }

    /// Scales by fitted values where noise is relative: a measured value that happens to be low must not gain
    /// weight by that. No further than a factor of two from the measured one.
    pub(crate) fn by(&self, fitted: &[f64]) -> Scaled<'a> {
        let scale = match self.kind {
            NoiseKind::Absolute => self.scale.clone(),
            NoiseKind::Relative => self
                .points
                .values
                .iter()
                .zip(fitted)
                .map(|(value, fitted)| fitted.abs().max(value.abs() / 2.0).min(value.abs() * 2.0))
                .collect(),
        };
        let replicates = replicates(self.points, &scale);
        Scaled { points: self.points, kind: self.kind, scale, replicates }
    }

    pub(crate) fn weights(&self) -> Vec<f64> {
        self.scale.iter().map(|scale| 1.0 / (scale * scale)).collect()
    }

    /// The repetitions, unless the best fit leaves far more than they explain: then runs at one point
    /// resemble each other more than runs at different points do, and they say nothing about how the model
    /// fits.
    pub(crate) fn believed(&self, least_rss: f64, coefficients: usize) -> Replicates {
        const LACK_OF_FIT: f64 = 4.0;
        let Replicates { degrees, squares, .. } = self.replicates;
        let freedom = self.points.len().saturating_sub(coefficients) as f64;
        let unexplained = freedom > 0.0 && least_rss / freedom > LACK_OF_FIT * squares / degrees;
        if squares <= 0.0 || unexplained {
            return Replicates::default();
        }
        self.replicates
    }

    /// Minus twice the log-likelihood of weighted residuals. `fitted` coefficients, if all models compared
    /// have as many, are integrated out, which leaves that many observations fewer.
    pub(crate) fn deviance(&self, rss: f64, believed: &Replicates, fitted: usize) -> f64 {
        let n = self.points.len() as f64;
        let observations = (n - fitted as f64).max(1.0) + believed.degrees;
        observations * (rss + believed.squares + n * ROUNDING * ROUNDING).ln()
    }
}

/// What the repetitions say about the scatter of the values: nothing if those are not their means.
fn replicates(points: &Points, scale: &[f64]) -> Replicates {
    if points.not_means { Replicates::default() } else { noise::replicates(points, scale) }
}

/// What an unusual term costs, in units of minus twice the log-likelihood: nothing for `p` and `1/p`, little
/// for `p²` and `log2 p`, more for denominators and for products of a power and a logarithm.
pub(crate) fn price(exponents: Exponents) -> f64 {
    let (power, log) = exponents.growth();
    let denominator = f64::from(exponents.power.denominator() * exponents.log.denominator());
    let unusual = if power == 0.0 {
        0.25 + 0.5 * (log.abs() - 1.0)
    } else {
        0.25 * (power.abs() - 1.0).abs() + 0.5 * log.abs()
    };
    denominator.ln() + unusual
}

/// Keeps the plausible candidates, best first, with `chosen` in front.
fn plausible(mut candidates: Vec<Candidate>, chosen: Candidate) -> Vec<Candidate> {
    candidates.retain(|candidate| !candidate.formula.same_terms(&chosen.formula));
    candidates.sort_by(|a, b| a.score.total_cmp(&b.score));
    // The runner-up stays whatever its score, so that it can be named.
    let keep =
        candidates.iter().skip(1).take_while(|candidate| candidate.score - chosen.score < PLAUSIBLE).count();
    candidates.truncate((1 + keep).min(MAX_ALTERNATIVES - 1));
    std::iter::once(chosen).chain(candidates).collect()
}

/// Whether a quantity that was never negative would be, at one of the points or further out.
fn impossible(points: &Points, formula: &Formula) -> bool {
    let negative = |coefficient: f64| coefficient < 0.0;
    points.values.iter().all(|value| *value >= 0.0)
        && (points.iter().any(|(point, value)| value > 0.0 && formula.evaluate(point) < 0.0)
            || negative(formula.constant)
            || formula.terms.iter().any(|term| negative(term.coefficient)))
}
