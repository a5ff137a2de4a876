//! How much of a job has to be known for a finding to be true.
//!
//! Traces are cut off, ranks are killed, users select layers, ranks and files, and tracers run out of memory.
//! What was seen was done all the same: two thousand small writes stay two thousand small writes. But whoever
//! says that ranks differ, or that something was never done, has to have seen everything.

use crate::Job;
use crate::rules::Rule;
use crate::thresholds::{Key, Thresholds};
use sources::coverage::{leaves_out_only_layers, only_layers};

/// What a rule has to have seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What was traced: the rest would not make the finding false.
    Traced,
    /// The phases as they were: nothing is missing before the end of the trace. A job that was killed is
    /// judged by what it did before.
    Phases,
    /// What every rank did, because ranks are compared. (The counters of a Darshan log without room for all
    /// files are whole for each file that they have.)
    Ranks,
    /// Every call of MPI-IO, because the finding is that some were not made.
    Calls,
    /// Every call, and most of the bytes that the processes moved, because the finding is a share of them.
    Bytes,
}

impl Scope {
    /// As the list of rules has it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Traced => "what was traced",
            Scope::Phases => "all phases up to the end of the trace",
            Scope::Ranks => "all ranks",
            Scope::Calls => "all calls",
            Scope::Bytes => "all calls and most bytes",
        }
    }
}

impl Job<'_> {
    /// Is so much of the job known?
    pub(crate) fn tells(&self, scope: Scope, thresholds: &Thresholds) -> bool {
        let summary = self.summary;
        let everybody = summary.missing_ranks.is_empty() && summary.missing_hosts.is_empty();
        // Of the layers that were recorded, nothing is missing where only others were left out.
        let filters = summary.filters.as_deref();
        let all_of_its_layers = filters.is_none_or(leaves_out_only_layers);
        let recorded = filters.and_then(only_layers);
        // Without MPI-IO nobody knows which calls were collective, and so which ranks ought to differ.
        let with_mpiio = recorded.as_ref().is_none_or(|layers| layers.contains(&"mpiio"));
        let kept = everybody && all_of_its_layers && summary.lost.unwrap_or(0) == 0;
        // A Darshan log without room for all files is as whole as its modules.
        let reached_its_end = (summary.complete || self.ran_out_of_room(&[])) && !summary.damaged;
        let whole = |modules: &[&str]| kept && reached_its_end && !self.ran_out_of_room(modules);
        match scope {
            Scope::Traced => true,
            Scope::Phases => kept && !summary.damaged && !self.has_merged_operations(),
            Scope::Ranks => kept && with_mpiio && reached_its_end,
            Scope::Calls => with_mpiio && whole(&["MPI-IO"]),
            Scope::Bytes => {
                recorded.is_none() && whole(&["MPI-IO", "POSIX", "STDIO"]) && !self.went_past(thresholds)
            }
        }
    }

    /// " that were traced", where those that are missing might be of another kind.
    pub(crate) fn of_those_traced(&self, thresholds: &Thresholds) -> &'static str {
        if self.tells(Scope::Bytes, thresholds) { "" } else { " that were traced" }
    }

    /// Would the rule have had something to look at? Without `--mtbf`, nobody asks about checkpoints.
    pub(crate) fn asks(&self, rule: &Rule) -> bool {
        self.mtbf.is_some() || !rule.id.starts_with("checkpoint")
    }

    /// Had Darshan no memory for some files in one of these modules, or in any?
    fn ran_out_of_room(&self, modules: &[&str]) -> bool {
        let mut all = self.summary.modules.iter().flatten();
        all.any(|(name, module)| module.partial && (modules.is_empty() || modules.contains(&name.as_str())))
    }

    /// Were operations merged to records of up to a minute?
    fn has_merged_operations(&self) -> bool {
        self.summary.merged.as_ref().is_some_and(|merged| merged.operations > 0)
    }

    /// Bytes that were traced, and bytes that went past, where the kernel tells.
    pub(crate) fn seen_and_past(&self) -> (u64, Option<u64>) {
        let coverage = &self.summary.coverage;
        let traced = coverage.recorded().unwrap_or(0);
        // What the tracer looked at and left out on purpose (pipes, what MPI-IO does below) did not go past.
        let past = match (coverage.traced_bytes, coverage.unseen) {
            (Some(_), Some(unseen)) => Some(unseen.bytes()),
            _ => coverage.process_bytes.map(|all| all.saturating_sub(traced)),
        };
        (traced, past)
    }

    /// Did most bytes go past?
    pub(crate) fn went_past(&self, thresholds: &Thresholds) -> bool {
        let (traced, Some(past)) = self.seen_and_past() else { return false };
        let seen = traced as f64 / (traced.saturating_add(past) as f64).max(1.0);
        // A program that starts reads its libraries.
        let least = 4e6 * f64::from(self.usage.ranks.unwrap_or(1));
        seen < thresholds[Key::SeenShare] && past as f64 > least
    }
}
