//! How one run looked, phase by phase and function by function: what scaling models are made from.
//!
//! The figures of a [`ModeProfile`] are those that TMIO writes and FTIO's `ioparse` hands to Extra-P, under the same names and
//! in bytes, seconds and bytes per second. See [`phase`] for what a phase is, and [`bandwidth`] for how phases become the
//! bandwidth of an application.
//!
//! | input | where the figures come from |
//! |---|---|
//! | our trace | every operation |
//! | a TMIO file | as the file has them, the bandwidth of the application from its phases |
//! | a Darshan log | its counters; phases and bandwidths from DXT where there is some |
//! | anything else | its requests |

pub mod bandwidth;
mod darshan;
pub mod measurements;
pub mod phase;
mod tally;
mod tmio;

use crate::inspect::summary::{AsyncSummary, FileSummary, summarize};
use crate::source::recognise::Format;
use crate::source::{
    Input, OpenOptions, Source, SourceError, Span, TmioTrace, content, open, open_content, our_trace,
};
use bandwidth::Bandwidth;
use phase::Access;
use std::collections::BTreeMap;
use std::path::Path;
pub use tally::Profiler;
use tmio_trace::{Class, Event};

/// The requests of a class, seen in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Series {
    /// Blocking reads.
    ReadSync,
    /// Blocking writes.
    WriteSync,
    /// Nonblocking reads, from issue to completion.
    ReadAsyncActual,
    /// Nonblocking reads, from issue to the moment they had to be complete.
    ReadAsyncRequired,
    /// Nonblocking writes, from issue to completion.
    WriteAsyncActual,
    /// Nonblocking writes, from issue to the moment they had to be complete.
    WriteAsyncRequired,
}

impl Series {
    /// All of them, in `ioparse`'s order.
    pub const ALL: [Series; 6] = [
        Series::ReadSync,
        Series::WriteSync,
        Series::ReadAsyncActual,
        Series::ReadAsyncRequired,
        Series::WriteAsyncActual,
        Series::WriteAsyncRequired,
    ];

    /// TMIO's name.
    pub fn name(self) -> &'static str {
        match self {
            Series::ReadSync => "read_sync",
            Series::WriteSync => "write_sync",
            Series::ReadAsyncActual => "read_async_t",
            Series::ReadAsyncRequired => "read_async_b",
            Series::WriteAsyncActual => "write_async_t",
            Series::WriteAsyncRequired => "write_async_b",
        }
    }

    /// Whose requests it shows.
    pub fn class(self) -> Class {
        match self {
            Series::ReadSync => Class::ReadSync,
            Series::WriteSync => Class::WriteSync,
            Series::ReadAsyncActual | Series::ReadAsyncRequired => Class::ReadAsync,
            Series::WriteAsyncActual | Series::WriteAsyncRequired => Class::WriteAsync,
        }
    }

    /// Do requests count until they had to be complete?
    pub fn is_required(self) -> bool {
        matches!(self, Series::ReadAsyncRequired | Series::WriteAsyncRequired)
    }
}

/// The figures of one [`Series`]. What is not known is `None`; what did not happen is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModeProfile {
    /// Bytes of all ranks.
    pub total_bytes: Option<f64>,
    /// Bytes of the rank with most.
    pub max_bytes_per_rank: Option<f64>,
    /// Bytes of the largest phase.
    pub max_bytes_per_phase: Option<f64>,
    /// Phases of the rank with most.
    pub max_io_phases_per_rank: Option<f64>,
    /// Phases of all ranks.
    pub total_io_phases: Option<f64>,
    /// Operations of the phase with most.
    pub max_io_ops_in_phase: Option<f64>,
    /// Operations of the rank with most.
    pub max_io_ops_per_rank: Option<f64>,
    /// Operations of all ranks.
    pub total_io_ops: Option<f64>,
    /// Ranks with at least one operation.
    pub number_of_ranks: Option<f64>,
    /// Sum of the durations of all phases, in seconds.
    pub time: Option<f64>,
    /// Sum of what a phase went on beyond the moment it had to be complete, in seconds.
    pub lost_time: Option<f64>,
    /// How fast; `None` where nothing was transferred.
    pub bandwidth: Option<Bandwidth>,
}

/// All calls of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FunctionProfile {
    /// Calls.
    pub calls: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Sum of the durations in seconds; of nonblocking ones from issue to completion.
    pub time: f64,
}

/// How one run looked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Ranks of the job; 0 where the input does not tell.
    pub ranks: u32,
    /// Time of the job, summed over its ranks, with what tracing took of it, in seconds.
    pub total_time: Option<f64>,
    /// What tracing took of it.
    pub overhead: Option<f64>,
    /// One entry for each of [`Series::ALL`].
    pub modes: [ModeProfile; 6],
    /// Nonblocking writes as `ftio info` shows them, where deadlines are known.
    pub write_async: Option<AsyncSummary>,
    /// Nonblocking reads, likewise.
    pub read_async: Option<AsyncSummary>,
    /// By function, named as in [`OpKind`](tmio_trace::OpKind): `write_at`, `iread`, `open` …
    pub functions: BTreeMap<String, FunctionProfile>,
    /// One entry per file name.
    pub files: Vec<FileSummary>,
    /// What could not be used, in words.
    pub warnings: Vec<String>,
}

impl Profile {
    /// The figures of a series.
    pub fn mode(&self, series: Series) -> &ModeProfile {
        &self.modes[series as usize]
    }
}

/// Profile an input of any format.
pub fn profile(input: &Input, options: &OpenOptions) -> Result<Profile, SourceError> {
    if our_trace::recognised(input, options)?.is_some()
        && let Input::Path(path) = input
    {
        return of_our_trace(path);
    }
    let content = content::Content::open(input)?;
    match Format::of(&content).filter(|_| options.pattern.is_none()) {
        Some(Format::TmioJson | Format::TmioMessagePack) => {
            tmio::profile(&input.name(), content.into_reader())
        }
        Some(Format::Darshan) => darshan::profile(content, options.layer),
        Some(format) => of_one(input, open_content(content, format, options)?),
        None => of_one(input, open(input, options)?),
    }
}

fn of_our_trace(path: &Path) -> Result<Profile, SourceError> {
    let summary = summarize(&path.display().to_string(), TmioTrace::new(path))?;
    let mut profiler = Profiler::default();
    tmio_trace::Trace::open(path)?.read(|event| {
        if let Event::Block(block) = event {
            block.operations.iter().for_each(|op| profiler.add(block.rank, op));
        }
    })?;
    let mut profile = profiler.finish();
    let total = f64::from(summary.ranks) * (summary.t_end - summary.t_start);
    profile.ranks = summary.ranks;
    profile.total_time = Some(total).filter(|total| *total > 0.0);
    profile.overhead = summary.overhead.time;
    profile.write_async = Some(summary.write_async);
    profile.read_async = Some(summary.read_async);
    profile.files = summary.files;
    profile.warnings.splice(0..0, summary.notes.into_iter().take(summary.warnings));
    Ok(profile)
}

fn of_one(input: &Input, mut opened: Vec<crate::source::Opened>) -> Result<Profile, SourceError> {
    match (opened.pop(), opened.is_empty()) {
        (Some(only), true) => of_requests(only.source),
        _ => {
            let what = "holds several metrics: choose one of them".into();
            Err(SourceError::Nothing { name: input.name(), what })
        }
    }
}

/// What the requests of a source tell. Where they are bins of time they are no operations.
fn of_requests(source: Box<dyn Source>) -> Result<Profile, SourceError> {
    let binned = source.bin().is_some();
    let mut profiler = Profiler::default();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let job = source.read(Span::Actual, &mut |requests| {
        for request in requests {
            (first, last) = (first.min(request.start), last.max(request.end));
            let Some(time) = request.end.checked_sub(request.start) else { continue };
            let end = request.start.saturating_add(time.max(0));
            let access =
                Access { rank: request.rank, start: request.start, end, deadline: end, bytes: request.bytes };
            profiler.access(request.class, access);
        }
    })?;
    let mut profile = if job.per_unit.is_some() { Profile::default() } else { profiler.finish() };
    for series in Series::ALL {
        let mode = &mut profile.modes[series as usize];
        if series.is_required() {
            *mode = ModeProfile::default();
        }
        if matches!(series.class(), Class::ReadAsync | Class::WriteAsync) {
            mode.lost_time = None;
        }
        if binned {
            *mode = ModeProfile {
                total_bytes: mode.total_bytes,
                bandwidth: mode.bandwidth,
                ..ModeProfile::default()
            };
        }
    }
    profile.ranks = job.ranks;
    let span = job.end.unwrap_or(last).saturating_sub(job.start.unwrap_or(first));
    profile.total_time = (job.ranks > 0 && span > 0).then(|| f64::from(job.ranks) * span as f64 / 1e9);
    profile.warnings.splice(0..0, job.warnings);
    Ok(profile)
}

#[cfg(test)]
mod tests;
