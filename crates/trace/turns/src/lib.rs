//! Turns: what a job and the arbiter of its file system say to each other, and the gate in the job.
//!
//! A node of a job has one connection. Messages have 32 bytes, little-endian, and some are followed by a
//! text. The same bytes travel over a Unix socket, over TCP, or through two files in a directory.
//!
//! ```text
//! node                                 arbiter
//!  │ Hello (job, host, secret)            │
//!  ├─────────────────────────────────────▶│
//!  │◀─────────────────────────────────────┤ Welcome, or Refused with a reason
//!  │ Ask 1     the first operation        │
//!  ├─────────────────────────────────────▶│
//!  │◀─────────────────────────────────────┤ Wait, at once and every 250 ms; or
//!  │◀─────────────────────────────────────┤ Grant 1
//!  │ Beat      every 250 ms               │
//!  ├─────────────────────────────────────▶│
//!  │◀─────────────────────────────────────┤ Revoke: somebody else's turn; Grant again later
//!  │ Yield 1   all ranks are idle         │
//!  ├─────────────────────────────────────▶│
//! ```
//!
//! A lease is advice: it protects no data, and a job without an answer continues without one.

#![cfg_attr(not(feature = "gate"), forbid(unsafe_code))]
#![warn(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

mod address;
mod choice;
#[cfg(feature = "gate")]
pub mod gate;
mod hello;
mod message;
mod stream;

pub use address::{Address, AddressError};
pub use choice::{FORM, IoSets, Place};
pub use hello::Hello;
pub use message::{Kind, LENGTH, LONGEST_TEXT, Malformed, Message, VERSION};
pub use stream::Stream;

/// How often a node that holds or waits says so, and how often the arbiter tells those who wait that it is
/// there.
pub const BEAT: std::time::Duration = std::time::Duration::from_millis(250);

/// After which time without a sign the other side counts as gone.
pub const SILENT: std::time::Duration = std::time::Duration::from_secs(1);

/// For how many files it is noted which collective call was entered last.
pub const COLLECTIVE_SLOTS: usize = 64;
