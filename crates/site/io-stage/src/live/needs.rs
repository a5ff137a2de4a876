//! Files that phases need: from a list, or learned from earlier runs.

use super::names::Names;
use crate::plan::{BadNeed, Need, Settings, parse_needs, phases_of};
use files::{Dir, Kind};
use ftio_core::detect::{Options, detect};
use sources::request::is_write;
use sources::time::seconds;
use sources::{Opened, SourceError, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a list that are there, and why the others are not taken.
pub fn listed(list: &str, storage: &Dir) -> Result<(Vec<Need>, Vec<String>), BadNeed> {
    let (mut needs, mut problems) = (Vec::new(), Vec::new());
    for (path, phase) in parse_needs(list)? {
        match need(path, phase, storage) {
            Ok(need) => needs.push(need),
            Err(why) => problems.push(why),
        }
    }
    Ok((needs, problems))
}

/// A file in the storage; links are not followed, there as elsewhere.
fn need(path: PathBuf, phase: Option<usize>, storage: &Dir) -> Result<Need, String> {
    match storage.look(&path) {
        Ok(found) if found.kind == Kind::File => Ok(Need { path, phase, bytes: found.size }),
        Ok(_) => Err(format!("{}: is not a regular file", files::shown(storage.path().join(&path)))),
        Err(error) => Err(error.to_string()),
    }
}

/// What was learned from earlier runs.
#[derive(Debug, Default)]
pub struct Learned {
    /// What they have read, and in which phase.
    pub needs: Vec<Need>,
    /// How many of them could be read.
    pub useful: usize,
    /// Why the others could not.
    pub problems: Vec<SourceError>,
}

/// What earlier runs have read of the files that are in the storage. `open` opens the inputs of one of these
/// paths; each is read twice, for its period and for its files.
pub fn learned<I: Iterator<Item = Result<Opened, SourceError>>>(
    history: &[PathBuf],
    open: impl Fn(&PathBuf) -> I,
    (buffer, storage): (&Path, &Dir),
    settings: &Settings,
    options: &Options,
) -> Learned {
    let mut names = Names::below(buffer, storage.path());
    let mut files = BTreeSet::new();
    let mut learned = Learned::default();
    for path in history {
        let periods: Vec<Option<f64>> = open(path)
            .map(|opened| {
                let analysis =
                    opened.and_then(|opened| detect(&opened.name.clone(), opened.into_source()?, options));
                analysis.ok().and_then(|analysis| analysis.detection.period)
            })
            .collect();
        for (opened, period) in open(path).zip(periods) {
            match opened.and_then(|opened| read_files(opened, settings.guard(period))) {
                Ok(reads) => {
                    learned.useful += 1;
                    let found =
                        reads.into_iter().filter_map(|(name, phase)| Some((names.find(&name)?, phase)));
                    files.extend(found);
                }
                Err(error) => learned.problems.push(error),
            }
        }
    }
    let there = files.into_iter().filter_map(|(path, phase)| need(path, Some(phase), storage).ok());
    learned.needs = there.collect();
    learned
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
