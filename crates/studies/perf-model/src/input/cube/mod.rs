//! Profiles of Score-P and Scalasca (Cube 4): a folder with one folder for each run, whose name tells the
//! parameters and the repetition, `app.p4.n10.r1/profile.cubex`.
//!
//! Metrics are those at the top of the metric tree, as in Extra-P; values are those of a callpath itself,
//! without what it calls. A callpath that some runs do not have is modelled on those that have it. (Extra-P
//! adds it to its caller instead.)

mod archive;
mod names;
mod profile;
mod tree;

use super::builder;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, ExperimentBuilder};
use names::Run;
use profile::{Profile, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the values of the processes and threads of a run become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scaling {
    /// The problem grows with the machine: every process is a measurement of its own.
    #[default]
    Weak,
    /// The same, but threads that did nothing at a callpath do not count there.
    WeakThreaded,
    /// The problem stays the same: the sum over all processes.
    Strong,
}

/// Reads the profiles of a folder: `*/*.cubex`.
///
/// # Errors
/// There are none, their folders do not tell parameters, or one of them is damaged.
pub fn read_runs(folder: &Path, scaling: Scaling) -> Result<Experiment> {
    let source = folder.display().to_string();
    let files = profiles(folder)?;
    let example = "folders such as app.p4.n10.r1 with a .cubex file each";
    if files.is_empty() {
        return Err(Error::format(&source, None, example, "none"));
    }
    let mut runs = Vec::new();
    for file in files {
        let name = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let run =
            Run::parse(&name).ok_or_else(|| Error::format(&source, None, example, format!("`{name}`")))?;
        runs.push((run, file));
    }
    let parameters = names::varying(runs.iter().map(|(run, _)| run)).map_err(|found| {
        Error::format(&source, None, "the same parameters in the name of every folder", found)
    })?;
    let mut experiment = builder(parameters.clone(), &source, None)?;
    // From the smallest scale on, repetitions in the order of their names.
    let point = |run: &Run| -> Vec<f64> { parameters.iter().filter_map(|name| run.value(name)).collect() };
    runs.sort_by(|(a, file), (b, other)| {
        let (a, b) = (point(a), point(b));
        a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal).then_with(|| file.cmp(other))
    });
    let mut skipped = BTreeMap::new();
    for (run, file) in &runs {
        add(&mut experiment, file, &point(run), scaling, &mut skipped)?;
    }
    let notes =
        skipped.into_iter().map(|(metric, why)| format!("{source}: metric {metric} is left out: {why}"));
    let mut experiment = super::not_empty(experiment, &source)?;
    experiment.notes.extend(notes);
    Ok(experiment)
}

fn profiles(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>> {
        let read = |source| Error::Read { path: folder.to_owned(), source };
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(read)? {
            paths.push(entry.map_err(read)?.path());
        }
        paths.sort();
        Ok(paths)
    };
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let mut files = Vec::new();
    for run in list(folder)?.into_iter().filter(|path| path.is_dir()) {
        let is_profile =
            |path: &PathBuf| path.extension().is_some_and(|end| end == "cubex") && !is_hidden(path);
        files.extend(list(&run)?.into_iter().filter(is_profile));
    }
    Ok(files)
}

fn add(
    experiment: &mut ExperimentBuilder,
    file: &Path,
    point: &[f64],
    scaling: Scaling,
    skipped: &mut BTreeMap<String, String>,
) -> Result<()> {
    let bytes = fs::read(file).map_err(|source| Error::Read { path: file.to_owned(), source })?;
    let source = file.display().to_string();
    let profile = Profile::open(&bytes, &source)?;
    for metric in profile.metrics() {
        let values = match profile.values(metric)? {
            Ok(values) => values,
            Err(why) => {
                skipped.entry(metric.name.clone()).or_insert(why);
                continue;
            }
        };
        for Value { callpath, by_location } in values {
            let values = match scaling {
                Scaling::Weak => by_location,
                Scaling::WeakThreaded if by_location.iter().any(|value| *value != 0.0) => {
                    by_location.into_iter().filter(|value| *value != 0.0).collect()
                }
                Scaling::WeakThreaded => by_location,
                Scaling::Strong => vec![metric.sum(&by_location)],
            };
            experiment.add(&callpath, &metric.name, point, &values);
        }
    }
    Ok(())
}
