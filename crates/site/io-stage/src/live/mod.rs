//! A job that runs: its trace is followed, its next phase predicted, its files moved meanwhile.
//!
//! [`Staging`] is told what comes from the trace, and wakes up whoever waits for it. What it has decided and
//! done are [`Told`] values, which it hands over; it prints nothing.
//!
//! - [`needs`]: the files that phases need;
//! - [`replay`]: the same decisions for a job that is over;
//! - [`Online`]: the predictor, for jobs that are played.

mod actions;
mod buffer;
mod job_clock;
mod mover;
mod names;
pub mod needs;
mod oracle;
mod record;
pub mod replay;
mod staging;

pub use buffer::Buffer;
pub use mover::{Mover, Pretended};
pub use oracle::Online;
pub use record::Record;
pub use staging::{Means, Staging, Told};
