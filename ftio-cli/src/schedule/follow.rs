//! `ftio schedule --configfs DIR TRACE…`: follow jobs, and keep their priorities up to date.

use super::priorities::{JobOf, Priorities};
use super::{Args, job_id};
use crate::exit::{Exit, wrong_usage};
use crate::follow::{Handler, Trace, Until, follow};
use crate::inputs;
use crate::terminal::text::{Severity, complain};
use ftio_core::detect::{Options, detect};
use ftio_core::predict::{PredictOptions, Predictor};
use io_sets::configfs::Configfs;
use io_sets::observed::Observed;
use io_sets::scheduler::{self, Scheduler};
use sources::OpenOptions;
use sources::follow::{Event, Status};
use sources::time::seconds;
use std::path::{Path, PathBuf};

/// Follow until told to stop, or until all jobs have ended if that is asked for.
pub fn run(args: &Args, directory: &Path) -> anyhow::Result<Exit> {
    if args.job.is_some() && args.traces.len() > 1 {
        let count = args.traces.len();
        return Err(wrong_usage(format!("--job is the id of one trace, but {count} traces were given")));
    }
    let configfs = Configfs::open(directory)?;
    let (min_period, max_period) = (Some(args.min_period), args.max_period);
    let options = Options { mode: args.mode.mode, min_period, max_period, ..Options::default() };
    let reading = args.quantity.options()?;
    let history = history(&args.history, &options, &reading)?;
    let scheduler = Scheduler::new(Some(configfs), scheduler::Options { history, early: args.early });
    let predict = PredictOptions { detect: options, ..PredictOptions::default() };
    let job = |path: &PathBuf| Job::new(path, args, predict.clone());
    let mut scheduling = Scheduling {
        jobs: args.traces.iter().map(job).collect(),
        priorities: Priorities::new(scheduler, args.json),
    };
    let mut traces: Vec<Trace> =
        args.traces.iter().map(|path| Trace::new(path, args.mode.mode, &reading)).collect();
    let until = Until { complete: args.until_complete, ..Until::default() };
    let exit = follow(&mut traces, &mut scheduling, args.poll, &until)?;
    Ok(exit.max(scheduling.priorities.exit()))
}

/// The periods of earlier runs. Those that have none, or cannot be read, do not count.
fn history(paths: &[PathBuf], options: &Options, reading: &OpenOptions) -> anyhow::Result<Vec<f64>> {
    let mut periods = Vec::new();
    for opened in inputs::sources(paths, false, reading) {
        match opened.and_then(|opened| detect(&opened.name.clone(), opened.into_source()?, options)) {
            Ok(analysis) => match analysis.detection.period {
                Some(period) => periods.push(period),
                None => {
                    let name = &analysis.detection.source;
                    complain(Severity::Warning, &format!("{name}: not periodic, left out"));
                }
            },
            Err(error) => complain(Severity::Warning, &inputs::explained(&error)),
        }
    }
    if periods.is_empty() && !paths.is_empty() {
        anyhow::bail!("--history: expected at least one trace with a period, found none");
    }
    Ok(periods)
}

/// Turns what comes from the traces into priorities.
struct Scheduling {
    jobs: Vec<Job>,
    priorities: Priorities,
}

impl Handler for Scheduling {
    fn event(&mut self, trace: usize, event: Event<'_>) {
        self.jobs[trace].take(event);
    }

    fn looked(&mut self, trace: usize, status: Status) -> anyhow::Result<()> {
        self.jobs[trace].act(trace, status, &mut self.priorities)
    }

    fn failed(&mut self, trace: usize) -> anyhow::Result<()> {
        self.jobs[trace].end(trace, &mut self.priorities)
    }

    /// A job that is dead must not keep its priority.
    fn needs_end(&self, trace: usize) -> bool {
        self.jobs[trace].running
    }
}

/// A job, the predictor of its (first) signal, and what came since the last look.
struct Job {
    path: PathBuf,
    source: String,
    /// `--job`.
    id: Option<String>,
    /// It is the only one.
    alone: bool,
    options: PredictOptions,
    predictor: Option<Predictor>,
    observed: Observed,
    restarted: bool,
    flushes: Vec<Flush>,
    /// Its trace has been there.
    seen: bool,
    /// It has a priority.
    running: bool,
}

struct Flush {
    t: f64,
    since_start: f64,
    period: Option<f64>,
    phases: u64,
}

impl Job {
    fn new(path: &Path, args: &Args, options: PredictOptions) -> Self {
        Job {
            path: path.to_owned(),
            source: path.display().to_string(),
            id: args.job.clone(),
            alone: args.traces.len() == 1,
            options,
            predictor: None,
            observed: Observed::default(),
            restarted: false,
            flushes: Vec::new(),
            seen: false,
            running: false,
        }
    }

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
                self.observed = Observed::new(seconds(stream.begins.unwrap_or(0)));
                if let Some(start) = stream.begins {
                    predictor.begins_at(start);
                }
                self.predictor = Some(predictor);
            }
            Event::Requests { stream: 0, requests } => {
                if let Some(predictor) = &mut self.predictor {
                    predictor.add(requests);
                    requests.iter().for_each(|request| self.observed.request(seconds(request.start)));
                }
            }
            Event::Flush { stream: 0, until } => self.flush(until),
            // Of several quantities the first is the job's.
            Event::Stream(_) | Event::Requests { .. } | Event::Flush { .. } | Event::Clock { .. } => {}
            Event::Warning(text) => complain(Severity::Warning, text),
        }
    }

    fn flush(&mut self, until: i64) {
        let Some(predictor) = &mut self.predictor else { return };
        let prediction = predictor.predict(until);
        let credible = |period: &f64| self.observed.supports(*period, prediction.t);
        self.flushes.push(Flush {
            t: prediction.t,
            since_start: seconds(until) - self.observed.begins(),
            period: prediction.period.filter(credible),
            phases: predictor.signal().phases_above_mean() as u64,
        });
    }

    /// Act on what has come.
    fn act(&mut self, number: usize, status: Status, priorities: &mut Priorities) -> anyhow::Result<()> {
        if std::mem::take(&mut self.restarted) {
            self.end(number, priorities)?;
            self.seen = false;
        }
        let trace = JobOf { number, source: &self.source };
        // A trace that is complete when it is first seen is of a job that is over.
        if status.found && !self.seen && (!status.ended || self.running) {
            let id = self.id.clone().unwrap_or_else(|| job_id::of(&self.path, self.alone));
            priorities.change(trace, None, |scheduler| scheduler.started(number, &id))?;
            self.running = true;
        }
        self.seen |= status.found;
        for flush in self.flushes.drain(..).filter(|_| self.running) {
            priorities.change(trace, Some(flush.t), |scheduler| {
                scheduler.predicted(number, flush.period)?;
                scheduler.observed(number, flush.since_start, flush.phases)
            })?;
        }
        if status.ended && self.running {
            self.end(number, priorities)?;
        }
        Ok(())
    }

    fn end(&mut self, number: usize, priorities: &mut Priorities) -> anyhow::Result<()> {
        self.running = false;
        let trace = JobOf { number, source: &self.source };
        priorities.change(trace, None, |scheduler| scheduler.ended(number))
    }
}
