//! The recorder behind `libtmio.so`, and the C functions that a program may call.
//!
//! `tmio-preload` stands in for the MPI functions and calls this crate with what it saw: one
//! [`Record`] per operation. Records go to the process's spool, which survives it; the [`helper`], a process
//! of its own, writes them to `OUT.parts/HOST`, and in `MPI_Finalize` the ranks have it make one trace of
//! everything (`commit`). No function here calls MPI; what must be agreed among ranks goes through the
//! [`World`] that the caller brings.
//!
//! What holds everywhere: nothing panics across the boundary, nothing ends the process, nobody
//! waits for another rank outside [`start`] and [`finish`], and while tracing is off every entry
//! point costs one relaxed load.
//!
//! The path of a record:
//!
//! ```text
//! record() ─▶ ring of the calling thread (shared mapping, survives kill -9)
//!               │ the helper: full, flushed or aged
//!               ▼
//!             block frame ─▶ one O_APPEND write to OUT.parts/HOST
//!                                │ MPI_Finalize: offsets by scan, the helper of each node copies its own
//!                                ▼
//!                              OUT.tmp ─ rename ─▶ OUT
//! ```

#![warn(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

pub mod helper;
pub mod options;
mod place;
pub mod process;
pub mod ranks;
mod recorder;
pub mod store;
pub mod turns;

pub use process::shield::{NoSignals, shield};
pub use process::state::{is_on, is_on_or_paused, pause, resume};
pub use process::system::keeps_mapped_pages;
pub use process::{clock, message, preloaded, surroundings, thread};
pub use ranks::world::{JobInfo, World};
pub use recorder::{
    close_file, closing_file, delete_file, finish, finish_apart, finish_without_mpi, flush, has_started,
    open_file, record, start,
};
pub use store::files::Opened;
pub use store::in_flight;
pub use store::record::Record;
