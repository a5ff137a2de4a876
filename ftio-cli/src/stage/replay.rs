//! `--dry-run` on the trace of a job that is over: what would have been done, and when.

use super::Args;
use super::lines::line;
use super::record::Record;
use super::simulate::Online;
use crate::exit::Exit;
use crate::inputs;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain};
use anyhow::Context;
use ftio_core::detect::Options;
use io_stage::plan::{Action, Decision, Planner, Settings};
use io_stage::simulate::{Run, Script, Storage, Transfer, Written, replay};
use sources::request::is_write;
use sources::time::seconds;
use sources::{Kind, OpenOptions, Opened, Span};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Flushes of a long job that is played; each asks the predictor.
const MOST_FLUSHES: f64 = 2000.0;

/// Play the trace, and print the decisions.
pub fn run(
    args: &Args,
    trace: &Path,
    settings: &Settings,
    detect: &Options,
    reading: &OpenOptions,
    rate: f64,
) -> anyhow::Result<Exit> {
    let script = script(trace, reading)?;
    let capacity = args.rules.capacity.map(|capacity| capacity as u64);
    let run = played(&script, settings, detect, rate, capacity);
    let source = trace.display().to_string();
    let mut out = std::io::stdout().lock();
    let planner = Planner::new(settings.clone());
    let mut last = None;
    for decision in &run.decisions {
        if let Action::Start(copy) = &decision.action {
            last = Some(copy.clone());
        }
        let record = told(&source, decision, &planner, last.as_ref());
        print(&mut out, args.json, &record)?;
    }
    let mut record = Record::new(&source, run.end + run.drained.unwrap_or(0.0), "summary", &planner);
    record.capacity = capacity;
    record.dry_run = true;
    record.report = Some(run.report.clone());
    print(&mut out, args.json, &record)?;
    out.flush().context("cannot write to standard output")?;
    Ok(Exit::Done)
}

fn told(source: &str, decision: &Decision, planner: &Planner, copy: Option<&io_stage::plan::Copy>) -> Record {
    let record = Record::decision(source, decision, planner);
    let record = match (&decision.action, copy) {
        (Action::Evict { .. }, _) | (_, None) => record,
        (_, Some(copy)) => record.about(copy),
    };
    Record { dry_run: true, ..record }
}

fn print(out: &mut impl Write, json: bool, record: &Record) -> anyhow::Result<()> {
    let text = if json { serde_json::to_string(record)? } else { line(record, Style::for_stdout()) };
    writeln!(out, "{text}").context("cannot write to standard output")
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
    let flush = ((script.end - first) / MOST_FLUSHES).max(1.0);
    let storage = Storage { bandwidth: f64::INFINITY, rate, capacity, flush };
    let mut oracle = Online::new("replay", detect.clone());
    replay(script, storage, settings.clone(), &mut oracle)
}

/// What the job did, from its trace.
pub fn script(trace: &Path, reading: &OpenOptions) -> anyhow::Result<Script> {
    let mut script = Script::default();
    let mut unnamed = 0u64;
    let one = [trace.to_owned()];
    for opened in inputs::opened(&one, reading) {
        let opened: Opened = opened?;
        if let Kind::Sampled(_) = opened.kind {
            anyhow::bail!("{}: a sampled quantity has no files to stage", opened.name);
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
    anyhow::ensure!(!script.requests.is_empty(), "{}: no requests", trace.display());
    script.requests.sort_by(|a, b| a.transfer.end.total_cmp(&b.transfer.end));
    if unnamed > 0 {
        name_by_phase(&mut script);
        let why = "the trace does not tell files: every phase is taken for one file";
        complain(Severity::Note, &format!("{}: {why}", trace.display()));
    }
    Ok(script)
}

/// Where the input does not tell files, a phase is a file. A phase ends where there is no I/O for a second.
fn name_by_phase(script: &mut Script) {
    let mut order: Vec<usize> = (0..script.requests.len()).collect();
    order.sort_by(|a, b| script.requests[*a].transfer.start.total_cmp(&script.requests[*b].transfer.start));
    let transfers = |i: &usize| script.requests[*i].transfer;
    let phases = io_stage::plan::phases_of(
        order.iter().map(transfers).map(|transfer| (transfer.start, transfer.end, transfer.bytes)),
        1.0,
        0.0,
    );
    for request in script.requests.iter_mut().filter(|request| request.path.as_os_str().is_empty()) {
        let number = phases.partition_point(|phase| phase.start <= request.transfer.start).max(1);
        request.path = PathBuf::from(format!("phase-{number}"));
    }
}
