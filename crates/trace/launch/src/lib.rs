//! Starts programs under the tracer.
//!
//! - [`library`]: where `libtmio.so` is, and how it comes in front of what is preloaded already;
//! - [`Tracing`]: a command with the variables that the tracer reads;
//! - [`Launcher`]: the options by which a launcher of MPI passes variables on to its ranks;
//! - [`Run`]: a command without a launcher, whose processes become the ranks of one trace;
//! - [`helper`]: the tracer's helper, started for what dead processes have left in memory.
//!
//! Nothing here prints. What became of the trace of a command is an [`End`].

#![forbid(unsafe_code)]

mod error;
pub mod helper;
mod launcher;
pub mod library;
mod processes;
mod tracing;

pub use error::Error;
pub use launcher::Launcher;
pub use processes::{End, Run, attend};
pub use tracing::Tracing;
