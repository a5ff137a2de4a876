//! `libtmio_recorder.so`: everything about MPI.
//!
//! The object that is preloaded, `libtmio.so` (folder `entry`), loads it when a program first calls MPI, and
//! has the calls of MPI come here. Each wrapper calls the next function of the name by which it was entered
//! ([`next`]), so that other tools in the chain keep working; handles travel through untouched and are only
//! looked into where the [`abi`] of the MPI that is really there says how. What was seen goes to the recorder
//! in `tmio-api`.
//!
//! Started as a program, it is the helper that writes traces ([`program`]).
//!
//! | to add | go to |
//! |---|---|
//! | a data access function | one row in [`data_access`] |
//! | a function that completes requests | [`completion`] |
//! | the halves of split collectives | `split` |
//! | a function that only looks at requests | [`status_queries`] |
//! | a function on files that moves no data | [`file_management`] |
//! | another family of MPI libraries | [`abi`] |
//! | a function of POSIX or of C streams | `entry` |
//!
//! Every function is exported as `MPI_X` and as `PMPI_X`: Open MPI's Fortran layer calls the
//! latter, and so does half of MPICH's. `exported-symbols.txt` lists them, and a test compares.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]
// The names are those of the MPI standard; what the functions demand of their callers is there, too.
#![allow(non_snake_case, clippy::missing_safety_doc, missing_debug_implementations)]

pub mod abi;
pub mod attach;
mod caller;
pub mod completion;
pub mod data_access;
mod errors;
pub mod file_management;
mod launcher;
pub mod lifecycle;
mod memory;
mod memory_file;
pub mod next;
mod objects;
pub mod program;
mod requests;
mod roll;
pub mod sessions;
mod shared_world;
mod split;
mod start;
pub mod status_queries;
mod tracer;
mod world;
