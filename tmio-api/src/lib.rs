//! The recorder behind `libtmio.so`, and the C functions that a program may call.
//!
//! `tmio-preload` stands in for the MPI functions and calls this crate with what it saw: one
//! [`Record`] per operation. The recorder keeps records in a `spool` that survives the process,
//! writes full blocks to `OUT.parts/HOST`, and in `MPI_Finalize` makes one trace of everything
//! (`commit`). No function here calls MPI; what must be agreed among ranks goes through the
//! [`World`] that the caller brings.
//!
//! What holds everywhere: nothing panics across the boundary, nothing ends the process, nobody
//! waits for another rank outside [`start`] and [`finish`], and while tracing is off every entry
//! point costs one relaxed load.
//!
//! The path of a record:
//!
//! ```text
//! record() ─▶ slot of the calling thread (shared mapping, survives kill -9)
//!               │ full, flushed or aged
//!               ▼
//!             block frame ─▶ one O_APPEND write to OUT.parts/HOST
//!                                │ MPI_Finalize: offsets by scan, everybody copies its own
//!                                ▼
//!                              OUT.tmp ─ rename ─▶ OUT
//! ```

#![warn(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

pub mod beside;
mod blocks;
mod buffers;
pub mod c_abi;
pub mod clock;
pub mod clocks;
mod commit;
mod files;
mod flush_thread;
pub mod in_flight;
mod interrupting;
pub mod leases;
pub mod message;
pub mod nodes;
pub mod options;
mod output;
mod parts;
mod plan;
pub mod process;
mod record;
mod recorder;
mod shield;
mod slot;
mod spool;
pub mod state;
mod storing;
mod system;
pub mod thread;
#[cfg(test)]
mod threads;
mod worker;
mod world;

pub use files::Opened;
pub use flush_thread::without_memory;
pub use record::Record;
pub use recorder::{
    close_file, closing_file, delete_file, finish, finish_apart, finish_without_mpi, flush, has_records,
    has_started, mark, open_file, record, start,
};
pub use shield::{NoSignals, shield};
pub use spool::keeps_mapped_pages;
pub use state::{is_on, is_on_or_paused, pause, resume};
pub use world::{JobInfo, World};
