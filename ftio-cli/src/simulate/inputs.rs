//! The files that say what jobs do: workloads, models of their time, and their I/O.

use crate::exit::wrong_usage;
use crate::inputs;
use anyhow::{Context, bail};
use batch_sim::known::{self, Problem, apply_categories, apply_summary};
use batch_sim::swf::Workload;
use inspect::summarize;
use sources::content::{Content, Input};
use sources::open_content;
use std::path::{Path, PathBuf};

/// A file, and the executable whose jobs it is about; all jobs if there is none.
#[derive(Clone, Debug)]
pub struct About {
    pub executable: Option<i64>,
    pub path: PathBuf,
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
    let (name, executable) = (about.path.display().to_string(), about.executable);
    let models = inputs::text(&about.path)?;
    let known = known::About { name: &name, executable };
    known::apply_model(known, &models, metric, workload).map_err(|problem| match &problem {
        Problem::Metric { metrics, .. } => {
            wrong_usage(format!("{problem}; choose one with --metric (there are {})", metrics.join(", ")))
        }
        _ => problem.into(),
    })
}

/// Give jobs the I/O that a trace or `ftio categorize --json` tells.
pub fn apply_io(about: &About, workload: &mut Workload) -> anyhow::Result<usize> {
    let (name, executable) = (about.path.display().to_string(), about.executable);
    let known = known::About { name: &name, executable };
    let is_category =
        |content: &Content| content.head().trim_ascii_start().starts_with(br#"{"schema":"ftio.category/1""#);
    let opened = match Content::open(&Input::new(&about.path)) {
        Ok(content) if is_category(&content) => {
            return Ok(apply_categories(known, &content.into_text()?, workload)?);
        }
        // Standard input can be read only once.
        Ok(content) => open_content(content, &Default::default()).map(|all| all.into_iter().next()),
        // A folder, for one.
        Err(_) => inputs::opened(std::slice::from_ref(&about.path), &Default::default()).next().transpose(),
    };
    let Some(opened) = opened.transpose() else {
        bail!("{name}: nothing to read");
    };
    let summary = opened.and_then(summarize).map_err(|error| anyhow::anyhow!(inputs::explained(&error)))?;
    Ok(apply_summary(known, &summary, workload)?)
}
