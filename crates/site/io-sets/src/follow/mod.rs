//! Running jobs are followed by their traces, and their priorities kept up to date.
//!
//! [`Scheduling`] is told what comes from the traces. What has changed are [`Told`] values, which it hands
//! over; it prints nothing.

mod job_id;
mod priorities;
mod record;

pub use record::Record;

use crate::configfs::ConfigfsError;
use crate::observed::Observed;
use crate::scheduler::Scheduler;
use ftio_core::detect::{Options, detect};
use ftio_core::predict::{PredictOptions, Predictor};
use priorities::{JobOf, Priorities};
use sources::follow::{Event, Status};
use sources::time::seconds;
use sources::{Opened, SourceError};
use std::path::{Path, PathBuf};

/// What there is to tell, in the order in which it came.
#[derive(Debug)]
#[non_exhaustive]
pub enum Told {
    /// A priority has changed.
    Record(Record),
    /// A priority could not be written.
    Failed(ConfigfsError),
    /// Something is wrong with a trace.
    Warning(String),
}

/// The periods of earlier runs.
#[derive(Debug, Default)]
pub struct History {
    /// In seconds.
    pub periods: Vec<f64>,
    /// Runs that have none.
    pub not_periodic: Vec<String>,
    /// Why others could not be read.
    pub problems: Vec<SourceError>,
}

impl History {
    /// Of these runs.
    pub fn of(runs: impl Iterator<Item = Result<Opened, SourceError>>, options: &Options) -> Self {
        let mut history = History::default();
        for opened in runs {
            match opened.and_then(|opened| detect(&opened.name.clone(), opened.into_source()?, options)) {
                Ok(analysis) => match analysis.detection.period {
                    Some(period) => history.periods.push(period),
                    None => history.not_periodic.push(analysis.detection.source),
                },
                Err(error) => history.problems.push(error),
            }
        }
        history
    }
}

/// Turns what comes from traces into priorities. Traces are known by their number.
#[derive(Debug)]
pub struct Scheduling {
    jobs: Vec<Job>,
    priorities: Priorities,
}

impl Scheduling {
    /// For the jobs of these traces; `id` is that of the job if there is one trace, and it is known.
    pub fn new(traces: &[PathBuf], id: Option<&str>, options: &PredictOptions, scheduler: Scheduler) -> Self {
        let alone = traces.len() == 1;
        let job = |path: &PathBuf| Job::new(path, id, alone, options.clone());
        Scheduling { jobs: traces.iter().map(job).collect(), priorities: Priorities::new(scheduler) }
    }

    /// What there is to tell since the last time.
    pub fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.priorities.told)
    }

    /// Something came from a trace.
    pub fn event(&mut self, trace: usize, event: Event<'_>) {
        match (event, self.jobs.get_mut(trace)) {
            (Event::Warning(text), _) => self.priorities.told.push(Told::Warning(text.to_owned())),
            (event, Some(job)) => job.take(event),
            _ => {}
        }
    }

    /// All that one look at a trace gave has come.
    pub fn looked(&mut self, trace: usize, status: Status) {
        if let Some(job) = self.jobs.get_mut(trace) {
            job.act(trace, status, &mut self.priorities);
        }
    }

    /// A trace cannot be followed any further.
    pub fn failed(&mut self, trace: usize) {
        if let Some(job) = self.jobs.get_mut(trace) {
            job.end(trace, &mut self.priorities);
        }
    }

    /// A job that is dead must not keep its priority.
    pub fn needs_end(&self, trace: usize) -> bool {
        self.jobs.get(trace).is_some_and(|job| job.running)
    }
}

/// A job, the predictor of its (first) signal, and what came since the last look.
#[derive(Debug, Default)]
struct Job {
    path: PathBuf,
    source: String,
    /// If it is known.
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

#[derive(Debug)]
struct Flush {
    t: f64,
    since_start: f64,
    period: Option<f64>,
    phases: u64,
}

impl Job {
    fn new(path: &Path, id: Option<&str>, alone: bool, options: PredictOptions) -> Self {
        Job {
            path: path.to_owned(),
            source: path.display().to_string(),
            id: id.map(str::to_owned),
            alone,
            options,
            ..Job::default()
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
            _ => {}
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
    fn act(&mut self, number: usize, status: Status, priorities: &mut Priorities) {
        if std::mem::take(&mut self.restarted) {
            self.end(number, priorities);
            self.seen = false;
        }
        let trace = JobOf { number, source: &self.source };
        // A trace that is complete when it is first seen is of a job that is over.
        if status.found && !self.seen && (!status.ended || self.running) {
            let id = self.id.clone().unwrap_or_else(|| job_id::of(&self.path, self.alone));
            priorities.change(trace, None, |scheduler| scheduler.started(number, &id));
            self.running = true;
        }
        self.seen |= status.found;
        for flush in self.flushes.drain(..).filter(|_| self.running) {
            priorities.change(trace, Some(flush.t), |scheduler| {
                scheduler.predicted(number, flush.period)?;
                scheduler.observed(number, flush.since_start, flush.phases)
            });
        }
        if status.ended && self.running {
            self.end(number, priorities);
        }
    }

    fn end(&mut self, number: usize, priorities: &mut Priorities) {
        self.running = false;
        let trace = JobOf { number, source: &self.source };
        priorities.change(trace, None, |scheduler| scheduler.ended(number));
    }
}
