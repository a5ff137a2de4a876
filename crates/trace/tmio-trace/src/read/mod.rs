//! From a trace, whole, growing or damaged, to events in the job's time, and what is missing of the job.

mod completeness;
pub mod growing;
pub mod reader;
mod reading;
pub mod rewrite;
mod told;
