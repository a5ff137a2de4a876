//! Our trace, while its job runs.
//!
//! Every rank writes out by itself. A flush is complete when each of them has written something since the one
//! before, and then tells everything up to the smallest `covered_until`. Where some ranks have nothing to say
//! ([`settle`](OurTrace::settle)), those that did count.

use super::event::{Event, Status, Stream};
use super::files::{FileUse, FileUses};
use crate::layers::LayerBytes;
use crate::our_trace::{add_moved, is_of, request};
use crate::request::Request;
use crate::request::layer::Layer;
use crate::{SourceError, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tmio_trace::growing::{GrowingTrace, Look};
use tmio_trace::{Event as Told, ReadError};

/// Requests of layers that are not followed which are kept.
const MAX_ASIDE: usize = 1 << 18;

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
    /// What every layer has moved so far.
    moved: LayerBytes,
    /// The layer that is followed: the highest that has moved nearly as much as the one that has moved most.
    layer: Option<Layer>,
    /// Requests of other layers, in case that one of them becomes the one that is followed.
    aside: Vec<(Layer, Request)>,
    covered: BTreeMap<u32, i64>,
    fresh: BTreeSet<u32>,
    until: Option<i64>,
    /// What was done with files, if that is asked for.
    files: Option<FileUses>,
}

impl OurTrace {
    /// Of the trace that will be `path`, whose parts are in `parts`.
    pub fn new(path: &Path, parts: &Path, span: Span, visit: &mut dyn FnMut(Event<'_>)) -> Self {
        let name = path.display().to_string();
        visit(Event::Stream(&Stream { name: name.clone(), begins: Some(0), per_unit: None }));
        let trace = GrowingTrace::of_parts(path, parts);
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
        add_moved(&mut self.moved, block.operations);
        let layer = self.moved.choose(|_| true);
        if layer != self.layer {
            // What the other layer did before stays in the signal: it is less than what this one did.
            self.layer = layer;
            self.aside.retain(|(of, request)| {
                let follows = Some(*of) == layer;
                batch.extend(follows.then_some(*request));
                !follows
            });
        }
        for op in block.operations {
            let Some(request) = request(op, block.rank, span) else { continue };
            match is_of(self.layer, op) {
                true => batch.push(request),
                false if self.aside.len() < MAX_ASIDE => self.aside.push((op.kind.layer().into(), request)),
                false => {}
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::our_trace::tests::operation;
    use tmio_trace::TraceLayer;
    use tmio_trace::reader::Operations;

    /// A program that reads its input by POSIX and then writes by MPI-IO is followed at MPI-IO.
    #[test]
    fn the_layer_that_moves_most_by_now_is_followed() {
        use TraceLayer::{MpiIo, Posix};
        let mut rounds = Rounds::default();
        let mut told = Vec::new();
        for (sequence, operations) in [
            vec![operation(Posix, 1000, 0), operation(MpiIo, 1, 20)],
            vec![operation(MpiIo, 800, 40)],
            vec![operation(MpiIo, 700, 60), operation(Posix, 3, 80)],
            vec![operation(MpiIo, 600, 100)],
        ]
        .iter()
        .enumerate()
        {
            let block = Operations {
                rank: 0,
                sequence: sequence as u64,
                covered_until: 0,
                files: &[],
                operations,
                merged: &[],
                marks: &[],
            };
            let mut got = Vec::new();
            rounds.take(Told::Block(block), Span::Actual, &mut Vec::new(), &mut |event| {
                if let Event::Requests { requests, .. } = event {
                    got.extend(requests.iter().map(|request| request.bytes));
                }
            });
            told.push(got);
        }
        assert_eq!(told, [vec![1000], vec![], vec![1, 800, 700], vec![600]]);
    }
}
