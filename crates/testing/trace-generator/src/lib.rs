//! Traces of applications whose period is known, because they are made up: to measure how accurate a detector
//! is.
//!
//! The experiment is that of *Capturing Periodic I/O Using Frequency Techniques* (Tarraf et al., IPDPS 2024,
//! III-A), called "the paper". An [`Application`](application::Application) is J iterations of computing and
//! writing; computing times vary, ranks are late, phases have [shapes](shape), and other traffic disturbs.
//! [`Irregular`](irregular::Irregular) signals have no single period, and a detector should say so. Both give
//! a [`Generated`](generated::Generated): the writes of all ranks, and the [truth](generated::Truth) about
//! them.
//!
//! The paper glues recordings of the IOR benchmark together. We have no such recordings; [`shape`] makes up
//! phases in many forms instead, of about the same length (10.4 s on average, none shorter than 10.2 s)
//! unless another one is asked for.
//!
//! [`kinds`] go beyond the paper: signals as users bring them, each kind with what it is and what would be
//! right.
//!
//! [`running`] jobs are cut after some phases, to ask when the next one starts. [`server_log`] is what a
//! storage server logs while an application runs among others, [`server_archive`] months of such a log with
//! its jobs.
//!
//! Everything is seeded: the same arguments give the same trace, everywhere.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod application;
pub mod experiment;
pub mod generated;
pub mod irregular;
pub mod kinds;
pub mod random;
pub mod running;
pub mod server_archive;
pub mod server_log;
pub mod shape;
pub mod verdict;
pub mod write;
