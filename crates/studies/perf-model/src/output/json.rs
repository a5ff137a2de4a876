//! Models as JSON, one object a model. Field names are a contract: fields may be added, none changes its
//! meaning.

use schemars::JsonSchema;
use serde::Serialize;

use super::formula::{Notation, formula, function};
use crate::fraction::Fraction;
use crate::function::{Formula, Function};
use crate::model::{Model, Note};
use crate::noise::Noise;
use crate::prediction::Prediction;

/// The `schema` of [`Record`].
pub const SCHEMA: &str = "ftio.model/1";

/// One model. Numbers that are not finite are `null`.
///
/// ```
/// use perf_model::output::json::Record;
/// use perf_model::{Options, model_series};
///
/// let model = model_series(&[1.0, 2.0, 4.0, 8.0, 16.0], &[3.0, 6.0, 12.0, 24.0, 48.0], &Options::default());
/// let parameters = ["p".to_owned()];
/// let mut record = Record::new(&model, &parameters);
/// record.predictions.push(model.predict(&[4096.0], 0.95)?);
/// assert!(record.line().starts_with(r#"{"schema":"ftio.model/1","callpath":"<root>","#));
/// # Ok::<(), perf_model::Error>(())
/// ```
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Record<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Where.
    pub callpath: &'a str,
    /// What.
    pub metric: &'a str,
    /// The function as text.
    pub model: String,
    /// The constant; of the upper segment if there are two.
    pub constant: f64,
    /// The terms, in Extra-P's order; of the upper segment if there are two.
    pub terms: Vec<TermRecord<'a>>,
    /// Residual sum of squares.
    pub rss: f64,
    /// Symmetric mean absolute percentage error.
    pub smape: f64,
    /// Adjusted R².
    pub adjusted_r2: f64,
    /// Mean relative error.
    pub relative_error: f64,
    /// Number of points.
    pub points: usize,
    /// Residual sum of squares at points left out of the fit.
    pub rss_loo: Option<f64>,
    /// SMAPE at points left out of the fit.
    pub smape_loo: Option<f64>,
    /// Least and greatest measured value of each parameter.
    pub ranges: Vec<RangeRecord<'a>>,
    /// Scatter of a run, from repetitions.
    pub noise: Option<Noise>,
    /// The next best model.
    pub runner_up: Option<RunnerUpRecord>,
    /// What a reader should know.
    pub notes: &'a [Note],
    /// Both segments, if there are two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<SegmentRecord<'a>>,
    /// Predictions that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<Prediction>,
}

/// One term.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct TermRecord<'a> {
    /// Its coefficient.
    pub coefficient: f64,
    /// Its factors.
    pub factors: Vec<FactorRecord<'a>>,
}

/// One factor.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct FactorRecord<'a> {
    /// Name of the parameter.
    pub parameter: &'a str,
    /// Exponent as text, such as `3/4`; `0` for a pure logarithm.
    pub exponent: Fraction,
    /// Exponent of the binary logarithm; whole unless refined.
    pub log_exponent: serde_json::Number,
}

/// The measured range of one parameter.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct RangeRecord<'a> {
    /// Name of the parameter.
    pub parameter: &'a str,
    /// Least measured value.
    pub from: f64,
    /// Greatest measured value.
    pub to: f64,
}

/// The next best model.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct RunnerUpRecord {
    /// Its function as text.
    pub model: String,
    /// Its SMAPE.
    pub smape: f64,
    /// How many times likelier the chosen model is.
    pub odds: f64,
    /// Whether the data can tell the two apart.
    pub distinguishable: bool,
}

/// One of two segments.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct SegmentRecord<'a> {
    /// From here on; `null` for the lower segment.
    pub from: Option<f64>,
    /// Up to here; `null` for the upper segment.
    pub to: Option<f64>,
    /// The formula as text.
    pub model: String,
    /// Its constant.
    pub constant: f64,
    /// Its terms.
    pub terms: Vec<TermRecord<'a>>,
}

impl<'a> Record<'a> {
    /// The record of a model over these parameters.
    pub fn new(model: &'a Model, parameters: &'a [String]) -> Self {
        let leading = model.function.leading();
        let segment = |from, to, one: &'a Formula| SegmentRecord {
            from,
            to,
            model: formula(one, parameters, Notation::Plain),
            constant: one.constant,
            terms: terms(one, parameters),
        };
        let segments = match &model.function {
            Function::Formula(_) => Vec::new(),
            Function::Segmented { lower_end, upper_start, formulas } => vec![
                segment(None, Some(*lower_end), &formulas[0]),
                segment(Some(*upper_start), None, &formulas[1]),
            ],
        };
        Record {
            schema: SCHEMA,
            callpath: &model.callpath,
            metric: &model.metric,
            model: function(&model.function, parameters, Notation::Plain),
            constant: leading.constant,
            terms: terms(leading, parameters),
            rss: model.costs.rss,
            smape: model.costs.smape,
            adjusted_r2: model.costs.adjusted_r2,
            relative_error: model.costs.relative_error,
            points: model.points(),
            rss_loo: model.leave_one_out.map(|costs| costs.rss),
            smape_loo: model.leave_one_out.map(|costs| costs.smape),
            ranges: parameters
                .iter()
                .zip(model.ranges())
                .map(|(parameter, (from, to))| RangeRecord { parameter, from, to })
                .collect(),
            noise: model.noise,
            runner_up: model.runner_up.as_ref().map(|runner_up| RunnerUpRecord {
                model: formula(&runner_up.formula, parameters, Notation::Plain),
                smape: runner_up.smape,
                odds: runner_up.odds,
                distinguishable: runner_up.distinguishable,
            }),
            notes: &model.notes,
            segments,
            predictions: Vec::new(),
        }
    }

    /// The record on one line.
    pub fn line(&self) -> String {
        // Keys are strings and numbers that are not finite become null, so that nothing here can fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn terms<'a>(formula: &Formula, parameters: &'a [String]) -> Vec<TermRecord<'a>> {
    let factor = |factor: &crate::Factor| FactorRecord {
        parameter: parameters.get(factor.parameter).map_or("p", String::as_str),
        exponent: factor.exponents.power,
        log_exponent: number(factor.exponents.log),
    };
    formula
        .terms
        .iter()
        .map(|term| TermRecord {
            coefficient: term.coefficient,
            factors: term.factors.iter().map(factor).collect(),
        })
        .collect()
}

fn number(fraction: Fraction) -> serde_json::Number {
    let whole = serde_json::Number::from(fraction.numerator());
    if fraction.denominator() == 1 {
        whole
    } else {
        serde_json::Number::from_f64(fraction.value()).unwrap_or(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, model_series};

    #[test]
    fn the_line_of_a_simple_model() {
        let model = model_series(&[1.0, 2.0, 4.0, 8.0, 16.0], &[2.0; 5], &Options::default());
        assert_eq!(
            Record::new(&model, &["p".to_owned()]).line(),
            "{\"schema\":\"ftio.model/1\",\"callpath\":\"<root>\",\"metric\":\"<default>\",\"model\":\"2.0\",\
             \"constant\":2.0,\"terms\":[],\"rss\":0.0,\"smape\":0.0,\"adjusted_r2\":0.0,\
             \"relative_error\":0.0,\
             \"points\":5,\"rss_loo\":0.0,\"smape_loo\":0.0,\
             \"ranges\":[{\"parameter\":\"p\",\"from\":1.0,\"to\":16.0}],\"noise\":null,\"runner_up\":null,\
             \"notes\":[]}"
        );
    }

    #[test]
    fn exponents_are_text_and_log_exponents_numbers() {
        let values: Vec<f64> =
            [2.0f64, 4.0, 8.0, 16.0, 32.0].iter().map(|p| 1.0 + p.powf(0.75) * p.log2()).collect();
        let model = model_series(&[2.0, 4.0, 8.0, 16.0, 32.0], &values, &Options::default());
        let line = Record::new(&model, &["p".to_owned()]).line();
        assert!(
            line.contains("\"factors\":[{\"parameter\":\"p\",\"exponent\":\"3/4\",\"log_exponent\":1}]"),
            "{line}"
        );
        assert!(line.contains("\"runner_up\":{\"model\":\""), "{line}");
    }
}
