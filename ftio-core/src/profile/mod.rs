//! How one run looked, phase by phase and function by function: what scaling models are made from.
//!
//! The figures of a [`ModeProfile`] are those that TMIO writes and FTIO's `ioparse` hands to Extra-P, under the same names and
//! in bytes, seconds and bytes per second. See [`phase`] for what a phase is, and [`bandwidth`] for how phases become the
//! bandwidth of an application.

pub mod bandwidth;
pub mod phase;

use crate::source::{SourceError, TmioTrace};
use bandwidth::{Bandwidth, Stretch, peak};
use phase::{Access, Phase, phases};
use std::collections::BTreeMap;
use std::path::Path;
use tmio_trace::{Class, Event, OpKind, Operation};

/// Above this many operations of a class they are counted but no longer kept, so that memory stays bounded; figures
/// that need all of them are then `None`.
const MAX_KEPT: usize = 1 << 22;

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
    pub total_bytes: u64,
    /// Bytes of the rank with most.
    pub max_bytes_per_rank: u64,
    /// Bytes of the largest phase.
    pub max_bytes_per_phase: Option<u64>,
    /// Phases of the rank with most.
    pub max_io_phases_per_rank: Option<u64>,
    /// Phases of all ranks.
    pub total_io_phases: Option<u64>,
    /// Operations of the phase with most.
    pub max_io_ops_in_phase: Option<u64>,
    /// Operations of the rank with most.
    pub max_io_ops_per_rank: u64,
    /// Operations of all ranks.
    pub total_io_ops: u64,
    /// Ranks with at least one operation.
    pub number_of_ranks: u64,
    /// Sum of the durations of all phases, in seconds.
    pub time: Option<f64>,
    /// Sum of what a phase went on beyond the moment it had to be complete, in seconds.
    pub lost_time: Option<f64>,
    /// How fast; `None` where nothing was transferred.
    pub bandwidth: Option<Bandwidth>,
}

/// All calls of one MPI function.
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
    /// One entry for each of [`Series::ALL`].
    pub modes: [ModeProfile; 6],
    /// By MPI function, named as in [`OpKind`]: `write_at`, `iread`, `open` …
    pub functions: BTreeMap<String, FunctionProfile>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

impl Profile {
    /// The figures of a series.
    pub fn mode(&self, series: Series) -> &ModeProfile {
        &self.modes[series as usize]
    }
}

/// Profile a trace of tmio.
pub fn profile(path: &Path) -> Result<Profile, SourceError> {
    let mut profiler = Profiler::default();
    TmioTrace::new(path).open()?.read(|event| {
        if let Event::Block(block) = event {
            block.operations.iter().for_each(|op| profiler.add(block.rank, op));
        }
    })?;
    Ok(profiler.finish())
}

/// Makes a [`Profile`] from operations in any order.
#[derive(Debug, Default)]
pub struct Profiler {
    classes: [ClassTally; 4],
    functions: BTreeMap<OpKind, FunctionTally>,
}

#[derive(Debug, Default)]
struct ClassTally {
    ranks: BTreeMap<u32, RankTally>,
    kept: Vec<Access>,
    operations: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct RankTally {
    operations: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct FunctionTally {
    calls: u64,
    bytes: u64,
    time: i128,
}

impl Profiler {
    /// One operation of a rank.
    pub fn add(&mut self, rank: u32, op: &Operation) {
        let function = self.functions.entry(op.kind).or_default();
        function.calls += 1;
        function.bytes = function.bytes.saturating_add(op.bytes);
        function.time += (i128::from(op.end) - i128::from(op.start)).max(0);
        let Some(class) = op.kind.class() else { return };
        self.access(
            class,
            Access {
                rank,
                start: op.start,
                end: op.end,
                deadline: op.nonblocking.map_or(op.end, |times| times.deadline),
                bytes: op.bytes,
            },
        );
    }

    /// One access of a class, of a trace that knows no functions.
    pub fn access(&mut self, class: Class, access: Access) {
        let tally = &mut self.classes[class as usize];
        let rank = tally.ranks.entry(access.rank).or_default();
        rank.operations += 1;
        rank.bytes = rank.bytes.saturating_add(access.bytes);
        tally.operations += 1;
        if tally.kept.len() < MAX_KEPT {
            tally.kept.push(access);
        }
    }

    /// The profile.
    pub fn finish(self) -> Profile {
        let mut profile = Profile::default();
        let name = |(kind, tally): (OpKind, FunctionTally)| {
            let time = tally.time as f64 / 1e9;
            (kind.to_string(), FunctionProfile { calls: tally.calls, bytes: tally.bytes, time })
        };
        for (name, function) in self.functions.into_iter().map(name) {
            // A split collective has the name of the function without `_begin` and `_end`.
            let sum: &mut FunctionProfile = profile.functions.entry(name).or_default();
            sum.calls += function.calls;
            sum.bytes = sum.bytes.saturating_add(function.bytes);
            sum.time += function.time;
        }
        for (class, mut tally) in Class::ALL.into_iter().zip(self.classes) {
            let complete = tally.kept.len() as u64 == tally.operations;
            if !complete {
                profile.notes.push(format!(
                    "{} {} operations are more than the {MAX_KEPT} whose phases and bandwidths are worked out",
                    tally.operations,
                    class.name()
                ));
                tally.kept = Vec::new();
            }
            let accesses = std::mem::take(&mut tally.kept);
            let phases = complete.then(|| phases(class, accesses));
            for series in Series::ALL.into_iter().filter(|series| series.class() == class) {
                profile.modes[series as usize] = tally.mode(series, phases.as_deref());
            }
        }
        profile
    }
}

impl ClassTally {
    fn mode(&self, series: Series, phases: Option<&[Phase]>) -> ModeProfile {
        let most = |of: fn(&RankTally) -> u64| self.ranks.values().map(of).max().unwrap_or(0);
        let required = series.is_required();
        let seconds = |of: fn(&Phase) -> i64| {
            phases.map(|all| all.iter().map(|phase| i128::from(of(phase))).sum::<i128>() as f64 / 1e9)
        };
        let largest = |of: fn(&Phase) -> u64| phases.map(|all| all.iter().map(of).max().unwrap_or(0));
        ModeProfile {
            total_bytes: self.ranks.values().fold(0, |sum: u64, rank| sum.saturating_add(rank.bytes)),
            max_bytes_per_rank: most(|rank| rank.bytes),
            max_bytes_per_phase: largest(|phase| phase.bytes),
            max_io_phases_per_rank: phases.map(most_per_rank),
            total_io_phases: phases.map(|all| all.len() as u64),
            max_io_ops_in_phase: largest(|phase| phase.operations()),
            max_io_ops_per_rank: most(|rank| rank.operations),
            total_io_ops: self.operations,
            number_of_ranks: self.ranks.len() as u64,
            time: seconds(if required { Phase::required_time } else { Phase::time }),
            lost_time: seconds(Phase::lost_time),
            bandwidth: phases.and_then(|phases| bandwidth_of(phases, required)),
        }
    }
}

fn most_per_rank(phases: &[Phase]) -> u64 {
    phases.chunk_by(|a, b| a.rank == b.rank).map(|rank| rank.len() as u64).max().unwrap_or(0)
}

fn bandwidth_of(phases: &[Phase], required: bool) -> Option<Bandwidth> {
    let requests = phases.iter().flat_map(|phase| phase.requests(required));
    let stretch = |phase: &Phase, bandwidth: f64| Stretch {
        start: phase.start,
        end: if required { phase.required_end } else { phase.end },
        bandwidth,
    };
    // TMIO's means are over the average bandwidth of phases, or over the sum of the required ones.
    let of_ranks = |phase: &Phase| if required { phase.sum(true) } else { phase.average(false) };
    let weighted: Vec<(f64, u64)> =
        phases.iter().filter(|phase| phase.bytes > 0).map(|phase| (of_ranks(phase), phase.bytes)).collect();
    bandwidth::statistics(weighted).map(|per_rank| Bandwidth {
        exact: peak(requests),
        average: peak(phases.iter().map(|phase| stretch(phase, phase.average(required)))),
        sum: peak(phases.iter().map(|phase| stretch(phase, phase.sum(required)))),
        per_rank,
    })
}

#[cfg(test)]
mod tests;
