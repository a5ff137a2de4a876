//! Our trace, while its job runs.
//!
//! Every rank writes out by itself. A flush is complete when each of them has written something since the one
//! before, and then tells everything up to the smallest `covered_until`. Where some ranks have nothing to say
//! ([`settle`](OurTrace::settle)), those that did count.

use super::event::{Event, Status, Stream};
use super::files::{FileUse, FileUses};
use crate::request::Request;
use crate::request::layer::Layer;
use crate::source::our_trace::{is_of, moved_most, request};
use crate::source::{SourceError, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tmio_trace::growing::{GrowingTrace, Look};
use tmio_trace::{Event as Told, ReadError};

#[derive(Debug)]
pub(super) struct OurTrace {
    name: String,
    trace: GrowingTrace,
    span: Span,
    rounds: Rounds,
    warned: usize,
    buried: bool,
    clock_told: bool,
}

/// Which ranks have written since the last flush.
#[derive(Debug, Default)]
struct Rounds {
    /// The layer that is followed: of those that the first operations were of, the highest that moved nearly
    /// as much as the one that moved most.
    layer: Option<Layer>,
    covered: BTreeMap<u32, i64>,
    fresh: BTreeSet<u32>,
    until: Option<i64>,
    /// What was done with files, if that is asked for.
    files: Option<FileUses>,
}

impl OurTrace {
    pub fn new(path: &Path, span: Span, visit: &mut dyn FnMut(Event<'_>)) -> Self {
        let name = path.display().to_string();
        visit(Event::Stream(&Stream { name: name.clone(), begins: Some(0), per_unit: None }));
        let trace = GrowingTrace::new(path);
        OurTrace { name, trace, span, rounds: Rounds::default(), warned: 0, buried: false, clock_told: false }
    }

    /// `None`: these are the parts of another job.
    pub fn poll(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> Result<Option<Status>, SourceError> {
        let OurTrace { trace, span, rounds, .. } = self;
        let mut batch = Vec::new();
        let look = trace.poll(|told| rounds.take(told, *span, &mut batch, visit));
        let look = look.map_err(|source| SourceError::Io { name: self.name.clone(), source })?;
        self.warn(visit);
        self.tell_clock(visit);
        let grew = match look {
            Look::OtherJob => return Ok(None),
            Look::Nothing => false,
            Look::Parts(grew) => grew,
        };
        let ranks = self.trace.header().map_or(self.trace.known_ranks(), |header| header.ranks as usize);
        if ranks > 0 && self.rounds.fresh.len() >= ranks {
            self.rounds.flush(self.rounds.covered.values().copied().min(), visit);
        }
        let unsettled = !self.rounds.fresh.is_empty();
        Ok(Some(Status { found: true, grew, unsettled, ended: self.buried }))
    }

    pub fn settle(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        let fresh = self.rounds.fresh.iter().filter_map(|rank| self.rounds.covered.get(rank)).copied().min();
        self.rounds.flush(fresh, visit);
    }

    /// The job has ended: take the rest from the trace. `false`: it is that of another job.
    pub fn finish(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> Result<bool, SourceError> {
        let OurTrace { trace, span, rounds, .. } = self;
        let mut batch = Vec::new();
        let result = trace.read_committed(|told| rounds.take(told, *span, &mut batch, visit));
        let name = self.name.clone();
        if !result.map_err(|source| SourceError::Io { name: name.clone(), source })? {
            return Ok(false);
        }
        self.warn(visit);
        self.tell_clock(visit);
        if self.rounds.covered.is_empty() {
            let detail = String::new();
            return Err(ReadError::NoBlock { path: name.into(), detail }.into());
        }
        let end = self.trace.end().map(|end| end.end).or(self.rounds.covered.values().copied().max());
        self.rounds.flush(end, visit);
        Ok(true)
    }

    pub fn finish_if_dead(&mut self, visit: &mut dyn FnMut(Event<'_>)) -> bool {
        if self.buried || !self.trace.is_dead() {
            return self.buried;
        }
        let OurTrace { trace, span, rounds, .. } = self;
        let mut batch = Vec::new();
        trace.read_spools(|told| rounds.take(told, *span, &mut batch, visit));
        self.buried = true;
        self.rounds.flush(self.rounds.covered.values().copied().max(), visit);
        true
    }

    /// Keep what is done with files, for [`take_files`](Self::take_files).
    pub fn watch_files(&mut self) {
        self.rounds.files.get_or_insert_default();
    }

    pub fn take_files(&mut self) -> Vec<FileUse> {
        self.rounds.files.as_mut().map(FileUses::drain).unwrap_or_default()
    }

    /// What tells the run from others of the same name.
    pub fn job(&self) -> Option<(String, i64)> {
        self.trace.header().map(tmio_trace::Header::run)
    }

    /// Once, as soon as the header is there.
    fn tell_clock(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        let start = self.trace.header().map(|header| header.start).filter(|start| *start > 0);
        if let Some(origin) = start.filter(|_| !self.clock_told) {
            self.clock_told = true;
            visit(Event::Clock { stream: 0, origin });
        }
    }

    fn warn(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        for warning in &self.trace.warnings()[self.warned..] {
            visit(Event::Warning(warning));
        }
        self.warned = self.trace.warnings().len();
    }
}

impl Rounds {
    fn take(
        &mut self,
        told: Told<'_>,
        span: Span,
        batch: &mut Vec<Request>,
        visit: &mut dyn FnMut(Event<'_>),
    ) {
        let Told::Block(block) = told else { return };
        if let Some(files) = &mut self.files {
            files.take(&block);
        }
        batch.clear();
        if self.layer.is_none() {
            self.layer = moved_most(block.operations);
        }
        let taken = block.operations.iter().filter(|op| is_of(self.layer, op));
        batch.extend(taken.filter_map(|op| request(op, block.rank, span)));
        if !batch.is_empty() {
            visit(Event::Requests { stream: 0, requests: batch });
        }
        let covered = self.covered.entry(block.rank).or_insert(i64::MIN);
        *covered = (*covered).max(block.covered_until);
        self.fresh.insert(block.rank);
    }

    fn flush(&mut self, until: Option<i64>, visit: &mut dyn FnMut(Event<'_>)) {
        self.fresh.clear();
        let Some(until) = until.filter(|until| self.until.is_none_or(|before| *until > before)) else {
            return;
        };
        self.until = Some(until);
        visit(Event::Flush { stream: 0, until });
    }
}
