//! The batch system of a machine whose jobs may change their size while they run.
//!
//! [`simulate`] runs a workload of [`Job`]s under one of three [`Policy`]s: first come first served, EASY
//! backfilling, and MEBF (Malleable EASY Backfilling), which also expands and shrinks running jobs. With
//! [`Settings::balance`], jobs that are allowed to start are chosen so that the I/O of the running jobs stays
//! close to that of the whole workload. [`swf`] reads workloads, [`lublin`] makes them, and [`Metrics`] says
//! what came out. [`known`] adds what models and traces tell of the jobs. [`queue`] is about the I/O queue
//! that jobs share, and [`traced`] has it from their traces.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod engine;
mod job;
pub mod known;
pub mod lublin;
mod metrics;
pub mod queue;
mod running;
mod scaling;
mod schedule;
mod settings;
pub mod swf;
pub mod traced;

pub use engine::{Change, Event, EventKind, JobRun, Outcome, WorkloadError, simulate};
pub use job::{Job, Kind};
pub use metrics::{Metrics, bandwidth, nodes_in_use};
pub use scaling::{Factor, Scaling, Term};
pub use settings::{Expansion, Policy, Settings};
