//! A job and its storage, played: for capacities and rates that are not at hand, and for traces of jobs that
//! are over.
//!
//! The decisions are those of the [planner](crate::plan), told what it would be told: what the job did, after
//! each flush; what lies in the buffer. The storage is a flow of bytes: while the job and a copy use the
//! buffer at the same time, each stream of requests gets an equal share of its bandwidth.
//!
//! - [`job()`]: a job that computes and writes in turn, and is slowed down by copies;
//! - [`replay()`]: a job that is over, whose requests stay where they were.

mod engine;
mod job;
mod replay;

pub use job::{Job, job};
pub use replay::{Script, Written, replay};

use crate::plan::{Decision, Forecast, Report};

/// A request as the predictor gets it, in seconds of job time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// When it began.
    pub start: f64,
    /// When it was done.
    pub end: f64,
    /// What it moved.
    pub bytes: u64,
}

/// Says when the next phase comes.
pub trait Oracle {
    /// These requests are new, and everything up to `until` is known.
    fn flush(&mut self, requests: &[Transfer], until: f64) -> Forecast;
}

/// The storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Storage {
    /// Bytes per second that the buffer can move.
    pub bandwidth: f64,
    /// Bytes per second that a copy reaches where nobody else uses the buffer.
    pub rate: f64,
    /// How much fits into the buffer.
    pub capacity: Option<u64>,
    /// Seconds from flush to flush.
    pub flush: f64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// When the job ended, in seconds.
    pub end: f64,
    /// How much later everything was out of the buffer; `None` if that never happened.
    pub drained: Option<f64>,
    /// The sums.
    pub report: Report,
    /// What was decided.
    pub decisions: Vec<Decision>,
}
