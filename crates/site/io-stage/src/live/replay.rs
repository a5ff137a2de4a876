//! A job that is over, by its trace: what would have been done, and when.

use super::oracle::Online;
use super::record::Record;
use crate::plan::{Action, Decision, Planner, Settings, phases_of};
use crate::simulate::{Run, Script, Storage, Transfer, Written, replay};
use ftio_core::detect::Options;
use sources::request::is_write;
use sources::time::seconds;
use sources::{Kind, Opened, SourceError, Span};
use std::path::PathBuf;

/// Flushes of a long job that is played; each asks the predictor.
const MAX_FLUSHES: f64 = 2000.0;

/// Why the job of a trace cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotPlayed {
    /// It cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is no trace of requests.
    #[error("{0}: a sampled quantity has no files to stage")]
    Sampled(String),
    /// There is nothing in it.
    #[error("{0}: no requests")]
    Empty(String),
}

/// The decisions, and the sums.
pub fn records(source: &str, run: &Run, settings: &Settings, capacity: Option<u64>) -> Vec<Record> {
    let planner = Planner::new(settings.clone());
    let mut last = None;
    let mut records = Vec::with_capacity(run.decisions.len() + 1);
    for decision in &run.decisions {
        if let Action::Start(copy) = &decision.action {
            last = Some(copy.clone());
        }
        records.push(told(source, decision, &planner, last.as_ref()));
    }
    let mut record = Record::new(source, run.end + run.drained.unwrap_or(0.0), "summary", &planner);
    record.capacity = capacity;
    record.dry_run = true;
    record.report = Some(run.report.clone());
    records.push(record);
    records
}

fn told(source: &str, decision: &Decision, planner: &Planner, copy: Option<&crate::plan::Copy>) -> Record {
    let record = Record::decision(source, decision, planner);
    let record = match (&decision.action, copy) {
        (Action::Evict { .. }, _) | (_, None) => record,
        (_, Some(copy)) => record.about(copy),
    };
    Record { dry_run: true, ..record }
}

/// The job of a trace, as staging would have gone.
pub fn played(
    script: &Script,
    settings: &Settings,
    detect: &Options,
    rate: f64,
    capacity: Option<u64>,
) -> Run {
    let first = script.requests.first().map_or(0.0, |first| first.transfer.start.min(0.0));
    let flush = ((script.end - first) / MAX_FLUSHES).max(1.0);
    let storage = Storage { bandwidth: f64::INFINITY, rate, capacity, flush };
    let mut oracle = Online::new("replay", detect.clone());
    replay(script, storage, settings.clone(), &mut oracle)
}

/// What the job did, from the inputs of its trace; and whether they say which files.
pub fn script(
    trace: &str,
    inputs: impl Iterator<Item = Result<Opened, SourceError>>,
) -> Result<(Script, bool), NotPlayed> {
    let mut script = Script::default();
    let mut unnamed = 0u64;
    for opened in inputs {
        let opened: Opened = opened?;
        if let Kind::Sampled(_) = opened.kind {
            return Err(NotPlayed::Sampled(opened.name));
        }
        let job = opened.into_source()?.read_detailed(Span::Actual, &mut |batch| {
            for detail in batch.requests.iter().filter(|detail| detail.request.bytes > 0) {
                let request = detail.request;
                let name = detail.file.and_then(|file| {
                    batch.files.iter().find(|(number, _)| *number == file).map(|(_, name)| *name)
                });
                let transfer = Transfer {
                    start: seconds(request.start),
                    end: seconds(request.end),
                    bytes: request.bytes,
                };
                unnamed += u64::from(name.is_none());
                let path = name.map_or_else(PathBuf::new, PathBuf::from);
                let read = !is_write(request.class);
                script.end = script.end.max(transfer.end);
                script.requests.push(Written { transfer, path, read });
            }
        })?;
        script.end = script.end.max(job.end.map_or(0.0, seconds));
    }
    if script.requests.is_empty() {
        return Err(NotPlayed::Empty(trace.to_owned()));
    }
    script.requests.sort_by(|a, b| a.transfer.end.total_cmp(&b.transfer.end));
    if unnamed > 0 {
        name_by_phase(&mut script);
    }
    Ok((script, unnamed == 0))
}

/// Where the input does not tell files, a phase is a file. A phase ends where there is no I/O for a second.
fn name_by_phase(script: &mut Script) {
    let mut order: Vec<usize> = (0..script.requests.len()).collect();
    order.sort_by(|a, b| script.requests[*a].transfer.start.total_cmp(&script.requests[*b].transfer.start));
    let transfers = |i: &usize| script.requests[*i].transfer;
    let phases = phases_of(
        order.iter().map(transfers).map(|transfer| (transfer.start, transfer.end, transfer.bytes)),
        1.0,
        0.0,
    );
    for request in script.requests.iter_mut().filter(|request| request.path.as_os_str().is_empty()) {
        let number = phases.partition_point(|phase| phase.start <= request.transfer.start).max(1);
        request.path = PathBuf::from(format!("phase-{number}"));
    }
}
