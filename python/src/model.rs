//! `model`: measurements at several scales become formulas.

use crate::call::{Problem, call};
use perf_model::output::json::Record;
use perf_model::{
    Experiment, ExperimentBuilder, Measure, Mode, Modeler, Options, input, model as find, parse_point,
    predict_all,
};
use pyo3::prelude::*;
use serde::Deserialize;
use std::path::PathBuf;

/// Of the intervals.
const LEVEL: f64 = 0.95;

/// How to model. Comes as JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    modeler: Option<String>,
    measure: Option<String>,
    compat: bool,
    callpath: Option<String>,
    metric: Option<String>,
    evaluate: Vec<String>,
}

impl Asked {
    fn options(&self) -> Result<Options, Problem> {
        let wrong = |name: &str, expected: &str, found: &str| {
            Err(Problem::usage(format!("{name}: expected {expected}, found {found}")))
        };
        Ok(Options {
            mode: if self.compat { Mode::Compat } else { Mode::Default },
            modeler: match self.modeler.as_deref() {
                None | Some("default") => Modeler::Default,
                Some("refining") => Modeler::Refining,
                Some("segmented") => Modeler::Segmented,
                Some(other) => return wrong("modeler", "default, refining or segmented", other),
            },
            measure: match self.measure.as_deref() {
                None | Some("mean") => Measure::Mean,
                Some("median") => Measure::Median,
                Some("minimum" | "min") => Measure::Minimum,
                Some("maximum" | "max") => Measure::Maximum,
                Some(other) => return wrong("measure", "mean, median, minimum or maximum", other),
            },
            ..Options::default()
        })
    }
}

/// The models of a file of measurements, or of its content, as JSON.
#[pyfunction]
pub fn model(
    py: Python<'_>,
    path: Option<PathBuf>,
    content: Option<Vec<u8>>,
    name: String,
    asked: String,
) -> PyResult<(Vec<String>, Vec<String>)> {
    call(py, move || {
        let experiment = match (path, content) {
            (Some(path), _) => {
                std::fs::metadata(&path).map_err(|error| Problem::system(&name, &error))?;
                input::read(&path, None)?
            }
            (None, content) => input::parse_bytes(content.unwrap_or_default(), &name, None)?,
        };
        models(experiment, &asked)
    })
}

/// The model of values measured at points.
#[pyfunction]
pub fn model_series(
    py: Python<'_>,
    parameters: Vec<String>,
    points: Vec<Vec<f64>>,
    values: Vec<Vec<f64>>,
    names: (String, String),
    asked: String,
) -> PyResult<(Vec<String>, Vec<String>)> {
    call(py, move || {
        if points.len() != values.len() || points.iter().any(|point| point.len() != parameters.len()) {
            return Err(Problem::usage(
                "expected as many values as scales, and one number for each parameter",
            ));
        }
        if points.iter().chain(&values).flatten().any(|number| !number.is_finite()) {
            return Err(Problem::usage("expected numbers that are finite"));
        }
        let mut builder = ExperimentBuilder::new(parameters);
        for (point, values) in points.iter().zip(&values) {
            builder.add(&names.0, &names.1, point, values);
        }
        models(builder.build(), &asked)
    })
}

/// The models, and what could not be modelled.
fn models(mut experiment: Experiment, asked: &str) -> Result<(Vec<String>, Vec<String>), Problem> {
    let asked: Asked = serde_json::from_str(asked).map_err(|error| Problem::usage(error.to_string()))?;
    let options = asked.options()?;
    let wanted = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|text| name.contains(text));
    let before = experiment.sets.len();
    experiment
        .sets
        .retain(|set| wanted(&asked.callpath, &set.callpath) && wanted(&asked.metric, &set.metric));
    if experiment.sets.is_empty() && before > 0 {
        return Err(Problem::new(format!("none of the {before} metrics matches callpath= and metric=")));
    }
    // Threads of this call: a process that was forked off has none of its parent's.
    let pool = rayon::ThreadPoolBuilder::new().build().map_err(|error| Problem::new(error.to_string()))?;
    let models = pool.install(|| find(&experiment, &options))?;
    let point = |text: &String| {
        let full = match (models.parameters.as_slice(), text.contains('=')) {
            ([only], false) => format!("{only}={text}"),
            _ => text.clone(),
        };
        parse_point(&full, &models.parameters).map_err(|error| Problem::usage(error.to_string()))
    };
    let points: Vec<Vec<f64>> = asked.evaluate.iter().map(point).collect::<Result<_, _>>()?;
    let mut lines = Vec::with_capacity(models.models.len());
    for (one, predictions) in models.models.iter().zip(predict_all(&models, &points, LEVEL)?) {
        let record = Record { predictions, ..Record::new(one, &models.parameters) };
        lines.push(record.line());
    }
    let skipped = |one: &perf_model::Skipped| format!("{}, {}: {}", one.callpath, one.metric, one.reason);
    let skipped = models.skipped.iter().map(skipped).collect();
    Ok((lines, skipped))
}
