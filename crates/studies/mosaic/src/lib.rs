//! Categories of I/O behaviour, over archives of hundreds of thousands of Darshan logs.
//!
//! An application reads at its start, writes checkpoints every ten minutes, and writes its results at the
//! end: three categories that a scheduler or the people behind a file system can work with. This crate
//! assigns them by the method of *MOSAIC: Detection and Categorization of I/O Patterns in HPC Applications*
//! (Jolivel, Tessier, Monniot and Pallez, PDSW 2024), "the paper" in all that follows. Where the paper is
//! silent, the module says what was decided; where a number was decided, it is a [threshold](thresholds) with
//! its source.
//!
//! ```
//! use mosaic::{Operation, Run, Thresholds, categorize};
//!
//! // An hour; 2 GB written for ten seconds every five minutes.
//! let burst = |i: u32| Operation::new(300.0 * f64::from(i), 300.0 * f64::from(i) + 10.0, 2_000_000_000);
//! let run = Run { run_time: 3600.0, ranks: 64, writes: (0..12).map(burst).collect(), ..Run::default() };
//! let found = categorize(&run, &Thresholds::default(), false);
//! assert!(found.categories().names().contains(&"write_periodic_minute"));
//! assert_eq!(found.write.periodic[0].period, 300.0);
//! ```
//!
//! | step of the paper | where |
//! |---|---|
//! | validity, operations of a log | [`log`] |
//! | merging of operations (III-B2) | `operation.rs` |
//! | segments, groups, periods (III-B3a) | `periodicity.rs`, `mean_shift.rs` |
//! | when (III-B3b) | `temporality.rs` |
//! | metadata (III-B3c) | `metadata.rs` |
//! | all of it for one run | [`categorize`] |
//! | FTIO's opinion (the paper's future work) | [`Witness`] |
//! | archives: runs of an application, totals, correlations (III-B1, IV) | [`archive`] |

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod archive;
mod category;
pub mod log;
mod mean_shift;
mod metadata;
mod operation;
mod periodicity;
mod requests;
mod run;
mod temporality;
pub mod thresholds;
mod witness;

pub use category::{Busy, Categories, Category, Direction, Load, Magnitude, Temporality};
pub use metadata::{Metadata, Requests};
pub use operation::{Bins, Operation};
pub use periodicity::Periodic;
pub use run::{Findings, Flow, Run, categorize};
pub use thresholds::Thresholds;
pub use witness::{Shown, Witness};
