//! End-to-end tests: real MPI programs, run under `libtmio.so` with every MPI that is installed, and what
//! `ftio` then says about them.
//!
//! They expect `target/release/libtmio.so` and `target/release/ftio`; `scripts/test` builds these first.

mod harness;
mod mpis;
mod traced;
mod ways;

mod asynchronous;
mod below_mpi_io;
mod binaries;
mod cancelled;
mod clocks;
mod coverage;
mod damaged_traces;
mod descriptors;
mod detection;
mod every_access;
mod exact_counts;
mod file_operations;
mod filters;
mod fortran;
mod frozen;
mod harmless;
mod in_rust;
mod installed;
mod interrupted;
mod iosets;
mod jumps;
mod kept;
mod kept_processes;
mod launchers;
mod namespaces;
mod never_harmed;
mod online;
mod options;
mod other_jobs;
mod other_tools;
mod pauses;
mod posix;
mod predict;
mod processes;
mod python;
mod scaling;
mod several_mpis;
mod site;
mod some_ranks;
mod stacks;
mod streams;
mod stress;
mod symbols;
mod traps;
mod trouble;
mod two_files;
mod untrusted;
mod unusual;
mod unusual_posix;
mod unwritable;
mod workload_truth;
