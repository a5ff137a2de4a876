//! One parameter: the likeliest term, if it is better than none.
//!
//! With weights w = 1/scale², a term's weighted residuals are S = Σ w (y − c₀ − c₁x)². If noise is relative,
//! scales start as the measured values, become the fitted values of the best term, and all terms are fitted
//! once more: the same scales for all, so that their residuals can be compared.
//!
//! A term replaces the constant (with residuals S₀) if t = √((S₀ − S) · d / (S + Q)) is significant at one
//! per cent for d = n − 2 + ν degrees of freedom, ν and Q being those of the repetitions. Many terms are
//! tried, but they resemble each other so much that the level holds to within a factor of three (see the
//! example `recovery`).

use super::{Candidate, MAX_ALTERNATIVES, Outcome, PLAUSIBLE, SIGNIFICANCE, Scaled, price};
use crate::basis::Basis;
use crate::experiment::mean;
use crate::function::{Exponents, Formula, Function};
use crate::line_fit::{Line, WeightedLine};
use crate::noise::{self, NoiseKind, Replicates};
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
    score: f64,
}

/// The model of a series of one parameter.
pub(crate) fn single(points: &Points, space: &SearchSpace, shrinking: Shrinking) -> Outcome {
    single_on(points, &Basis::defined(space, points), shrinking, noise::known_kind(points))
}

/// The same, on terms already evaluated at the points, with noise of a known kind or not. If not, it is
/// relative unless the best model with absolute noise explains the points far better.
pub(crate) fn single_on(
    points: &Points,
    basis: &Basis,
    shrinking: Shrinking,
    kind: Option<NoiseKind>,
) -> Outcome {
    /// Fewest points that can speak for a kind of noise.
    const MIN_SEARCH_POINTS: usize = 6;
    let offered = match shrinking {
        Shrinking::Always => true,
        Shrinking::Never => false,
        Shrinking::WhereFalling => falls(points),
    };
    let relative = with_noise(points, basis, offered, kind.unwrap_or(NoiseKind::Relative));
    if kind.is_some() || points.len() < MIN_SEARCH_POINTS || relative.function.is_constant() {
        return relative;
    }
    let absolute = with_noise(points, basis, offered, NoiseKind::Absolute);
    let by_far = full_deviance(points, &relative) - full_deviance(points, &absolute) > super::TELLING;
    if by_far { absolute } else { relative }
}

/// Minus twice the log-likelihood including the scales, without which different kinds of noise cannot be
/// compared.
fn full_deviance(points: &Points, outcome: &Outcome) -> f64 {
    let formula = outcome.function.leading();
    let fitted: Vec<f64> = points.iter().map(|(point, _)| formula.evaluate(point)).collect();
    let scaled = Scaled::new(points, outcome.kind).by(&fitted);
    let residuals = fitted.iter().zip(&points.values).zip(&scaled.scale);
    let rss = residuals.map(|((fitted, value), scale)| ((fitted - value) / scale).powi(2)).sum();
    let scales: f64 = scaled.scale.iter().map(|scale| scale.ln()).sum();
    scaled.deviance(rss, &Replicates::default(), 0) + 2.0 * scales
}

/// The model with noise of one kind.
fn with_noise(points: &Points, basis: &Basis, shrinking: bool, kind: NoiseKind) -> Outcome {
    let constant = |level, candidates| Outcome {
        function: Function::Formula(Formula::constant(level)),
        candidates,
        kind,
    };
    let n = points.len();
    // The value itself, and not a mean that may differ from it in the last bit.
    let first = points.values.first().copied().unwrap_or(f64::NAN);
    if n < 2 || points.values.iter().all(|value| *value == first) {
        return constant(first, Vec::new());
    }
    let level = mean(&points.values);
    let mut scaled = Scaled::new(points, kind);
    let mut tried = fit_all(&scaled, basis, shrinking);
    if let (NoiseKind::Relative, Some(best)) = (kind, tried.first()) {
        let column = basis.column(best.index);
        let fitted: Vec<f64> = column.iter().map(|x| best.line.constant + best.line.slope * x).collect();
        scaled = scaled.by(&fitted);
        tried = fit_all(&scaled, basis, shrinking);
    }
    let Some(best) = tried.first().copied() else { return constant(level, Vec::new()) };

    // F test of the term against the constant, with the repetitions' degrees of freedom: F(1, d) = t².
    let without = WeightedLine::fit(&vec![0.0; n], &points.values, &scaled.weights()).rss;
    let believed = believed(&scaled, &tried);
    let degrees = n as f64 - 2.0 + believed.degrees;
    let significant = degrees <= 0.0 || {
        let t = ((without - best.rss).max(0.0) * degrees / (best.rss + believed.squares)).sqrt();
        student::significance(t, degrees) < SIGNIFICANCE
    };
    let overruled = !significant && predicts_far_better(points, basis.column(best.index), &scaled.weights());
    let mut candidates = Vec::new();
    if overruled {
        let score = scaled.deviance(without, &believed, 2).max(best.score);
        candidates.push(Candidate { formula: Formula::constant(level), score });
    } else if !significant {
        // Terms have a coefficient more to fit with; they count for no more than the constant that was
        // chosen.
        let score = scaled.deviance(without, &believed, 2).min(best.score);
        candidates.push(Candidate { formula: Formula::constant(level), score });
    }
    // The runner-up is kept whatever its score, so that it can be named.
    let room = MAX_ALTERNATIVES - candidates.len();
    let plausible = tried
        .iter()
        .enumerate()
        .take_while(|(position, tried)| *position < 2 || tried.score - best.score < PLAUSIBLE);
    candidates.extend(
        plausible.take(room).map(|(_, tried)| Candidate { formula: tried.formula(), score: tried.score }),
    );
    if significant || overruled {
        // The chosen one first.
        candidates.sort_by(|a, b| {
            a.score.total_cmp(&b.score).then(b.formula.terms.len().cmp(&a.formula.terms.len()))
        });
        Outcome { function: Function::Formula(best.formula()), candidates, kind }
    } else {
        constant(level, candidates)
    }
}

/// With few points hardly anything is significant. But where all values rise or all fall, and a term predicts
/// points that were left out twice as well as the constant, which is far off, the constant is no answer.
fn predicts_far_better(points: &Points, x: &[f64], weights: &[f64]) -> bool {
    const FEW_POINTS: std::ops::RangeInclusive<usize> = 4..=6;
    /// The constant is far off if its error is above this.
    const FAR: f64 = 0.2;
    const BETTER: f64 = 0.5;
    let values = &points.values;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| points.point(*a)[0].total_cmp(&points.point(*b)[0]));
    let steps = || order.windows(2).map(|pair| values[pair[1]] - values[pair[0]]);
    let monotone = steps().all(|step| step > 0.0) || steps().all(|step| step < 0.0);
    if !FEW_POINTS.contains(&values.len()) || !monotone {
        return false;
    }
    let without = |list: &[f64], left_out: usize| -> Vec<f64> {
        list.iter().enumerate().filter(|(place, _)| *place != left_out).map(|(_, value)| *value).collect()
    };
    let error = |term: bool| {
        let of = |left_out: usize| {
            let (x_left, y_left) = (without(x, left_out), without(values, left_out));
            let predicted = if term {
                let fitted = fit(&x_left, &y_left, &without(weights, left_out));
                fitted.map_or(mean(&y_left), |fit| fit.line.constant + fit.line.slope * x[left_out])
            } else {
                mean(&y_left)
            };
            let size = predicted.abs() + values[left_out].abs();
            if size > 0.0 { 2.0 * (predicted - values[left_out]).abs() / size } else { 0.0 }
        };
        (0..values.len()).map(of).sum::<f64>() / values.len() as f64
    };
    let constant = error(false);
    constant > FAR && error(true) < BETTER * constant
}

impl Tried {
    fn formula(&self) -> Formula {
        Formula::single(self.line.constant, self.line.slope, self.exponents)
    }
}

/// The fit of a term. What was never negative has no negative coefficients, so that it is nowhere negative: a
/// term that would need one below its constant is no explanation of a cost.
fn fit(x: &[f64], values: &[f64], weights: &[f64]) -> Option<WeightedLine> {
    // Logarithms of less than 1 are negative themselves.
    if values.iter().chain(x).all(|value| *value >= 0.0) {
        WeightedLine::positive(x, values, weights)
    } else {
        Some(WeightedLine::fit(x, values, weights))
    }
}

/// Fits every term that applies; the best first.
fn fit_all(scaled: &Scaled<'_>, basis: &Basis, shrinking: bool) -> Vec<Tried> {
    let weights = scaled.weights();
    let values = &scaled.points.values;
    let positive = values.iter().all(|value| *value >= 0.0);
    let mut tried = Vec::new();
    for (index, (exponents, x)) in basis.iter().enumerate() {
        if !shrinking && (exponents.power.numerator() < 0 || exponents.log.numerator() < 0) {
            continue;
        }
        let Some(WeightedLine { line, rss }) = fit(x, values, &weights) else { continue };
        let fitted = || x.iter().map(|x| line.constant + line.slope * x);
        let impossible = positive && fitted().zip(values).any(|(fitted, value)| *value > 0.0 && fitted < 0.0);
        if rss.is_finite() && line.slope != 0.0 && !impossible {
            tried.push(Tried { index, exponents, line, rss, score: 0.0 });
        }
    }
    let believed = believed(scaled, &tried);
    for one in &mut tried {
        one.score = scaled.deviance(one.rss, &believed, 2) + price(one.exponents);
    }
    tried.sort_by(|a, b| a.score.total_cmp(&b.score));
    tried
}

/// The repetitions, if the best fit is good enough for them to matter.
fn believed(scaled: &Scaled<'_>, tried: &[Tried]) -> Replicates {
    scaled.believed(tried.iter().map(|tried| tried.rss).fold(f64::INFINITY, f64::min), 2)
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

    /// On four points nothing but a nearly exact fit is significant. A quantity that grows seventyfold is no
    /// constant all the same.
    #[test]
    fn four_points_that_grow_are_no_constant() {
        let outcome = model(&[1.0, 2.0, 4.0, 8.0], &[1.23, 5.65, 16.8, 90.5]);
        assert!(!outcome.function.is_constant());
        let (power, _) = exponents(&outcome).growth();
        assert!((1.75..=2.5).contains(&power), "{power}");
        assert!(!outcome.candidates[0].formula.terms.is_empty());
        let falling = model(&[1.0, 2.0, 4.0, 8.0], &[100.0, 61.0, 21.0, 14.0]);
        assert!(!falling.function.is_constant());
    }

    /// Values that scatter by 3 % stay constants, also where they happen to be in order.
    #[test]
    fn four_points_of_noise_are_a_constant() {
        let mut random = seeded_random::Random::new(5);
        let mut constants = 0;
        for _ in 0..400 {
            let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let values: Vec<f64> = (0..4).map(|_| 100.0 * (1.0 + 0.03 * normal())).collect();
            constants += usize::from(model(&[1.0, 2.0, 4.0, 8.0], &values).function.is_constant());
        }
        assert!(constants >= 380, "{constants} of 400");
    }

    #[test]
    fn noise_alone_is_constant() {
        let outcome = model(&[2.0, 4.0, 8.0, 16.0, 32.0], &[1.02, 0.99, 1.01, 0.98, 1.01]);
        assert!(outcome.function.is_constant());
        assert_eq!(outcome.candidates.first().map(|candidate| candidate.formula.terms.len()), Some(0));
    }
}
