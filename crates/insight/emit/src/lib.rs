//! What other programs read: traces as tables, Parquet and Chrome's format; metrics for Prometheus; lines
//! over sockets.
//!
//! | module | subject |
//! |---|---|
//! | [`exporter`] | what a format does that a trace is written in; [`csv`], [`chrome`], `parquet` |
//! | [`samples`] | sampled quantities as one table |
//! | [`prometheus`] | the text format of Prometheus |
//! | [`predictions`] | predictions as metrics |
//! | [`http`] | one page of text for many clients: `/metrics` |
//! | [`socket`] | lines for all that connect |
//! | [`address`] | addresses as people write them |

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod address;
pub mod chrome;
pub mod csv;
pub mod exporter;
pub mod http;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod predictions;
pub mod prometheus;
pub mod samples;
pub mod socket;

pub use exporter::{ExportError, Exporter, export};
