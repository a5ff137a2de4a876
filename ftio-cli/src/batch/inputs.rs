//! What jobs are known to do beside what the workload says: models of their time, and their I/O.

use crate::exit::wrong_usage;
use crate::inputs;
use anyhow::{Context, bail};
use batch_sim::swf::{Entry, Workload};
use batch_sim::{Factor, Scaling, Term};
use inspect::summarize;
use serde_json::Value;
use sources::content::{Content, Input};
use sources::open_content;
use std::path::{Path, PathBuf};

/// A file, and the executable whose jobs it is about; all jobs if there is none.
#[derive(Clone, Debug)]
pub struct About {
    pub executable: Option<i64>,
    pub path: PathBuf,
}

impl About {
    fn covers(&self, entry: &Entry) -> bool {
        self.executable.is_none_or(|executable| executable == entry.executable)
    }
}

/// `FILE` or `EXECUTABLE=FILE`.
pub fn about(text: &str) -> Result<About, String> {
    let (executable, path) = match text.split_once('=') {
        Some((number, path)) if number.parse::<i64>().is_ok() => (number.parse().ok(), path),
        _ => (None, text),
    };
    if path.is_empty() {
        return Err("expected FILE, or EXECUTABLE=FILE with the executable's number in the workload".into());
    }
    Ok(About { executable, path: path.into() })
}

/// Read the workload.
pub fn workload(path: &Path) -> anyhow::Result<Workload> {
    let workload = batch_sim::swf::read(&inputs::text(path)?).with_context(|| path.display().to_string())?;
    if workload.entries.is_empty() {
        bail!("{}: there is no job in it", path.display());
    }
    Ok(workload)
}

/// Give jobs that can change their size the time that a model says.
pub fn apply_model(about: &About, metric: Option<&str>, workload: &mut Workload) -> anyhow::Result<usize> {
    let name = about.path.display();
    let models = records(&about.path, &inputs::text(&about.path)?, "ftio.model/1")?;
    let is_time = |model: &&Value| {
        let found = model["metric"].as_str().unwrap_or_default();
        metric.map_or(found.contains("time"), |metric| found == metric)
    };
    let fitting: Vec<&Value> = models.iter().filter(is_time).collect();
    let model = match fitting.as_slice() {
        [only] => *only,
        [] if metric.is_none() && models.len() == 1 => &models[0],
        all => {
            let metrics: Vec<&str> = models.iter().filter_map(|model| model["metric"].as_str()).collect();
            let problem = if all.is_empty() { "no model of a time" } else { "several models of times" };
            let listed = metrics.join(", ");
            return Err(wrong_usage(format!(
                "{name}: {problem}; choose one with --metric (there are {listed})"
            )));
        }
    };
    let scaling = scaling(model).with_context(|| name.to_string())?;
    let mut count = 0;
    for entry in
        workload.entries.iter_mut().filter(|entry| about.covers(entry) && entry.job.min < entry.job.max)
    {
        entry.job.scaling = scaling.clone();
        entry.knows_scaling = true;
        if let Some(problem) = entry.job.problem() {
            bail!("{name}: job {}: {problem}", entry.job.id);
        }
        entry.job.scal_factor = entry.job.efficiency();
        count += 1;
    }
    Ok(count)
}

/// The lines of a file of ftio.
fn records(path: &Path, text: &str, schema: &str) -> anyhow::Result<Vec<Value>> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}: line {}", path.display(), number + 1);
        let value: Value = serde_json::from_str(line).with_context(place)?;
        if value["schema"] != schema {
            bail!("{}: expected an object of {schema}", place());
        }
        found.push(value);
    }
    if found.is_empty() {
        bail!("{}: expected objects of {schema}, found nothing", path.display());
    }
    Ok(found)
}

fn scaling(model: &Value) -> anyhow::Result<Scaling> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut terms = Vec::new();
    let mut parameter: Option<String> = None;
    for term in list(&model["terms"]) {
        let mut factors = Vec::new();
        for factor in list(&term["factors"]) {
            let name = factor["parameter"].as_str().unwrap_or_default().to_owned();
            if parameter.get_or_insert_with(|| name.clone()) != &name {
                bail!("the model depends on several parameters, and a job has only its number of nodes");
            }
            let exponent = fraction(factor["exponent"].as_str().unwrap_or("0"))?;
            factors.push(Factor { exponent, logarithm: factor["log_exponent"].as_f64().unwrap_or(0.0) });
        }
        let coefficient = term["coefficient"].as_f64().context("a term of the model has no coefficient")?;
        terms.push(Term { coefficient, factors });
    }
    let constant = model["constant"].as_f64().context("the model has no constant")?;
    Ok(Scaling::Formula { constant, terms })
}

/// `3/4`, `-1`, `0.5`.
fn fraction(text: &str) -> anyhow::Result<f64> {
    let number = |text: &str| text.trim().parse::<f64>().with_context(|| format!("{text:?} is no exponent"));
    Ok(match text.split_once('/') {
        Some((above, below)) => number(above)? / number(below)?,
        None => number(text)?,
    })
}

/// How far I/O is to be trusted: measured in these jobs, or in earlier runs.
const MEASURED: f64 = 1.0;
const EARLIER: f64 = 0.5;

/// Give jobs the I/O that a trace or `ftio categorize --json` tells.
pub fn apply_io(about: &About, workload: &mut Workload) -> anyhow::Result<usize> {
    let is_category =
        |content: &Content| content.head().trim_ascii_start().starts_with(br#"{"schema":"ftio.category/1""#);
    let opened = match Content::open(&Input::new(&about.path)) {
        Ok(content) if is_category(&content) => {
            return from_categories(about, &content.into_text()?, workload);
        }
        // Standard input can be read only once.
        Ok(content) => open_content(content, &Default::default()).map(|all| all.into_iter().next()),
        // A folder, for one.
        Err(_) => inputs::opened(std::slice::from_ref(&about.path), &Default::default()).next().transpose(),
    };
    let Some(opened) = opened.transpose() else {
        bail!("{}: nothing to read", about.path.display());
    };
    let summary = opened.and_then(summarize).map_err(|error| anyhow::anyhow!(inputs::explained(&error)))?;
    let classes =
        [&summary.write_sync, &summary.read_sync, &summary.write_async.class, &summary.read_async.class];
    let bytes: f64 = classes.iter().map(|class| class.bytes as f64).sum();
    let time: f64 = classes.iter().map(|class| class.time).sum();
    let length = summary.t_end - summary.t_start;
    if length <= 0.0 {
        bail!("{}: it does not tell how long the job took", about.path.display());
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

/// Each line is about the job of its number; with an executable, their mean is about all of its jobs.
fn from_categories(about: &About, text: &str, workload: &mut Workload) -> anyhow::Result<usize> {
    let lines = records(&about.path, text, "ftio.category/1")?;
    let mean = |line: &Value| {
        let bytes = line["bytes_read"].as_f64()? + line["bytes_written"].as_f64()?;
        let time = line["run_time"].as_f64().filter(|time| *time > 0.0)?;
        Some(bytes / time)
    };
    let known: Vec<(Option<u64>, f64)> =
        lines.iter().filter_map(|line| Some((line["job"].as_u64(), mean(line)?))).collect();
    if known.is_empty() {
        bail!("{}: no line tells bytes and run time", about.path.display());
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
