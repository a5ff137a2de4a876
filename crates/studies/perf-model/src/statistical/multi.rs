//! Several parameters: a first term for each from its series, the best form on all points, then each term
//! again on all points until none changes.

use super::search::{Shrinking, single_on};
use super::{Candidate, Outcome, Scaled, impossible, plausible, price};
use crate::basis::Basis;
use crate::dense::Fit;
use crate::experiment::mean;
use crate::forms::{FOUR_MORE, Form, design, forms, formula, set_coefficients, size};
use crate::function::{Exponents, Factor, Formula, Function};
use crate::lines::series;
use crate::noise;
use crate::points::Points;
use crate::search_space::SearchSpace;

/// Two factors and both their sum and product, which Extra-P does not try.
const BOTH: Form = &[&[0], &[1], &[0, 1]];
const ONE: Form = &[&[0]];
const NONE: Form = &[];
/// Rounds of looking at each parameter again; three is already rare.
const MAX_ROUNDS: usize = 5;

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
    if points.values.iter().all(|value| *value == points.values[0]) {
        return constant(Vec::new());
    }

    let mut scaled = Scaled::new(points, kind);
    let mut best: Option<Tried> = None;
    for form in all_forms(factors.len()) {
        keep_better(&mut best, tried(&scaled, form, &factors));
    }
    let Some(mut best) = best else { return constant(Vec::new()) };
    bring_back(&scaled, space, shrinking, &mut best);
    if best.factors.is_empty() {
        return constant(Vec::new());
    }

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
    for _ in 0..MAX_ROUNDS {
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
        for form in all_forms(best.factors.len()) {
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

/// A parameter that matters little beside the others looks constant on its own series, which averages over
/// them. With the others accounted for it may show: every term of it, in every form, must beat the model
/// without it by more than trying so many things makes likely.
fn bring_back(scaled: &Scaled<'_>, space: &SearchSpace, shrinking: Shrinking, best: &mut Tried) {
    let points = scaled.points;
    for parameter in 0..points.dimensions {
        if best.factors.iter().any(|factor| factor.parameter == parameter) {
            continue;
        }
        let smallest = points.parameter(parameter).fold(f64::INFINITY, f64::min);
        let offered = space.defined(smallest);
        let price = 2.0 * (offered.len() as f64).ln();
        let mut improved: Option<Tried> = None;
        for exponents in offered.into_iter().filter(|e| shrinking != Shrinking::Never || !negative(*e)) {
            let mut factors = best.factors.clone();
            factors.push(Factor { parameter, exponents });
            factors.sort_by_key(|factor| factor.parameter);
            for form in all_forms(factors.len()) {
                keep_better(&mut improved, tried(scaled, form, &factors));
            }
        }
        if let Some(improved) =
            improved.filter(|improved| improved.candidate.score + price < best.candidate.score)
        {
            *best = improved;
        }
    }
}

/// Extra-P's forms, and those it lacks. With fewer factors than parameters, the others were constant.
fn all_forms(factors: usize) -> Vec<Form> {
    let mut all = forms(factors).to_vec();
    match factors {
        0 => all.push(NONE),
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

/// Fits a form with weights. Each coefficient costs ln n (Schwarz's criterion), each exponent its price, each
/// factor a little, so that of two forms that fit equally well the simpler one is taken; forms whose columns
/// depend on each other at the measured points say nothing more than simpler ones.
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
    let mut coefficients = Fit::new(&rows, k, &values)?.coefficients;
    if coefficients[0] < 0.0 && points.values.iter().all(|value| *value >= 0.0) {
        // What was never negative is fitted without a constant instead.
        let terms: Vec<f64> = rows.chunks_exact(k).flat_map(|row| row[1..].iter().copied()).collect();
        coefficients = Fit::new(&terms, k - 1, &values)?.coefficients;
        coefficients.insert(0, 0.0);
    }
    set_coefficients(&mut formula, &coefficients);
    if impossible(points, &formula) {
        return None;
    }
    let rss: f64 = rows
        .chunks_exact(k)
        .zip(&values)
        .map(|(row, value)| {
            let fitted: f64 = row.iter().zip(&coefficients).map(|(x, c)| x * c).sum();
            (fitted - value) * (fitted - value)
        })
        .sum();
    let believed = scaled.believed(rss, k);
    const FACTOR: f64 = 0.5;
    let used: f64 =
        factors.iter().map(|factor| price(factor.exponents)).sum::<f64>() + FACTOR * size(form) as f64;
    let score = scaled.deviance(rss, &believed, 0) + k as f64 * (points.len() as f64).ln() + used;
    Some(Tried { form, factors: factors.to_vec(), candidate: Candidate { formula, score } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::grid;

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

    #[test]
    fn a_cross_gets_the_simplest_of_equal_forms() {
        let mut cross = grid(|x, y| 5.0 + 0.5 * x + 0.2 * y * y);
        let kept: Vec<usize> =
            (0..cross.len()).filter(|&k| cross.point(k)[0] == 2.0 || cross.point(k)[1] == 10.0).collect();
        cross = cross.select(kept);
        let outcome = multi(&cross, &SearchSpace::new(true, true), Shrinking::WhereFalling);
        assert_eq!(outcome.function.leading().factor_count(), 2);
        assert_eq!(outcome.function.leading().terms.len(), 2);
    }

    #[test]
    fn a_parameter_in_the_shadow_of_another_is_found() {
        // Along x the series is nearly flat beside what y does to it.
        let wobble = |x: f64, y: f64| 1.0 + 0.02 * (x * 12.9898 + y * 78.233).sin();
        let points = grid(|x, y| (5.0 + 0.5 * x + 0.2 * y * y) * wobble(x, y));
        let outcome = multi(&points, &SearchSpace::new(true, true), Shrinking::WhereFalling);
        assert!(outcome.function.leading().terms.iter().any(|term| term.factors[0].parameter == 0));
    }
}
