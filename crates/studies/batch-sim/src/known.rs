//! What jobs are known to do beside what the workload says: models of their time, and their I/O.

use crate::swf::{Entry, Workload};
use crate::{Factor, Scaling, Term};
use inspect::summary::Summary;
use serde_json::Value;

/// Why something that is known of jobs is of no use. Each has the name of the input in front.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is not exactly one model of a time.
    #[error("{name}: {problem}")]
    Metric {
        /// The input.
        name: String,
        /// None, or several.
        problem: &'static str,
        /// Those that have models.
        metrics: Vec<String>,
    },
    /// Something else.
    #[error("{0}")]
    Other(String),
}

/// An input, and the executable whose jobs it is about; all jobs if there is none.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// Its number in the workload.
    pub executable: Option<i64>,
}

impl About<'_> {
    fn covers(&self, entry: &Entry) -> bool {
        self.executable.is_none_or(|executable| executable == entry.executable)
    }

    fn problem(&self, why: impl std::fmt::Display) -> Problem {
        Problem::Other(format!("{}: {why}", self.name))
    }
}

/// Gives jobs that can change their size the time that a model says: the one of `metric`, or the one of a
/// time. `models` are the lines of `ftio model --json`. Tells how many jobs these are.
pub fn apply_model(
    about: About<'_>,
    models: &str,
    metric: Option<&str>,
    workload: &mut Workload,
) -> Result<usize, Problem> {
    let models = records(about, models, "ftio.model/1")?;
    let is_time = |model: &&Value| {
        let found = model["metric"].as_str().unwrap_or_default();
        metric.map_or(found.contains("time"), |metric| found == metric)
    };
    let fitting: Vec<&Value> = models.iter().filter(is_time).collect();
    let model = match fitting.as_slice() {
        [only] => *only,
        [] if metric.is_none() && models.len() == 1 => &models[0],
        all => {
            let metrics = models.iter().filter_map(|model| model["metric"].as_str()).map(str::to_owned);
            let problem = if all.is_empty() { "no model of a time" } else { "several models of times" };
            let (name, metrics) = (about.name.to_owned(), metrics.collect());
            return Err(Problem::Metric { name, problem, metrics });
        }
    };
    let scaling = scaling(model).map_err(|why| about.problem(why))?;
    let mut count = 0;
    for entry in
        workload.entries.iter_mut().filter(|entry| about.covers(entry) && entry.job.min < entry.job.max)
    {
        entry.job.scaling = scaling.clone();
        entry.knows_scaling = true;
        if let Some(problem) = entry.job.problem() {
            return Err(about.problem(format!("job {}: {problem}", entry.job.id)));
        }
        entry.job.scal_factor = entry.job.efficiency();
        count += 1;
    }
    Ok(count)
}

/// The lines of a file of ftio.
fn records(about: About<'_>, text: &str, schema: &str) -> Result<Vec<Value>, Problem> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = number + 1;
        let value: Value = serde_json::from_str(line)
            .map_err(|error| about.problem(format!("line {line_number}: {error}")))?;
        if value["schema"] != schema {
            return Err(about.problem(format!("line {line_number}: expected an object of {schema}")));
        }
        found.push(value);
    }
    if found.is_empty() {
        return Err(about.problem(format!("expected objects of {schema}, found nothing")));
    }
    Ok(found)
}

fn scaling(model: &Value) -> Result<Scaling, String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut terms = Vec::new();
    let mut parameter: Option<String> = None;
    for term in list(&model["terms"]) {
        let mut factors = Vec::new();
        for factor in list(&term["factors"]) {
            let name = factor["parameter"].as_str().unwrap_or_default().to_owned();
            if parameter.get_or_insert_with(|| name.clone()) != &name {
                return Err(
                    "the model depends on several parameters, and a job has only its number of nodes".into(),
                );
            }
            let exponent = fraction(factor["exponent"].as_str().unwrap_or("0"))?;
            factors.push(Factor { exponent, logarithm: factor["log_exponent"].as_f64().unwrap_or(0.0) });
        }
        let coefficient = term["coefficient"].as_f64().ok_or("a term of the model has no coefficient")?;
        terms.push(Term { coefficient, factors });
    }
    let constant = model["constant"].as_f64().ok_or("the model has no constant")?;
    Ok(Scaling::Formula { constant, terms })
}

/// `3/4`, `-1`, `0.5`.
fn fraction(text: &str) -> Result<f64, String> {
    let number =
        |text: &str| text.trim().parse::<f64>().map_err(|why| format!("{text:?} is no exponent: {why}"));
    Ok(match text.split_once('/') {
        Some((above, below)) => number(above)? / number(below)?,
        None => number(text)?,
    })
}

/// How far I/O is to be trusted: measured in these jobs, or in earlier runs.
const MEASURED: f64 = 1.0;
const EARLIER: f64 = 0.5;

/// Gives jobs the I/O of a trace. Tells how many these are.
pub fn apply_summary(about: About<'_>, summary: &Summary, workload: &mut Workload) -> Result<usize, Problem> {
    let classes =
        [&summary.write_sync, &summary.read_sync, &summary.write_async.class, &summary.read_async.class];
    let bytes: f64 = classes.iter().map(|class| class.bytes as f64).sum();
    let time: f64 = classes.iter().map(|class| class.time).sum();
    let length = summary.t_end - summary.t_start;
    if length <= 0.0 {
        return Err(about.problem("it does not tell how long the job took"));
    }
    // The ranks' I/O one after the other, beside their whole time.
    let ranks = f64::from(summary.ranks.unwrap_or(1).max(1));
    let share = (time / ranks / length).clamp(0.0, 1.0);
    let (share, bandwidth) =
        if share > 0.0 { (share, bytes / length / share) } else { (1.0, bytes / length) };
    let mut count = 0;
    for entry in workload.entries.iter_mut().filter(|entry| about.covers(entry)) {
        (entry.job.io_share, entry.job.bandwidth, entry.job.reliability) = (share, bandwidth, EARLIER);
        count += 1;
    }
    Ok(count)
}

/// Gives jobs the I/O of `ftio categorize --json`: each line is about the job of its number; with an
/// executable, their mean is about all of its jobs. Tells how many these are.
pub fn apply_categories(about: About<'_>, lines: &str, workload: &mut Workload) -> Result<usize, Problem> {
    let lines = records(about, lines, "ftio.category/1")?;
    let mean = |line: &Value| {
        let bytes = line["bytes_read"].as_f64()? + line["bytes_written"].as_f64()?;
        let time = line["run_time"].as_f64().filter(|time| *time > 0.0)?;
        Some(bytes / time)
    };
    let known: Vec<(Option<u64>, f64)> =
        lines.iter().filter_map(|line| Some((line["job"].as_u64(), mean(line)?))).collect();
    if known.is_empty() {
        return Err(about.problem("no line tells bytes and run time"));
    }
    let all = known.iter().map(|(_, bandwidth)| bandwidth).sum::<f64>() / known.len() as f64;
    let mut count = 0;
    for Entry { job, executable, .. } in &mut workload.entries {
        let own = known.iter().find(|(number, _)| *number == Some(job.id));
        let (bandwidth, reliability) = match (own, about.executable) {
            (Some((_, bandwidth)), _) => (*bandwidth, MEASURED),
            (None, Some(asked)) if asked == *executable => (all, EARLIER),
            _ => continue,
        };
        // The mean over the whole run is known, not when the job does I/O.
        (job.io_share, job.bandwidth, job.reliability) = (1.0, bandwidth, reliability);
        count += 1;
    }
    Ok(count)
}
