//! Inputs that grow: what was added since the last look, each byte read once.
//!
//! A [`Follower`] looks when [`poll`](Follower::poll) is called, and hands out [`Event`]s; it never
//! waits. The caller decides when to look: after a file event, or every now and then. A [`Trace`] adds how
//! long ranks that lag behind are waited for. Followed are
//!
//! | input | how it grows | a flush is |
//! |---|---|---|
//! | our trace | blocks appended to `OUT.parts/HOST`, at last `OUT` | one block of every rank |
//! | JSONL, MessagePack of the C++ TMIO | sections appended | everything up to the section `io_time` |
//! | GekkoFS metrics, tables of requests, text by a pattern | entries or lines appended | what one look finds |
//! | metric proxy, tables of samples | samples of one or more quantities appended | what one look finds, for each quantity |
//! | anything else, anything compressed, standard input | it does not: it is read once, when it is there | everything |
//!
//! The input need not exist yet. If it is truncated, replaced, or rewritten by another run of the job, an
//! [`Event::Restarted`] says so and everything is read from its beginning.

mod appended;
mod event;
mod files;
mod grace;
mod our_trace;
mod sampled;
mod tail;
mod trace;
mod whole;

pub use event::{Event, Status, Stream};
pub use files::FileUse;
pub use trace::Trace;

use crate::content::{Content, Input};
use crate::{OpenOptions, SourceError, Span, open_content, recognise};
use appended::Appended;
use our_trace::OurTrace;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tmio_trace::growing;
use tmio_trace::reader::parts_path;

/// What tells finished files of the same name apart: device, inode, time of the last change, length. Inodes
/// are used again.
type Version = (u64, u64, i64, i64, u64);

/// Follows one input.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// Where its parts are, if it is a trace of ours.
    parts: PathBuf,
    name: String,
    span: Span,
    options: OpenOptions,
    state: State,
    /// The file under the name that was read, or is not to be.
    known: Option<Version>,
    complained: bool,
    /// How much of a file of no known format was there at the last look.
    unknown: Option<u64>,
    /// What was done with files, if that is asked for.
    files: Option<Vec<FileUse>>,
}

#[derive(Debug)]
enum State {
    Waiting,
    Ours(Box<OurTrace>),
    Appended(Box<Appended>),
    /// Our trace was read to its end: job and start.
    Finished(Option<(String, i64)>),
    /// An input that does not grow was read.
    Read,
}

impl Follower {
    /// Of the input `path`, which may also be the `.parts` of a trace, or `-` for standard input.
    pub fn new(path: &Path, span: Span, options: OpenOptions) -> Self {
        let is_parts = path.extension().is_some_and(|extension| extension == "parts");
        let path = if is_parts { path.with_extension("") } else { path.to_owned() };
        let (parts, name) = (parts_path(&path), Input::new(&path).name());
        Self::of(path, parts, name, span, options)
    }

    /// Of parts in a directory that may have any name, say that of an open one. The finished trace, which is
    /// somewhere else, is not looked for.
    pub fn of_parts(directory: &Path, span: Span, options: OpenOptions) -> Self {
        let name = directory.display().to_string();
        // No file has that name.
        Self::of(PathBuf::new(), directory.to_owned(), name, span, options)
    }

    fn of(path: PathBuf, parts: PathBuf, name: String, span: Span, options: OpenOptions) -> Self {
        Follower {
            path,
            parts,
            name,
            span,
            options,
            state: State::Waiting,
            known: None,
            complained: false,
            unknown: None,
            files: None,
        }
    }

    /// What is there now is of an earlier run: wait for the next one.
    pub fn ignore_present(&mut self) {
        self.known = version(&self.path);
    }

    /// Keep what the job does with its files, for [`take_files`](Self::take_files). Only our trace tells.
    pub fn watch_files(&mut self) {
        self.files.get_or_insert_default();
    }

    /// What the job did with its files since the last time.
    pub fn take_files(&mut self) -> Vec<FileUse> {
        let mut files = self.files.as_mut().map(std::mem::take).unwrap_or_default();
        if let State::Ours(trace) = &mut self.state {
            files.extend(trace.take_files());
        }
        files
    }

    /// A trace of ours, from its beginning.
    fn our_trace(&self, visit: &mut dyn FnMut(Event<'_>)) -> Box<OurTrace> {
        let mut trace = Box::new(OurTrace::new(&self.path, &self.parts, self.span, visit));
        if self.files.is_some() {
            trace.watch_files();
        }
        trace
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

    /// Nothing more came for a while: treat what was passed on as a complete flush.
    pub fn settle(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        match &mut self.state {
            State::Ours(trace) => trace.settle(visit),
            State::Appended(appended) => appended.settle(visit),
            State::Waiting | State::Finished(_) | State::Read => {}
        }
    }

    /// Whether the job is dead, as far as can be seen. If so, passes on what it left in memory.
    pub fn finish_if_dead(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        match &mut self.state {
            State::Ours(trace) => trace.finish_if_dead(visit),
            _ => false,
        }
    }

    /// Will it be known when the job has ended? Files that others append to do not say so.
    pub fn tells_end(&self) -> bool {
        !matches!(self.state, State::Appended(_))
    }

    /// `None`: look again.
    fn look(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> Result<Option<Status>, SourceError> {
        match &mut self.state {
            State::Waiting => self.find(visit),
            State::Read => {
                if version(&self.path).is_some_and(|file| Some(file) != self.known) {
                    visit(Event::Restarted);
                    self.state = State::Waiting;
                    return Ok(None);
                }
                Ok(Some(Status { found: true, ended: true, ..Status::default() }))
            }
            State::Finished(job) => {
                let other_job =
                    growing::running_in(&self.parts).is_some_and(|run| Some(&run) != job.as_ref());
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
                        if let Some(files) = &mut self.files {
                            files.extend(trace.take_files());
                        }
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
        let input = Input::new(&self.path);
        let file = version(&self.path).filter(|file| Some(*file) != self.known);
        if let Input::Path(_) = input {
            let running = growing::running_in(&self.parts);
            // A trace that is older than the job that runs is of an earlier one.
            if running.is_some() && (file.is_none() || running != growing::finished(&self.path)) {
                self.known = self.known.or(file);
                self.state = State::Ours(self.our_trace(visit));
                return Ok(None);
            }
            if file.is_none() {
                return nothing;
            }
        }
        if self.path.is_dir() {
            return whole::folder(&self.path, self.span, &self.options, visit).map(|()| self.have_read(file));
        }
        let content = Content::open(&input)?;
        if input == Input::Stdin && recognise(&content, &self.options).is_none() {
            // It can be read only once: nothing more will come.
            return open_content(content, &self.options).and(nothing);
        }
        if content.head().is_empty() {
            return nothing;
        }
        let Some(format) = recognise(&content, &self.options) else {
            self.complain(content.head(), visit);
            return nothing;
        };
        let is_read_whole = content.compressed || input == Input::Stdin;
        match format.grows.filter(|_| !is_read_whole) {
            Some(growth) if appended::is_certain(growth, content.head()) => {
                let options = self.options.clone();
                let appended = Appended::new(&self.path, format, growth, content.head(), self.span, options)?;
                self.state = State::Appended(Box::new(appended));
                Ok(None)
            }
            Some(_) => nothing,
            None if format.name == "tmio-trace" && !is_read_whole => {
                let mut trace = self.our_trace(visit);
                self.known = file;
                trace.finish(visit)?;
                if let Some(files) = &mut self.files {
                    files.extend(trace.take_files());
                }
                self.state = State::Finished(trace.job());
                Ok(Some(Status { found: true, grew: true, ended: true, unsettled: false }))
            }
            None => {
                whole::file(content, format, self.span, &self.options, visit).map(|()| self.have_read(file))
            }
        }
    }

    fn have_read(&mut self, file: Option<Version>) -> Option<Status> {
        self.known = file;
        self.state = State::Read;
        Some(Status { found: true, grew: true, ended: true, unsettled: false })
    }

    /// A file of no known format is worth a word when it holds much, or has not grown since the last look.
    fn complain(&mut self, head: &[u8], visit: &mut dyn FnMut(Event<'_>)) {
        const MUCH: usize = 4096;
        let length = version(&self.path).map(|file| file.4);
        let rests = self.unknown.is_some() && self.unknown == length;
        self.unknown = length;
        if (head.len() >= MUCH || rests) && !self.complained {
            self.complained = true;
            let found = String::from_utf8_lossy(&head[..head.len().min(24)]).escape_debug().to_string();
            let name = &self.name;
            visit(Event::Warning(&format!(
                "{name}: unknown format; it begins with \"{found}\". Waiting for more"
            )));
        }
    }
}

fn version(path: &Path) -> Option<Version> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.len()))
}

#[cfg(test)]
mod tests;
