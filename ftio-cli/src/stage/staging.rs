//! What becomes of the trace that `ftio stage` follows: predictions, decisions, copies.

use super::buffer::Buffer;
use super::job_clock::JobClock;
use super::lines::line;
use super::metrics::Metrics;
use super::mover::Mover;
use super::names::Names;
use super::oracle::forecast;
use super::progress::Progress;
use super::record::Record;
use crate::follow::Handler;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain};
use anyhow::Context;
use ftio_core::predict::{PredictOptions, Predictor};
use io_stage::plan::{Direction, Outcome, Planner, Use};
use io_stage::protocol::Places;
use sources::follow::{Event, FileUse, Status};
use sources::request::Request;
use sources::time::seconds;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tmio_trace::growing;

/// A file that was changed this long before the job began may still be the job's: clocks differ.
const CLOCKS_DIFFER: f64 = 2.0;

/// Look at everything at least this often.
const TICK: Duration = Duration::from_secs(1);
/// Where somebody watches, more often.
const WATCHED: Duration = Duration::from_millis(250);

/// Stages the files of one job.
#[derive(Debug)]
pub struct Staging {
    pub source: String,
    pub folders: Places<PathBuf>,
    pub planner: Planner,
    pub mover: Mover,
    pub buffer: Buffer,
    pub names: Names,
    pub options: PredictOptions,
    pub metrics: Option<Metrics>,
    pub json: bool,
    /// Something to wake up for.
    pub wakeup: UnixStream,
    pub capacity: Option<u64>,
    pub timeout: Option<Duration>,
    pub trace: PathBuf,
    pub state: State,
}

/// What has come of it so far.
#[derive(Debug)]
pub struct State {
    pub clock: JobClock,
    pub predictor: Option<Predictor>,
    /// Of a sampled quantity: what came so far, and for how long. What is above the mean is I/O.
    pub sampled: Option<(f64, f64)>,
    pub progress: Progress,
    /// When the job has ended, and when the last look at the buffer began.
    pub ended: Option<Instant>,
    pub last_look: Option<Instant>,
    /// When a file came into the buffer or was removed: a look that began before that is out of date.
    pub last_change: Option<Instant>,
    pub last_news: Instant,
    /// Files that are about to be removed, and how large they are.
    pub leaving: BTreeMap<PathBuf, u64>,
    /// With `--dry-run`, what would have been removed.
    pub pretended: BTreeSet<PathBuf>,
    pub complained: BTreeSet<String>,
    pub finished: bool,
}

impl Default for State {
    fn default() -> Self {
        State {
            clock: JobClock::new(),
            predictor: None,
            sampled: None,
            progress: Progress::new(),
            ended: None,
            last_look: None,
            last_change: None,
            last_news: Instant::now(),
            leaving: BTreeMap::new(),
            pretended: BTreeSet::new(),
            complained: BTreeSet::new(),
            finished: false,
        }
    }
}

impl Staging {
    pub fn is_dry(&self) -> bool {
        matches!(self.mover, Mover::Pretended(_))
    }

    /// Print a record.
    pub fn say(&mut self, record: Record) -> anyhow::Result<()> {
        self.state.progress.clear();
        let record = Record { dry_run: self.is_dry(), ..record };
        let text = match self.json {
            true => serde_json::to_string(&record)?,
            false => line(&record, Style::for_stdout()),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to standard output")
    }

    /// Say something once.
    pub fn warn(&mut self, text: String) {
        if self.state.complained.insert(text.clone()) {
            self.state.progress.clear();
            complain(Severity::Warning, &text);
        }
    }

    fn take_requests(&mut self, requests: &[Request]) {
        let Some(predictor) = &mut self.state.predictor else { return };
        predictor.add(requests);
        for request in requests.iter().filter(|request| request.bytes > 0) {
            let (start, end) = (seconds(request.start), seconds(request.end));
            if let Some((sum, time)) = &mut self.state.sampled {
                *sum += request.bytes as f64;
                *time += end - start;
                if request.bytes as f64 * *time <= *sum * (end - start) {
                    continue;
                }
            }
            self.planner.request(start, end, request.bytes);
        }
    }

    fn flush(&mut self, until: i64) {
        let Some(predictor) = &mut self.state.predictor else { return };
        let prediction = predictor.predict(until);
        self.state.clock.heard(prediction.t);
        if let Some(metrics) = &mut self.metrics {
            metrics.prediction(&prediction);
        }
        self.planner.flush(prediction.t, self.state.clock.now(), forecast(&prediction));
    }

    fn job_ended(&mut self) -> anyhow::Result<()> {
        let now = self.state.clock.now();
        self.state.ended = Some(Instant::now());
        self.planner.job_ended(now);
        self.say(Record::new(&self.source.clone(), now, "job-ended", &self.planner))
    }

    /// Everything that may have changed since the last time.
    fn step(&mut self) -> anyhow::Result<()> {
        let mut bytes = [0u8; 64];
        while self.wakeup.read(&mut bytes).is_ok_and(|read| read > 0) {}
        let silent = self.timeout.is_some_and(|timeout| self.state.last_news.elapsed() >= timeout);
        if silent && self.state.ended.is_none() && self.state.predictor.is_some() {
            self.job_ended()?;
        }
        self.take_outcome()?;
        self.take_evictions()?;
        self.take_look();
        let origin = self.state.clock.origin();
        let after_end = self.state.ended > self.state.last_look;
        self.buffer.look(origin, after_end);
        self.decide()?;
        let now = self.state.clock.now();
        // The job may have written something just before its end.
        self.state.finished = self.state.ended.is_some() && !after_end && self.planner.is_finished();
        if let Some(metrics) = &mut self.metrics {
            metrics.publish(&self.source, &self.planner, now)?;
        }
        let copied = self.mover.progress(now);
        self.state.progress.show(&self.planner, copied, now);
        Ok(())
    }

    fn take_outcome(&mut self) -> anyhow::Result<()> {
        let now = self.state.clock.now();
        let Some(done) = self.mover.ended(now) else { return Ok(()) };
        let outcome = done.outcome;
        let Some(copy) = self.planner.copied(now, &outcome) else { return Ok(()) };
        if matches!(outcome, Outcome::Verified { .. }) && copy.direction == Direction::In {
            self.state.last_change = Some(Instant::now());
        }
        for lost in done.lost {
            self.warn(format!("copies do not have {lost}: where they go, that is not possible"));
        }
        if matches!(outcome, Outcome::Changed | Outcome::Vanished) {
            self.buffer.look(self.state.clock.origin(), true);
        }
        let record = Record::outcome(&self.source.clone(), now, &copy, &outcome, &self.planner);
        self.say(record)
    }

    fn take_look(&mut self) {
        let look = self.buffer.found();
        if let Some(look) = look.filter(|look| Some(look.began) > self.state.last_change) {
            self.state.last_look = Some(look.began);
            match look.found {
                Ok(mut scan) => {
                    scan.entries.retain(|entry| !self.state.pretended.contains(&entry.path));
                    let now = self.state.clock.now();
                    self.planner.scanned(scan.entries, now);
                    if let Some(capacity) = self.capacity {
                        self.planner.occupancy(scan.used, Some(capacity));
                    }
                    scan.problems.into_iter().for_each(|problem| self.warn(problem));
                    if scan.special > 0 {
                        let folder = files::shown(&self.folders.buffer);
                        self.warn(format!("{folder}: devices, pipes and sockets are left where they are"));
                    }
                }
                Err(error) => self.warn(error.to_string()),
            }
        }
        if self.capacity.is_none()
            && let Some((used, total)) = self.buffer.file_system()
        {
            self.planner.occupancy(used, Some(total));
        }
    }
}

impl Handler for Staging {
    fn event(&mut self, _trace: usize, event: Event<'_>) {
        match event {
            Event::Restarted => {
                self.state.predictor = None;
                self.state.ended = None;
                self.planner.job_restarted();
                self.state.progress.clear();
                complain(Severity::Note, &format!("{}: another run has begun", self.source));
            }
            Event::Stream(stream) if self.state.predictor.is_none() => {
                let mut predictor = Predictor::new(&stream.name, self.options.clone());
                predictor.set_per_unit(stream.per_unit);
                self.state.sampled = stream.per_unit.map(|_| (0.0, 0.0));
                if let Some(start) = stream.begins {
                    predictor.begins_at(start);
                }
                self.state.predictor = Some(predictor);
            }
            Event::Requests { stream: 0, requests } => self.take_requests(requests),
            Event::Flush { stream: 0, until } => self.flush(until),
            Event::Clock { stream: 0, origin } => {
                self.state.clock.begins(origin);
                // Others tell when their first request was.
                if growing::running(&self.trace).or_else(|| growing::finished(&self.trace)).is_some() {
                    self.planner.job_begins(-CLOCKS_DIFFER);
                }
            }
            // Of several quantities the first is the job's.
            Event::Stream(_) | Event::Requests { .. } | Event::Flush { .. } | Event::Clock { .. } => {}
            Event::Warning(text) => self.warn(text.to_owned()),
        }
    }

    fn files(&mut self, _trace: usize, files: &[FileUse]) {
        for file in files {
            if let Some(path) = self.names.find(&file.name) {
                let (opened, closed) = (file.opened, file.closed);
                let (touched, read) = (file.touched.map(seconds), file.read.map(seconds));
                self.planner.used(&path, Use { opened, closed, touched, read });
            }
        }
    }

    fn looked(&mut self, _trace: usize, status: Status) -> anyhow::Result<()> {
        if status.grew {
            self.state.last_news = Instant::now();
        }
        if status.ended && self.state.ended.is_none() {
            self.job_ended()?;
        }
        Ok(())
    }

    fn needs_end(&self, _trace: usize) -> bool {
        self.state.ended.is_none()
    }

    fn round(&mut self, _news: bool) -> anyhow::Result<()> {
        self.step()
    }

    fn wakes(&self) -> (Option<BorrowedFd<'_>>, Option<Duration>) {
        let now = self.state.clock.now();
        let again = [self.planner.look_again(now), self.mover.ends()].into_iter().flatten();
        let again = again.map(|time| Duration::from_secs_f64((time - now).clamp(0.001, 1.0)));
        let tick = if self.state.progress.is_wanted() { WATCHED } else { TICK };
        let soonest = again.chain(self.buffer.due()).chain([tick]).min();
        let soonest = if self.state.finished { Some(Duration::ZERO) } else { soonest };
        (Some(self.wakeup.as_fd()), soonest)
    }

    fn stops(&mut self) -> bool {
        self.state.finished
    }
}
