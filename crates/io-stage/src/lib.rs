//! Staging just in time: files leave a burst buffer in the quiet between the I/O phases of a job, and files
//! that a phase needs are there before it begins.
//!
//! - [`plan`]: the decisions, as a state machine without clock and files.
//!
//! When the next phase comes is not this crate's subject: a [`plan::Forecast`] is what it is told, and
//! `ftio-cli` has it from the predictor of `ftio-core`.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod plan;
pub mod stamp;
