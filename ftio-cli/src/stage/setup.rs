//! `ftio stage TRACE --from DIR --to DIR`: everything is opened, the trace followed, and the end told.

use super::handler::{End, Shown};
use super::metrics::Metrics;
use super::{Args, replay};
use crate::exit::{Exit, wrong_usage};
use crate::follow::{Trace, Until, follow};
use crate::inputs::{self, QuantityArgs};
use crate::predict::is_there;
use crate::terminal::text::{Severity, complain, note, warning};
use anyhow::Context;
use files::Dir;
use ftio_core::detect::Options;
use ftio_core::predict::PredictOptions;
use io_stage::copier::{self, Copier};
use io_stage::evictor::Evictor;
use io_stage::go_on;
use io_stage::journal::{Journal, default_name};
use io_stage::live::{Buffer, Means, Mover, Pretended, Staging, needs};
use io_stage::plan::{Need, Planner, Settings};
use io_stage::protocol::Places;
use io_stage::scan::Except;
use sources::OpenOptions;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tmio_trace::growing;

/// Follow until the job has ended and everything was staged, or until asked to stop.
pub fn run(args: &Args, trace: &Path, from: &Path, to: &Path) -> anyhow::Result<Exit> {
    let folders = folders(from, to)?;
    let places = Places { buffer: Dir::open(&folders.buffer)?, storage: Dir::open(&folders.storage)? };
    if places.buffer.overlaps(&places.storage)? {
        let (from, to) = (files::shown(from), files::shown(to));
        return Err(wrong_usage(format!("--from {from} and --to {to}: one is inside the other")));
    }
    let mut settings = args.rules.settings()?;
    settings.when = args.when;
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
        needs.extend(listed(list, &places.storage)?);
    }
    let ends = (folders.buffer.as_path(), &places.storage);
    needs.extend(learned(&args.history, ends, &settings, &detect, &reading)?);
    let mut planner = Planner::new(settings.clone());
    planner.set_needs(needs);
    let metrics = args.prometheus.as_deref().map(Metrics::open).transpose()?;
    let (wakeup, waker) = UnixStream::pair().context("cannot wait for copies")?;
    wakeup.set_nonblocking(true)?;
    waker.set_nonblocking(true)?;
    let (mover, journal) = match settings.rate.filter(|_| args.dry_run) {
        Some(rate) => (Mover::Pretended(Pretended::new(rate)), None),
        None => workers(args, (&folders, &places), &settings, &mut planner, &waker)?,
    };
    let except = Except { file: journal, device: Some(places.storage.stat()?.device) };
    let buffer = Buffer::open(places.buffer.again()?, except, wake(&waker)?);
    let staging = Staging::new(Means {
        source: trace.display().to_string(),
        trace: without_parts(trace),
        buffer: buffer.context("no thread to look at the buffer")?,
        folders,
        planner,
        mover,
        options: PredictOptions { detect, ..PredictOptions::default() },
        wakeup,
        capacity: args.rules.capacity.map(|capacity| capacity as u64),
        timeout: args.timeout.map(Duration::from_secs_f64),
    });
    let mut shown = Shown::new(staging, metrics, args.json);
    let trace = &without_parts(trace);
    if !is_there(trace) {
        note!("waiting for {}", trace.display());
    }
    let mut followed = Trace::new(trace, args.mode.mode, &reading);
    followed.watch_files();
    let mut traces = [followed];
    let exit = follow(&mut traces, &mut shown, args.poll, &Until::default())?;
    // Whatever is being copied is given up, and its draft removed.
    let End { left, interrupted } = shown.finish()?;
    if interrupted && left > 0 {
        let why = "the same command, started again, goes on";
        note!("interrupted, {left} files are left in the buffer: {why}");
    }
    let incomplete = !interrupted && left > 0;
    Ok(if incomplete { exit.max(Exit::Failed) } else { exit })
}

/// `--stage-in`.
fn listed(list: &Path, storage: &Dir) -> anyhow::Result<Vec<Need>> {
    let name = || list.display().to_string();
    let text = fs::read_to_string(list).with_context(name)?;
    let (needs, problems) = needs::listed(&text, storage).with_context(name)?;
    problems.iter().for_each(|why| warning!("{why}, left out"));
    Ok(needs)
}

/// `--history`.
fn learned(
    history: &[PathBuf],
    ends: (&Path, &Dir),
    settings: &Settings,
    detect: &Options,
    reading: &OpenOptions,
) -> anyhow::Result<Vec<Need>> {
    if history.is_empty() {
        return Ok(Vec::new());
    }
    let open = |path: &PathBuf| inputs::sources(std::slice::from_ref(path), false, reading);
    let learned = needs::learned(history, open, ends, settings, detect);
    learned.problems.iter().for_each(|why| complain(Severity::Warning, &inputs::explained(why)));
    if learned.useful == 0 {
        anyhow::bail!("--history: expected at least one trace that can be read, found none");
    }
    if learned.needs.is_empty() {
        let why = "no earlier run has read a file that is in the folder of --to: nothing will be brought in";
        note!("--history: {why}");
    }
    Ok(learned.needs)
}

/// `OUT` of `OUT.parts`.
fn without_parts(trace: &Path) -> PathBuf {
    let is_parts = trace.extension().is_some_and(|extension| extension == "parts");
    if is_parts { trace.with_extension("") } else { trace.to_owned() }
}

/// Both folders, without links in their paths.
fn folders(from: &Path, to: &Path) -> anyhow::Result<Places<PathBuf>> {
    let real = |option: &str, path: &Path| {
        let real = path.canonicalize().with_context(|| format!("{option} {}", path.display()))?;
        anyhow::ensure!(real.is_dir(), "{option} {}: expected a folder", path.display());
        Ok(real)
    };
    let (buffer, storage) = (real("--from", from)?, real("--to", to)?);
    Ok(Places { buffer, storage })
}

/// The copier and the evictor, with what an earlier process has done; and the journal's file, which is no
/// file of the job's.
fn workers(
    args: &Args,
    (folders, places): (&Places<PathBuf>, &Places<Dir>),
    settings: &Settings,
    planner: &mut Planner,
    waker: &UnixStream,
) -> anyhow::Result<(Mover, Option<(u64, u64)>)> {
    if settings.evict {
        go_on::lock(&places.buffer)?;
    }
    let (at, name) = match &args.journal {
        None => (places.storage.again()?, OsString::from(default_name(&folders.buffer))),
        Some(path) => {
            let name =
                path.file_name().ok_or_else(|| wrong_usage("--journal: expected the name of a file"))?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            (Dir::open(folder.unwrap_or(Path::new(".")))?, name.to_owned())
        }
    };
    let (journal, past) = Journal::open(&at, &name, &folders.buffer, &folders.storage)?;
    let identity = journal.identity();
    let shown = files::shown(journal.path());
    if past.damaged > 0 {
        let what = format!("{shown}: {} lines cannot be read; what they tell is done again", past.damaged);
        complain(Severity::Warning, &what);
    }
    if let Some(kept) = &past.put_aside {
        let why = "version 0.2 did not note enough to trust its copies: all files are copied once more";
        note!("{shown}: {why}; the old journal is {}", files::shown(kept));
    }
    let gone = go_on::go_on(places, journal, &past)?;
    gone.problems.iter().for_each(|problem| complain(Severity::Warning, problem));
    if gone.drafts > 0 {
        note!("{shown}: going on after an interruption");
    }
    for known in gone.verified {
        planner.verified_before(known.path, known.stamp, known.certain);
    }
    let ledger = Arc::new(Mutex::new(gone.ledger));
    // A program's speed cannot be limited from here.
    let rate = settings.rate.filter(|_| args.command_line.is_none());
    let options = copier::Options { rate, checksum: args.checksum, command: args.command_line.clone() };
    let copier = Copier::start(again(places)?, options, Arc::clone(&ledger), wake(waker)?)
        .context("no thread for copies")?;
    let evictor =
        Evictor::start(again(places)?, ledger, wake(waker)?).context("no thread for what is removed")?;
    Ok((Mover::Real { copier, evictor }, identity))
}

fn again(places: &Places<Dir>) -> files::Result<Places<Dir>> {
    Ok(Places { buffer: places.buffer.again()?, storage: places.storage.again()? })
}

/// Somebody has something to tell.
fn wake(waker: &UnixStream) -> anyhow::Result<impl Fn() + Send + 'static> {
    let waker = waker.try_clone().context("cannot wait for copies")?;
    Ok(move || drop((&waker).write(&[1])))
}

/// A trace that is complete, or has not grown for a while, so that there is nothing to wait for.
fn is_over(trace: &Path) -> bool {
    const LONG_AGO: Duration = Duration::from_secs(60);
    let age = || fs::metadata(trace).and_then(|meta| meta.modified()).map(|time| time.elapsed());
    let rests = || age().is_ok_and(|age| age.is_ok_and(|age| age > LONG_AGO));
    let is_file = trace.is_file() && growing::running(trace).is_none();
    is_file && (growing::finished(trace).is_some() || rests())
}
