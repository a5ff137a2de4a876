//! Where requests come from.
//!
//! A [`Source`] hands out requests in batches, in any order, and says at the end what it learned about the job. The analysis
//! knows nothing else about formats: a new one is a new implementation of this trait.

use crate::coverage::CoverageTally;
use crate::detail::{self, Batch, Detail};
use crate::request::{Mode, Request};
use crate::step::Stretch;
use std::path::{Path, PathBuf};
use tmio_trace::reader::Operations;
use tmio_trace::{Event, ReadError, Trace};

/// What is known about the job after reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Number of ranks of the job.
    pub ranks: u32,
    /// When the job began, in nanoseconds of job time, where the trace knows: idle time then counts.
    pub start: Option<i64>,
    /// When the job ended, likewise.
    pub end: Option<i64>,
    /// Did the job reach its end, and could everything be read?
    pub complete: bool,
    /// What could not be used, in words.
    pub warnings: Vec<String>,
    /// What else somebody should know who reads the result.
    pub notes: Vec<String>,
}

/// Something that requests can be read from, once.
pub trait Source {
    /// Hand all requests to `visit`.
    fn read(self, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError>;

    /// Hand all requests to `visit`, together with their rank, file and deadline as far as these are known.
    fn read_detailed(self, visit: &mut dyn FnMut(Batch<'_>)) -> Result<Job, SourceError>
    where
        Self: Sized,
    {
        self.read(&mut |requests| detail::visit_plain(requests, visit))
    }

    /// Hand the bandwidths of a single class to `visit`: phases as the trace has them, else each request as one.
    fn read_phases(self, mode: Mode, visit: &mut dyn FnMut(&[Stretch])) -> Result<Job, SourceError>
    where
        Self: Sized,
    {
        self.read(&mut |requests| detail::visit_as_phases(requests, mode, visit))
    }
}

/// Why there are no requests. The message names the file, what was expected and what was found.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SourceError(#[from] tmio_trace::ReadError);

/// Our own trace: a file, or what a job that has not ended has left of one.
#[derive(Clone, Debug)]
pub struct TmioTrace {
    path: PathBuf,
}

impl TmioTrace {
    /// The trace of that name; it is opened when it is read.
    pub fn new(path: &Path) -> Self {
        TmioTrace { path: path.to_owned() }
    }
}

impl Source for TmioTrace {
    fn read(self, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        let mut batch = Vec::new();
        self.read_blocks(|block| {
            batch.clear();
            batch.extend(block.operations.iter().filter_map(|op| {
                let class = op.kind.class()?;
                Some(Request { start: op.start, end: op.end, bytes: op.bytes, class })
            }));
            visit(&batch);
            batch.iter().map(|request| request.bytes).fold(0, u64::saturating_add)
        })
    }

    fn read_detailed(self, visit: &mut dyn FnMut(Batch<'_>)) -> Result<Job, SourceError> {
        let mut batch = Vec::new();
        self.read_blocks(|block| {
            batch.clear();
            batch.extend(block.operations.iter().filter_map(|op| Detail::of(block.rank, op)));
            visit(Batch { requests: &batch, files: block.files });
            batch.iter().map(|detail| detail.request.bytes).fold(0, u64::saturating_add)
        })
    }
}

impl TmioTrace {
    /// Hand every block to `visit`, which returns how many bytes were transferred in it.
    fn read_blocks(self, mut visit: impl FnMut(&Operations<'_>) -> u64) -> Result<Job, SourceError> {
        let mut highest_rank = None;
        let mut coverage = CoverageTally::default();
        let outcome = open(&self.path)?.read(|event| match event {
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
        })
    }
}

/// Open a trace, or the `.parts` of one. Any other directory is none, even if there are traces in it: they would be taken for one job.
pub(crate) fn open(path: &Path) -> Result<Trace, SourceError> {
    let is_parts = path.extension().is_some_and(|extension| extension == "parts");
    if path.is_dir() && !is_parts {
        return Err(ReadError::Directory { path: path.to_owned() }.into());
    }
    Ok(Trace::open(path)?)
}

/// Requests that are in memory already.
#[derive(Clone, Debug)]
pub struct InMemory<'a> {
    /// The requests, in any order.
    pub requests: &'a [Request],
    /// What is known about the job.
    pub job: Job,
}

impl Source for InMemory<'_> {
    fn read(self, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        visit(self.requests);
        Ok(self.job)
    }
}
