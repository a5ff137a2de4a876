//! Logs, samples and job logs, with what is wrong with them said on stderr.

use super::options::ReadingArgs;
use crate::inputs;
use crate::terminal::text::{Severity, complain, warning};
use crate::terminal::units::counted;
use anyhow::{Context, bail};
pub use io_signature::read::course;
use io_signature::read::{self, Samples, warnings};
use io_signature::{Jobs, Listed, Sample, ServerLog, Settings};
use std::path::{Path, PathBuf};

/// The logs of files: one for each column that is wanted.
pub fn logs(paths: &[PathBuf], args: &ReadingArgs) -> anyhow::Result<Vec<ServerLog>> {
    let logs = read::logs(paths, &args.reading())?;
    warnings(&logs).for_each(|warning| complain(Severity::Warning, &warning));
    Ok(logs)
}

/// Samples that are cut out already, and those that are of no use.
pub fn samples(paths: &[PathBuf], args: &ReadingArgs, settings: &Settings) -> (Vec<Sample>, Vec<Listed>) {
    let Samples { samples, dropped, warnings } = read::samples(paths, &args.reading(), settings);
    warnings.iter().for_each(|warning| complain(Severity::Warning, warning));
    (samples, dropped)
}

/// The jobs of a job log.
pub fn jobs(path: &Path, offset: f64) -> anyhow::Result<Jobs> {
    let name = path.display().to_string();
    let jobs = Jobs::parse(&inputs::text(path)?, offset).with_context(|| name.clone())?;
    for warning in &jobs.warnings {
        warning!("{name}: {warning}");
    }
    if let Some((line, problem)) = jobs.dropped.first() {
        let count = counted(jobs.dropped.len() as u64, "line");
        let what = format!("{name}: {count} left out; the first is line {line}: {problem}");
        complain(Severity::Warning, &what);
    }
    if jobs.jobs.is_empty() {
        bail!("{name}: expected jobs, found none that can be used");
    }
    Ok(jobs)
}
