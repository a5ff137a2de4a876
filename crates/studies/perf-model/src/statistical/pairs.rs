//! One parameter, two terms: work that is shared and communication that grows, say.
//!
//! Costs add up, so that both coefficients of a pair are positive. A second term is believed if it explains
//! far more than chance allows.

use super::{Candidate, Outcome, ROUNDING, Scaled, Shrinking, plausible, price};
use crate::dense::Fit;
use crate::forms::set_coefficients;
use crate::function::{Exponents, Factor, Formula, Function, Term};
use crate::points::Points;
use crate::search_space::SearchSpace;

/// Fewest points for three coefficients.
const MIN_PAIR_POINTS: usize = 5;
/// A pair is believed if chance would explain its improvement with less than this probability. Many pairs are
/// tried, so that this is less than for a single term.
const PAIR_SIGNIFICANCE: f64 = 0.004;

/// The terms that are paired.
const PAIRED: [Exponents; 8] = [
    Exponents::new(-1, 1, 0),
    Exponents::new(0, 1, 1),
    Exponents::new(1, 3, 0),
    Exponents::new(1, 2, 0),
    Exponents::new(3, 4, 0),
    Exponents::new(1, 1, 0),
    Exponents::new(3, 2, 0),
    Exponents::new(2, 1, 0),
];

/// All pairs without negative coefficients, fitted in the scale of `scaled`, with their weighted residuals.
fn pairs(scaled: &Scaled<'_>, allowed: impl Fn(Exponents) -> bool) -> Vec<(Formula, f64)> {
    let points = scaled.points;
    let usable = points.dimensions == 1
        && points.len() >= MIN_PAIR_POINTS
        && points.iter().all(|(point, value)| point[0] > 0.0 && value > 0.0);
    if !usable {
        return Vec::new();
    }
    // Each term is in several pairs, and a power takes longer than all the rest.
    let column = |one: &Exponents| points.iter().map(|(point, _)| one.evaluate(point[0])).collect();
    let terms: Vec<(Exponents, Vec<f64>)> =
        PAIRED.iter().filter(|one| allowed(**one)).map(|one| (*one, column(one))).collect();
    let mut found = Vec::new();
    for (place, (second, second_values)) in terms.iter().enumerate() {
        for (first, first_values) in &terms[..place] {
            let term =
                |exponents| Term { coefficient: 1.0, factors: vec![Factor { parameter: 0, exponents }] };
            let formula = Formula { constant: 0.0, terms: vec![term(*first), term(*second)] };
            let both = first_values.iter().zip(second_values);
            let rows = both.flat_map(|(first, second)| [1.0, *first, *second]).collect();
            if let Some((formula, rss)) = fitted_to(formula, rows, scaled) {
                let positive = formula.terms.iter().all(|term| term.coefficient > 0.0);
                if positive && formula.constant >= 0.0 {
                    found.push((formula, rss));
                }
            }
        }
    }
    found
}

/// A formula with the coefficients that fit best in this scale, and its weighted residuals. Its terms have
/// these values at the points, behind a one for the constant.
fn fitted_to(mut formula: Formula, rows: Vec<f64>, scaled: &Scaled<'_>) -> Option<(Formula, f64)> {
    let k = formula.terms.len() + 1;
    let weighted: Vec<f64> = rows
        .chunks_exact(k)
        .zip(&scaled.scale)
        .flat_map(|(row, scale)| row.iter().map(move |value| value / scale))
        .collect();
    let values: Vec<f64> =
        scaled.points.values.iter().zip(&scaled.scale).map(|(value, scale)| value / scale).collect();
    let fit = Fit::new(&weighted, k, &values)?;
    set_coefficients(&mut formula, &fit.coefficients);
    let mut rss = 0.0;
    for ((row, value), scale) in rows.chunks_exact(k).zip(&scaled.points.values).zip(&scaled.scale) {
        let terms = row[1..].iter().zip(&fit.coefficients[1..]);
        let here = terms.fold(fit.coefficients[0], |sum, (basis, coefficient)| sum + coefficient * basis);
        rss += ((here - value) / scale).powi(2);
    }
    rss.is_finite().then_some((formula, rss))
}

/// The weighted residuals of a formula.
fn residuals(formula: &Formula, scaled: &Scaled<'_>) -> f64 {
    let points = scaled.points.iter().zip(&scaled.scale);
    points.map(|((point, value), scale)| ((formula.evaluate(point) - value) / scale).powi(2)).sum()
}

/// The prices of its terms.
fn prices(formula: &Formula) -> f64 {
    let factors = formula.terms.iter().flat_map(|term| &term.factors);
    factors.map(|factor| price(factor.exponents)).sum()
}

/// The outcome, or a pair of terms that explains the points far better.
pub(crate) fn with_second_term(
    points: &Points,
    space: &SearchSpace,
    shrinking: Shrinking,
    outcome: Outcome,
) -> Outcome {
    let Function::Formula(single) = &outcome.function else { return outcome };
    let before: Vec<f64> = points.iter().map(|(point, _)| single.evaluate(point)).collect();
    let scaled = Scaled::new(points, outcome.kind).by(&before);
    let (n, rss) = (points.len() as f64, residuals(single, &scaled));
    if rss <= n * ROUNDING * ROUNDING {
        return outcome;
    }
    let allowed = |one: Exponents| {
        space.exponents().contains(&one) && (shrinking != Shrinking::Never || one.power.numerator() >= 0)
    };
    let best =
        pairs(&scaled, allowed).into_iter().reduce(|best, one| if one.1 < best.1 { one } else { best });
    let Some((pair, least)) = best else { return outcome };
    let believed = scaled.believed(least, 3);
    let degrees = n - 3.0 + believed.degrees;
    let more = 2.0 - single.terms.len() as f64;
    let improved = (rss - least).max(0.0) / (least + believed.squares);
    let chance = if more == 1.0 {
        crate::student::significance((improved * degrees).sqrt(), degrees)
    } else {
        // The F distribution with two degrees of freedom in the numerator.
        (1.0 + improved).powf(-degrees / 2.0)
    };
    if chance >= PAIR_SIGNIFICANCE {
        return outcome;
    }
    let score = |formula: &Formula, rss: f64| {
        let extra = (formula.terms.len() as f64 - 1.0) * (n + believed.degrees).ln();
        scaled.deviance(rss, &believed, 2) + extra + prices(formula)
    };
    let chosen = Candidate { score: score(&pair, least), formula: pair };
    let others = outcome.candidates.iter().map(|other| {
        let rss = residuals(&other.formula, &scaled);
        Candidate { formula: other.formula.clone(), score: score(&other.formula, rss).max(chosen.score) }
    });
    let candidates = plausible(others.collect(), chosen.clone());
    Outcome { function: Function::Formula(chosen.formula), candidates, kind: outcome.kind }
}

#[cfg(test)]
mod tests {
    use crate::{Options, model_series};

    #[test]
    fn work_that_is_shared_and_communication_that_grows() {
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let wobble = [1.01, 0.99, 1.0, 1.01, 0.985, 1.0, 1.005];
        let values: Vec<f64> =
            coordinates.iter().zip(wobble).map(|(p, wobble)| wobble * (5.0 + 300.0 / p + 0.4 * p)).collect();
        let model = model_series(&coordinates, &values, &Options::default());
        let then = model.evaluate(&[512.0]);
        assert!((then / 210.4 - 1.0).abs() < 0.1, "{then}");
        let interval = model.predict(&[512.0], 0.95).unwrap().interval.unwrap();
        assert!(interval.low < 210.4 && 210.4 < interval.high, "{interval:?}");
    }

    #[test]
    fn one_term_stays_one_term() {
        let mut random = seeded_random::Random::new(7);
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
        let mut pairs = 0;
        for _ in 0..300 {
            let noise = |random: &mut seeded_random::Random| {
                1.0 + 0.1 * (random.unit() + random.unit() + random.unit() - 1.5)
            };
            let values: Vec<f64> = coordinates.iter().map(|p| (4.0 + 0.7 * p) * noise(&mut random)).collect();
            let model = model_series(&coordinates, &values, &Options::default());
            pairs += usize::from(model.function.leading().terms.len() > 1);
        }
        assert!(pairs <= 9, "{pairs} of 300");
    }
}
