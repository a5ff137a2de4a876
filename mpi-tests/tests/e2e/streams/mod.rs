//! Random legal calls on streams and descriptors: what is recorded is what the kernel counted.
//!
//! A script is a sequence of calls, drawn by a model of what is legal ([`generate`], [`model`]) and executed
//! by `programs/plays_streams.c`. Every script is played twice ([`play`]): alone, while
//! `programs/counts_kernel_calls.c` writes down what the kernel moves, and under `ftio trace`. Results and
//! files must be the same, and the trace must have the kernel's bytes and calls for every file, layer and
//! direction ([`compare`]). What fails is made smaller until nothing can be left out ([`shrink`]).
//!
//! [`fuzz`] draws scripts; `scripts/fuzz-streams` does so for hours. [`cases`] has a script for each defect
//! that was found. [`oracle`] judges the judge.

mod account;
mod batch;
mod cases;
mod compare;
mod fuzz;
mod generate;
mod model;
mod oracle;
mod play;
mod recorded;
mod report;
mod rows;
mod script;
mod shrink;
