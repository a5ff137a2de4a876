//! One result per rank, or per file, of a trace.
//!
//! The requests of each group go into bins of their own. All groups together use a bounded number of bins, so
//! with many groups each has fewer; how many depends on the number of groups alone, not on the order of the
//! requests.

use crate::detect::compat;
use crate::detect::{Analysis, Options, analyse};
use crate::signal::AUTO_MAX_SAMPLES;
use crate::signal::collect::{Collector, stretch};
use crate::signal::step::Stretch;
use sources::request::{Batch, Detail};
use sources::request::{Mode, Request};
use sources::{Source, SourceError, Span};
use std::collections::BTreeMap;

/// Bins of all groups together (256 MiB), as long as each can have [`MIN_BINS`].
const ALL_BINS: usize = 1 << 23;

/// No group has fewer.
const MIN_BINS: usize = 1 << 11;

/// What is analysed one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Ranks.
    Rank,
    /// Files, by name.
    File,
}

/// Which group a request belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Rank(u32),
    File(String),
}

/// What was collected of a group.
enum Gathered {
    Bins(Box<Collector>),
    Phases(Vec<Stretch>),
}

/// Read a source and analyse each rank or file by itself, in the order of their numbers or names. Groups
/// without requests are left out.
pub fn detect_each(
    name: &str,
    source: impl Source,
    group: Group,
    options: &Options,
) -> Result<Vec<Analysis>, SourceError> {
    let mut groups: BTreeMap<Key, Gathered> = BTreeMap::new();
    let mut unknown = 0u64;
    let mut max_bins = AUTO_MAX_SAMPLES;
    let span = options.mode.map_or(Span::Actual, Mode::span);
    let mut job = Box::new(source).read_detailed(span, &mut |batch| {
        for (key, requests) in split(&batch, group, options, &mut unknown) {
            let gathered = groups.entry(key).or_insert_with(|| Gathered::new(options, max_bins));
            gathered.add(&requests);
        }
        let adaptable = options.frequency.is_none();
        while adaptable && groups.len() * max_bins > ALL_BINS && max_bins > MIN_BINS {
            max_bins /= 2;
            groups.values_mut().for_each(|gathered| gathered.limit(max_bins));
        }
    })?;
    if unknown > 0 && groups.is_empty() {
        let what = if group == Group::Rank { "ranks" } else { "files" };
        return Err(SourceError::NotTold { name: name.into(), what });
    }
    if unknown > 0 {
        let what = if group == Group::Rank { "rank" } else { "file" };
        job.notes.push(format!("{unknown} requests whose {what} is not known were left out"));
    }
    let analysed = groups.into_iter().map(|(key, gathered)| {
        let mut analysis = match gathered {
            Gathered::Bins(collector) => analyse(name, collector.finish(), &job, options),
            Gathered::Phases(phases) => {
                compat::analyse(name, &phases, compat::mode(options.mode), &job, options)
            }
        };
        match key {
            Key::Rank(rank) => analysis.detection.rank = Some(rank),
            Key::File(file) => analysis.detection.file = Some(file),
        }
        analysis
    });
    Ok(analysed.collect())
}

/// The requests of a batch, by group.
fn split(batch: &Batch<'_>, group: Group, options: &Options, unknown: &mut u64) -> Vec<(Key, Vec<Request>)> {
    let number = |detail: &Detail| match group {
        Group::Rank => detail.request.rank,
        Group::File => detail.file,
    };
    let selected = |detail: &&Detail| {
        !options.is_published() || compat::mode(options.mode).selects(detail.request.class)
    };
    let mut parts: BTreeMap<u32, Vec<Request>> = BTreeMap::new();
    for detail in batch.requests.iter().filter(selected) {
        match number(detail) {
            Some(number) => parts.entry(number).or_default().push(detail.request),
            None => *unknown += 1,
        }
    }
    let key = |number: u32| match group {
        Group::Rank => Key::Rank(number),
        Group::File => {
            let name = batch.files.iter().find(|(n, _)| *n == number).map_or("", |(_, name)| *name);
            Key::File(if name.is_empty() { "(unknown)" } else { name }.to_owned())
        }
    };
    parts.into_iter().map(|(number, requests)| (key(number), requests)).collect()
}

impl Gathered {
    fn new(options: &Options, max_bins: usize) -> Self {
        if options.is_published() {
            return Gathered::Phases(Vec::new());
        }
        let mut collector = options.collector();
        // At a frequency that was asked for this only limits how much finer phases are located.
        collector.limit_bins(if options.frequency.is_none() { max_bins } else { MIN_BINS });
        Gathered::Bins(Box::new(collector))
    }

    fn add(&mut self, requests: &[Request]) {
        match self {
            Gathered::Bins(collector) => collector.add(requests),
            Gathered::Phases(phases) => {
                phases.extend(requests.iter().filter(|request| request.end > request.start).map(stretch))
            }
        }
    }

    fn limit(&mut self, max_bins: usize) {
        if let Gathered::Bins(collector) = self {
            collector.limit_bins(max_bins);
        }
    }
}
