//! The trace of this project: a file, a stream, or what a job that has not ended has left of one.

use super::content::Content;
use super::recognise::Format;
use super::{Input, Job, OpenOptions, Source, SourceError, Span};
use crate::request::Request;
use crate::request::{Batch, Detail};
use crate::source::coverage::CoverageTally;
use std::io::Read;
use std::path::{Path, PathBuf};
use tmio_trace::reader::Operations;
use tmio_trace::{Event, Operation, Trace};

/// Operations at a time: as many as fit the first cache of a processor.
const PIECE: usize = 256;

/// Our own trace.
#[derive(Debug)]
pub struct TmioTrace {
    from: From,
}

enum From {
    Path(PathBuf),
    Stream(PathBuf, Box<dyn Read + Send>),
}

impl std::fmt::Debug for From {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (From::Path(path) | From::Stream(path, _)) = self;
        path.fmt(f)
    }
}

impl TmioTrace {
    /// The trace of that name; it is opened when it is read.
    pub fn new(path: &Path) -> Self {
        TmioTrace { from: From::Path(path.to_owned()) }
    }

    /// A finished trace from any stream; `name` is used in messages.
    pub fn from_reader(name: &str, input: Box<dyn Read + Send>) -> Self {
        TmioTrace { from: From::Stream(PathBuf::from(name), input) }
    }

    /// A trace whose beginning was looked at.
    pub(super) fn from_content(content: Content) -> Self {
        match &content.path {
            Some(path) => TmioTrace::new(path),
            None => TmioTrace::from_reader(&content.name.clone(), content.into_reader()),
        }
    }

    /// Open it.
    pub(crate) fn open(self) -> Result<Trace, SourceError> {
        Ok(match self.from {
            From::Path(path) => Trace::open(&path)?,
            From::Stream(name, input) => Trace::from_reader(&name, input),
        })
    }
}

/// The input, if it is one of our traces, or the parts of one.
pub fn recognised(input: &Input, options: &OpenOptions) -> Result<Option<TmioTrace>, SourceError> {
    if let Input::Path(path) = input
        && (path.is_dir() || !path.exists())
    {
        return Ok(Some(TmioTrace::new(path)));
    }
    // Standard input can be looked at only once.
    if *input == Input::Stdin || options.pattern.is_some() {
        return Ok(None);
    }
    let content = Content::open(input)?;
    Ok((Format::of(&content) == Some(Format::OurTrace)).then(|| TmioTrace::from_content(content)))
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
                Some(Detail { request: request(op, block.rank, span)?, file: Some(op.file) })
            }));
            visit(Batch { requests: &batch, files: block.files });
            batch.iter().map(|detail| detail.request.bytes).fold(0, u64::saturating_add)
        })
    }
}

impl TmioTrace {
    /// Hand every block to `visit`, piece by piece, which returns how many bytes were transferred in it.
    fn read_blocks(self, mut visit: impl FnMut(&Operations<'_>) -> u64) -> Result<Job, SourceError> {
        let mut highest_rank = None;
        let mut coverage = CoverageTally::default();
        let outcome = self.open()?.read_pieces(PIECE, |event| match event {
            Event::Header(_) => {}
            Event::Rank(info) => {
                highest_rank = highest_rank.max(Some(info.rank));
                coverage.rank(info);
            }
            Event::Block(block) => {
                highest_rank = highest_rank.max(Some(block.rank));
                coverage.transferred(std::iter::once(visit(&block)));
            }
        })?;
        let counted = highest_rank.map_or(0, |rank: u32| rank.saturating_add(1));
        Ok(Job {
            ranks: outcome.header.as_ref().map_or(counted, |header| header.ranks),
            start: Some(0),
            end: outcome.end.as_ref().map(|end| end.end),
            complete: outcome.complete,
            warnings: outcome.warnings,
            notes: coverage.hint().into_iter().collect(),
            ..Job::default()
        })
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
