//! What one application does to the storage, from the servers' log alone.
//!
//! Storage servers log their throughput every few seconds: the sum of what all jobs do. Where the job log
//! says when an application ran, the log of these times, a *sample*, shows its bursts among those of
//! others. What all samples have in common is the application's own: its *signature*, the throughput it
//! would cause alone. No tracing, no cost, no change to any program.
//!
//! The method is that of *Automatic Identification of Application I/O Signatures from Noisy Server-Side
//! Traces* (Liu, Gunasekaran, Ma and Vazhkudai, FAST 2014), "the paper" in all that follows; [`published`]
//! is what it says. It cuts long flat bursts into pieces and loses them. By default the samples are aligned
//! by their common bursts, and the signature is found in their [median](Method::Median). Every number is a
//! [setting](settings) with its source.
//!
//! ```
//! use io_signature::{Method, Sample, Settings, signature};
//!
//! // Six runs of 400 s, logged every 2 s: 1 GB/s for 20 s at 100 s and 300 s, and a burst of somebody else.
//! let run = |foreign: usize| {
//!     let mut values = vec![1e7; 200];
//!     values[50..60].fill(1e9);
//!     values[150..160].fill(1e9);
//!     values[foreign..foreign + 5].fill(2e9);
//!     Sample { name: format!("run {foreign}"), start: 0.0, step: 2.0, values }
//! };
//! let samples: Vec<Sample> = [10, 70, 90, 110, 130, 170].map(run).into();
//! let found = signature(&samples, Method::Median, &Settings::default());
//! assert_eq!(found.bursts.len(), 2);
//! assert!((found.bursts[0].start - 100.0).abs() < 2.0);
//! assert!((found.bytes / 4e10 - 1.0).abs() < 0.1);
//! ```
//!
//! | step of the paper | module |
//! |---|---|
//! | the two logs (5.1) | [`server_log`], [`rows`], [`jobs`], [`time_zone`] |
//! | the runs of an application (5.1) | [`application`] |
//! | samples, and which of them are of use (5.1) | [`mod@sample`], [`outliers`] |
//! | one grid of seconds, run times, background (5.1) | [`resample`] |
//! | smoothing and the bursts of a sample (5.2) | [`wavelet`], [`bursts`] |
//! | common bursts (5.3) | [`grid`] |
//! | the signature (5.4) | [`published`] |
//! | accuracy and its rival (6.1, 6.3) | [`compare`], [`dtw`] |
//! | how far to trust it, who else writes periodically (ours) | [`quality`], [`periodic`] |
//! | files of any format (ours) | [`read`] |
//! | every application of a job log, and what is kept of it (ours) | [`archive`], [`found`] |
//! | where and when to start jobs (6.4) | [`place`], [`stagger`] |

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod align;
pub mod application;
pub mod archive;
pub mod bursts;
pub mod compare;
mod consensus;
pub mod dtw;
pub mod found;
pub mod grid;
pub mod jobs;
mod locate;
mod moment;
pub mod outliers;
pub mod periodic;
pub mod place;
pub mod published;
pub mod quality;
pub mod read;
pub mod resample;
pub mod rows;
pub mod sample;
pub mod server_log;
pub mod settings;
mod signature;
mod spans;
pub mod stagger;
pub mod statistics;
mod time_line;
pub mod time_zone;
mod votes;
pub mod wavelet;

pub use jobs::{Job, Jobs};
pub use quality::Quality;
pub use sample::{Listed, Sample};
pub use server_log::{ServerLog, SetBack};
pub use settings::Settings;
pub use signature::{Analysis, Background, Burst, Method, Periodic, Signature, analyse, signature};
