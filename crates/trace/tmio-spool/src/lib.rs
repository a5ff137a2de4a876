//! The spool: shared memory in which a traced process keeps its records until somebody else has written them
//! to a file.
//!
//! A process has one spool, a file in memory (`/dev/shm`) that it maps. It stores each operation in a
//! [cell] of a [ring], which takes no lock and no system call. The helper process of its job
//! reads the cells, writes them out and frees them. What a killed process has stored stays in the file, and
//! is read from there.
//!
//! This crate is what the two sides share: the [layout] of the file, cells, rings, [kinds](kind) of
//! operations, and what every [thread] of a traced process keeps at hand. It is compiled into the small
//! object that is preloaded everywhere, so it needs neither the standard library nor an allocator, and cannot
//! panic.

#![no_std]
#![warn(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

#[cfg(test)]
extern crate std;

pub mod attach;
pub mod cell;
pub mod clock;
pub mod control;
pub mod kind;
pub mod layout;
pub mod pattern;
pub mod ring;
pub mod thread;
