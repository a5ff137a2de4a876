//! How much of what the processes transferred went through MPI-IO.
//!
//! Only MPI-IO is traced. The kernel counts for each process what it read and wrote by system calls, whatever
//! for; if that is much more than what MPI-IO transferred, the program does its I/O elsewhere, and its user
//! should know.

use crate::amount::bytes;
use serde::Serialize;
use tmio_trace::{Outcome, RankInfo};

/// Loading a program and starting MPI transfers something, too: so much per rank is no I/O of the
/// application.
const STARTING_UP: u64 = 256 << 10;

/// Beside MPI-IO, this much more per rank may be output on the terminal and the like.
const SIDE_WORK: u64 = 4 << 20;

/// Bytes by MPI-IO and by the processes in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Bytes of all operations of the trace.
    pub mpi_io_bytes: u64,
    /// Bytes of all layers, in a trace that has others than MPI-IO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traced_bytes: Option<u64>,
    /// As the kernel counts them; `None` if no rank reached its end.
    pub process_bytes: Option<u64>,
}

/// Sums up a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoverageTally {
    coverage: Coverage,
    ranks: u64,
}

impl CoverageTally {
    /// Take in what a rank says about its process; it knows only at its end.
    pub fn rank(&mut self, info: &RankInfo) {
        if info.finished {
            let all = self.coverage.process_bytes.unwrap_or(0);
            let all = all.saturating_add(info.process_read).saturating_add(info.process_written);
            self.coverage.process_bytes = Some(all);
            self.ranks += 1;
        }
    }

    /// Take in bytes by MPI-IO.
    pub fn transferred(&mut self, amounts: impl Iterator<Item = u64>) {
        self.coverage.mpi_io_bytes = amounts.fold(self.coverage.mpi_io_bytes, u64::saturating_add);
    }

    /// Take in bytes of any layer, in a trace that has others than MPI-IO.
    pub fn traced(&mut self, bytes: u64) {
        self.coverage.traced_bytes = Some(self.coverage.traced_bytes.unwrap_or(0).saturating_add(bytes));
    }

    /// The sums.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// What to say about a trace that does not hold all I/O: that it was told to leave some out, or that the
    /// program does its I/O elsewhere. What is missing from an incomplete trace was not done elsewhere.
    pub fn note(&self, outcome: &Outcome, all_layers: bool) -> Option<String> {
        match filters(outcome) {
            Some(filters) => {
                Some(format!("filtered: recorded with {filters}, so not all I/O of the job is here"))
            }
            None => self.hint().filter(|_| outcome.complete && !all_layers),
        }
    }

    /// What to tell somebody whose program does its I/O elsewhere.
    fn hint(&self) -> Option<String> {
        let through = self.coverage.mpi_io_bytes;
        let beside = self.coverage.process_bytes?.saturating_sub(through);
        let expected = if through == 0 { STARTING_UP } else { SIDE_WORK };
        (beside > self.ranks.saturating_mul(expected) && beside > through).then(|| {
            format!(
                "the processes read and wrote {} beside the {} of MPI-IO that were traced. What a program \
                    does by POSIX or STDIO is traced with TMIO_LAYERS=mpiio,posix,stdio; or switch it to its \
                    MPI-IO mode (for IOR: -a MPIIO)",
                bytes(beside as f64),
                bytes(through as f64)
            )
        })
    }
}

/// The options by which ranks or files were left out on purpose.
pub fn filters(outcome: &Outcome) -> Option<&str> {
    outcome.header.as_ref()?.filters.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(by_mpi: u64, by_process: Option<u64>) -> bool {
        let mut tally = CoverageTally::default();
        tally.transferred([by_mpi].into_iter());
        if let Some(process_written) = by_process {
            tally.rank(&RankInfo { finished: true, process_written, ..RankInfo::default() });
        }
        assert_eq!(
            tally.coverage(),
            Coverage { mpi_io_bytes: by_mpi, process_bytes: by_process, traced_bytes: None }
        );
        tally.hint().is_some()
    }

    #[test]
    fn only_those_it_concerns_are_told() {
        assert!(hint(0, Some(1 << 20)), "everything by POSIX");
        assert!(!hint(0, Some(10_000)), "no I/O at all");
        assert!(!hint(1 << 30, Some((1 << 30) + 10_000)), "everything by MPI-IO");
        assert!(!hint(1 << 30, Some(3 << 29)), "most of it by MPI-IO");
        assert!(hint(1 << 20, Some(1 << 30)), "most of it by POSIX");
        assert!(!hint(0, None), "not known");
    }
}
