//! A finished model: the function, how good it is, and what else it might have been.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cost::Costs;
use crate::function::{Formula, Function};
use crate::noise::{Noise, NoiseKind};
use crate::options::Mode;
use crate::points::{Points, spaced};

/// The model of one metric at one callpath.
///
/// ```
/// use perf_model::{Options, model_series};
///
/// let model = model_series(&[2.0, 4.0, 8.0, 16.0, 32.0], &[3.1, 4.9, 9.2, 16.7, 33.5], &Options::default());
/// let runner_up = model.runner_up.as_ref().expect("something else was tried");
/// let left_out = model.leave_one_out.unwrap();
/// println!("SMAPE {:.1} %, {:.1} % at points left out", model.in_sample.smape, left_out.smape);
/// println!("{:.0} times likelier than the next best", runner_up.odds);
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    /// Where.
    pub callpath: String,
    /// What.
    pub metric: String,
    /// The function.
    pub function: Function,
    /// The costs to report. By default in-sample; in compatibility mode what Extra-P reports, which is
    /// leave-one-out for a term of one parameter and in-sample otherwise.
    pub costs: Costs,
    /// Costs at the points the model was fitted to.
    pub in_sample: Costs,
    /// Costs at each point of the fit to all the others; `None` if there are too few points for one.
    pub leave_one_out: Option<Costs>,
    /// What the repetitions say about the scatter of a run; `None` without repetitions.
    pub noise: Option<Noise>,
    /// The next best model; `None` if nothing else was considered.
    pub runner_up: Option<RunnerUp>,
    /// What a reader should know before relying on the model.
    pub notes: Vec<Note>,
    pub(crate) mode: Mode,
    pub(crate) kind: NoiseKind,
    pub(crate) alternatives: Vec<Alternative>,
    pub(crate) data: Points,
}

/// The model that would have been chosen next.
#[derive(Debug, Clone)]
pub struct RunnerUp {
    /// Its formula.
    pub formula: Formula,
    /// Its in-sample SMAPE.
    pub smape: f64,
    /// How many times likelier the chosen model makes the measurements (prices of the forms included).
    pub odds: f64,
    /// Whether the data can tell the two apart: odds of at least 20 to 1.
    pub distinguishable: bool,
}

/// A plausible model and its share of the plausibility of all.
#[derive(Debug, Clone)]
pub(crate) struct Alternative {
    pub formula: Formula,
    pub weight: f64,
}

/// What a reader should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Note {
    /// Fewer than five points: the exponents mean little.
    FewPoints,
    /// The model is negative somewhere between the least and greatest measured parameter values, though no
    /// measured value was.
    NegativeInRange,
    /// Values that were missing (not a number, infinite, or −1 among values that are not negative) were left
    /// out.
    AbsentValues,
    /// The points scatter about the model far more than repetitions scatter about their mean: something other
    /// than chance is missing from the model.
    LackOfFit,
    /// Another form fits the points exactly as well, and the simpler one was taken.
    Tie,
    /// Another model explains the points nearly as well (see the runner-up), and extrapolates differently.
    Ambiguous,
}

impl Note {
    /// One sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            Note::FewPoints => "fewer than five points",
            Note::NegativeInRange => "negative within the measured range",
            Note::AbsentValues => "some values were missing",
            Note::LackOfFit => "repetitions scatter less than the points do about the model",
            Note::Tie => "another form fits exactly as well",
            Note::Ambiguous => "the runner-up fits nearly as well",
        }
    }
}

impl Model {
    /// Value at a point: one value per parameter, in the order of the experiment.
    pub fn evaluate(&self, point: &[f64]) -> f64 {
        self.function.evaluate(point)
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.data.len()
    }

    /// The measured points and the values that were modelled.
    pub fn measured(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.data.iter()
    }

    /// Least and greatest measured value of each parameter.
    pub fn ranges(&self) -> Vec<(f64, f64)> {
        self.data.ranges()
    }

    /// Whether a point lies outside of what was measured.
    pub fn extrapolates(&self, point: &[f64]) -> bool {
        self.ranges().iter().zip(point).any(|((low, high), p)| p < low || p > high)
    }

    /// Whether no measured value is below zero.
    pub fn never_negative(&self) -> bool {
        self.data.values.iter().all(|value| *value >= 0.0)
    }

    /// Whether the name of the metric says that it is one: bytes or operations a second, a frequency.
    pub(crate) fn is_rate(&self) -> bool {
        let names = ["andwidth", "/s", "Hz", "/day"];
        names.iter().any(|name| self.metric.contains(name)) && !self.metric.contains("/step")
    }

    /// The least value of the first parameter in `from..=to` at which the model of a quantity that was never
    /// measured negative is negative; the other parameters as in `point`.
    ///
    /// Looked for at 200 values, evenly spaced in the logarithm.
    pub fn negative_within(&self, point: &[f64], from: f64, to: f64) -> Option<f64> {
        if !self.never_negative() {
            return None;
        }
        let mut point = point.to_vec();
        spaced(from, to, 200).into_iter().find(|p| {
            if let Some(first) = point.first_mut() {
                *first = *p;
            }
            self.evaluate(&point) < 0.0
        })
    }

    /// Whether the model has this note.
    pub fn has(&self, note: Note) -> bool {
        self.notes.contains(&note)
    }
}
