//! `libtmio.so`: stands in for the MPI functions that matter to I/O, and passes every call on.
//!
//! The library links against no MPI. Each wrapper calls the next function of the name by which it
//! was entered ([`next`]), so that other tools in the chain keep working; handles travel through
//! untouched and are only looked into where the [`abi`] of the MPI that is really there says how.
//! What was seen goes to the recorder in `tmio-api`.
//!
//! | to add | go to |
//! |---|---|
//! | a data access function | one row in [`data_access`] |
//! | a function that completes requests | [`completion`] |
//! | the halves of split collectives | `split` |
//! | a function that only looks at requests | [`status_queries`] |
//! | a function on files that moves no data | [`file_management`] |
//! | another family of MPI libraries | [`abi`] |
//! | a function of POSIX or of C streams | `posix` |
//!
//! Every function is exported as `MPI_X` and as `PMPI_X`: Open MPI's Fortran layer calls the
//! latter, and so does half of MPICH's. `exported-symbols.txt` lists them, and a test compares.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]
// The names are those of the MPI standard; what the functions demand of their callers is there, too.
#![allow(non_snake_case, clippy::missing_safety_doc, missing_debug_implementations)]

pub mod abi;
mod caller;
pub mod completion;
pub mod data_access;
mod errors;
pub mod file_management;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod hidden;
mod launcher;
pub mod lifecycle;
mod memory;
mod memory_file;
pub mod next;
mod objects;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod posix;
/// The layers below MPI-IO know the streams of one C library.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod posix {
    pub(crate) fn mpi_begins() {}
    pub(crate) fn mpi_begins_with(_: &tmio_api::options::Options) {}
    pub(crate) fn mpi_ends() {}
    pub(crate) fn mpi_has_begun() {}
}
mod requests;
mod roll;
pub mod sessions;
mod shared_world;
mod split;
mod start;
pub mod status_queries;
mod tracer;
mod world;

// Named here, so that the linker keeps them in the library.
pub use tmio_api::c_abi::{iotrace_mark, iotrace_pause, iotrace_resume, iotrace_summary};
