//! Reads [Darshan](https://www.mcs.anl.gov/research/projects/darshan/) logs: what a job on a supercomputer
//! did to which files, when, and how much.
//!
//! Pure Rust, with neither libdarshan-util nor Python. All log formats of Darshan 3 (3.00 – 3.41, releases
//! 3.0 – 3.5) and Darshan 2 (2.00 – 2.06), written by machines of either byte order, compressed by zlib,
//! gzip, bzip2 or not at all.
//!
//! ```
//! use darshan_log::{Layer, Log, PosixCounter};
//!
//! fn written(path: &str) -> darshan_log::Result<()> {
//!     let log = Log::open(path)?;
//!     println!("{} on {} processes", log.job().command, log.job().nprocs);
//!
//!     let names = log.names()?;
//!     for record in log.posix() {
//!         let record = record?;
//!         let name = names.get(record.id).unwrap_or("?");
//!         println!("{name}: {} bytes written", record[PosixCounter::BytesWritten]);
//!     }
//!
//!     if let Some(heatmap) = log.heatmap(Layer::Posix)? {
//!         println!("{} bins of {} s", heatmap.write_bins.len(), heatmap.bin_width);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # What is in a log
//!
//! | part | method | contents |
//! |---|---|---|
//! | job | [`Log::job`] | user, job number, processes, start, end, command, mounts |
//! | names | [`Log::names`] | record id → path |
//! | POSIX, MPI-IO, STDIO | [`Log::posix`], [`Log::mpiio`], [`Log::stdio`] | counters per file and rank |
//! | HEATMAP | [`Log::heatmaps`], [`Log::heatmap`] | bytes over time, per layer and rank, or summed |
//! | DXT_POSIX, DXT_MPIIO | [`Log::dxt_posix`], [`Log::dxt_mpiio`] | every single read and write |
//! | Darshan 2 | [`Log::darshan2`] | counters per file, all interfaces in one |
//! | any of 2 and 3 | [`Log::activities`], [`Log::totals`] | the common denominator, and sums |
//!
//! Other modules (Lustre, HDF5, PnetCDF, …) are listed by [`Log::modules`] and passed over.
//!
//! The same bytes are seen by every layer they pass: MPI-IO data appear again under POSIX. Choose one
//! [`Layer`].
//!
//! # What can be relied on
//!
//! - **Lazy and streaming.** [`Log::open`] reads the header and the job; a module is decompressed when it is
//!   iterated, in buffers of 64 KiB.
//! - **Bounded.** No length in a file is believed: memory grows with data that are really there, within
//!   [`Limits`].
//! - **No panic**, whatever the bytes. [`Error`]s name file, place, what was expected and what was found.
//! - **Nothing hidden.** A module that Darshan itself cut short is marked [`partial`](ModuleInfo::partial). A
//!   damaged region yields everything before the damage, then the error. Values are those on disk: where
//!   libdarshan-util 3.5.0 alters them (unswapped times of POSIX records before version 4 on big-endian logs,
//!   variances lost from version 3, records of version 1 with streams left out) the two differ.
//!
//! # Making logs
//!
//! [`mod@write`] makes logs of every format, byte order and compression, for tests.
//!
//! The format is not documented outside Darshan's own headers (`darshan-log-format.h` and those of its
//! modules, release 3.5.0; version 2.3.1 for Darshan 2), from which the facts used here were taken.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod counter_rows;
mod counters;
mod darshan1;
mod darshan2;
mod darshan2_counters;
mod darshan2_record;
mod dxt;
mod endian;
mod error;
mod format;
mod header;
mod heatmap;
mod inflate;
mod job;
mod limits;
mod log;
mod module;
mod mpiio;
mod names;
mod posix;
mod records;
mod region;
mod source;
mod stdio;
mod totals;
pub mod write;

pub use counters::{Activity, FileRecord, Interval, Value};
pub use darshan2::Darshan2Records;
pub use darshan2_counters::{Darshan2Counter, Darshan2Time};
pub use darshan2_record::Darshan2Record;
pub use dxt::{Direction, Dxt, DxtHead, DxtRecord, Segment};
pub use endian::ByteOrder;
pub use error::{Error, Place, Result};
pub use format::Format;
pub use heatmap::{Heatmap, HeatmapRecord, Heatmaps};
pub use inflate::Compression;
pub use job::{Job, Mount, Timestamp};
pub use limits::Limits;
pub use log::Log;
pub use module::{Layer, ModuleId, ModuleInfo};
pub use mpiio::{MpiioCounter, MpiioRecord, MpiioTime};
pub use names::Names;
pub use posix::{PosixCounter, PosixRecord, PosixTime};
pub use records::Records;
pub use stdio::{StdioCounter, StdioRecord, StdioTime};
pub use totals::{Contents, CounterTotals, HeatmapTotals, ModuleTotals, SegmentTotals};
