//! I/O scheduling by sets: whoever does I/O often gets most of the bandwidth, and those who do it equally
//! often take turns.
//!
//! Applications compute, do I/O, and compute again. When many share a file system equally, those with short,
//! frequent I/O phases wait for those with long, rare ones. IO-Sets (Boito, Pallez, Teylo and Vidal, TPDS
//! 2023, called "the IO-Sets paper" here) puts applications into sets by how often they do I/O: within a set
//! one at a time, between sets in proportion to the sets' priorities. Its heuristic *Set-10* needs one number
//! per application, the mean time from the start of one I/O phase to that of the next, which is what `ftio`
//! finds while a job runs.
//!
//! - [`rules`]: from a period to a set and its priority, and what holds before the first period is known;
//! - [`standing`]: the priority of one job over its life;
//! - [`observed`]: whether what was seen of a job supports a predicted period;
//! - [`scheduler`]: the priorities of several running jobs;
//! - [`follow`]: the same, from their traces;
//! - [`configfs`]: where the file system's client looks priorities up;
//! - [`queue`]: in which order one server handles requests;
//! - [`simulate`]: applications on a shared file system, as flows of bytes or request by request;
//! - [`metrics`]: stretch, I/O slowdown and utilisation over a time frame;
//! - [`experiment`]: the published experiment;
//! - [`predictor`]: ftio as the predictor of simulated jobs;
//! - [`measure`]: what sharing has cost real jobs, from their traces;
//! - [`arbiter`]: which job may do I/O now: leases, and the daemon that gives them.
//!
//! ```
//! use io_sets::Set;
//!
//! // A job that writes every 19.2 s is in set 1, of priority 10⁻¹; the file that the client reads has it
//! // times 10⁷.
//! let set = Set::of_period(19.2).unwrap();
//! assert_eq!((set.number(), set.priority().stored()), (1, 1_000_000));
//! ```
//!
//! The queue, the priority file and the experiment follow *Implementation of an unbalanced I/O Bandwidth
//! Management system in a Parallel File System* (Barthélemy et al., Inria RR-9537, 2024), "the report" here.
//!
//! How a period is found is not this crate's subject: [`simulate::Predictor`] is the interface, and
//! `ftio-core` is behind it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod arbiter;
pub mod configfs;
pub mod experiment;
pub mod follow;
pub mod measure;
pub mod metrics;
pub mod observed;
pub mod predictor;
pub mod queue;
pub mod rules;
pub mod scheduler;
pub mod simulate;
pub mod standing;

pub use configfs::{Configfs, ConfigfsError};
pub use metrics::Metrics;
pub use observed::Observed;
pub use queue::Queue;
pub use rules::{Priority, Set};
pub use scheduler::Scheduler;
pub use standing::Standing;
