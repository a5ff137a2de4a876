//! How much of what the processes moved was recorded, and how much went past.
//!
//! The kernel counts for each process what it read and wrote by system calls, whatever for. The tracer counts
//! what passed through the functions that it stands in for and was not recorded: on pipes, in files that are
//! left out, inside MPI-IO. What is left went past it: by system calls of the program's own, by modules that
//! were loaded out of its reach, by processes that were too small to leave a trace. Mapped files and
//! `io_uring` are not even in the kernel's count of system calls; what these moved shows where devices moved
//! more than system calls did.

use crate::amount::bytes;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use tmio_trace::{Beside, Outcome, RankInfo};

/// Bytes per rank that loading the program and starting MPI may transfer, which is not I/O of the
/// application.
const STARTING_UP: u64 = 256 << 10;

/// Bytes per rank that may be output on the terminal and the like, in addition to what is recorded.
const SIDE_WORK: u64 = 4 << 20;

/// Bytes that were recorded, and that the processes moved in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Coverage {
    /// Bytes of all operations of MPI-IO; `None` where the input does not tell.
    pub mpi_io_bytes: Option<u64>,
    /// Bytes of POSIX calls that did not come from MPI-IO, in a trace that has others than MPI-IO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posix_bytes: Option<u64>,
    /// Bytes of C streams, in a trace that has others than MPI-IO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdio_bytes: Option<u64>,
    /// Bytes of all layers, in a trace that has others than MPI-IO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traced_bytes: Option<u64>,
    /// As the kernel counts them; `None` if no rank reached its end.
    pub process_bytes: Option<u64>,
    /// What went past all layers, where the trace tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Unseen>,
}

/// Bytes that went past everything that is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Unseen {
    /// Read by system calls: an upper bound, which includes C streams on pipes.
    pub read: u64,
    /// Written by system calls, likewise.
    pub written: u64,
    /// Read by mapped files or `io_uring`: a lower bound, without what was in memory already.
    pub mapped_read: u64,
    /// Written by mapped files or `io_uring`, likewise.
    pub mapped_written: u64,
}

impl Coverage {
    /// Bytes that were recorded, of all layers that were looked at.
    pub fn recorded(&self) -> Option<u64> {
        self.traced_bytes.or(self.mpi_io_bytes)
    }
}

impl Unseen {
    /// All of it.
    pub fn bytes(&self) -> u64 {
        [self.written, self.mapped_read, self.mapped_written].into_iter().fold(self.read, u64::saturating_add)
    }
}

/// Bytes of one layer: read and written.
type ReadWritten = (u64, u64);

/// Sums up a trace.
#[derive(Clone, Debug, Default)]
pub struct CoverageTally {
    mpi_io: u64,
    /// Of POSIX and of C streams, in a trace that has others than MPI-IO.
    posix: Option<ReadWritten>,
    stdio: Option<ReadWritten>,
    /// Those that have ended.
    ranks: Vec<Told>,
}

/// What a rank says about its process.
#[derive(Clone, Copy, Debug)]
struct Told {
    pid: u32,
    parent: Option<u32>,
    moved: ReadWritten,
    beside: Option<Beside>,
}

impl CoverageTally {
    /// Take in what a rank says about its process; it knows only at its end.
    pub fn rank(&mut self, info: &RankInfo) {
        if info.finished {
            let moved = (info.process_read, info.process_written);
            self.ranks.push(Told { pid: info.pid, parent: info.parent, moved, beside: info.beside });
        }
    }

    /// Take in bytes by MPI-IO.
    pub fn transferred(&mut self, amounts: impl Iterator<Item = u64>) {
        self.mpi_io = amounts.fold(self.mpi_io, u64::saturating_add);
    }

    /// Take in bytes by POSIX and by C streams, in a trace that has others than MPI-IO.
    pub fn below(&mut self, posix: ReadWritten, stdio: ReadWritten) {
        (self.posix, self.stdio) = (Some(posix), Some(stdio));
    }

    /// Those that no other rank has started. The kernel adds to a process what its children did that it has
    /// waited for: what it counts for them is not added again.
    fn roots(&self) -> impl Iterator<Item = &Told> {
        let known: BTreeSet<u32> = self.ranks.iter().map(|told| told.pid).collect();
        self.ranks.iter().filter(move |told| told.parent.is_none_or(|parent| !known.contains(&parent)))
    }

    /// What the kernel counts for all processes.
    fn moved(&self) -> Option<ReadWritten> {
        let sum = |(read, written): ReadWritten, told: &Told| {
            (read.saturating_add(told.moved.0), written.saturating_add(told.moved.1))
        };
        (!self.ranks.is_empty()).then(|| self.roots().fold((0, 0), sum))
    }

    /// What went past, if every rank tells.
    fn unseen(&self) -> Option<Unseen> {
        let (read, written) = self.moved()?;
        let beside: Vec<Beside> = self.ranks.iter().map(|told| told.beside).collect::<Option<_>>()?;
        let sum = |of: fn(&Beside) -> u64| beside.iter().map(of).fold(0, u64::saturating_add);
        let device = |of: fn(&Beside) -> u64| {
            self.roots().filter_map(|told| told.beside.as_ref()).map(of).fold(0, u64::saturating_add)
        };
        let (posix, stdio) = (self.posix.unwrap_or_default(), self.stdio.unwrap_or_default());
        let past = |all: u64, posix: u64, stdio: u64, beside: u64| {
            all.saturating_sub(posix).saturating_sub(stdio).saturating_sub(beside)
        };
        Some(Unseen {
            read: past(read, posix.0, stdio.0, sum(|beside| beside.read)),
            written: past(written, posix.1, stdio.1, sum(|beside| beside.written)),
            mapped_read: device(|beside| beside.device_read).saturating_sub(read),
            mapped_written: device(|beside| beside.device_written).saturating_sub(written),
        })
    }

    /// The sums.
    pub fn coverage(&self) -> Coverage {
        let add = |(read, written): ReadWritten| read.saturating_add(written);
        let (posix_bytes, stdio_bytes) = (self.posix.map(add), self.stdio.map(add));
        let below = posix_bytes.zip(stdio_bytes).map(|(posix, stdio)| posix.saturating_add(stdio));
        Coverage {
            mpi_io_bytes: Some(self.mpi_io),
            posix_bytes,
            stdio_bytes,
            traced_bytes: below.map(|below| below.saturating_add(self.mpi_io)),
            process_bytes: self.moved().map(add),
            unseen: self.unseen(),
        }
    }

    /// What to say about a trace that does not hold all I/O: that it was told to leave some out, or that the
    /// program does its I/O elsewhere. What is missing from an incomplete trace was not done elsewhere.
    pub fn note(&self, outcome: &Outcome, all_layers: bool) -> Option<String> {
        match filters(outcome) {
            // How much that is can be told where all ranks and files are there.
            Some(filters) if leaves_out_only_layers(filters) => {
                let told =
                    format!("filtered: recorded with {filters}, so calls of other layers are not here");
                let hint = self.hint().filter(|_| outcome.complete && !all_layers);
                Some(hint.map_or(told.clone(), |hint| format!("{told}: {hint}")))
            }
            Some(filters) => {
                Some(format!("filtered: recorded with {filters}, so not all I/O of the job is here"))
            }
            None if !outcome.complete => None,
            None if all_layers => self.hint_of_unseen(),
            None => self.hint(),
        }
    }

    /// What to tell somebody whose program does its I/O by POSIX.
    fn hint(&self) -> Option<String> {
        let through = self.mpi_io;
        let (read, written) = self.moved()?;
        let beside = read.saturating_add(written).saturating_sub(through);
        // What was looked at and not recorded is no surprise, but for what belongs to MPI-IO.
        let looked_at = self.unseen().map(|unseen| unseen.read.saturating_add(unseen.written));
        let beside = looked_at.map_or(beside, |unseen| unseen.min(beside));
        self.is_much(beside, through).then(|| {
            format!(
                "the processes read and wrote {} beside the {} of MPI-IO that were traced. What a program \
                    does by POSIX or STDIO is traced with TMIO_LAYERS=mpiio,posix,stdio; or switch it to its \
                    MPI-IO mode (for IOR: -a MPIIO)",
                bytes(beside as f64),
                bytes(through as f64)
            )
        })
    }

    /// What to tell somebody whose program does its I/O past everything that is looked at.
    fn hint_of_unseen(&self) -> Option<String> {
        let (unseen, traced) = (self.unseen()?, self.coverage().traced_bytes?);
        self.is_much(unseen.bytes(), traced).then(|| {
            format!(
                "beside the {} that were traced, {} went past: {} by system calls that cannot be seen or \
                    processes that left no trace, at least {} by mapped files or io_uring",
                bytes(traced as f64),
                bytes(unseen.bytes() as f64),
                bytes(unseen.read.saturating_add(unseen.written) as f64),
                bytes(unseen.mapped_read.saturating_add(unseen.mapped_written) as f64)
            )
        })
    }

    fn is_much(&self, beside: u64, through: u64) -> bool {
        let expected = if through == 0 { STARTING_UP } else { SIDE_WORK };
        beside > (self.ranks.len() as u64).saturating_mul(expected) && beside > through
    }
}

/// The layers that alone were recorded, of the options by which something was left out; `None` if all were.
/// (They come first, and have no spaces.)
pub fn only_layers(filters: &str) -> Option<Vec<&str>> {
    let layers = filters.strip_prefix("TMIO_LAYERS=")?.split(' ').next()?;
    Some(layers.split(',').collect())
}

/// All ranks and all files were recorded, but not all layers.
pub fn leaves_out_only_layers(filters: &str) -> bool {
    only_layers(filters).is_some() && !filters.contains(' ')
}

/// The options by which layers, ranks or files were left out on purpose.
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
        let expected =
            Coverage { mpi_io_bytes: Some(by_mpi), process_bytes: by_process, ..Coverage::default() };
        assert_eq!(tally.coverage(), expected);
        tally.hint().is_some()
    }

    #[test]
    fn layers_that_were_left_out_are_said_with_what_they_moved() {
        let mut tally = CoverageTally::default();
        let said = |tally: &CoverageTally, filters: &str, complete: bool| {
            let header = tmio_trace::Header { filters: Some(filters.into()), ..Default::default() };
            let outcome = Outcome { header: Some(header), complete, ..Outcome::default() };
            tally.note(&outcome, false).unwrap()
        };
        let layers = "filtered: recorded with TMIO_LAYERS=mpiio, so calls of other layers are not here";
        assert_eq!(said(&tally, "TMIO_LAYERS=mpiio", true), layers);
        tally.rank(&RankInfo { finished: true, process_written: 40_000_000, ..RankInfo::default() });
        let told = said(&tally, "TMIO_LAYERS=mpiio", true);
        assert!(told.starts_with(layers) && told.contains("40.00 MB beside the 0 B of MPI-IO"), "{told}");
        assert_eq!(said(&tally, "TMIO_LAYERS=mpiio", false), layers);
        // Ranks that are missing did no I/O elsewhere.
        let both = said(&tally, "TMIO_LAYERS=mpiio TMIO_RANKS=0", true);
        assert!(both.ends_with("so not all I/O of the job is here"), "{both}");
        assert_eq!(only_layers("TMIO_LAYERS=posix,stdio TMIO_FILES=a b"), Some(vec!["posix", "stdio"]));
        assert_eq!(only_layers("TMIO_FILES=TMIO_LAYERS=posix"), None);
    }

    fn rank(pid: u32, parent: Option<u32>, (read, written): ReadWritten, beside: Beside) -> RankInfo {
        RankInfo {
            finished: true,
            pid,
            parent,
            process_read: read,
            process_written: written,
            beside: Some(beside),
            ..RankInfo::default()
        }
    }

    #[test]
    fn what_the_kernel_counts_more_than_everybody_else_went_past() {
        let mut tally = CoverageTally::default();
        // The kernel counts for the first what its child did.
        let pipes = Beside { read: 50, written: 10, device_read: 0, device_written: 9_000 };
        tally.rank(&rank(1, Some(99), (1_000, 5_000), pipes));
        let child = Beside { read: 30, device_written: 3_000, ..Beside::default() };
        tally.rank(&rank(2, Some(1), (400, 3_000), child));
        tally.below((600, 2_000), (300, 90));
        let coverage = tally.coverage();
        assert_eq!((coverage.process_bytes, coverage.traced_bytes), (Some(6_000), Some(2_990)));
        assert_eq!((coverage.posix_bytes, coverage.stdio_bytes), (Some(2_600), Some(390)));
        let unseen = Unseen { read: 20, written: 2_900, mapped_read: 0, mapped_written: 4_000 };
        assert_eq!(coverage.unseen, Some(unseen));
        assert_eq!(unseen.bytes(), 6_920);
    }

    #[test]
    fn a_rank_that_does_not_tell_leaves_it_open() {
        let mut tally = CoverageTally::default();
        tally.rank(&RankInfo { finished: true, process_read: 10, ..RankInfo::default() });
        assert_eq!(tally.coverage().unseen, None);
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
