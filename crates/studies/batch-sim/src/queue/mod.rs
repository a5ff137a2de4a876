//! The I/O queue that jobs share, as a Markov chain.
//!
//! A job computes for a while, then does I/O, then computes again. How many jobs do I/O or wait for it at the
//! same time is the length of the queue. If the times are exponentially distributed, the length is a
//! birth-and-death chain in continuous time: from q to q + 1 with the rate at which computing jobs come to
//! their I/O, from q to q − 1 with the rate at which the file system serves. [`Chain`] solves it in closed
//! form, [`simulate`] runs it (Gillespie's algorithm) and gives the course of the mean and a band, and
//! [`templates`] groups jobs that behave alike.

mod chain;
mod gillespie;
mod templates;

pub use chain::{Chain, Member, fit};
pub use gillespie::{Course, simulate};
pub use templates::{Template, resampled, templates};
