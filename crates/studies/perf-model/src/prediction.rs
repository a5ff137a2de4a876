//! What to expect at a point, and how sure to be.
//!
//! A fit of a formula with k coefficients to n points gives, at a point with row `a` of the design matrix, a
//! Student distribution with n − k degrees of freedom about the fitted value, of variance σ² · aᵀ(AᵀA)⁻¹a for
//! the model and more by the variance of a run for the next run. Where several formulas explain the points,
//! the distribution is their mixture, weighted by plausibility: this is what makes an interval far from the
//! measured points as wide as it should be. Beyond the measured range, what the formula would have missed
//! there had it been fitted to the smaller scales only is added for each doubling: real programs seldom keep
//! to one formula. So is what scatter can hide.
//!
//! That holds within the measured scales, for several parameters and for values that are 0. Beyond the
//! largest scale of one parameter, [`crate::forecast`] says what to expect.

use schemars::JsonSchema;
use serde::Serialize;
use std::sync::OnceLock;

use crate::assess::{parts, weighted_fit};
use crate::dense::Fit;
use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::function::Formula;
use crate::model::Model;
use crate::noise::NoiseKind;
use crate::options::Mode;
use crate::points::Points;
use crate::statistical::Scaled;
use crate::student;

/// A deviation from the formula that scatter can hide grows by this many times the scatter of a run for each
/// doubling beyond the measured range …
const HIDDEN: f64 = 1.5;
/// … and by this share of the value at most. With more measurements than a few less is hidden.
const MAX_HIDDEN: f64 = 0.06;
const FEW_DEGREES: f64 = 6.0;

/// A forecast has intervals of this probability.
const LIKELY: f64 = 0.95;
/// So many deviations of a normal distribution are that.
const NORMAL: f64 = 1.959_963_984_540_054;

/// What an interval is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// The next run.
    #[default]
    Run,
    /// The mean of many runs.
    Mean,
}

/// A range that should contain the target with some probability.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The value of a model at a point, with what a reader should know.
///
/// This is what `--evaluate` shows.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Prediction {
    /// The point, one value per parameter.
    pub point: Vec<f64>,
    /// What to expect: the value of the formula; beyond the largest scale that was measured, what all curves
    /// and the course of the last points foretell.
    pub value: f64,
    /// Value of the formula.
    pub formula_value: f64,
    /// Where the next run should lie; `None` where there are no more points than coefficients.
    pub interval: Option<Interval>,
    /// The point lies outside of what was measured.
    pub extrapolated: bool,
    /// The value is negative though no measured one was.
    pub negative: bool,
}

/// One fitted formula.
#[derive(Debug)]
struct Part {
    formula: Formula,
    weight: f64,
    fit: Fit,
    degrees: f64,
    /// Variance of a point about the formula, in its scale.
    variance: f64,
    /// Variance of a run about the formula, in its scale.
    run: f64,
    /// Scale of a point: `None` if it is the value.
    scale: Option<f64>,
    /// The measured range of each parameter.
    ranges: Vec<(f64, f64)>,
    /// Relative deviation for each doubling beyond the range.
    drift: f64,
}

/// A model prepared for many predictions.
///
/// ```
/// use perf_model::{Options, Target, model_series};
///
/// let model = model_series(&[2.0, 4.0, 8.0, 16.0, 32.0], &[2.1, 3.9, 8.2, 15.7, 32.5], &Options::default());
/// let predictor = model.predictor();
/// for p in [64.0, 1024.0] {
///     let run = predictor.interval(&[p], 0.95, Target::Run).expect("more points than coefficients");
///     let mean = predictor.interval(&[p], 0.95, Target::Mean).expect("the same");
///     assert!(run.low <= mean.low && mean.high <= run.high);
/// }
/// ```
#[derive(Debug)]
pub struct Predictor<'m> {
    model: &'m Model,
    /// Parts of the formula, or of the lower and upper segment; made when they are first needed.
    parts: OnceLock<Vec<Vec<Part>>>,
    /// What to expect beyond the largest scale; made when it is first needed.
    forecast: OnceLock<Option<Forecast>>,
}

impl Model {
    /// For several predictions with intervals: what they have in common is worked out once.
    pub fn predictor(&self) -> Predictor<'_> {
        Predictor { model: self, parts: OnceLock::new(), forecast: OnceLock::new() }
    }

    /// The parts of the formula, or of the lower and upper segment.
    fn prediction_parts(&self) -> Vec<Vec<Part>> {
        let segments = parts(&self.data, &self.function);
        let alone = segments.len() == 1 && !self.alternatives.is_empty();
        segments
            .iter()
            .map(|(formula, points)| {
                if alone {
                    let parts = self.alternatives.iter();
                    parts
                        .filter_map(|other| Part::new(&other.formula, other.weight, points, self.kind))
                        .collect()
                } else {
                    Part::new(formula, 1.0, points, self.kind).into_iter().collect()
                }
            })
            .collect()
    }

    /// The value at a point and where the next run should lie with probability `level`.
    ///
    /// # Errors
    /// The point does not have one value per parameter.
    pub fn predict(&self, point: &[f64], level: f64) -> Result<Prediction> {
        self.predictor().predict(point, level)
    }
}

impl Predictor<'_> {
    /// As [`Model::predict`].
    ///
    /// # Errors
    /// The point does not have one value per parameter.
    pub fn predict(&self, point: &[f64], level: f64) -> Result<Prediction> {
        let model = self.model;
        if point.len() != model.data.dimensions {
            let expected = format!("{} values, one for each parameter", model.data.dimensions);
            return Err(Error::Point { expected, found: format!("{point:?}") });
        }
        let (value, interval) = self.both(point, level);
        Ok(Prediction {
            point: point.to_vec(),
            value,
            formula_value: model.evaluate(point),
            interval,
            extrapolated: model.extrapolates(point),
            negative: value < 0.0 && model.never_negative(),
        })
    }

    /// What to expect at a point: the value of the formula, or beyond the largest scale the forecast's. From
    /// one to the other within the first doubling.
    pub fn expected(&self, point: &[f64]) -> f64 {
        self.both(point, LIKELY).0
    }

    /// The value, and where the next run should lie.
    fn both(&self, point: &[f64], level: f64) -> (f64, Option<Interval>) {
        if let Some((value, interval)) = self.beyond(point, level) {
            return (value, Some(interval));
        }
        let formula = self.model.evaluate(point);
        let interval = self.within(point, level, Target::Run);
        if self.model.mode == Mode::Compat {
            return (formula, interval);
        }
        let floor = if self.model.never_negative() { 0.0 } else { f64::MIN };
        let value = formula.max(floor);
        // What to expect is not outside of where it is expected.
        let about = |one: Interval| Interval { low: one.low.min(value), high: one.high.max(value) };
        (value, interval.map(about))
    }

    /// The same beyond the largest scale of one parameter, where there is a forecast.
    fn beyond(&self, point: &[f64], level: f64) -> Option<(f64, Interval)> {
        let ([scale], [(_, largest)]) = (point, &self.model.ranges()[..]) else { return None };
        if self.model.mode == Mode::Compat || scale <= largest {
            return None;
        }
        let of = || Forecast::of(&self.model.data, self.model.is_rate());
        let forecast = self.forecast.get_or_init(of).as_ref()?;
        let found = forecast.at(*scale)?;
        let formula = self.model.evaluate(point).ln();
        let far = (scale / largest).log2().min(1.0);
        let known = found.exact && (formula - found.value).abs() < found.below;
        let value = if known {
            formula
        } else if formula.is_finite() {
            formula + far * (found.value - formula)
        } else {
            found.value
        };
        // Close to the largest scale a run is as far off as runs are within.
        let wide = if level == LIKELY { 1.0 } else { student::normal_width(level) / NORMAL };
        let half = |width: f64| wide * width.hypot((1.0 - far) * found.scatter);
        let low = (value.min(found.value) - half(found.below)).exp();
        let high = (value.max(found.value) + half(found.above)).exp();
        let value = if known { self.model.evaluate(point) } else { value.exp() };
        (low > 0.0 && high.is_finite()).then_some((value, Interval { low, high }))
    }

    /// The central interval of probability `level` (0.95 for 95 %); `None` where there are no more points
    /// than coefficients, or between two segments.
    pub fn interval(&self, point: &[f64], level: f64, target: Target) -> Option<Interval> {
        match self.beyond(point, level) {
            Some((_, interval)) => Some(interval),
            None => self.within(point, level, target),
        }
    }

    /// The interval of the mixture of plausible formulas.
    fn within(&self, point: &[f64], level: f64, target: Target) -> Option<Interval> {
        let formula = self.model.function.formula_at(point)?;
        let segment = match &self.model.function {
            crate::Function::Segmented { formulas, .. } if std::ptr::eq(formula, &formulas[1]) => 1,
            _ => 0,
        };
        let components: Vec<Component> = self
            .parts
            .get_or_init(|| self.model.prediction_parts())
            .get(segment)?
            .iter()
            .map(|part| part.at(point, target))
            .collect();
        if components.is_empty() || components.iter().any(|c| !(c.centre.is_finite() && c.spread.is_finite()))
        {
            return None;
        }
        let tail = (1.0 - level.clamp(0.0, 1.0 - 1e-9)) / 2.0;
        let (low, high) = (quantile(&components, tail), quantile(&components, 1.0 - tail));
        // Bytes, times and bandwidths are never negative, nor is anything else that was not when measured.
        let floor = if self.model.never_negative() { 0.0 } else { f64::MIN };
        let interval = Interval { low: low.max(floor), high: high.max(floor) };
        // A run scatters around the mean. Its distribution is known with more degrees of freedom, so that far
        // out its own quantile can lie a little within that of the mean.
        if target == Target::Mean {
            return Some(interval);
        }
        let mean = self.within(point, level, Target::Mean)?;
        Some(Interval { low: interval.low.min(mean.low), high: interval.high.max(mean.high) })
    }
}

/// A Student distribution with its share of a mixture.
#[derive(Debug, Clone, Copy)]
struct Component {
    weight: f64,
    centre: f64,
    spread: f64,
    degrees: f64,
}

impl Part {
    fn new(formula: &Formula, weight: f64, points: &Points, kind: NoiseKind) -> Option<Part> {
        let kind = if formula.terms.is_empty() { NoiseKind::Absolute } else { kind };
        let (_, fit) = weighted_fit(formula, points, kind)?;
        let k = formula.terms.len() + 1;
        let fitted: Vec<f64> = points.iter().map(|(point, _)| formula.evaluate(point)).collect();
        let scaled = Scaled::new(points, kind).by(&fitted);
        let residuals = fitted.iter().zip(&points.values).zip(&scaled.scale);
        let rss: f64 = residuals.map(|((fitted, value), scale)| ((fitted - value) / scale).powi(2)).sum();
        let believed = scaled.believed(rss, k);
        let degrees = points.len() as f64 - k as f64 + believed.degrees;
        let variance = (rss + believed.squares) / degrees;
        let run = match scaled.replicates {
            replicates if replicates.degrees > 0.0 => {
                // What repetitions do not explain, every run has on top of them.
                replicates.run + (variance - replicates.squares / replicates.degrees).max(0.0)
            }
            _ => variance,
        };
        let scale = match kind {
            NoiseKind::Relative => None,
            NoiseKind::Absolute => scaled.scale.first().copied(),
        };
        let mean = points.values.iter().map(|value| value.abs()).sum::<f64>() / points.len() as f64;
        let scatter = run.sqrt() * scale.map_or(1.0, |scale| if mean > 0.0 { scale / mean } else { 0.0 });
        // The more was measured, the less can hide.
        let hidden =
            HIDDEN * scatter * (FEW_DEGREES / (points.len() as f64 + believed.degrees)).sqrt().min(1.0);
        let drift = drift(formula, points, kind, run).hypot(hidden.min(MAX_HIDDEN));
        let (formula, ranges) = (formula.clone(), points.ranges());
        Some(Part { formula, weight, fit, degrees, variance, run, scale, ranges, drift })
    }

    /// How many doublings a point lies beyond what was measured, in the parameter where that is most.
    fn beyond(&self, point: &[f64]) -> f64 {
        let of = |(value, (low, high)): (&f64, &(f64, f64))| {
            let (above, below) = ((value / high).log2(), (low / value).log2());
            let most = above.max(below).max(0.0);
            if most.is_finite() { most } else { 0.0 }
        };
        point.iter().zip(&self.ranges).map(of).fold(0.0, f64::max)
    }

    fn at(&self, point: &[f64], target: Target) -> Component {
        let centre = self.formula.evaluate(point);
        let mut row = vec![1.0];
        row.extend(self.formula.terms.iter().map(|term| term.basis(point)));
        let scale = self.scale.unwrap_or(centre.abs());
        let mut variance = self.variance * self.fit.leverage(&row);
        if target == Target::Run {
            variance += self.run * scale * scale;
        }
        variance += (self.drift * self.beyond(point) * centre).powi(2);
        Component { weight: self.weight, centre, spread: variance.sqrt(), degrees: self.degrees }
    }
}

/// How much more a formula has been wrong beyond what it was fitted to than runs scatter: it is fitted to the
/// smaller scales only and asked for the larger ones that are known. The result is the relative deviation for
/// each doubling.
fn drift(formula: &Formula, points: &Points, kind: NoiseKind, run: f64) -> f64 {
    let k = formula.terms.len() + 1;
    let fewest = (k + 2).max(points.len() / 2);
    if points.dimensions != 1 || points.len() <= fewest {
        return 0.0;
    }
    let order = points.ascending();
    let (mut squares, mut distances, mut count) = (0.0, 0.0, 0.0);
    for kept in fewest..points.len() {
        let known = points.select(order[..kept].iter().copied());
        let Some((_, fit)) = weighted_fit(formula, &known, kind) else { continue };
        let largest = points.point(order[kept - 1])[0];
        for index in &order[kept..] {
            let (point, value) = (points.point(*index), points.values[*index]);
            let rows = std::iter::once(1.0).chain(formula.terms.iter().map(|term| term.basis(point)));
            let predicted: f64 =
                rows.zip(&fit.coefficients).map(|(row, coefficient)| row * coefficient).sum();
            let doublings = (point[0] / largest).log2();
            // A deviation above the whole value says no more than that.
            let error = ((value - predicted) / predicted.abs().max(value.abs())).clamp(-1.0, 1.0);
            if error.is_finite() && doublings > 0.0 && doublings.is_finite() {
                squares += error * error;
                distances += doublings * doublings;
                count += 1.0;
            }
        }
    }
    let scatter = if kind == NoiseKind::Relative { run } else { 0.0 };
    if count > 0.0 && distances > 0.0 {
        ((squares - scatter * count).max(0.0) / distances).sqrt()
    } else {
        0.0
    }
}

/// The value below which a mixture lies with probability `tail`: regula falsi (the Illinois rule), with a
/// bisection at every third step, as a distribution without spread is a step.
fn quantile(components: &[Component], tail: f64) -> f64 {
    const WIDE: f64 = 1e5;
    const STEPS: usize = 200;
    const CLOSE: f64 = 1e-10;
    let total: f64 = components.iter().map(|c| c.weight).sum();
    let above = |value: f64| -> f64 {
        let share = |c: &Component| {
            let cumulative = if c.spread > 0.0 {
                student::cumulative((value - c.centre) / c.spread, c.degrees)
            } else {
                f64::from(value >= c.centre)
            };
            c.weight * cumulative
        };
        components.iter().map(share).sum::<f64>() / total - tail
    };
    let end = |side: f64| {
        let mut wide = 4.0;
        loop {
            let reach = |c: &Component| side * (c.centre + side * wide * c.spread);
            let at = side * components.iter().map(reach).fold(f64::NEG_INFINITY, f64::max);
            let share = above(at);
            if side * share >= 0.0 || wide >= WIDE {
                return (at, share);
            }
            wide *= 4.0;
        }
    };
    let ((mut low, mut below), (mut high, mut over)) = (end(-1.0), end(1.0));
    for step in 0..STEPS {
        if high - low <= CLOSE * low.abs().max(high.abs()) {
            break;
        }
        let slope = (over - below) / (high - low);
        let crossing = low - below / slope;
        let between = step % 3 < 2 && crossing > low && crossing < high;
        let at = if between { crossing } else { f64::midpoint(low, high) };
        if at <= low || at >= high {
            break;
        }
        let share = above(at);
        if share < 0.0 {
            (low, below, over) = (at, share, over / 2.0);
        } else {
            (high, over, below) = (at, share, below / 2.0);
        }
        if share.abs() < CLOSE * tail {
            return at;
        }
    }
    high
}

/// Reads a point such as `p=4096` or `p=64,n=1e6`; each parameter once, in any order.
///
/// ```
/// let parameters = ["p".to_owned(), "n".to_owned()];
/// assert_eq!(perf_model::parse_point("n=10, p=64", &parameters)?, [64.0, 10.0]);
/// assert!(perf_model::parse_point("p=64", &parameters).is_err());
/// # Ok::<(), perf_model::Error>(())
/// ```
///
/// # Errors
/// A parameter is missing, unknown or not a number.
pub fn parse_point(text: &str, parameters: &[String]) -> Result<Vec<f64>> {
    let wrong = |found: &str| {
        let expected: Vec<String> =
            parameters.iter().map(|parameter| format!("{parameter}=NUMBER")).collect();
        Error::Point { expected: expected.join(","), found: crate::error::excerpt(found) }
    };
    let mut point = vec![None; parameters.len()];
    for part in text.split(',') {
        let (name, value) = part.split_once('=').ok_or_else(|| wrong(text))?;
        let index =
            parameters.iter().position(|parameter| parameter == name.trim()).ok_or_else(|| wrong(text))?;
        let value: f64 =
            value.trim().parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| wrong(text))?;
        if point[index].replace(value).is_some() {
            return Err(wrong(text));
        }
    }
    point.into_iter().collect::<Option<Vec<f64>>>().ok_or_else(|| wrong(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, model_series};

    #[test]
    fn an_exact_line_has_a_narrow_interval() {
        let model =
            model_series(&[1.0, 2.0, 4.0, 8.0, 16.0], &[3.0, 5.0, 9.0, 17.0, 33.0], &Options::default());
        let prediction = model.predict(&[64.0], 0.95).unwrap();
        let interval = prediction.interval.unwrap();
        assert!(prediction.extrapolated && !prediction.negative);
        assert_eq!(prediction.value, prediction.formula_value);
        let half = (interval.high / interval.low).ln() / 2.0;
        assert!(half < 0.021 && interval.low < 129.0 && 129.0 < interval.high, "{interval:?}");
    }

    #[test]
    fn a_mean_of_few_values_by_the_book() {
        // Five values with mean 10 and s = 1.581: the next lies in 10 ± 2.776 · s · √(1 + 1/5).
        let options = Options { space: Some(crate::SearchSpace::of(Vec::new())), ..Options::default() };
        let model = model_series(&[1.0, 2.0, 3.0, 4.0, 5.0], &[9.0, 12.0, 10.0, 8.0, 11.0], &options);
        assert!(model.function.is_constant());
        let interval = model.predictor().interval(&[3.0], 0.95, Target::Run).unwrap();
        let half = 2.776_445 * 2.5f64.sqrt() * 1.2f64.sqrt();
        assert!((interval.high - 10.0 - half).abs() < 1e-4, "{interval:?}");
        assert!((interval.low - 10.0 + half).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn intervals_widen_away_from_the_points() {
        let coordinates = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let values = [2.1, 3.9, 8.2, 15.7, 32.5, 63.0];
        for options in [Options::default(), Options::compat()] {
            let model = model_series(&coordinates, &values, &options);
            let predictor = model.predictor();
            let width = |p: f64| {
                let Interval { low, high } = predictor.interval(&[p], 0.95, Target::Mean).unwrap();
                (high - low) / model.evaluate(&[p])
            };
            assert!(width(4096.0) > width(32.0));
        }
    }

    #[test]
    fn too_few_points_have_none() {
        let model = model_series(&[2.0, 4.0], &[2.0, 4.0], &Options::default());
        assert_eq!(model.predict(&[8.0], 0.95).unwrap().interval, None);
        assert!(model.predict(&[8.0, 1.0], 0.95).is_err());
    }
}
