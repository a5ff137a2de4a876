//! One trace that is followed by the clock: ranks that lag behind are waited for, but only for a limited
//! time.

use super::Follower;
use super::event::{Event, Status};
use super::files::FileUse;
use super::grace::Grace;
use crate::request::Mode;
use crate::{OpenOptions, SourceError, Span};
use std::path::Path;
use std::time::{Duration, Instant};

/// A trace, and how things stand with it.
#[derive(Debug)]
pub struct Trace {
    follower: Follower,
    grace: Grace,
    failed: bool,
    ended: bool,
}

impl Trace {
    /// The trace of this name, which need not exist yet.
    pub fn new(path: &Path, mode: Option<Mode>, reading: &OpenOptions) -> Self {
        let span = mode.map_or(Span::Actual, |mode| mode.span());
        let follower = Follower::new(path, span, reading.clone());
        Trace { follower, grace: Grace::default(), failed: false, ended: false }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.follower.path()
    }

    /// It cannot be followed.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Its job has ended.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Will it be known when its job has ended?
    pub fn tells_end(&self) -> bool {
        self.follower.tells_end()
    }

    /// What is there now is of an earlier run.
    pub fn ignore_present(&mut self) {
        self.follower.ignore_present();
    }

    /// Keep what the job does with its files.
    pub fn watch_files(&mut self) {
        self.follower.watch_files();
    }

    /// What it did with them since the last time, where the input tells.
    pub fn take_files(&mut self) -> Vec<FileUse> {
        self.follower.take_files()
    }

    /// Take in what is new; with `needs_end` also find out whether the job is dead, and take what it left.
    ///
    /// # Errors
    ///
    /// It cannot be followed any further.
    pub fn look(&mut self, needs_end: bool, visit: &mut dyn FnMut(Event<'_>)) -> Result<Status, SourceError> {
        let grace = &mut self.grace;
        let mut visit_and_time = |event: Event<'_>| {
            match event {
                Event::Flush { .. } => grace.flushed(Instant::now()),
                Event::Restarted => grace.restarted(),
                _ => {}
            }
            visit(event);
        };
        let mut status = match self.follower.poll(&mut visit_and_time) {
            Ok(status) => status,
            Err(error) => {
                self.failed = true;
                return Err(error);
            }
        };
        if needs_end && !status.ended {
            status.ended = self.follower.finish_if_dead(visit);
        }
        self.ended = status.ended;
        if self.grace.is_over(status.unsettled, Instant::now()) {
            self.settle(visit);
        }
        Ok(status)
    }

    /// Treat what has arrived as a complete flush, although some ranks have not reported.
    pub fn settle(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        self.follower.settle(visit);
    }

    /// How long ranks that lag behind are still waited for.
    pub fn grace_left(&self, now: Instant) -> Option<Duration> {
        self.grace.left(now)
    }
}
