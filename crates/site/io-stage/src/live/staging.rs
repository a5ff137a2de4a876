//! What becomes of the trace that is followed: predictions, decisions, copies.

use super::buffer::Buffer;
use super::job_clock::JobClock;
use super::mover::Mover;
use super::names::Names;
use super::oracle::forecast;
use super::record::Record;
use crate::plan::{Direction, Outcome, Planner, Use};
use crate::protocol::Places;
use ftio_core::predict::{PredictOptions, Prediction, Predictor};
use sources::follow::{Event, FileUse, Status};
use sources::request::Request;
use sources::time::seconds;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tmio_trace::growing;

/// A file that was changed this long before the job began may still be the job's: clocks differ.
const MAX_CLOCK_DIFFERENCE: f64 = 2.0;

/// What there is to tell, in the order in which it came.
#[derive(Debug)]
#[non_exhaustive]
pub enum Told {
    /// Something was decided or done.
    Record(Box<Record>),
    /// The predictor has answered a flush.
    Predicted(Box<Prediction>),
    /// Something is not as it should be. It is told once.
    Warning(String),
    /// Good to know.
    Note(String),
}

/// What a job is staged with.
#[derive(Debug)]
pub struct Means {
    /// What the trace is called.
    pub source: String,
    /// Where it is.
    pub trace: PathBuf,
    /// The burst buffer, and where files go.
    pub folders: Places<PathBuf>,
    /// Decides.
    pub planner: Planner,
    /// Copies and removes.
    pub mover: Mover,
    /// Looks at the buffer.
    pub buffer: Buffer,
    /// How the next phase is predicted.
    pub options: PredictOptions,
    /// Can be read when a copy, a removal or a look has ended.
    pub wakeup: UnixStream,
    /// How much fits into the buffer, if that is not the size of its file system.
    pub capacity: Option<u64>,
    /// The job has ended when nothing came from its trace for this long.
    pub timeout: Option<Duration>,
}

/// Stages the files of one job.
#[derive(Debug)]
pub struct Staging {
    pub(super) source: String,
    trace: PathBuf,
    pub(super) folders: Places<PathBuf>,
    pub(super) planner: Planner,
    pub(super) mover: Mover,
    buffer: Buffer,
    names: Names,
    options: PredictOptions,
    wakeup: UnixStream,
    capacity: Option<u64>,
    timeout: Option<Duration>,
    pub(super) state: State,
    told: Vec<Told>,
}

/// What has come of it so far.
#[derive(Debug)]
pub(super) struct State {
    pub(super) clock: JobClock,
    predictor: Option<Predictor>,
    /// Of a sampled quantity: what came so far, and for how long. What is above the mean is I/O.
    sampled: Option<(f64, f64)>,
    /// When the job has ended, and when the last look at the buffer began.
    pub(super) ended: Option<Instant>,
    last_look: Option<Instant>,
    /// When a file came into the buffer or was removed: a look that began before that is out of date.
    pub(super) last_change: Option<Instant>,
    last_news: Instant,
    /// Files that are about to be removed, and how large they are.
    pub(super) leaving: BTreeMap<PathBuf, u64>,
    /// Where removals are only pretended, what would have been removed.
    pub(super) pretended: BTreeSet<PathBuf>,
    pub(super) complained: BTreeSet<String>,
    finished: bool,
}

impl State {
    fn new() -> Self {
        State {
            clock: JobClock::new(),
            predictor: None,
            sampled: None,
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
    /// Begins; nothing has come yet.
    pub fn new(means: Means) -> Self {
        Staging {
            names: Names::below(&means.folders.buffer, &means.folders.buffer),
            source: means.source,
            trace: means.trace,
            folders: means.folders,
            planner: means.planner,
            mover: means.mover,
            buffer: means.buffer,
            options: means.options,
            wakeup: means.wakeup,
            capacity: means.capacity,
            timeout: means.timeout,
            state: State::new(),
            told: Vec::new(),
        }
    }

    /// What was decided, and what is expected.
    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    /// What the trace is called.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// In seconds of job time.
    pub fn now(&self) -> f64 {
        self.state.clock.now()
    }

    /// Bytes of the copy under way that are copied.
    pub fn copied(&self) -> u64 {
        self.mover.progress(self.now())
    }

    /// The job has ended, and everything was staged that can be.
    pub fn is_finished(&self) -> bool {
        self.state.finished
    }

    /// What there is to tell since the last time.
    pub fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    /// The sums so far.
    pub fn summary(&self) -> Record {
        let now = self.now();
        let report = Some(self.planner.report(now));
        let record = Record::new(&self.source, now, "summary", &self.planner);
        Record { report, dry_run: self.is_dry(), ..record }
    }

    fn is_dry(&self) -> bool {
        matches!(self.mover, Mover::Pretended(_))
    }

    /// Tell a record.
    pub(super) fn say(&mut self, record: Record) {
        let record = Record { dry_run: self.is_dry(), ..record };
        self.told.push(Told::Record(Box::new(record)));
    }

    /// Tell something once.
    pub(super) fn warn(&mut self, text: String) {
        if self.state.complained.insert(text.clone()) {
            self.told.push(Told::Warning(text));
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
        self.planner.flush(prediction.t, self.state.clock.now(), forecast(&prediction));
        self.told.push(Told::Predicted(Box::new(prediction)));
    }

    fn job_ended(&mut self) {
        let now = self.state.clock.now();
        self.state.ended = Some(Instant::now());
        self.planner.job_ended(now);
        self.say(Record::new(&self.source, now, "job-ended", &self.planner));
    }

    /// Looks at everything that may have changed since the last time, decides, and acts.
    pub fn step(&mut self) {
        let mut bytes = [0u8; 64];
        while self.wakeup.read(&mut bytes).is_ok_and(|read| read > 0) {}
        let silent = self.timeout.is_some_and(|timeout| self.state.last_news.elapsed() >= timeout);
        if silent && self.state.ended.is_none() && self.state.predictor.is_some() {
            self.job_ended();
        }
        self.take_outcome();
        self.take_evictions();
        self.take_look();
        let origin = self.state.clock.origin();
        let after_end = self.state.ended > self.state.last_look;
        self.buffer.look(origin, after_end);
        self.decide();
        // The job may have written something just before its end.
        self.state.finished = self.state.ended.is_some() && !after_end && self.planner.is_finished();
    }

    fn take_outcome(&mut self) {
        let now = self.state.clock.now();
        let Some(done) = self.mover.ended(now) else { return };
        let outcome = done.outcome;
        let Some(copy) = self.planner.copied(now, &outcome) else { return };
        if matches!(outcome, Outcome::Verified { .. }) && copy.direction == Direction::In {
            self.state.last_change = Some(Instant::now());
        }
        for lost in done.lost {
            self.warn(format!("copies do not have {lost}: where they go, that is not possible"));
        }
        if matches!(outcome, Outcome::Changed | Outcome::Vanished) {
            self.buffer.look(self.state.clock.origin(), true);
        }
        self.say(Record::outcome(&self.source, now, &copy, &outcome, &self.planner));
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

    /// Something came from the trace.
    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Restarted => {
                self.state.predictor = None;
                self.state.ended = None;
                self.planner.job_restarted();
                self.told.push(Told::Note(format!("{}: another run has begun", self.source)));
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
                    self.planner.job_begins(-MAX_CLOCK_DIFFERENCE);
                }
            }
            // Of several quantities the first is the job's.
            Event::Stream(_) | Event::Requests { .. } | Event::Flush { .. } | Event::Clock { .. } => {}
            Event::Warning(text) => self.warn(text.to_owned()),
        }
    }

    /// What the job did with its files.
    pub fn files(&mut self, files: &[FileUse]) {
        for file in files {
            if let Some(path) = self.names.find(&file.name) {
                let (opened, closed) = (file.opened, file.closed);
                let (touched, read) = (file.touched.map(seconds), file.read.map(seconds));
                self.planner.used(&path, Use { opened, closed, touched, read });
            }
        }
    }

    /// All that one look at the trace gave has come.
    pub fn looked(&mut self, status: Status) {
        if status.grew {
            self.state.last_news = Instant::now();
        }
        if status.ended && self.state.ended.is_none() {
            self.job_ended();
        }
    }

    /// Does it matter whether the job is dead?
    pub fn needs_end(&self) -> bool {
        self.state.ended.is_none()
    }

    /// When to take the next step: when this can be read, or after this time, which is `tick` at most.
    pub fn wakes(&self, tick: Duration) -> (BorrowedFd<'_>, Duration) {
        let now = self.state.clock.now();
        let again = [self.planner.look_again(now), self.mover.ends()].into_iter().flatten();
        let again = again.map(|time| Duration::from_secs_f64((time - now).clamp(0.001, 1.0)));
        let soonest = again.chain(self.buffer.due()).fold(tick, Duration::min);
        (self.wakeup.as_fd(), if self.state.finished { Duration::ZERO } else { soonest })
    }
}
