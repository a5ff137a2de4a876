//! The trace of this project: a file, a stream, or what a job that has not ended has left of one.

use super::content::Content;
use super::coverage::CoverageTally;
use super::error::SourceError;
use super::job::{Job, Marked, Source, distinct};
use crate::request::{Batch, Completion, Detail, Request, Span};
use std::io::Read;
use std::path::Path;
use tmio_trace::reader::{Operations, parts_path};
use tmio_trace::{Event, Mark, Operation, Outcome, Trace, parts};

/// Operations at a time: as many as fit the first cache of a processor.
const PIECE: usize = 256;

/// Marks that are kept: more cannot be shown.
const MOST_MARKS: usize = 10_000;

/// Does an input that begins like this hold a finished one?
pub(super) use tmio_trace::reader::is_trace_start as looks_like;

/// Is a folder the parts of an unfinished one, or is there no file of that name but its parts?
pub(super) fn is_parts(path: &Path) -> bool {
    let has_name = path.extension().is_some_and(|extension| extension == "parts");
    (has_name && path.is_dir()) || (!path.exists() && parts_path(path).is_dir())
}

/// A finished trace, or one that was recovered, whose parts are read if they are still there.
pub(super) fn open(content: Content) -> TmioTrace {
    if let Some((path, job)) =
        content.path.as_deref().and_then(|path| Some((path, parts::of_recovered(path)?)))
    {
        return TmioTrace(Trace::from_job(path, job));
    }
    TmioTrace::from_reader(&content.name.clone(), content.into_reader())
}

/// Our own trace.
#[derive(Debug)]
pub struct TmioTrace(Trace);

impl TmioTrace {
    /// The trace of that name, or its parts.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(TmioTrace(Trace::open(path)?))
    }

    /// A finished trace from any stream; `name` is used in messages.
    pub fn from_reader(name: &str, input: Box<dyn Read + Send>) -> Self {
        TmioTrace(Trace::from_reader(Path::new(name), input))
    }

    /// What the trace tells, frame by frame.
    pub fn into_trace(self) -> Trace {
        self.0
    }
}

impl Source for TmioTrace {
    fn read(self: Box<Self>, span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let mut batch = Vec::new();
        self.read_blocks(|block| {
            batch.clear();
            batch.extend(block.operations.iter().filter_map(|op| request(op, block.rank, span)));
            visit(&batch);
            batch.iter().map(|request| request.bytes).fold(0, u64::saturating_add)
        })
    }

    fn read_detailed(
        self: Box<Self>,
        span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        let mut batch = Vec::new();
        self.read_blocks(|block| {
            batch.clear();
            batch.extend(block.operations.iter().filter_map(|op| {
                Some(Detail {
                    request: request(op, block.rank, span)?,
                    file: Some(op.file),
                    completion: op
                        .nonblocking
                        .map(|times| Completion { done: op.end, deadline: times.deadline }),
                })
            }));
            visit(Batch { requests: &batch, files: block.files });
            batch.iter().map(|detail| detail.request.bytes).fold(0, u64::saturating_add)
        })
    }
}

impl TmioTrace {
    /// Hand out requests, and everything else that the trace tells to `watch`.
    pub(crate) fn read_watched(
        self,
        span: Span,
        visit: &mut dyn FnMut(&[Request]),
        watch: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(Job, Outcome), SourceError> {
        let mut batch = Vec::new();
        let take = |block: &Operations<'_>| {
            batch.clear();
            batch.extend(block.operations.iter().filter_map(|op| request(op, block.rank, span)));
            visit(&batch);
            batch.iter().map(|request| request.bytes).fold(0, u64::saturating_add)
        };
        self.read_events(usize::MAX, take, watch)
    }

    /// Hand every block to `visit`, piece by piece, which returns how many bytes were transferred in it.
    fn read_blocks(self, visit: impl FnMut(&Operations<'_>) -> u64) -> Result<Job, SourceError> {
        self.read_events(PIECE, visit, &mut |_| {}).map(|(job, _)| job)
    }

    fn read_events(
        self,
        piece: usize,
        mut visit: impl FnMut(&Operations<'_>) -> u64,
        watch: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(Job, Outcome), SourceError> {
        let mut highest_rank = None;
        let mut coverage = CoverageTally::default();
        let mut marks = Vec::new();
        let outcome = self.0.read_pieces(piece, |event| {
            watch(&event);
            match event {
                Event::Header(_) => {}
                Event::Rank(info) => {
                    highest_rank = highest_rank.max(Some(info.rank));
                    coverage.rank(info);
                }
                Event::Block(block) => {
                    highest_rank = highest_rank.max(Some(block.rank));
                    coverage.transferred(std::iter::once(visit(&block)));
                    if marks.len() < MOST_MARKS {
                        let marked = |mark: &Mark| Marked { time: mark.time, text: mark.text.clone() };
                        marks.extend(block.marks.iter().map(marked));
                    }
                }
            }
        })?;
        let counted = highest_rank.map(|rank: u32| rank.saturating_add(1));
        let job = Job {
            ranks: outcome.header.as_ref().map(|header| header.ranks).or(counted),
            start: Some(0),
            end: outcome.known_until,
            complete: outcome.complete,
            warnings: outcome.warnings.clone(),
            notes: coverage.note(&outcome).into_iter().collect(),
            marks: distinct(marks, outcome.known_until.unwrap_or(0)),
            origin: outcome.header.as_ref().map(|header| header.start).filter(|start| *start > 0),
            ..Job::default()
        };
        Ok((job, outcome))
    }
}

/// The request that an operation is, if it moves data.
pub(crate) fn request(op: &Operation, rank: u32, span: Span) -> Option<Request> {
    let end = match (span, &op.nonblocking) {
        (Span::Required, Some(times)) => times.deadline,
        _ => op.end,
    };
    Some(Request { start: op.start, end, bytes: op.bytes, class: op.kind.class()?, rank: Some(rank) })
}
