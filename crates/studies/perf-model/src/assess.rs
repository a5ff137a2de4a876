//! What can be said about a function once it is chosen: costs, runner-up, notes.

use crate::compat;
use crate::cost::Costs;
use crate::dense::Fit;
use crate::experiment::MeasurementSet;
use crate::forms::design;
use crate::function::{Formula, Function};
use crate::model::{Alternative, Model, Note, RunnerUp};
use crate::noise::{self, NoiseKind};
use crate::options::{Mode, Options};
use crate::points::Points;
use crate::statistical::{self, Candidate, Scaled, TELLING};

/// Fewer points than this are too few to tell exponents from each other.
const FEW_POINTS_NOTED: usize = 5;

/// A model chosen by likelihood.
pub(crate) fn statistical(
    set: &MeasurementSet,
    points: &Points,
    outcome: statistical::Outcome,
    absent: bool,
) -> Model {
    let statistical::Outcome { mut function, candidates, kind } = outcome;
    tidy(&mut function, points);
    let mut model = bare(set, points, function, Mode::Default, kind);
    model.costs = model.in_sample;
    model.runner_up = runner_up(points, &candidates);
    model.alternatives = alternatives(candidates);
    if absent {
        model.notes.push(Note::AbsentValues);
    }
    if lacks_fit(&model) {
        model.notes.push(Note::LackOfFit);
    }
    if model.runner_up.as_ref().is_some_and(|runner_up| !runner_up.distinguishable) {
        model.notes.push(Note::Ambiguous);
    }
    model
}

/// Where points lie on the function up to rounding, coefficients are rounded to what they say: 8388608 bytes
/// a process, and not 3.6e-15 + 8388607.999999999.
fn tidy(function: &mut Function, points: &Points) {
    const EXACT: f64 = 1e-11;
    let Function::Formula(formula) = function else { return };
    let greatest = points.values.iter().fold(0.0f64, |greatest, value| greatest.max(value.abs()));
    let exact = |formula: &Formula| {
        points.iter().all(|(point, value)| {
            (formula.evaluate(point) - value).abs() <= EXACT * value.abs().max(EXACT * greatest)
        })
    };
    if formula.terms.is_empty() || !exact(formula) {
        return;
    }
    let mut rounded = formula.clone();
    rounded.constant = round(rounded.constant);
    if rounded.constant.abs() < EXACT * greatest {
        rounded.constant = 0.0;
    }
    for term in &mut rounded.terms {
        term.coefficient = round(term.coefficient);
    }
    if exact(&rounded) {
        *formula = rounded;
    }
}

/// Twelve significant digits.
fn round(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A model chosen as Extra-P does.
pub(crate) fn compat(set: &MeasurementSet, points: &Points, outcome: compat::Outcome, _: &Options) -> Model {
    let mut model = bare(set, points, outcome.function, Mode::Compat, NoiseKind::Absolute);
    model.costs = outcome.costs;
    if outcome.tie {
        model.notes.push(Note::Tie);
    }
    model
}

/// What does not depend on how the function was chosen.
fn bare(set: &MeasurementSet, points: &Points, function: Function, mode: Mode, kind: NoiseKind) -> Model {
    let predicted: Vec<f64> = points.iter().map(|(point, _)| function.evaluate(point)).collect();
    let in_sample = Costs::of(&points.values, &predicted, coefficients(&function));
    let leave_one_out = leave_one_out(points, &function, kind);
    let mut model = Model {
        callpath: set.callpath.clone(),
        metric: set.metric.clone(),
        function,
        costs: in_sample,
        in_sample,
        leave_one_out,
        noise: noise::estimate(points, noise::kind(points)),
        runner_up: None,
        notes: Vec::new(),
        mode,
        kind,
        alternatives: Vec::new(),
        data: points.clone(),
    };
    if points.len() < FEW_POINTS_NOTED {
        model.notes.push(Note::FewPoints);
    }
    if negative_in_range(&model) {
        model.notes.push(Note::NegativeInRange);
    }
    model
}

fn coefficients(function: &Function) -> usize {
    match function {
        Function::Formula(formula) => formula.terms.len() + 1,
        Function::Segmented { formulas, .. } => formulas.iter().map(|formula| formula.terms.len() + 1).sum(),
    }
}

/// The points that a formula of the function was fitted to.
pub(crate) fn parts<'f>(points: &Points, function: &'f Function) -> Vec<(&'f Formula, Points)> {
    match function {
        Function::Formula(formula) => vec![(formula, points.clone())],
        Function::Segmented { lower_end, upper_start, formulas } => {
            let below = (0..points.len()).filter(|&index| points.point(index)[0] <= *lower_end);
            let above = (0..points.len()).filter(|&index| points.point(index)[0] >= *upper_start);
            vec![(&formulas[0], points.select(below)), (&formulas[1], points.select(above))]
        }
    }
}

/// Predictions at each point from the others, without fitting again: the residual divided by one minus the
/// leverage.
fn leave_one_out(points: &Points, function: &Function, kind: NoiseKind) -> Option<Costs> {
    let mut actual = Vec::with_capacity(points.len());
    let mut predicted = Vec::with_capacity(points.len());
    for (formula, own) in parts(points, function) {
        let (rows, fit) = weighted_fit(formula, &own, kind)?;
        let k = formula.terms.len() + 1;
        for ((row, value), (point, _)) in rows.chunks_exact(k).zip(&own.values).zip(own.iter()) {
            const ALL_OF_ITSELF: f64 = 1.0 - 1e-9;
            let leverage = fit.leverage(row);
            if leverage.is_nan() || leverage >= ALL_OF_ITSELF {
                return None;
            }
            let residual = formula.evaluate(point) - value;
            actual.push(*value);
            predicted.push(value + residual / (1.0 - leverage));
        }
    }
    Some(Costs::of(&actual, &predicted, coefficients(function)))
}

/// The fit of a formula to points in the scale of their noise; the scaled rows with it. A constant is a plain
/// mean.
pub(crate) fn weighted_fit(formula: &Formula, points: &Points, kind: NoiseKind) -> Option<(Vec<f64>, Fit)> {
    let k = formula.terms.len() + 1;
    if points.len() <= k {
        return None;
    }
    let fitted: Vec<f64> = points.iter().map(|(point, _)| formula.evaluate(point)).collect();
    let scaled = if formula.terms.is_empty() {
        Scaled::new(points, NoiseKind::Absolute)
    } else {
        Scaled::new(points, kind).by(&fitted)
    };
    let mut rows = design(formula, points);
    for (row, scale) in rows.chunks_exact_mut(k).zip(&scaled.scale) {
        for value in row {
            *value /= scale;
        }
    }
    let values: Vec<f64> =
        points.values.iter().zip(&scaled.scale).map(|(value, scale)| value / scale).collect();
    let fit = Fit::new(&rows, k, &values)?;
    Some((rows, fit))
}

fn runner_up(points: &Points, candidates: &[Candidate]) -> Option<RunnerUp> {
    let [best, next, ..] = candidates else { return None };
    let predicted: Vec<f64> = points.iter().map(|(point, _)| next.formula.evaluate(point)).collect();
    let difference = next.score - best.score;
    Some(RunnerUp {
        smape: Costs::of(&points.values, &predicted, 2).smape,
        formula: next.formula.clone(),
        odds: (difference / 2.0).exp(),
        distinguishable: difference >= TELLING,
    })
}

fn alternatives(candidates: Vec<Candidate>) -> Vec<Alternative> {
    let best = candidates.iter().map(|candidate| candidate.score).fold(f64::INFINITY, f64::min);
    let weight = |candidate: &Candidate| ((best - candidate.score) / 2.0).exp();
    let total: f64 = candidates.iter().map(weight).sum();
    let mut alternatives: Vec<Alternative> = candidates
        .into_iter()
        .map(|candidate| Alternative { weight: weight(&candidate) / total, formula: candidate.formula })
        .filter(|alternative| alternative.weight > 1e-3)
        .collect();
    alternatives.shrink_to_fit();
    alternatives
}

/// Whether the residuals' variance is more than four times what repetitions explain.
fn lacks_fit(model: &Model) -> bool {
    let points = &model.data;
    let fitted: Vec<f64> = points.iter().map(|(point, _)| model.evaluate(point)).collect();
    let scaled = Scaled::new(points, model.kind).by(&fitted);
    let residual = |k: usize| (fitted[k] - points.values[k]) / scaled.scale[k];
    let rss: f64 = (0..points.len()).map(|k| residual(k).powi(2)).sum();
    scaled.replicates.squares > 0.0 && scaled.believed(rss, coefficients(&model.function)).degrees == 0.0
}

/// Between the least and greatest measured values, and at the measured points themselves.
fn negative_in_range(model: &Model) -> bool {
    if !model.never_negative() {
        return false;
    }
    let tiny = 1e-9 * model.data.values.iter().fold(0.0f64, |greatest, value| greatest.max(*value));
    model.data.iter().any(|(point, _)| model.evaluate(point) < -tiny)
}

#[cfg(test)]
mod tests {
    use crate::{Note, Options, model_series};

    #[test]
    fn constants_explain_nothing() {
        let model = model_series(&[1.0, 2.0, 4.0, 8.0], &[5.0; 4], &Options::default());
        assert_eq!(model.in_sample.adjusted_r2, 0.0);
        let compat = model_series(&[1.0, 2.0, 4.0, 8.0], &[5.0; 4], &Options::compat());
        assert_eq!(compat.costs.adjusted_r2, 1.0);
    }

    #[test]
    fn notes_on_few_points_and_negative_models() {
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
        let values = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let model = model_series(&coordinates, &values, &Options::compat());
        assert!(model.has(Note::NegativeInRange), "{model:?}");
        assert!(model_series(&coordinates[..3], &values[..3], &Options::default()).has(Note::FewPoints));
    }

    #[test]
    fn exact_data_has_exact_coefficients() {
        let values: Vec<f64> = [1.0, 2.0, 4.0, 8.0].iter().map(|p| 8.0 * 1048576.0 * p).collect();
        let model = model_series(&[1.0, 2.0, 4.0, 8.0], &values, &Options::default());
        assert_eq!(
            crate::output::formula::function(&model.function, &["p"], Default::default()),
            "8388608.0 * p^(1)"
        );
        let values = [3.0, 5.0, 7.0, 9.0].map(|value| value / 3.0);
        let model = model_series(&[1.0, 2.0, 3.0, 4.0], &values, &Options::default());
        assert!((model.evaluate(&[3.0]) - 7.0 / 3.0).abs() < 1e-10);
    }

    #[test]
    fn leave_one_out_is_worse_than_in_sample() {
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let values = [2.1, 3.9, 8.2, 15.7, 32.5, 63.0];
        let model = model_series(&coordinates, &values, &Options::default());
        let left_out = model.leave_one_out.unwrap();
        assert!(left_out.rss > model.in_sample.rss);
        assert!(left_out.smape > model.in_sample.smape);
    }
}
