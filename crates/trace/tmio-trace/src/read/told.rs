//! What reading a trace tells: events on the way, how it went, or why there is nothing.

use crate::format::block::merge::Merged;
use crate::format::operation::Mark;
use crate::{Header, Operation, RankInfo, TraceEnd};
use std::io;
use std::path::PathBuf;

/// Why there is nothing to read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum ReadError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: is a directory, but not the .parts of a tmio trace", path.display())]
    Directory { path: PathBuf },
    #[error("{}: is empty", path.display())]
    Empty { path: PathBuf },
    #[error(
        "{}: is not a tmio trace: expected the bytes \\x94\\xa5tmio at its start, found {found}",
        path.display()
    )]
    NotATrace { path: PathBuf, found: String },
    #[error(
        "{}: was written in format {found} of the tmio trace; this version reads formats up to {}",
        path.display(),
        crate::FORMAT_VERSION
    )]
    Newer { path: PathBuf, found: char },
    #[error("{}: no complete block{detail}", path.display())]
    NoBlock { path: PathBuf, detail: String },
}

/// Something that the trace tells. Operations are whole, unless less was asked for.
#[derive(Debug)]
pub enum Event<'a, T = Operation> {
    /// About the job.
    Header(&'a Header),
    /// About a rank; comes before its blocks.
    Rank(&'a RankInfo),
    /// Operations of a rank.
    Block(Operations<'a, T>),
}

/// The operations of one block.
#[derive(Debug)]
pub struct Operations<'a, T = Operation> {
    /// Rank whose operations they are.
    pub rank: u32,
    /// Number of the block within its rank.
    pub sequence: u64,
    /// Job time up to which this rank's blocking operations are known after this block.
    pub covered_until: i64,
    /// Numbers and names of the files they refer to; numbers are the rank's own.
    pub files: &'a [(u32, &'a str)],
    /// The operations, in job time.
    pub operations: &'a [T],
    /// What each operation stands for, if several were merged to one; else empty.
    pub merged: &'a [Merged],
    /// Marks that the program set, in job time.
    pub marks: &'a [Mark],
}

impl Operations<'_> {
    /// What the operation at `index` stands for.
    pub fn merged_at(&self, index: usize) -> Merged {
        let one = || self.operations.get(index).map_or(Merged { count: 1, time: 0 }, Merged::one);
        self.merged.get(index).copied().unwrap_or_else(one)
    }
}

/// How reading went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The job reached `MPI_Finalize` and every byte of the trace could be used.
    pub complete: bool,
    /// About the job, if that frame was whole.
    pub header: Option<Header>,
    /// Last frame, if it was there.
    pub end: Option<TraceEnd>,
    /// Job time up to which it is known what the ranks did, also if nothing: that of the last frame; without
    /// it, the earliest time up to which a rank that has written a block told of itself, or the last end of
    /// an operation.
    pub known_until: Option<i64>,
    /// Whole blocks.
    pub blocks: u64,
    /// Operations handed out, each with those that were merged to it.
    pub operations: u64,
    /// How many of them were merged …
    pub merged: u64,
    /// … to how many.
    pub merged_to: u64,
    /// Operations among them that came from the spool of an unfinished job.
    pub from_spool: u64,
    /// What could not be used and why, for people.
    pub warnings: Vec<String>,
    /// Parts of the file are missing or cannot be read. (A job that was killed leaves a whole trace of what
    /// it had done.)
    pub damaged: bool,
    /// What is missing of the job, for people.
    pub missing: Vec<String>,
    /// Ranks of the job of which the trace tells nothing.
    pub missing_ranks: Vec<std::ops::RangeInclusive<u32>>,
    /// Hosts whose ranks had not written out everything, and cannot be looked at from here.
    pub missing_hosts: Vec<String>,
}
