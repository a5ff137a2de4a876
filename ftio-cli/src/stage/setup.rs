//! `ftio stage TRACE --from DIR --to DIR`: everything is opened, the trace followed, and the end told.

use super::buffer::Buffer;
use super::metrics::Metrics;
use super::mover::{Mover, Pretended};
use super::names::Names;
use super::record::Record;
use super::staging::{Staging, State};
use super::{Args, needs, replay};
use crate::exit::{Exit, wrong_usage};
use crate::follow::{Trace, Until, follow};
use crate::inputs::QuantityArgs;
use crate::predict::is_there;
use crate::terminal::text::{Severity, complain};
use anyhow::Context;
use ftio_core::detect::Options;
use ftio_core::predict::PredictOptions;
use io_stage::copier::{self, Copier, Folders};
use io_stage::journal::{Journal, Past, clean, default_name};
use io_stage::plan::{Direction, Planner};
use io_stage::stamp::Stamp;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tmio_trace::growing;

/// Follow until the job has ended and everything was staged, or until told to stop.
pub fn run(args: &Args, trace: &Path, from: &Path, to: &Path) -> anyhow::Result<Exit> {
    let folders = folders(from, to)?;
    let mut settings = args.rules.settings()?;
    settings.when = args.when.into();
    let quantity = QuantityArgs {
        pattern: args.pattern.clone(),
        metric: args.metric.clone(),
        ..QuantityArgs::default()
    };
    let reading = quantity.options()?;
    let detect = Options {
        mode: args.mode.mode,
        min_period: args.periods.min_period,
        max_period: args.periods.max_period,
        ..Options::default()
    };
    if let Some(rate) = settings.rate.filter(|_| args.dry_run && is_over(trace)) {
        return replay::run(args, trace, &settings, &detect, &reading, rate);
    }
    let mut needs = Vec::new();
    if let Some(list) = &args.stage_in {
        needs.extend(needs::listed(list, &folders.storage)?);
    }
    let places = (folders.buffer.as_path(), folders.storage.as_path());
    needs.extend(needs::learned(&args.history, places, &settings, &detect, &reading)?);
    let mut planner = Planner::new(settings.clone());
    planner.set_needs(needs);
    let metrics = args.prometheus.as_deref().map(Metrics::open).transpose()?;
    let (wakeup, waker) = UnixStream::pair().context("cannot wait for copies")?;
    wakeup.set_nonblocking(true)?;
    waker.set_nonblocking(true)?;
    let wake = |waker: UnixStream| move || drop((&waker).write(&[1]));
    let mut state = State::default();
    let (journal, mover) = match settings.rate.filter(|_| args.dry_run) {
        Some(rate) => (None, Mover::Pretended(Pretended::new(rate))),
        None => {
            let path =
                args.journal.clone().unwrap_or_else(|| folders.storage.join(default_name(&folders.buffer)));
            let (mut journal, past) = Journal::open(&path, &folders.buffer, &folders.storage)?;
            remember(&past, &mut journal, &folders, &mut planner, &mut state)?;
            let journal = Arc::new(Mutex::new(journal));
            // A program's speed cannot be limited from here.
            let rate = settings.rate.filter(|_| args.command_line.is_none());
            let options =
                copier::Options { rate, checksum: args.checksum, command: args.command_line.clone() };
            let copier =
                Copier::start(folders.clone(), options, Arc::clone(&journal), wake(waker.try_clone()?))
                    .context("no thread for copies")?;
            (Some(journal), Mover::Real(copier))
        }
    };
    let mut staging = Staging {
        source: trace.display().to_string(),
        names: Names::below(&folders.buffer, &folders.buffer),
        buffer: Buffer::open(&folders.buffer, wake(waker)).context("no thread to look at the buffer")?,
        folders,
        planner,
        mover,
        journal,
        options: PredictOptions { detect, ..PredictOptions::default() },
        metrics,
        json: args.json,
        wakeup,
        capacity: args.rules.capacity.map(|capacity| capacity as u64),
        timeout: args.timeout.map(Duration::from_secs_f64),
        trace: without_parts(trace),
        state,
    };
    let trace = &without_parts(trace);
    if !is_there(trace) {
        complain(Severity::Note, &format!("waiting for {}", trace.display()));
    }
    let mut followed = Trace::new(trace, args.mode.mode, &reading);
    followed.watch_files();
    let mut traces = [followed];
    let exit = follow(&mut traces, &mut staging, args.poll, &Until::default())?;
    finish(staging, exit)
}

/// `OUT` of `OUT.parts`.
fn without_parts(trace: &Path) -> PathBuf {
    let is_parts = trace.extension().is_some_and(|extension| extension == "parts");
    if is_parts { trace.with_extension("") } else { trace.to_owned() }
}

/// The sums, and whether everything was staged.
fn finish(mut staging: Staging, exit: Exit) -> anyhow::Result<Exit> {
    let now = staging.state.clock.now();
    let report = staging.planner.report(now);
    let interrupted = !staging.state.finished;
    let mut record = Record::new(&staging.source.clone(), now, "summary", &staging.planner);
    record.report = Some(report.clone());
    staging.say(record)?;
    if let Some(metrics) = &mut staging.metrics {
        metrics.publish(&staging.source, &staging.planner, now)?;
    }
    if interrupted && report.files_left > 0 {
        let why = "the same command, started again, goes on";
        complain(
            Severity::Note,
            &format!("interrupted, {} files are left in the buffer: {why}", report.files_left),
        );
    }
    // Whatever is being copied is given up with the copier, and its draft removed.
    let incomplete = !interrupted && report.files_left > 0;
    Ok(if incomplete { exit.max(Exit::Failed) } else { exit })
}

/// Both folders, without links in their paths; neither inside the other.
fn folders(from: &Path, to: &Path) -> anyhow::Result<Folders> {
    let real = |option: &str, path: &Path| {
        let real = path.canonicalize().with_context(|| format!("{option} {}", path.display()))?;
        anyhow::ensure!(real.is_dir(), "{option} {}: expected a folder", path.display());
        Ok(real)
    };
    let (buffer, storage) = (real("--from", from)?, real("--to", to)?);
    if buffer.starts_with(&storage) || storage.starts_with(&buffer) {
        let (from, to) = (from.display(), to.display());
        return Err(wrong_usage(format!("--from {from} and --to {to}: one is inside the other")));
    }
    Ok(Folders { buffer, storage })
}

/// What an earlier process has done counts, as far as it is still there.
fn remember(
    past: &Past,
    journal: &mut Journal,
    folders: &Folders,
    planner: &mut Planner,
    state: &mut State,
) -> anyhow::Result<()> {
    let name = journal.path().display().to_string();
    if past.damaged > 0 {
        let what = format!("{name}: {} lines cannot be read; what they tell is done again", past.damaged);
        complain(Severity::Warning, &what);
    }
    let drafts = clean(past, journal).with_context(|| name.clone())?;
    for copy in &past.verified {
        let path = PathBuf::from(copy.path.clone());
        let (in_buffer, in_storage) = match copy.direction {
            Direction::Out => (copy.source, copy.target),
            Direction::In => (copy.target, copy.source),
        };
        let found = fs::symlink_metadata(folders.storage.join(&path)).ok();
        if found.map(|meta| Stamp::of(&meta)) == Some(in_storage) {
            planner.verified_before(path.clone(), in_buffer);
            state.copies.insert(path, in_storage);
        }
    }
    if drafts > 0 {
        complain(Severity::Note, &format!("{name}: going on after an interruption"));
    }
    Ok(())
}

/// A trace that is complete, or that nobody has added to for a while, so that there is nothing to wait for.
fn is_over(trace: &Path) -> bool {
    const LONG_AGO: Duration = Duration::from_secs(60);
    let age = || fs::metadata(trace).and_then(|meta| meta.modified()).map(|time| time.elapsed());
    let rests = || age().is_ok_and(|age| age.is_ok_and(|age| age > LONG_AGO));
    let is_file = trace.is_file() && growing::running(trace).is_none();
    is_file && (growing::finished(trace).is_some() || rests())
}
