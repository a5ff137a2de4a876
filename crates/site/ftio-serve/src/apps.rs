//! Applications: runs of one command, and how their I/O grows with the number of ranks.

use crate::store::RunRow;
use inspect::profile::measurements::is_zero_if_absent;
use perf_model::output::formula::{Notation, function};
use perf_model::{Model, Models, Name, Options, Run, extend, input, model};
use serde::Serialize;
use std::collections::BTreeMap;

/// The parameter of all models, as the original calls it.
pub const SIZE: &str = "size";
/// Of intervals.
const CONFIDENCE: f64 = 0.95;
/// Below this many ranks a number in a command that equals theirs means nothing.
const TELLING: i64 = 4;

/// What makes runs comparable: the program without its folder, and its arguments. A word that is the number
/// of ranks becomes `{ranks}`. Where something is kept differs from run to run and says nothing about the
/// work: of the path of a file its name counts, without numbers, and other paths become `{path}`.
pub fn key(command: &str, ranks: i64) -> String {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let mut key = program.rsplit('/').next().unwrap_or(program).to_owned();
    for word in words {
        key.push(' ');
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (format!("{option}="), value),
            _ => (String::new(), word),
        };
        key.push_str(&option);
        match value {
            value if ranks >= TELLING && value.parse() == Ok(ranks) => key.push_str("{ranks}"),
            value if value.contains('/') => key.push_str(&place(value)),
            value => key.push_str(value),
        }
    }
    key.chars().take(crate::job::LONGEST_NAME).collect()
}

/// What a path says: the name of a file, without its numbers. A name without an ending, or with one of random
/// letters, is that of a folder.
fn place(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let is_file = (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_lowercase());
    if !is_file {
        return "{path}".into();
    }
    let mut text = String::new();
    for letter in name.chars() {
        match letter.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(letter),
        }
    }
    text
}

/// The name of a metric: its callpath, and where one has several metrics, which.
pub fn metric_name(callpath: &str, metric: &str) -> String {
    match callpath == "main" || callpath.starts_with("function->") {
        true => format!("{callpath}->{metric}"),
        false => callpath.to_owned(),
    }
}

/// Measurements in Extra-P's JSON lines, by the same rules as `ftio model`.
pub fn json_lines(runs: &[RunRow]) -> String {
    let run = |row: &RunRow| Run {
        point: vec![row.size as f64],
        values: row
            .measurements
            .iter()
            .map(|(path, metric, value)| ((path.clone(), metric.clone()), *value))
            .collect(),
    };
    let runs: Vec<Run> = runs.iter().filter(|run| run.size > 0).map(run).collect();
    let countable = |(callpath, metric): &Name| is_zero_if_absent(callpath, metric);
    extend(None, &runs, countable, true).lines(&[SIZE.to_owned()])
}

/// All values of each metric: `[size, value]`, by size.
pub fn points(runs: &[RunRow]) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut points: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
    for run in runs {
        for (callpath, metric, value) in &run.measurements {
            points.entry(metric_name(callpath, metric)).or_default().push([run.size as f64, *value]);
        }
    }
    points.values_mut().for_each(|list| list.sort_by(|a, b| a[0].total_cmp(&b[0])));
    points
}

/// The models of an application.
#[derive(Debug)]
pub struct Fitted {
    /// Of which runs: how many, and the last.
    pub version: (i64, i64),
    models: Option<Models>,
}

/// A model, as it is listed.
#[derive(Debug, Serialize)]
pub struct Listed {
    pub name: String,
    /// With its unit.
    pub metric: String,
    pub equation: String,
    pub rss: f64,
    pub smape: f64,
    /// At points that were left out of the fit.
    pub smape_left_out: Option<f64>,
    /// Another formula that the points do not rule out.
    pub runner_up: Option<String>,
    /// Different numbers of ranks.
    pub points: usize,
    /// What to know before relying on it.
    pub notes: Vec<&'static str>,
}

/// A model at a number of ranks.
#[derive(Debug, Serialize)]
pub struct Evaluated {
    pub metric: String,
    pub size: f64,
    /// What to expect.
    pub value: f64,
    /// What the formula says: beyond what was measured, the two may differ.
    pub formula_value: f64,
    /// The next run should lie between this …
    pub low: Option<f64>,
    /// … and this, with a probability of 95 %.
    pub high: Option<f64>,
    /// Beyond what was measured.
    pub extrapolated: bool,
}

impl Fitted {
    /// Fit models to runs. Without any there are none.
    pub fn new(runs: &[RunRow], version: (i64, i64)) -> anyhow::Result<Self> {
        let lines = json_lines(runs);
        if lines.is_empty() {
            return Ok(Fitted { version, models: None });
        }
        let experiment = input::parse(&lines, "runs", Some(input::Format::JsonLines))?;
        Ok(Fitted { version, models: Some(model(&experiment, &Options::default())?) })
    }

    fn models(&self) -> impl Iterator<Item = &Model> {
        self.models.iter().flat_map(|models| &models.models)
    }

    /// All models; those of what is 0 everywhere are left out unless `all`.
    pub fn list(&self, all: bool) -> Vec<Listed> {
        let shown = |model: &&Model| all || model.measured().any(|(_, value)| value != 0.0);
        let list = |model: &Model| Listed {
            name: metric_name(&model.callpath, &model.metric),
            metric: model.metric.clone(),
            equation: equation(model),
            rss: model.costs.rss,
            smape: model.costs.smape,
            smape_left_out: model.leave_one_out.map(|costs| costs.smape),
            runner_up: model.runner_up.as_ref().filter(|other| !other.distinguishable).map(|other| {
                let formula = perf_model::Function::Formula(other.formula.clone());
                in_natural_logarithms(&function(&formula, &[SIZE], Notation::Plain))
            }),
            points: model.points(),
            notes: model.notes.iter().map(|note| note.explanation()).collect(),
        };
        self.models().filter(shown).map(list).collect()
    }

    /// The model of a metric, by its name, or its callpath where that is enough.
    fn find(&self, name: &str) -> Option<&Model> {
        let mut by_path = self.models().filter(|model| model.callpath == name);
        let only = by_path.next().filter(|_| by_path.next().is_none());
        self.models().find(|model| metric_name(&model.callpath, &model.metric) == name).or(only)
    }

    /// A model at a number of ranks.
    pub fn evaluate(&self, name: &str, size: f64) -> Option<Evaluated> {
        let model = self.find(name)?;
        let predicted = model.predict(&[size], CONFIDENCE).ok()?;
        let value = tidy(predicted.value);
        Some(Evaluated {
            metric: metric_name(&model.callpath, &model.metric),
            size,
            value,
            formula_value: tidy(predicted.formula_value),
            low: predicted.interval.map(|interval| tidy(interval.low)),
            high: predicted.interval.map(|interval| tidy(interval.high)),
            extrapolated: predicted.extrapolated,
        })
    }

    /// The formula of a model at many sizes: `[size, value]`.
    pub fn formula(&self, name: &str, sizes: &[f64]) -> Option<Vec<[Option<f64>; 2]>> {
        let model = self.find(name)?;
        let value = |size: f64| Some(tidy(model.evaluate(&[size]))).filter(|value| value.is_finite());
        Some(sizes.iter().map(|size| [Some(*size), value(*size)]).collect())
    }

    /// What to expect at many sizes: `[size, value, low, high]`.
    pub fn curve(&self, name: &str, sizes: &[f64]) -> Option<Vec<[Option<f64>; 4]>> {
        let model = self.find(name)?;
        let predictor = model.predictor();
        let at = |size: &f64| {
            let predicted = predictor.predict(&[*size], CONFIDENCE).ok()?;
            let interval = predicted.interval;
            let number = |value: f64| value.is_finite().then_some(value);
            Some([
                Some(*size),
                number(tidy(predicted.value)),
                interval.and_then(|interval| number(tidy(interval.low))),
                interval.and_then(|interval| number(tidy(interval.high))),
            ])
        };
        sizes.iter().map(at).collect()
    }
}

/// The formula as the original writes it: of `size`, with natural logarithms.
fn equation(model: &Model) -> String {
    in_natural_logarithms(&function(&tidied(&model.function), &[SIZE], Notation::Plain))
}

fn in_natural_logarithms(text: &str) -> String {
    text.replace("log2(size)", "(ln(size)/ln(2))")
}

/// Coefficients without what rounding left.
fn tidied(function: &perf_model::Function) -> perf_model::Function {
    let mut function = function.clone();
    let formulas: &mut [perf_model::Formula] = match &mut function {
        perf_model::Function::Formula(one) => std::slice::from_mut(one),
        perf_model::Function::Segmented { formulas, .. } => &mut formulas[..],
    };
    for formula in formulas {
        let largest = formula.terms.iter().map(|term| term.coefficient.abs()).fold(0.0, f64::max);
        formula.terms.iter_mut().for_each(|term| term.coefficient = tidy(term.coefficient));
        formula.constant =
            if formula.constant.abs() <= 1e-12 * largest { 0.0 } else { tidy(formula.constant) };
    }
    function
}

/// A number that is whole but for the last bits of a fit is whole.
fn tidy(value: f64) -> f64 {
    let whole = value.round();
    if (value - whole).abs() <= 1e-11 * value.abs() { whole } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs() -> Vec<RunRow> {
        let run = |(job, size): (usize, i64)| RunRow {
            job: job as i64,
            size,
            measurements: vec![
                ("write_sync->total_bytes".into(), "Size (B)".into(), 4_194_304.0 * size as f64),
                ("function->MPI_File_write".into(), "Hits".into(), 15.0 * size as f64),
            ],
        };
        [1, 2, 4, 8].into_iter().enumerate().map(run).collect()
    }

    #[test]
    fn runs_at_four_scales_give_the_formula() {
        let fitted = Fitted::new(&runs(), (4, 4)).unwrap();
        let listed = fitted.list(false);
        let write = listed.iter().find(|one| one.name == "write_sync->total_bytes").unwrap();
        assert_eq!(write.equation, "4194304.0 * size^(1)");
        assert_eq!(fitted.evaluate("write_sync->total_bytes", 64.0).unwrap().value, 268_435_456.0);
        assert_eq!(fitted.evaluate("function->MPI_File_write->Hits", 64.0).unwrap().value, 960.0);
        assert!(fitted.evaluate("nothing", 64.0).is_none());
        assert_eq!(points(&runs())["write_sync->total_bytes"][3], [8.0, 33_554_432.0]);
    }

    #[test]
    fn a_formula_has_its_own_value_beyond_what_was_measured() {
        // It grows faster from 64 ranks on.
        let time = |size: f64| 1.0 + 0.01 * size + 0.002 * (size - 64.0).max(0.0).powf(1.3);
        let sizes = [2i64, 4, 8, 16, 32, 64, 128, 256];
        let run = |(job, size): (usize, &i64)| RunRow {
            job: job as i64,
            size: *size,
            measurements: vec![("main".into(), "Time (s)".into(), time(*size as f64))],
        };
        let runs: Vec<RunRow> = sizes.iter().enumerate().map(run).collect();
        let fitted = Fitted::new(&runs, (1, 1)).unwrap();
        let name = fitted.list(false)[0].name.clone();
        let found = fitted.evaluate(&name, 1024.0).unwrap();
        assert_eq!(fitted.formula(&name, &[1024.0]).unwrap(), [[Some(1024.0), Some(found.formula_value)]]);
        assert!(found.extrapolated && found.value != found.formula_value, "{found:?}");
        let within = fitted.evaluate(&name, 100.0).unwrap();
        assert_eq!(within.value, within.formula_value);
    }

    #[test]
    fn commands_become_keys() {
        assert_eq!(key("/opt/app/bin/lmp -in in.lj -p 64", 64), "lmp -in in.lj -p {ranks}");
        assert_eq!(key("./lmp -v 1", 1), "lmp -v 1");
        assert_eq!(key("", 8), "");
        assert_eq!(key("app --dir /tmp/tmp.Xk3d9 --in=/home/a/in.lj", 2), "app --dir {path} --in=in.lj");
        assert_eq!(key("app -o out/run-8.dat", 8), key("app -o other/run-16.dat", 16));
        assert_ne!(key("lmp -in /a/in.lj", 8), key("lmp -in /a/in.rhodo", 8));
    }
}
