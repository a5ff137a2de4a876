//! The tmio trace: what one recorded MPI-IO operation is, how operations are laid out on disk, and
//! how they are read back.
//!
//! A trace is a stream of [frames](frame), each a complete MessagePack array with a checksum:
//!
//! | frame | type | when it is written |
//! |---|---|---|
//! | header | [`Header`] | once, by rank 0 |
//! | rank | [`RankInfo`] | per rank: where it ran, its clock, what it cost |
//! | block | [`block`] | per rank, whenever its current block leaves memory |
//! | end | [`TraceEnd`] | once, last: the job reached `MPI_Finalize` |
//!
//! Blocks are self-contained: a block names the files its operations touched and can be decoded
//! without any other block. `docs/trace-format.md` describes every byte.
//!
//! [`tmio`] derives the phases of the C++ TMIO from operations, and writes and reads its formats.
//!
//! ```no_run
//! use tmio_trace::{Event, Trace};
//!
//! let mut bytes = 0;
//! let outcome = Trace::open("trace.msgpack".as_ref())?.read(|event| {
//!     if let Event::Block(block) = event {
//!         bytes += block.operations.iter().map(|operation| operation.bytes).sum::<u64>();
//!     }
//! })?;
//! println!("{bytes} bytes; complete: {}", outcome.complete);
//! # Ok::<(), tmio_trace::ReadError>(())
//! ```
//!
//! The same crate is linked into the application (writing) and into `ftio` (reading), so it has few
//! dependencies (serde with MessagePack, a checksum, error messages), and nothing on the writing path panics
//! or allocates without asking.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

mod format;
pub mod liveness;
pub mod parts;
mod read;
pub mod roll;
pub mod salvage;
pub mod tmio;

pub use format::block;
pub use format::filter::Filter;
pub use format::meta::{Beside, ClockSample, Header, RankInfo, TraceEnd};
pub use format::operation::{AsyncTimes, Mark, Operation, Transfer};
pub use format::{checksum, column, frame, raw, times};
pub use read::reader::{Event, Outcome, ReadError, Trace};
pub use read::{growing, reader, rewrite};
pub use salvage::{recover, spool};
pub use tmio_spool::kind::{Class, Direction, FilePointer, Flags, Metadata, OpKind, TraceLayer};

/// Version of the trace format that this crate writes, and the highest one it reads.
pub const FORMAT_VERSION: u32 = 2;
