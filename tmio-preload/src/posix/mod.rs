//! The layers below MPI-IO: what programs do by `read`, `write` and relatives, and by C streams.
//!
//! With them, programs without MPI are traced, too, if `TMIO_LAYERS` asks for that. MPI programs are looked
//! at from `MPI_Init` on, unless `TMIO_LAYERS` asks for MPI-IO alone. In all others the names of these
//! functions are taken out of the library's symbol table before anybody is bound to them
//! ([`hidden`](crate::hidden)).
//!
//! What holds for every function here:
//!
//! - once its descriptor is known, it allocates nothing, takes no lock and makes no system call but the one
//!   it stands for; so it may be called in signal handlers and in children of threaded programs;
//! - nothing depends on having seen a descriptor opened or closed: the [table](descriptors) is a cache, and
//!   an unknown descriptor is looked at when it is used first;
//! - a call that is part of tmio's own work, or that MPI makes, is passed on without a look;
//! - `errno` is what the real function left there.
//!
//! The path of a call: [`descriptors`] tells which of the [`names`] it is about, [`recording`] keeps it in
//! memory until the process has done enough to be of interest, and gives it to the recorder from then on;
//! [`life`] is about fork, exec and the end of the process.

mod aio;
mod data;
mod descriptors;
mod files;
mod life;
mod names;
mod next;
mod recording;
mod stdio;
mod vfork;

pub(crate) use life::{mpi_begins, mpi_begins_with, mpi_ends, mpi_has_begun};
