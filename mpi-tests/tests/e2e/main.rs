//! End-to-end tests: real MPI programs, run under `libtmio.so` with every MPI that is installed, and what
//! `ftio` then says about them.
//!
//! They expect `target/release/libtmio.so` and `target/release/ftio`; `scripts/test` builds these first.

mod harness;
mod mpis;
mod traced;

mod asynchronous;
mod below_mpi_io;
mod clocks;
mod coverage;
mod damaged_traces;
mod detection;
mod every_access;
mod exact_counts;
mod file_operations;
mod fortran;
mod harmless;
mod installed;
mod interrupted;
mod iosets;
mod jumps;
mod kept;
mod launchers;
mod never_harmed;
mod online;
mod options;
mod other_jobs;
mod other_tools;
mod pauses;
mod posix;
mod predict;
mod python;
mod rust_workload;
mod scaling;
mod several_mpis;
mod site;
mod some_ranks;
mod stress;
mod symbols;
mod traps;
mod trouble;
mod untrusted;
mod unusual;
mod unusual_posix;
mod unwritable;
mod workload_truth;
