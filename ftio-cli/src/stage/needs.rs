//! Files that phases need: from a list, or learned from earlier runs.

use super::names::Names;
use crate::inputs;
use crate::terminal::text::{Severity, complain};
use anyhow::Context;
use files::{Dir, Kind};
use ftio_core::detect::{Options, detect};
use io_stage::plan::{Need, Settings, parse_needs, phases_of};
use sources::request::is_write;
use sources::time::seconds;
use sources::{OpenOptions, Opened, SourceError, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a list that are there. Those that are not are reported.
pub fn listed(list: &Path, storage: &Dir) -> anyhow::Result<Vec<Need>> {
    let name = || list.display().to_string();
    let text = std::fs::read_to_string(list).with_context(name)?;
    let files = parse_needs(&text).with_context(name)?;
    Ok(files.into_iter().filter_map(|(path, phase)| need(path, phase, storage, true)).collect())
}

/// A file in the storage; links are not followed, there as elsewhere.
fn need(path: PathBuf, phase: Option<usize>, storage: &Dir, complains: bool) -> Option<Need> {
    let why = match storage.look(&path) {
        Ok(found) if found.kind == Kind::File => return Some(Need { path, phase, bytes: found.size }),
        Ok(_) => format!("{}: is not a regular file", files::shown(storage.path().join(&path))),
        Err(error) => error.to_string(),
    };
    if complains {
        complain(Severity::Warning, &format!("{why}, left out"));
    }
    None
}

/// What earlier runs have read, and in which phase.
pub fn learned(
    history: &[PathBuf],
    (buffer, storage): (&Path, &Dir),
    settings: &Settings,
    options: &Options,
    reading: &OpenOptions,
) -> anyhow::Result<Vec<Need>> {
    let mut names = Names::below(buffer, storage.path());
    let mut files = BTreeSet::new();
    let mut useful = 0;
    for path in history {
        let one = std::slice::from_ref(path);
        let periods: Vec<Option<f64>> = inputs::sources(one, false, reading)
            .map(|opened| {
                let analysis =
                    opened.and_then(|opened| detect(&opened.name.clone(), opened.into_source()?, options));
                analysis.ok().and_then(|analysis| analysis.detection.period)
            })
            .collect();
        for (opened, period) in inputs::sources(one, false, reading).zip(periods) {
            match opened.and_then(|opened| read_files(opened, settings.guard(period))) {
                Ok(reads) => {
                    useful += 1;
                    let found =
                        reads.into_iter().filter_map(|(name, phase)| Some((names.find(&name)?, phase)));
                    files.extend(found);
                }
                Err(error) => complain(Severity::Warning, &inputs::explained(&error)),
            }
        }
    }
    if useful == 0 && !history.is_empty() {
        anyhow::bail!("--history: expected at least one trace that can be read, found none");
    }
    let needs: Vec<Need> =
        files.into_iter().filter_map(|(path, phase)| need(path, Some(phase), storage, false)).collect();
    if needs.is_empty() && !history.is_empty() {
        let why = "no earlier run has read a file that is in the folder of --to: nothing will be brought in";
        complain(Severity::Note, &format!("--history: {why}"));
    }
    Ok(needs)
}

/// The names of the files that a run has read, with the number of the phase.
fn read_files(opened: Opened, guard: f64) -> Result<BTreeSet<(String, usize)>, SourceError> {
    let mut requests: Vec<(f64, f64, u64, Option<usize>)> = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    opened.into_source()?.read_detailed(Span::Actual, &mut |batch| {
        for detail in batch.requests {
            let request = detail.request;
            let is_read = !is_write(request.class) && request.bytes > 0;
            let name = detail.file.filter(|_| is_read).and_then(|file| {
                batch.files.iter().find(|(number, _)| *number == file).map(|(_, name)| *name)
            });
            let file = name.map(|name| {
                let next = numbers.len();
                *numbers.entry(name.to_owned()).or_insert(next)
            });
            requests.push((seconds(request.start), seconds(request.end), request.bytes, file));
        }
    })?;
    requests.sort_by(|a, b| a.0.total_cmp(&b.0));
    let phases = phases_of(requests.iter().map(|(start, end, bytes, _)| (*start, *end, *bytes)), guard, 0.0);
    let names: BTreeMap<usize, String> = numbers.into_iter().map(|(name, number)| (number, name)).collect();
    let number_at = |time: f64| phases.partition_point(|phase| phase.start <= time).max(1);
    let reads = requests
        .iter()
        .filter_map(|(start, _, _, file)| Some((names.get(&(*file)?)?.clone(), number_at(*start))));
    Ok(reads.collect())
}
