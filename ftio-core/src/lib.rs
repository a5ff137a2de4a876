//! From the I/O requests of a parallel application to the period of its I/O phases.
//!
//! Many applications compute, write, and compute again. [`detect`](detect::detect) takes the requests of all
//! ranks and answers: does the I/O come back periodically, with which period, how sure is that, how much is
//! transferred each time, and when does the next phase begin?
//!
//! In short: the bandwidth of the application over time is a signal. It is searched for [phases] at every
//! time scale, and its [spectrum](spectral) for frequencies that stand out. What the period could be, and
//! whether there is one at all, is weighed in one place, [`estimate`](estimate::estimate), which gives a
//! period and the probability that it is right.
//!
//! The spectral method, and the numbers that describe phases, are those of *Capturing Periodic I/O Using
//! Frequency Techniques* (Tarraf et al., IPDPS 2024), called "the paper" throughout. Where we depart from it,
//! the module says so and why. [`detect`](mod@detect) lists the steps in their order.
//!
//! ```
//! use ftio_core::detect::{Options, detect};
//! use sources::request::{Class, Request};
//! use sources::{InMemory, Job};
//!
//! // Every 10 s, 2 s of writing.
//! let second = 1_000_000_000;
//! let burst = |i: i64| {
//!     Request::new(10 * i * second, (10 * i + 2) * second, 1 << 30, Class::WriteSync)
//! };
//! let requests: Vec<Request> = (0..12).map(burst).collect();
//! let (start, end) = (Some(0), Some(120 * second));
//! let job = Job { ranks: Some(1), start, end, complete: true, ..Job::default() };
//!
//! let found = detect("example", InMemory { requests: &requests, job }, &Options::default())?.detection;
//! assert!((found.period.unwrap() - 10.0).abs() < 0.01);
//! # Ok::<(), sources::SourceError>(())
//! ```
//!
//! # Numbers
//!
//! Times inside are integers, nanoseconds of job time; results are in seconds, Hz, bytes and bytes per
//! second. The same input gives the same answer, whatever the order of the requests.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod detect;
pub mod estimate;
pub mod phases;
pub mod predict;
pub mod renewal;
pub mod signal;
pub mod spectral;

pub use detect::characterize::Characterization;
pub use detect::detection::Detection;
pub use detect::next_phase::NextPhase;
pub use detect::over_time::{OverTime, Segment};
pub use detect::per_group::{Group, detect_each};
pub use detect::{Analysis, Options, analyse, detect};
pub use estimate::evidence::Evidence;
pub use estimate::kind::SignalKind;
pub use estimate::{Estimate, PeriodOf, estimate};
pub use phases::phase::Phase;
pub use predict::{PredictOptions, Prediction, Predictor, WindowRule};
pub use signal::Signal;
pub use spectral::spectrum::Measure;
pub use spectral::{Outlier, SpectralDetector, SpectralResult};
