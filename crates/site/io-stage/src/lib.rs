//! Staging just in time: files leave a burst buffer in the quiet between the I/O phases of a job, and files
//! that a phase needs are there before it begins.
//!
//! - [`plan`]: the decisions, as a state machine without clock and files;
//! - [`protocol`]: how a file is copied, and how it leaves the buffer, so that nothing is ever lost;
//! - [`system`]: the calls that this is made of;
//! - [`copier`]: one copy at a time, which can be suspended;
//! - [`evictor`]: files that were copied are removed;
//! - [`ledger`], [`journal`]: what was copied and verified;
//! - [`go_on`]: a process that was killed is started again;
//! - [`scan`]: what is in the burst buffer;
//! - [`holders`]: who has a file open;
//! - [`stamp`], [`name`], [`stop`]: a version of a file, its path in a journal, why it was not copied;
//! - [`simulate`]: a job and its storage, played;
//! - [`live`]: a job that runs, from its trace to its files.
//!
//! When the next phase comes is not this crate's subject: a [`plan::Forecast`] is what decisions are made of,
//! and [`live`] has it from the predictor of `ftio-core`. Nothing here prints: [`live::Staging`] hands over
//! what there is to tell.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod copier;
pub mod evictor;
pub mod go_on;
pub mod holders;
pub mod journal;
pub mod ledger;
pub mod live;
#[cfg(test)]
mod model;
pub mod name;
pub mod plan;
pub mod protocol;
pub mod scan;
pub mod simulate;
pub mod stamp;
pub mod stop;
pub mod system;

/// The name of this host, fit for the name of a file.
pub fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.trim().chars().map(fine).take(64).collect()
}
