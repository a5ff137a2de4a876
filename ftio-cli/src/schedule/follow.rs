//! `ftio schedule --configfs DIR TRACE…`: follow jobs, and keep their priorities up to date.

use super::evidence::Evidence;
use super::record::Record;
use super::{Args, job_id};
use crate::exit::Exit;
use crate::inputs;
use crate::predict::{TOGETHER, Watch};
use crate::terminal::text::complain;
use anyhow::Context;
use ftio_core::detect::{Options, detect};
use ftio_core::follow::{Event, Follower, Status};
use ftio_core::predict::{PredictOptions, Predictor};
use ftio_core::source::{OpenOptions, SourceError, Span};
use io_sets::configfs::{Configfs, ConfigfsError};
use io_sets::scheduler::{self, Scheduler};
use io_sets::standing::Standing;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for ranks that have not flushed when others have.
const GRACE: Duration = Duration::from_secs(1);

/// How often to see whether a job is dead.
const LIFE_SIGN: Duration = Duration::from_secs(2);

/// Follow until told to stop, or until all jobs have ended if that is asked for.
pub fn run(args: &Args, directory: &Path) -> anyhow::Result<Exit> {
    if args.job.is_some() && args.traces.len() > 1 {
        complain("", &format!("--job is the id of one trace, and there are {}", args.traces.len()));
        return Ok(Exit::Usage);
    }
    let configfs = Configfs::open(directory)?;
    let history = history(&args.history, args)?;
    let options = scheduler::Options { history, early: args.early };
    let mut office =
        Office { scheduler: Scheduler::new(configfs, options), json: args.json, exit: Exit::Done };
    let predict = PredictOptions {
        detect: Options { mode: args.mode, ..Options::default() },
        ..PredictOptions::default()
    };
    let mut runs: Vec<Run> =
        args.traces.iter().enumerate().map(|(number, path)| Run::new(number, path, args, &predict)).collect();
    let paths: Vec<&Path> = args.traces.iter().map(PathBuf::as_path).collect();
    let mut watch = Watch::new(&paths, args.poll)?;
    loop {
        for run in runs.iter_mut().filter(|run| !run.failed) {
            run.look(&mut office)?;
        }
        if runs.iter().all(|run| run.failed || (args.until_complete && run.seen && !run.running)) {
            break;
        }
        let settle = runs.iter().filter_map(Run::settles_in).min();
        let alive = runs.iter().any(|run| run.running).then_some(LIFE_SIGN);
        let woken = watch.wait(settle.into_iter().chain(alive).min(), &[])?;
        if woken.stop {
            break;
        }
        if woken.look {
            std::thread::sleep(TOGETHER);
        }
    }
    Ok(office.exit)
}

/// The periods of earlier runs. Those that have none, or cannot be read, do not count.
fn history(paths: &[PathBuf], args: &Args) -> anyhow::Result<Vec<f64>> {
    let options = Options { mode: args.mode, ..Options::default() };
    let reading = OpenOptions::default();
    let mut periods = Vec::new();
    for opened in inputs::sources(paths, false, &reading) {
        match opened.and_then(|opened| detect(&opened.name, opened.source, &options)) {
            Ok(analysis) => match analysis.detection.period {
                Some(period) => periods.push(period),
                None => {
                    complain("warning", &format!("{}: not periodic, left out", analysis.detection.source))
                }
            },
            Err(error) => complain("warning", &error.to_string()),
        }
    }
    if periods.is_empty() && !paths.is_empty() {
        anyhow::bail!("--history: expected at least one trace with a period, found none");
    }
    Ok(periods)
}

/// The scheduler, and who is told what it does.
struct Office {
    scheduler: Scheduler,
    json: bool,
    exit: Exit,
}

impl Office {
    /// Do something about a run, and say so if its priority has changed. What cannot be done for one job does not stop the others.
    fn change(
        &mut self,
        run: &RunName<'_>,
        t: Option<f64>,
        act: impl FnOnce(&mut Scheduler) -> Result<(), ConfigfsError>,
    ) -> anyhow::Result<()> {
        let standing = |scheduler: &Scheduler| {
            scheduler.standing(run.number).map(|(job, standing)| (job.to_owned(), standing.clone()))
        };
        let before = standing(&self.scheduler);
        if let Err(error) = act(&mut self.scheduler) {
            complain("", &error.to_string());
            self.exit = Exit::Failed;
        }
        let after = standing(&self.scheduler);
        match (before, after) {
            (Some((job, old)), None) => self.say("ended", &job, run.source, t, &old),
            (Some((old_job, old)), Some((job, new))) if old_job != job => {
                self.say("ended", &old_job, run.source, t, &old)?;
                self.say("started", &job, run.source, t, &new)
            }
            (None, Some((job, new))) => self.say("started", &job, run.source, t, &new),
            (Some((_, old)), Some((job, new))) if old.priority() != new.priority() => {
                self.say("changed", &job, run.source, t, &new)
            }
            _ => Ok(()),
        }
    }

    fn say(
        &self,
        event: &'static str,
        job: &str,
        source: &str,
        t: Option<f64>,
        standing: &Standing,
    ) -> anyhow::Result<()> {
        let record = Record::new(event, job, source, t, standing);
        let line = if self.json { serde_json::to_string(&record)? } else { record.line() };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).context("cannot write to standard output")
    }
}

/// Which run something is about.
struct RunName<'a> {
    number: usize,
    source: &'a str,
}

/// A trace that is followed.
struct Run {
    number: usize,
    source: String,
    follower: Follower,
    /// `--job`.
    job: Option<String>,
    alone: bool,
    news: Signals,
    unsettled_since: Option<Instant>,
    /// It cannot be followed.
    failed: bool,
    /// It has been there.
    seen: bool,
    /// It has a priority.
    running: bool,
}

/// The predictor of the trace's (first) signal, and what came of it since the last look.
struct Signals {
    options: PredictOptions,
    predictor: Option<Predictor>,
    evidence: Evidence,
    restarted: bool,
    flushes: Vec<Flush>,
}

struct Flush {
    t: f64,
    since_start: f64,
    period: Option<f64>,
    phases: u64,
}

impl Run {
    fn new(number: usize, path: &Path, args: &Args, options: &PredictOptions) -> Self {
        let span = args.mode.map_or(Span::Actual, |mode| mode.span());
        Run {
            number,
            source: path.display().to_string(),
            follower: Follower::new(path, span, OpenOptions::default()),
            job: args.job.clone(),
            alone: args.traces.len() == 1,
            news: Signals {
                options: options.clone(),
                predictor: None,
                evidence: Evidence::default(),
                restarted: false,
                flushes: Vec::new(),
            },
            unsettled_since: None,
            failed: false,
            seen: false,
            running: false,
        }
    }

    /// Take in what is new, and act on it.
    fn look(&mut self, office: &mut Office) -> anyhow::Result<()> {
        let news = &mut self.news;
        let polled = self.follower.poll(&mut |event| news.take(event));
        let mut status = match polled {
            Ok(status) => status,
            Err(error) => return self.fail(&error, office),
        };
        if self.running && !status.ended {
            status.ended = self.follower.bury(&mut |event| news.take(event));
        }
        match (status.unsettled, self.unsettled_since) {
            (false, _) => self.unsettled_since = None,
            (true, None) => self.unsettled_since = Some(Instant::now()),
            (true, Some(since)) if since.elapsed() >= GRACE => {
                self.unsettled_since = None;
                self.follower.settle(&mut |event| news.take(event));
            }
            (true, Some(_)) => {}
        }
        self.act(status, office)
    }

    fn act(&mut self, status: Status, office: &mut Office) -> anyhow::Result<()> {
        let name = RunName { number: self.number, source: &self.source };
        if std::mem::take(&mut self.news.restarted) {
            office.change(&name, None, |scheduler| scheduler.ended(name.number))?;
            (self.running, self.seen) = (false, false);
        }
        // A trace that is complete when it is first seen is of a job that is over.
        if status.found && !self.seen && (!status.ended || self.running) {
            let job = self.job.clone().unwrap_or_else(|| job_id::of(self.follower.path(), self.alone));
            office.change(&name, None, |scheduler| scheduler.started(name.number, &job))?;
            self.running = true;
        }
        self.seen |= status.found;
        for flush in self.news.flushes.drain(..).filter(|_| self.running) {
            office.change(&name, Some(flush.t), |scheduler| {
                scheduler.predicted(name.number, flush.period)?;
                scheduler.observed(name.number, flush.since_start, flush.phases)
            })?;
        }
        if status.ended && self.running {
            office.change(&name, None, |scheduler| scheduler.ended(name.number))?;
            self.running = false;
        }
        Ok(())
    }

    fn fail(&mut self, error: &SourceError, office: &mut Office) -> anyhow::Result<()> {
        complain("", &error.to_string());
        office.exit = Exit::Failed;
        self.failed = true;
        self.running = false;
        let name = RunName { number: self.number, source: &self.source };
        office.change(&name, None, |scheduler| scheduler.ended(name.number))
    }

    fn settles_in(&self) -> Option<Duration> {
        let since = self.unsettled_since?;
        Some(GRACE.saturating_sub(since.elapsed()) + Duration::from_millis(1))
    }
}

impl Signals {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Restarted => {
                self.predictor = None;
                self.flushes.clear();
                self.restarted = true;
            }
            Event::Stream(stream) if self.predictor.is_none() => {
                let mut predictor = Predictor::new(&stream.name, self.options.clone());
                predictor.set_per_unit(stream.per_unit);
                self.evidence = Evidence::new(stream.begins.unwrap_or(0));
                if let Some(start) = stream.begins {
                    predictor.begins_at(start);
                }
                self.predictor = Some(predictor);
            }
            Event::Requests { stream: 0, requests } => {
                if let Some(predictor) = &mut self.predictor {
                    predictor.add(requests);
                    self.evidence.add(requests);
                }
            }
            Event::Flush { stream: 0, until } => {
                if let Some(predictor) = &mut self.predictor {
                    let prediction = predictor.predict(until);
                    self.flushes.push(Flush {
                        t: prediction.t,
                        since_start: (until - self.evidence.begins) as f64 * 1e-9,
                        period: self.evidence.period(&prediction),
                        phases: predictor.signal().phases_above_mean() as u64,
                    });
                }
            }
            // Of several quantities the first is the job's.
            Event::Stream(_) | Event::Requests { .. } | Event::Flush { .. } => {}
            Event::Warning(text) => complain("warning", text),
        }
    }
}
