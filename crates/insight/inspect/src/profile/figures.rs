//! The figures of a profile.

use super::bandwidth::Bandwidth;
use crate::summary::{AsyncSummary, FileSummary};
use sources::{Source, SourceError};
use std::collections::BTreeMap;
use tmio_trace::Class;

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
    /// Ranks of the job, where the input tells.
    pub ranks: Option<u32>,
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
    /// What counters of any kind came to, where the input is a profile itself.
    pub counters: BTreeMap<String, f64>,
    /// What could not be used, in words.
    pub warnings: Vec<String>,
}

impl Profile {
    /// The figures of a series.
    pub fn mode(&self, series: Series) -> &ModeProfile {
        &self.modes[series as usize]
    }
}

/// What [`profile_and`](super::profile_and) hands the requests to.
pub type Look<'a, R> = dyn FnOnce(&str, Box<dyn Source + '_>) -> Result<R, SourceError> + 'a;
