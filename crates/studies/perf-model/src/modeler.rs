//! From an experiment to models.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::assess;
use crate::basis::Basis;
use crate::compat::{self, Rules};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, MeasurementSet};
use crate::model::Model;
use crate::noise;
use crate::options::{Mode, Modeler, Options};
use crate::points::Points;
use crate::search_space::SearchSpace;
use crate::statistical;

/// The models of an experiment.
#[derive(Debug, Clone)]
pub struct Models {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// One model per callpath and metric, in the order of the experiment.
    pub models: Vec<Model>,
    /// Sets that could not be modelled.
    pub skipped: Vec<Skipped>,
}

/// A set without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Where.
    pub callpath: String,
    /// What.
    pub metric: String,
    /// Why.
    pub reason: String,
}

/// Sets beyond which the work is shared among threads; below, starting them takes longer than the work.
const PARALLEL: usize = 64;

/// Models every set of an experiment.
///
/// By default each set stands on its own points: sets may be ragged, missing values are left out (with a
/// note), and a set with nothing left is [skipped](Models::skipped).
///
/// ```
/// use perf_model::{Note, Options, input, model};
///
/// let text = "PARAMETER p\nPOINTS 2 4 8 16 32\nREGION write\nMETRIC time\n\
///             DATA 251 249\nDATA 126 124\nDATA 63 62\nDATA 31 32\nDATA 15.5 15.8\n";
/// let models = model(&input::parse(text, "runs.txt", None)?, &Options::default())?;
/// let write = &models.models[0];
/// assert_eq!(write.function.leading().terms[0].factors[0].exponents.power.to_string(), "-1");
/// assert!(write.noise.is_some_and(|noise| noise.level < 0.02));
/// assert!(!write.has(Note::LackOfFit));
/// # Ok::<(), perf_model::Error>(())
/// ```
///
/// # Errors
/// The experiment has no parameter or more than four, or more than one and a modeler that takes one; in
/// compatibility mode also if a set lacks a point that another one has, as Extra-P refuses such files.
pub fn model(experiment: &Experiment, options: &Options) -> Result<Models> {
    let dimensions = experiment.parameters.len();
    if !(1..=4).contains(&dimensions) {
        return Err(Error::Parameters { found: dimensions });
    }
    let only_single = match options.modeler {
        Modeler::Default => None,
        Modeler::Refining => Some("refining"),
        Modeler::Segmented => Some("segmented"),
    };
    if let Some(modeler) = only_single.filter(|_| dimensions > 1) {
        return Err(Error::SingleParameterOnly { modeler, found: dimensions });
    }
    if options.mode == Mode::Compat {
        check_complete(experiment)?;
    }
    let space = options.search_space();
    let sets: Vec<(&MeasurementSet, Points, bool)> = experiment
        .sets
        .iter()
        .map(|set| {
            let (points, absent) = points(experiment, set, options);
            (set, points, absent)
        })
        .collect();
    let bases = bases(&sets, &space, options.mode);
    let one = |(set, points, absent): &(&MeasurementSet, Points, bool)| {
        let basis = bases.get(&basis_key(points));
        (points.len() > 0).then(|| one(set, points, *absent, options, &space, basis))
    };
    let models: Vec<Option<Model>> = if sets.len() < PARALLEL {
        sets.iter().map(one).collect()
    } else {
        sets.par_iter().map(one).collect()
    };
    let skipped = sets
        .iter()
        .zip(&models)
        .filter(|(_, model)| model.is_none())
        .map(|((set, ..), _)| Skipped {
            callpath: set.callpath.clone(),
            metric: set.metric.clone(),
            reason: "no value that is a number".to_owned(),
        })
        .collect();
    Ok(Models {
        parameters: experiment.parameters.clone(),
        models: models.into_iter().flatten().collect(),
        skipped,
    })
}

/// Models one series of one parameter named `p`.
///
/// ```
/// use perf_model::{Options, model_series};
/// let model = model_series(&[1.0, 2.0, 4.0, 8.0, 16.0], &[3.0, 5.0, 9.0, 17.0, 33.0], &Options::default());
/// assert!((model.evaluate(&[32.0]) - 65.0).abs() < 1e-9);
/// ```
pub fn model_series(coordinates: &[f64], values: &[f64], options: &Options) -> Model {
    let n = coordinates.len().min(values.len());
    let mut set = MeasurementSet { callpath: String::new(), metric: String::new(), measurements: Vec::new() };
    set.callpath.push_str(crate::input::DEFAULT_CALLPATH);
    set.metric.push_str(crate::input::DEFAULT_METRIC);
    let mut points = Points::single(&coordinates[..n], &values[..n]);
    let kept: Vec<usize> =
        (0..n).filter(|&k| points.values[k].is_finite() && points.coordinates[k].is_finite()).collect();
    let absent = kept.len() < n;
    if absent {
        points = points.select(kept);
    }
    one(&set, &points, absent, options, &options.search_space(), None)
}

fn one(
    set: &MeasurementSet,
    points: &Points,
    absent: bool,
    options: &Options,
    space: &SearchSpace,
    basis: Option<&Basis>,
) -> Model {
    match options.mode {
        Mode::Compat => {
            let rules =
                Rules { space, cross_validation: options.cross_validation, compare_rss: options.compare_rss };
            let outcome = match (points.dimensions, options.modeler) {
                (1, Modeler::Default) => compat::single_on(points, &rules, basis),
                (1, Modeler::Refining) => compat::refining(points, &rules),
                (1, Modeler::Segmented) => compat::segmented(points, &rules),
                _ => compat::multi(points, &rules),
            };
            assess::compat(set, points, outcome, options)
        }
        Mode::Default => {
            let shrinking = options.shrinking();
            let outcome = match (points.dimensions, options.modeler, basis) {
                (1, Modeler::Segmented, _) => statistical::segmented(points, space, shrinking),
                (1, _, Some(basis)) => {
                    let one = statistical::single_on(points, basis, shrinking, noise::known_kind(points));
                    statistical::with_second_term(points, space, shrinking, one)
                }
                (1, ..) => {
                    let one = statistical::single(points, space, shrinking);
                    statistical::with_second_term(points, space, shrinking, one)
                }
                _ => statistical::multi(points, space, shrinking),
            };
            assess::statistical(set, points, outcome, absent)
        }
    }
}

/// The points of a set and whether values were left out.
fn points(experiment: &Experiment, set: &MeasurementSet, options: &Options) -> (Points, bool) {
    if options.mode == Mode::Compat {
        return (Points::of(experiment, set, options.measure), false);
    }
    let values = || set.measurements.iter().flat_map(|measurement| &measurement.values);
    // FTIO writes −1 for a value it does not have.
    let minus_one_is_absent = values().all(|value| *value == -1.0 || *value >= 0.0 || value.is_nan())
        && values().any(|value| *value == -1.0);
    let present = |value: &f64| value.is_finite() && !(minus_one_is_absent && *value == -1.0);
    if values().all(present) {
        return (Points::of(experiment, set, options.measure), false);
    }
    let mut kept = set.clone();
    for measurement in &mut kept.measurements {
        measurement.values.retain(present);
    }
    kept.measurements.retain(|measurement| !measurement.values.is_empty());
    (Points::of(experiment, &kept, options.measure), true)
}

fn check_complete(experiment: &Experiment) -> Result<()> {
    let expected = experiment.coordinates.len();
    match experiment.sets.iter().find(|set| set.measurements.len() != expected) {
        Some(set) => Err(Error::Ragged {
            callpath: set.callpath.clone(),
            metric: set.metric.clone(),
            expected,
            found: set.measurements.len(),
        }),
        None => Ok(()),
    }
}

/// Terms at the points of each set; sets measured at the same points share them.
fn bases(
    sets: &[(&MeasurementSet, Points, bool)],
    space: &SearchSpace,
    mode: Mode,
) -> HashMap<Vec<u64>, Basis> {
    let mut bases = HashMap::new();
    for (_, points, _) in sets {
        if points.dimensions == 1 && points.len() > 0 {
            bases.entry(basis_key(points)).or_insert_with(|| match mode {
                Mode::Compat => Basis::compat(space, points),
                Mode::Default => Basis::defined(space, points),
            });
        }
    }
    bases
}

fn basis_key(points: &Points) -> Vec<u64> {
    points.coordinates.iter().map(|value| value.to_bits()).collect()
}
