//! Inputs that grow: what was added since the last look, each byte read once.
//!
//! A [`Follower`] looks when it is told to ([`poll`](Follower::poll)) and hands out [`Event`]s; it never waits. Whoever calls decides when to look:
//! after a file event, or every now and then. It follows
//!
//! | input | how it grows | a flush is |
//! |---|---|---|
//! | our trace (`our_trace`) | blocks appended to `OUT.parts/HOST`, at last `OUT` | one block of every rank |
//! | JSONL, MessagePack of the C++ TMIO | sections appended | everything up to the section `io_time` |
//! | GekkoFS metrics, tables of requests, text by a pattern | entries or lines appended | what one look finds |
//! | metric proxy, tables of samples | samples of one or more quantities appended | what one look finds, for each quantity |
//!
//! The input need not exist yet. If it is truncated, replaced, or written anew by another run of the job, a [`Event::Restarted`] says so and
//! everything is read from its beginning.

mod appended;
mod our_trace;
mod sampled;
mod split;
mod tail;

use crate::request::Request;
use crate::source::content::{Content, Input};
use crate::source::recognise::Format;
use crate::source::{OpenOptions, SourceError, Span};
use appended::Appended;
use our_trace::OurTrace;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tmio_trace::growing;

/// A signal in the input: all requests of a trace, or one of several sampled quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// What results call it.
    pub name: String,
    /// When it begins, in nanoseconds of job time; `None`: with its first request.
    pub begins: Option<i64>,
    /// See [`Job::per_unit`](crate::source::Job::per_unit).
    pub per_unit: Option<f64>,
}

/// Something that was added.
#[derive(Debug)]
pub enum Event<'a> {
    /// The input is that of another run: nothing said before counts any more.
    Restarted,
    /// A signal. They are numbered from 0, in the order in which they are announced.
    Stream(&'a Stream),
    /// Requests of a signal.
    Requests {
        /// Its number.
        stream: usize,
        /// In any order.
        requests: &'a [Request],
    },
    /// Everything about a signal up to a job time has been handed out.
    Flush {
        /// Its number.
        stream: usize,
        /// In nanoseconds.
        until: i64,
    },
    /// Something that could not be used.
    Warning(&'a str),
}

/// How things stand after a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// There is something to follow.
    pub found: bool,
    /// Something was added since the last look.
    pub grew: bool,
    /// Requests were handed out that no flush has covered yet: look again soon, or [`settle`](Follower::settle).
    pub unsettled: bool,
    /// The job has reached its end, or is dead; nothing more will come of this run.
    pub ended: bool,
}

/// What tells finished files of the same name apart: device, inode, time of the last change, length. Inodes are used again.
type Version = (u64, u64, i64, i64, u64);

/// Follows one input.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    name: String,
    span: Span,
    options: OpenOptions,
    state: State,
    /// The file under the name that was read, or is not to be.
    known: Option<Version>,
    complained: bool,
}

#[derive(Debug)]
enum State {
    Waiting,
    Ours(Box<OurTrace>),
    Appended(Box<Appended>),
    /// Our trace was read to its end: job and start.
    Finished(Option<(String, i64)>),
}

impl Follower {
    /// Of the input `path`, which may also be the `.parts` of a trace.
    pub fn new(path: &Path, span: Span, options: OpenOptions) -> Self {
        let is_parts = path.extension().is_some_and(|extension| extension == "parts");
        let path = if is_parts { path.with_extension("") } else { path.to_owned() };
        let name = path.display().to_string();
        Follower { path, name, span, options, state: State::Waiting, known: None, complained: false }
    }

    /// What is there now is of an earlier run: wait for the next one.
    pub fn ignore_present(&mut self) {
        self.known = version(&self.path);
    }

    /// The input's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hand out what was added since the last time.
    pub fn poll(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> Result<Status, SourceError> {
        // A restart, and what comes after it, is one look.
        for _ in 0..4 {
            if let Some(status) = self.look(visit)? {
                return Ok(status);
            }
        }
        Ok(Status::default())
    }

    /// Nothing more came for a while: what was handed out counts as flushed.
    pub fn settle(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        match &mut self.state {
            State::Ours(trace) => trace.settle(visit),
            State::Appended(appended) => appended.settle(visit),
            State::Waiting | State::Finished(_) => {}
        }
    }

    /// Is the job dead, as far as can be seen? If so, what it left in memory is handed out, and that was all.
    pub fn bury(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        match &mut self.state {
            State::Ours(trace) => trace.bury(visit),
            _ => false,
        }
    }

    /// `None`: look again.
    fn look(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> Result<Option<Status>, SourceError> {
        match &mut self.state {
            State::Waiting => self.find(visit),
            State::Finished(job) => {
                let other_job = growing::running(&self.path).is_some_and(|run| Some(&run) != job.as_ref());
                let other_file = version(&self.path).is_some_and(|file| Some(file) != self.known);
                if other_job || other_file {
                    visit(Event::Restarted);
                    self.state = State::Waiting;
                    return Ok(None);
                }
                Ok(Some(Status { found: true, ended: true, ..Status::default() }))
            }
            State::Ours(trace) => {
                let Some(mut status) = trace.poll(visit)? else {
                    visit(Event::Restarted);
                    self.state = State::Waiting;
                    return Ok(None);
                };
                let file = version(&self.path).filter(|file| Some(*file) != self.known);
                if let Some(file) = file {
                    self.known = Some(file);
                    if trace.finish(visit)? {
                        self.state = State::Finished(trace.job());
                        status = Status { found: true, grew: true, ended: true, unsettled: false };
                    }
                }
                Ok(Some(status))
            }
            State::Appended(appended) => match appended.poll(visit)? {
                Some(status) => Ok(Some(status)),
                None => {
                    visit(Event::Restarted);
                    self.state = State::Waiting;
                    Ok(None)
                }
            },
        }
    }

    /// Is there something by now?
    fn find(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> Result<Option<Status>, SourceError> {
        let nothing = Ok(Some(Status::default()));
        let file = version(&self.path).filter(|file| Some(*file) != self.known);
        let running = growing::running(&self.path);
        // A trace that is older than the job that runs is of an earlier one.
        if running.is_some() && (file.is_none() || running != growing::finished(&self.path)) {
            self.known = self.known.or(file);
            self.state = State::Ours(Box::new(OurTrace::new(&self.path, self.span, visit)));
            return Ok(None);
        }
        let Some(file) = file else { return nothing };
        if self.path.is_dir() {
            let what = "is a directory: one input is followed, or several, each by its name".into();
            return Err(SourceError::Nothing { name: self.name.clone(), what });
        }
        let content = Content::open(&Input::Path(self.path.clone()))?;
        if content.head().is_empty() {
            return nothing;
        }
        if content.path.is_none() {
            let what = "is compressed: what is appended to it cannot be read as it comes".into();
            return Err(SourceError::Nothing { name: self.name.clone(), what });
        }
        let format = if self.options.pattern.is_some() { Some(Format::Text) } else { Format::of(&content) };
        match format {
            Some(Format::OurTrace) => {
                let mut trace = Box::new(OurTrace::new(&self.path, self.span, visit));
                self.known = Some(file);
                trace.finish(visit)?;
                self.state = State::Finished(trace.job());
                return Ok(Some(Status { found: true, grew: true, ended: true, unsettled: false }));
            }
            Some(Format::Darshan) => {
                let what =
                    "is a Darshan log, which is written when the job has ended: see `ftio FILE`".into();
                return Err(SourceError::Nothing { name: self.name.clone(), what });
            }
            Some(Format::Recorder | Format::TraceEvents) => {
                let what = "is of a format that can only be read when it is whole: see `ftio FILE`".into();
                return Err(SourceError::Nothing { name: self.name.clone(), what });
            }
            Some(format) if appended::is_certain(format, content.head()) => {
                let options = self.options.clone();
                let appended = Appended::new(&self.path, format, content.head(), self.span, options)?;
                self.state = State::Appended(Box::new(appended));
                return Ok(None);
            }
            _ => {}
        }
        if content.head().len() >= 4096 && format.is_none() && !self.complained {
            self.complained = true;
            let found = String::from_utf8_lossy(&content.head()[..24]).escape_debug().to_string();
            visit(Event::Warning(&format!(
                "{}: is of no known format; it begins with \"{found}\"",
                self.name
            )));
        }
        nothing
    }
}

fn version(path: &Path) -> Option<Version> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.len()))
}

#[cfg(test)]
mod tests;
