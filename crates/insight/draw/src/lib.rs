//! Charts of I/O over time, in SVG, PNG and HTML pages that need no network.
//!
//! | module | subject |
//! |---|---|
//! | [`canvas`] | sheets, frames, axes, curves; a sheet as SVG or PNG |
//! | [`plot`] | an analysis: bandwidth, spectrum, autocorrelation, ranks; scripts and style of pages |
//! | [`report`] | the page about a job, and one that compares several |
//! | [`models`] | scaling models |
//! | [`signature`] | the I/O signature of an application, and jobs on top of each other |
//! | [`policies`], [`batch`] | simulations |
//! | [`sparkline`] | a bandwidth as one line of text |
//! | [`units`] | numbers for people |
//!
//! Nothing here writes files or prints: drawings are bytes, and pages are strings.

#![forbid(unsafe_code)]
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod batch;
pub mod canvas;
mod error;
pub mod models;
pub mod plot;
pub mod policies;
pub mod report;
pub mod signature;
pub mod sparkline;
pub mod units;

pub use canvas::{Format, draw_sheet, escaped};
pub use error::{Error, Result};
