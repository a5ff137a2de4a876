//! Several parameters: a first term for each from its series, the best form on all points, then each term again on all
//! points until none changes.

use super::search::{Shrinking, single_on};
use super::{Candidate, Outcome, Scaled, impossible, plausible, price};
use crate::basis::Basis;
use crate::dense::Fit;
use crate::experiment::mean;
use crate::forms::{FOUR_MORE, Form, design, forms, formula, set_coefficients};
use crate::function::{Exponents, Factor, Formula, Function};
use crate::lines::series;
use crate::noise;
use crate::points::Points;
use crate::search_space::SearchSpace;

/// Two factors and both their sum and product, which Extra-P does not try.
const BOTH: Form = &[&[0], &[1], &[0, 1]];
const ONE: Form = &[&[0]];
/// Rounds of looking at each parameter again; three is already rare.
const MOST_ROUNDS: usize = 5;

/// A form with its factors and how it scores.
#[derive(Debug, Clone)]
struct Tried {
    form: Form,
    factors: Vec<Factor>,
    candidate: Candidate,
}

/// The model of points of several parameters.
pub(crate) fn multi(points: &Points, space: &SearchSpace, shrinking: Shrinking) -> Outcome {
    let kind = noise::kind(points);
    let mut factors = Vec::new();
    for parameter in 0..points.dimensions {
        let series = series(points, parameter);
        let outcome = single_on(&series, &Basis::defined(space, &series), shrinking, Some(kind));
        if let Some(term) = outcome.function.leading().terms.first() {
            factors.push(Factor { parameter, exponents: term.factors[0].exponents });
        }
    }
    let level = Formula::constant(mean(&points.values));
    let constant = |candidates| Outcome { function: Function::Formula(level.clone()), candidates, kind };
    if factors.is_empty() {
        return constant(Vec::new());
    }

    let mut scaled = Scaled::new(points, kind);
    let mut best: Option<Tried> = None;
    for form in all_forms(factors.len()) {
        keep_better(&mut best, tried(&scaled, form, &factors));
    }
    let Some(mut best) = best else { return constant(Vec::new()) };

    let offered: Vec<Vec<Exponents>> = (0..points.dimensions)
        .map(|parameter| {
            let smallest = points.parameter(parameter).fold(f64::INFINITY, f64::min);
            let falling =
                best.factors.iter().any(|factor| factor.parameter == parameter && is_shrinking(factor));
            let shrinking = falling || shrinking == Shrinking::Always;
            let all = space.defined(smallest).into_iter();
            all.filter(|exponents| shrinking || !negative(*exponents)).collect()
        })
        .collect();
    let mut candidates = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let fitted: Vec<f64> =
            points.iter().map(|(point, _)| best.candidate.formula.evaluate(point)).collect();
        scaled = scaled.by(&fitted);
        let before = best.candidate.formula.clone();
        let Some(again) = tried(&scaled, best.form, &best.factors) else { break };
        best = again;
        candidates.clear();
        let mut improved = Some(best.clone());
        for position in 0..best.factors.len() {
            let mut factors = best.factors.clone();
            for &exponents in &offered[factors[position].parameter] {
                factors[position].exponents = exponents;
                let next = tried(&scaled, best.form, &factors);
                candidates.extend(next.iter().map(|tried| tried.candidate.clone()));
                keep_better(&mut improved, next);
            }
        }
        let improved = improved.unwrap_or(best);
        best = improved;
        for form in all_forms(factors.len()) {
            let next = tried(&scaled, form, &best.factors);
            candidates.extend(next.iter().map(|tried| tried.candidate.clone()));
            let mut slot = Some(best);
            keep_better(&mut slot, next);
            match slot {
                Some(kept) => best = kept,
                None => return constant(Vec::new()),
            }
        }
        if best.candidate.formula.same_terms(&before) {
            break;
        }
    }
    candidates.sort_by(|a, b| a.score.total_cmp(&b.score));
    candidates.dedup_by(|a, b| a.formula.same_terms(&b.formula));
    let function = Function::Formula(best.candidate.formula.clone());
    Outcome { function, candidates: plausible(candidates, best.candidate), kind }
}

/// Extra-P's forms, and those it lacks. With fewer factors than parameters, the others were constant.
fn all_forms(factors: usize) -> Vec<Form> {
    let mut all = forms(factors).to_vec();
    match factors {
        1 => all.push(ONE),
        2 => all.push(BOTH),
        4 => all.extend(FOUR_MORE),
        _ => {}
    }
    all
}

fn negative(exponents: Exponents) -> bool {
    exponents.power.numerator() < 0 || exponents.log.numerator() < 0
}

fn is_shrinking(factor: &Factor) -> bool {
    negative(factor.exponents)
}

fn keep_better(best: &mut Option<Tried>, next: Option<Tried>) {
    let Some(next) = next else { return };
    if best.as_ref().is_none_or(|best| next.candidate.score < best.candidate.score) {
        *best = Some(next);
    }
}

/// Fits a form with weights. Each coefficient costs ln n (Schwarz's criterion), each exponent its price; forms whose
/// columns depend on each other at the measured points say nothing more than simpler ones.
fn tried(scaled: &Scaled<'_>, form: Form, factors: &[Factor]) -> Option<Tried> {
    let points = scaled.points;
    let mut formula = formula(form, factors);
    let k = formula.terms.len() + 1;
    let mut rows = design(&formula, points);
    for (row, scale) in rows.chunks_exact_mut(k).zip(&scaled.scale) {
        for value in row {
            *value /= scale;
        }
    }
    let values: Vec<f64> =
        points.values.iter().zip(&scaled.scale).map(|(value, scale)| value / scale).collect();
    let fit = Fit::new(&rows, k, &values)?;
    set_coefficients(&mut formula, &fit.coefficients);
    if impossible(points, &formula) {
        return None;
    }
    let rss: f64 = rows
        .chunks_exact(k)
        .zip(&values)
        .map(|(row, value)| {
            let fitted: f64 = row.iter().zip(&fit.coefficients).map(|(x, c)| x * c).sum();
            (fitted - value) * (fitted - value)
        })
        .sum();
    let believed = scaled.believed(rss, k);
    let used: f64 = factors.iter().map(|factor| price(factor.exponents)).sum();
    let score = scaled.deviance(rss, &believed, 0) + k as f64 * (points.len() as f64).ln() + used;
    Some(Tried { form, factors: factors.to_vec(), candidate: Candidate { formula, score } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(function: impl Fn(f64, f64) -> f64) -> Points {
        let mut points = Points { dimensions: 2, ..Points::default() };
        for x in [2.0, 4.0, 8.0, 16.0, 32.0] {
            for y in [10.0, 20.0, 30.0, 40.0, 50.0] {
                points.coordinates.extend([x, y]);
                points.values.push(function(x, y));
            }
        }
        points
    }

    #[test]
    fn forms_of_two_parameters() {
        let space = SearchSpace::new(true, true);
        let text = |points: &Points| {
            let outcome = multi(points, &space, Shrinking::WhereFalling);
            crate::output::formula::function(&outcome.function, &["x", "y"], Default::default())
                .split(' ')
                .filter(|word| word.contains("^("))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(text(&grid(|x, y| 3.0 + x + y * y)), "x^(1) y^(2)");
        assert_eq!(text(&grid(|x, y| 3.0 + x * y)), "x^(1) y^(1)");
        assert_eq!(text(&grid(|x, y| 3.0 + 100.0 * y / x)), "x^(-1) y^(1)");
        assert_eq!(text(&grid(|_, y| 3.0 + y.log2())), "log2(y)^(1)");
        assert_eq!(text(&grid(|_, _| 3.0)), "");
    }
}
