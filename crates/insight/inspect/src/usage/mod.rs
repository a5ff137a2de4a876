//! How an application uses its files: sizes, order and alignment of requests, who moves what, and where the
//! time goes. It is what reports show and what findings are made from.
//!
//! | input | where it comes from |
//! |---|---|
//! | our trace | every operation |
//! | a Darshan log | the counters of its modules |
//! | anything else | its requests: sizes, ranks, files and times as far as it has them |
//!
//! Bytes that pass through one layer appear again in the layers below, so layers are never added up: sizes,
//! files and ranks are those of one layer, [`Usage::layer`].

mod access;
pub(super) mod darshan;
mod ours;
mod requests;

pub use access::{Access, Common, SIZES, Sizes};

use schemars::JsonSchema;
use serde::Serialize;
use sources::{Kind, Opened, SourceError};
use std::collections::BTreeMap;

/// How an application uses its files. What the input does not tell is absent.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Seconds from the start of the job to its end.
    pub run_time: f64,
    /// Ranks of the job.
    pub ranks: Option<u32>,
    /// Nodes of the job.
    pub nodes: Option<u32>,
    /// Which layer sizes, files and ranks are of: "mpiio", "posix", "stdio", …
    pub layer: Option<String>,
    /// Totals of each layer.
    pub layers: BTreeMap<String, LayerUsage>,
    /// Reads of that layer.
    pub reads: Access,
    /// Writes of that layer.
    pub writes: Access,
    /// The most common sizes of requests of that layer, whatever their direction.
    pub common: Vec<Common>,
    /// How MPI-IO was called, if it was.
    pub mpiio: Option<MpiIo>,
    /// One entry per rank, in order; empty where the input does not tell ranks apart.
    pub by_rank: Vec<RankUsage>,
    /// One entry per file, the largest first.
    pub files: Vec<FileUsage>,
    /// Mounted file systems that hold these files, by type: "lustre", "gpfs".
    pub file_systems: Vec<String>,
    /// What is not known, and how to get it.
    pub gaps: Vec<String>,
}

impl Usage {
    /// The layer whose times are what the program waits for. A Darshan log, which alone has several layers,
    /// has what MPI-IO does below as POSIX again: the longer of the two has all of it.
    pub fn cost_layer(&self) -> Option<&LayerUsage> {
        let chosen = self.layers.get(self.layer.as_deref()?)?;
        let above = self.layers.get("mpiio");
        Some(above.filter(|above| above.time() > chosen.time()).unwrap_or(chosen))
    }
}

/// Operations that move data.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Flow {
    /// How many.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Seconds in them, over all ranks.
    pub time: f64,
}

impl Flow {
    pub(super) fn add(&mut self, ops: u64, bytes: u64, time: f64) {
        self.ops = self.ops.saturating_add(ops);
        self.bytes = self.bytes.saturating_add(bytes);
        self.time += time.max(0.0);
    }
}

/// Operations that move no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Meta {
    /// How many.
    pub ops: u64,
    /// Seconds in them, over all ranks.
    pub time: f64,
}

/// What went through a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct LayerUsage {
    /// From files to memory.
    pub read: Flow,
    /// From memory to files.
    pub write: Flow,
    /// Open, close, seek, stat …
    pub meta: Meta,
    /// Files.
    pub files: u64,
}

impl LayerUsage {
    /// In both directions.
    pub fn bytes(&self) -> u64 {
        self.read.bytes.saturating_add(self.write.bytes)
    }

    /// Seconds in any operation, over all ranks.
    pub fn time(&self) -> f64 {
        self.read.time + self.write.time + self.meta.time
    }
}

/// How MPI-IO was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct MpiIo {
    /// Reads that all ranks of the file make together.
    pub collective_reads: u64,
    /// Writes likewise.
    pub collective_writes: u64,
    /// Reads that a rank makes on its own.
    pub independent_reads: u64,
    /// Writes likewise.
    pub independent_writes: u64,
    /// Reads that return before they are done.
    pub nonblocking_reads: u64,
    /// Writes likewise.
    pub nonblocking_writes: u64,
    /// Aggregators of collective calls, if the program gave the hint.
    pub aggregators: Option<u32>,
}

/// What a rank did.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct RankUsage {
    /// The rank.
    pub rank: u32,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Seconds in reads; of nonblocking ones only those in which it waited.
    pub read_time: f64,
    /// Seconds in writes, likewise.
    pub write_time: f64,
    /// Seconds in operations that move no data.
    pub meta_time: f64,
    /// Of these, the seconds that it waited for nonblocking operations.
    pub wait_time: f64,
}

impl RankUsage {
    /// Seconds in any I/O.
    pub fn time(&self) -> f64 {
        self.read_time + self.write_time + self.meta_time
    }

    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        self.bytes_read.saturating_add(self.bytes_written)
    }
}

/// What was done to a file.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct FileUsage {
    /// Its name.
    pub name: String,
    /// Ranks that used it; `None` where the input does not tell.
    pub ranks: Option<u32>,
    /// Reads.
    pub read: Flow,
    /// Writes.
    pub write: Flow,
    /// Open, close, seek …
    pub meta: Meta,
    /// Requests of less than the size that counts as small, where the input tells.
    pub small: Option<u64>,
    /// The highest byte that was read or written, where the input tells.
    pub extent: Option<u64>,
    /// Of a shared file, the slowest rank: its number, seconds and bytes.
    pub slowest: Option<(u32, f64, u64)>,
    /// The fastest likewise.
    pub fastest: Option<(u32, f64, u64)>,
}

impl FileUsage {
    /// In both directions.
    pub fn bytes(&self) -> u64 {
        self.read.bytes.saturating_add(self.write.bytes)
    }

    /// Seconds of all ranks.
    pub fn time(&self) -> f64 {
        self.read.time + self.write.time + self.meta.time
    }
}

/// How the application of an input uses its files.
///
/// # Errors
///
/// It cannot be read.
pub fn usage(opened: Opened) -> Result<Usage, SourceError> {
    match opened.kind {
        Kind::Ours(trace) => ours::usage(trace),
        Kind::Darshan(log) => darshan::usage(&log),
        Kind::Profile(profile) => Ok(Usage {
            ranks: profile.ranks,
            run_time: profile.run_time.unwrap_or(0.0),
            gaps: vec!["this input holds totals of counters, not requests".into()],
            ..Usage::default()
        }),
        _ => requests::usage(opened.into_source()?),
    }
}

/// The largest first; of equals by name.
fn sort_files(files: &mut [FileUsage]) {
    files.sort_by(|a, b| b.bytes().cmp(&a.bytes()).then_with(|| a.name.cmp(&b.name)));
}

#[cfg(test)]
mod tests;
