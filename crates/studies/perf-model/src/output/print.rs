//! Models as text: Extra-P's listings, and format strings of one's own.

use super::formula::{Notation, function};
use super::number::{formatted, python};
use super::template::{Piece, list_options, pieces};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Measurement, MeasurementSet, deviation, mean, median};
use crate::model::Model;
use crate::modeler::Models;

/// What to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Print {
    /// Callpaths, metrics, measurements, models and costs, in Extra-P's layout.
    All(Notation),
    /// The functions, one a line.
    Functions(Notation),
    /// Names of callpaths, one a line.
    Callpaths,
    /// Names of metrics, one a line.
    Metrics,
    /// Names of parameters, one a line.
    Parameters,
    /// A format string, filled in for each model; see [`template`].
    Template(String),
}

impl Print {
    /// Reads the argument of `--print`: a keyword in any case (`all`, `all-python`, `all-latex`, `callpaths`,
    /// `metrics`, `parameters`, `functions`, `functions-python`, `functions-latex`), or else a format string.
    pub fn parse(text: &str) -> Print {
        match text.to_ascii_lowercase().as_str() {
            "all" => Print::All(Notation::Plain),
            "all-python" => Print::All(Notation::Python),
            "all-latex" => Print::All(Notation::Latex),
            "functions" => Print::Functions(Notation::Plain),
            "functions-python" => Print::Functions(Notation::Python),
            "functions-latex" => Print::Functions(Notation::Latex),
            "callpaths" => Print::Callpaths,
            "metrics" => Print::Metrics,
            "parameters" => Print::Parameters,
            _ => Print::Template(text.to_owned()),
        }
    }
}

/// Prints models; lines end with a line break.
///
/// # Errors
/// The format string is malformed, or names something that is not there.
pub fn print(experiment: &Experiment, models: &Models, what: &Print) -> Result<String> {
    let lines = |lines: Vec<&str>| lines.iter().map(|line| format!("{line}\n")).collect();
    Ok(match what {
        Print::All(notation) => all(experiment, models, *notation),
        Print::Functions(notation) => models
            .models
            .iter()
            .map(|model| function(&model.function, &models.parameters, *notation) + "\n")
            .collect(),
        Print::Callpaths => lines(callpaths(experiment)),
        Print::Metrics => lines(metrics(experiment)),
        Print::Parameters => lines(models.parameters.iter().map(String::as_str).collect()),
        Print::Template(text) => template(experiment, models, text)?,
    })
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

fn callpaths(experiment: &Experiment) -> Vec<&str> {
    distinct(experiment.sets.iter().map(|set| set.callpath.as_str()))
}

fn metrics(experiment: &Experiment) -> Vec<&str> {
    distinct(experiment.sets.iter().map(|set| set.metric.as_str()))
}

fn find<'a>(models: &'a Models, callpath: &str, metric: &str) -> Option<&'a Model> {
    models.models.iter().find(|model| model.callpath == callpath && model.metric == metric)
}

fn find_set<'a>(experiment: &'a Experiment, callpath: &str, metric: &str) -> Option<&'a MeasurementSet> {
    experiment.sets.iter().find(|set| set.callpath == callpath && set.metric == metric)
}

fn measurement_at(set: Option<&MeasurementSet>, coordinate: usize) -> Option<&Measurement> {
    set?.measurements.iter().find(|measurement| measurement.coordinate == coordinate)
}

/// Every callpath with every metric; pairs without measurements show zeros, as Extra-P prints them.
fn all(experiment: &Experiment, models: &Models, notation: Notation) -> String {
    let short = |value: f64| formatted(value, ".2E").unwrap_or_default();
    let metrics = metrics(experiment);
    let mut text = String::new();
    for callpath in callpaths(experiment) {
        text += &format!("Callpath: {callpath}\n");
        for metric in &metrics {
            text += &format!("\tMetric: {metric}\n");
            let set = find_set(experiment, callpath, metric);
            for (index, point) in experiment.coordinates.iter().enumerate() {
                let point: Vec<String> = point.iter().map(|value| short(*value)).collect();
                let values = measurement_at(set, index).map_or(&[0.0][..], |measurement| &measurement.values);
                text += &format!(
                    "\t\tMeasurement point: ({}) Mean: {} Median: {}\n",
                    point.join(","),
                    short(mean(values)),
                    short(median(values))
                );
            }
            let (name, rss, adjusted) = match find(models, callpath, metric) {
                Some(model) => (
                    function(&model.function, &models.parameters, notation),
                    model.costs.rss,
                    model.costs.adjusted_r2,
                ),
                None => ("None".to_owned(), 0.0, 0.0),
            };
            text += &format!(
                "\t\tModel: {name}\n\t\tRSS: {}\n\t\tAdjusted R^2: {}\n",
                short(rss),
                short(adjusted)
            );
        }
    }
    text
}

/// Fills a format string in for each model, metric by metric, one line each.
///
/// Placeholders: `{callpath}`, `{metric}`, `{model}` (options `python`, `latex`), `{smape}`, `{rss}`,
/// `{rrss}`, `{re}`, `{ar2}`, and of this crate `{smape_loo}`, `{rss_loo}`, `{runner_up}`, `{notes}`; numbers
/// take Python's format specifications (`{rss:.2e}`). Lists: `{parameters}` (of `{parameter}`), `{points}`
/// (of `{point}`), `{measurements}` (of `{point}`, `{mean}`, `{median}`, `{std}`, `{min}`, `{max}`);
/// `{point}` is itself a list (of `{coordinate}`, `{parameter}`). Lists take `sep:'…'; format:'…'`.
/// `{?metric}` and `{?callpath}` are empty where they repeat the line before.
///
/// ```
/// use perf_model::output::print::template;
/// use perf_model::{Options, input, model};
///
/// let text = "PARAMETER p\nPOINTS 2 4 8\nREGION write\nMETRIC bytes\nDATA 20\nDATA 40\nDATA 80\n";
/// let experiment = input::parse(text, "runs.txt", None)?;
/// let models = model(&experiment, &Options::default())?;
/// assert_eq!(template(&experiment, &models, "{callpath}: {model:python}, {smape:.1f} %")?, "write: 10.0*p**(1), 0.0 %\n");
/// # Ok::<(), perf_model::Error>(())
/// ```
///
/// # Errors
/// The format string is malformed, or names something that is not there.
pub fn template(experiment: &Experiment, models: &Models, text: &str) -> Result<String> {
    let parts = pieces(text)?;
    let mut output = String::new();
    let mut last: (Option<&str>, Option<&str>) = (None, None);
    for metric in metrics(experiment) {
        for model in models.models.iter().filter(|model| model.metric == metric) {
            let context = Context { experiment, models, model };
            for piece in &parts {
                let Piece::Placeholder { name, once, options, position } = piece else {
                    if let Piece::Text(text) = piece {
                        output.push_str(text);
                    }
                    continue;
                };
                let repeated = match name.as_str() {
                    "metric" => last.0 == Some(model.metric.as_str()),
                    "callpath" => last.1 == Some(model.callpath.as_str()),
                    "parameters" | "points" => last.0.is_some(),
                    _ => false,
                };
                if !(*once && repeated) {
                    output.push_str(&context.value(name, options, *position)?);
                }
            }
            last = (Some(&model.metric), Some(&model.callpath));
            output.push('\n');
        }
    }
    Ok(output)
}

fn unknown(position: usize, expected: &str, found: &str) -> Error {
    Error::Template { position: position + 1, expected: expected.to_owned(), found: format!("`{found}`") }
}

fn number(value: f64, options: &str, position: usize) -> Result<String> {
    formatted(value, options.trim()).ok_or_else(|| unknown(position, "a format such as `.2e`", options))
}

/// A list: each entry by a format string of its own.
fn list<T>(
    entries: &[T],
    options: &str,
    position: usize,
    (separator, format): (&str, &str),
    fill: impl Fn(&T, &str, &str) -> Result<String>,
) -> Result<String> {
    let options = list_options(options, position)?;
    let parts = pieces(options.format.as_deref().unwrap_or(format))?;
    let mut filled = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut text = String::new();
        for piece in &parts {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Placeholder { name, options, .. } => text.push_str(&fill(entry, name, options)?),
            }
        }
        filled.push(text);
    }
    Ok(filled.join(options.separator.as_deref().unwrap_or(separator)))
}

struct Context<'a> {
    experiment: &'a Experiment,
    models: &'a Models,
    model: &'a Model,
}

impl Context<'_> {
    fn value(&self, name: &str, options: &str, position: usize) -> Result<String> {
        let model = self.model;
        let parameters = &self.models.parameters;
        let plain = |text: String| {
            if options.is_empty() { Ok(text) } else { Err(unknown(position, "no options", options)) }
        };
        let left_out = model.leave_one_out;
        match name {
            "callpath" => plain(model.callpath.clone()),
            "metric" => plain(model.metric.clone()),
            "model" => {
                let notation = match options.trim() {
                    "" => Notation::Plain,
                    "python" => Notation::Python,
                    "latex" => Notation::Latex,
                    other => return Err(unknown(position, "`python` or `latex`", other)),
                };
                Ok(function(&model.function, parameters, notation))
            }
            "smape" => number(model.costs.smape, options, position),
            "rss" => number(model.costs.rss, options, position),
            "rrss" => number(model.costs.relative_rss, options, position),
            "re" => number(model.costs.relative_error, options, position),
            "ar2" => number(model.costs.adjusted_r2, options, position),
            "smape_loo" => number(left_out.map_or(f64::NAN, |costs| costs.smape), options, position),
            "rss_loo" => number(left_out.map_or(f64::NAN, |costs| costs.rss), options, position),
            "runner_up" => plain(model.runner_up.as_ref().map_or_else(String::new, |runner_up| {
                super::formula::formula(&runner_up.formula, parameters, Notation::Plain)
            })),
            "notes" => {
                plain(model.notes.iter().map(|note| note.explanation()).collect::<Vec<_>>().join("; "))
            }
            "parameters" => {
                list(parameters, options, position, (", ", "{parameter}"), |parameter, name, _| {
                    if name == "parameter" {
                        Ok(parameter.clone())
                    } else {
                        Err(unknown(position, "`parameter`", name))
                    }
                })
            }
            "points" => list(
                &self.experiment.coordinates,
                options,
                position,
                (" ", "({point})"),
                |point, name, options| {
                    if name == "point" {
                        self.point(point, options, position)
                    } else {
                        Err(unknown(position, "`point`", name))
                    }
                },
            ),
            "measurements" => self.measurements(options, position),
            _ => Err(unknown(position, "the name of a placeholder", name)),
        }
    }

    fn point(&self, point: &[f64], options: &str, position: usize) -> Result<String> {
        let pairs: Vec<(&String, f64)> = self.models.parameters.iter().zip(point.iter().copied()).collect();
        list(
            &pairs,
            options,
            position,
            (", ", "{coordinate}"),
            |(parameter, value), name, options| match name {
                "coordinate" if options.is_empty() => Ok(python(*value)),
                "coordinate" => number(*value, options, position),
                "parameter" => Ok((*parameter).clone()),
                _ => Err(unknown(position, "`coordinate` or `parameter`", name)),
            },
        )
    }

    fn measurements(&self, options: &str, position: usize) -> Result<String> {
        let set = find_set(self.experiment, &self.model.callpath, &self.model.metric);
        let measurements = set.map_or(&[][..], |set| &set.measurements);
        let format = "({point}) Mean: {mean:.2E} Median: {median:.2E}";
        list(measurements, options, position, ("\n", format), |measurement, name, options| {
            let values = &measurement.values;
            let value = match name {
                "point" => {
                    let point = &self.experiment.coordinates[measurement.coordinate];
                    return self.point(point, options, position);
                }
                "mean" => mean(values),
                "median" => median(values),
                "std" => deviation(values),
                "min" => values.iter().copied().fold(f64::INFINITY, f64::min),
                "max" => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                _ => return Err(unknown(position, "the name of a placeholder of a measurement", name)),
            };
            number(value, options, position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, model};

    fn printed(what: &str) -> Result<String> {
        let text = "{\"params\":{\"p\":2},\"callpath\":\"a->b\",\"metric\":\"time\",\"value\":[3,5]}\n\
                    {\"params\":{\"p\":8},\"callpath\":\"a->b\",\"metric\":\"time\",\"value\":4}\n\
                    {\"params\":{\"p\":2},\"callpath\":\"c\",\"metric\":\"time\",\"value\":4}\n\
                    {\"params\":{\"p\":8},\"callpath\":\"c\",\"metric\":\"time\",\"value\":4}\n";
        let experiment = crate::input::parse(text, "x", None)?;
        print(&experiment, &model(&experiment, &Options::compat())?, &Print::parse(what))
    }

    #[test]
    fn everything_in_extra_ps_layout() {
        let expected = "Callpath: a->b\n\tMetric: time\n\
                        \t\tMeasurement point: (2.00E+00) Mean: 4.00E+00 Median: 4.00E+00\n\
                        \t\tMeasurement point: (8.00E+00) Mean: 4.00E+00 Median: 4.00E+00\n\
                        \t\tModel: 4.0\n\t\tRSS: 0.00E+00\n\t\tAdjusted R^2: 1.00E+00\n";
        assert!(printed("ALL").unwrap().starts_with(expected));
        assert_eq!(printed("functions-python").unwrap(), "4.0\n4.0\n");
        assert_eq!(printed("callpaths").unwrap(), "a->b\nc\n");
        assert_eq!(printed("metrics").unwrap(), "time\n");
        assert_eq!(printed("parameters").unwrap(), "p\n");
    }

    #[test]
    fn format_strings() {
        assert_eq!(
            printed("{?metric}, {callpath}: {rss:.1e}").unwrap(),
            "time, a->b: 0.0e+00\n, c: 0.0e+00\n"
        );
        assert_eq!(
            printed("{{{points: sep:' \\' ' ; format:'({point})'}}}").unwrap().lines().next().unwrap(),
            "{(2.0) ' (8.0)}"
        );
        let text = printed(
            "{measurements: sep:', '; format:'{point: sep:';';format:'{parameter}{coordinate}'}--{mean}'}",
        );
        assert_eq!(text.unwrap().lines().next().unwrap(), "p2.0--4.0, p8.0--4.0");
    }

    #[test]
    fn unknown_names_are_errors() {
        for text in ["{nothing}", "{rss:x}", "{model:french}", "{points: format:'{mean}'}", "{callpath:x}"] {
            let error = printed(text).unwrap_err().to_string();
            assert!(error.starts_with("format string, character 1: expected"), "{error}");
        }
    }
}
