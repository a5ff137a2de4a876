//! From operations in any order to a profile.

use super::bandwidth::{Bandwidth, Stretch, peak, statistics};
use super::figures::{FunctionProfile, ModeProfile, Profile, Series};
use super::phase::{Access, Phase, phases};
use sources::time::PER_SECOND;
use std::collections::BTreeMap;
use tmio_trace::block::merge::Merged;
use tmio_trace::{Class, OpKind, Operation};

/// Above this many operations of a class they are counted but no longer kept, so that memory stays bounded;
/// figures that need all of them are then `None`.
const MAX_KEPT: usize = 1 << 22;

/// Makes a [`Profile`] from operations in any order.
#[derive(Debug, Default)]
pub struct Profiler {
    classes: [ClassTally; 4],
    functions: BTreeMap<OpKind, FunctionTally>,
}

#[derive(Debug, Default)]
struct ClassTally {
    ranks: BTreeMap<Option<u32>, RankTally>,
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
    /// One operation of a rank, or several that were merged to it.
    pub fn add(&mut self, rank: u32, op: &Operation, merged: Merged) {
        let function = self.functions.entry(op.kind).or_default();
        function.calls += u64::from(merged.count);
        function.bytes = function.bytes.saturating_add(op.bytes);
        function.time += i128::from(merged.time.max(0));
        let Some(class) = op.kind.class() else { return };
        self.accesses(
            class,
            u64::from(merged.count),
            Access {
                rank: Some(rank),
                start: op.start,
                end: op.end,
                deadline: op.nonblocking.map_or(op.end, |times| times.deadline),
                bytes: op.bytes,
            },
        );
    }

    /// One access of a class, of a trace that knows no functions.
    pub fn access(&mut self, class: Class, access: Access) {
        self.accesses(class, 1, access);
    }

    fn accesses(&mut self, class: Class, count: u64, access: Access) {
        let tally = &mut self.classes[class as usize];
        let rank = tally.ranks.entry(access.rank).or_default();
        rank.operations += count;
        rank.bytes = rank.bytes.saturating_add(access.bytes);
        tally.operations += count;
        if tally.kept.len() < MAX_KEPT {
            tally.kept.push(access);
        }
    }

    /// The profile.
    pub fn finish(self) -> Profile {
        let mut profile = Profile::default();
        let name = |(kind, tally): (OpKind, FunctionTally)| {
            let time = tally.time as f64 / PER_SECOND;
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
                profile.warnings.push(format!(
                    "{} {} operations: phases and bandwidths are computed for at most {MAX_KEPT}",
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
        // Without the ranks of all, nothing is known of any.
        let ranks = (!self.ranks.contains_key(&None)).then_some(&self.ranks);
        let most =
            |of: fn(&RankTally) -> u64| ranks.map(|ranks| ranks.values().map(of).max().unwrap_or(0) as f64);
        let required = series.is_required();
        let seconds = |of: fn(&Phase) -> i64| {
            phases.map(|all| all.iter().map(|phase| i128::from(of(phase))).sum::<i128>() as f64 / PER_SECOND)
        };
        let largest = |of: fn(&Phase) -> u64| phases.map(|all| all.iter().map(of).max().unwrap_or(0) as f64);
        let bytes = self.ranks.values().fold(0, |sum: u64, rank| sum.saturating_add(rank.bytes));
        ModeProfile {
            total_bytes: Some(bytes as f64),
            max_bytes_per_rank: most(|rank| rank.bytes),
            max_bytes_per_phase: largest(|phase| phase.bytes),
            max_io_phases_per_rank: phases.filter(|_| ranks.is_some()).map(most_per_rank),
            total_io_phases: phases.map(|all| all.len() as f64),
            max_io_ops_in_phase: largest(Phase::operations),
            max_io_ops_per_rank: most(|rank| rank.operations),
            total_io_ops: Some(self.operations as f64),
            number_of_ranks: ranks.map(|ranks| ranks.len() as f64),
            time: seconds(if required { Phase::required_time } else { Phase::time }),
            lost_time: seconds(Phase::lost_time),
            bandwidth: phases.and_then(|phases| bandwidth_of(phases, required)),
        }
    }
}

fn most_per_rank(phases: &[Phase]) -> f64 {
    phases.chunk_by(|a, b| a.rank == b.rank).map(|rank| rank.len()).max().unwrap_or(0) as f64
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
    statistics(weighted).map(|per_rank| Bandwidth {
        exact: peak(requests),
        average: peak(phases.iter().map(|phase| stretch(phase, phase.average(required)))),
        sum: peak(phases.iter().map(|phase| stretch(phase, phase.sum(required)))),
        per_rank,
    })
}
