//! Which job may do I/O now.
//!
//! A job asks for a *lease* at the first operation after a silence and gives it back when all its ranks are
//! idle. Sets and their weights are those of Set-10 ([`rules`](crate::rules)); what pays is that few do I/O
//! at a time.
//!
//! - [`Arbiter`]: the rules, as a state machine that is told times and messages, and says what to send;
//! - [`Settings`]: what can be chosen;
//! - [`report`]: who holds and who waits, for people and programs;
//! - [`daemon`]: the same behind sockets or a directory;
//! - [`client`]: asks a running arbiter for its report;
//! - [`apply`]: turns by the means of a file system, for jobs that cannot be asked to wait.
//!
//! # The rules
//!
//! 1. *Phases.* A job that asks, works and gives its lease back has made a burst. Bursts with a short silence
//!    between them are a phase; which silence is short follows from the job's own silences.
//! 2. *Sets.* The period is the mean distance of the starts of the last phases. Before there are two, it is
//!    at least the time since `MPI_Init`, which may lower a priority but never raise it.
//! 3. *Between sets* in proportion to their weights, by virtual time: a set that was idle has no claims from
//!    the past. A job of a heavier set interrupts one of a lighter set.
//! 4. *Within a set* whoever has least left to do, judged by its last phases; each holder for a turn at most
//!    while others wait; first of all whoever has waited for long.
//! 5. *How many at a time* is measured: as many as fill what the file system has been seen to take.
//! 6. *Nobody waits longer than its patience.* Then it goes, beside those who hold.
//! 7. *Users are equal.* Within a set the turns of a user's jobs count together; one who wants a lease for
//!    several jobs and has had it for more than half of the last moments comes after all others; and a phase
//!    that lasts longer than its period is in the set of its length. What a job says that it gets counts up
//!    to four times what another user got.

pub mod apply;
mod bursts;
pub mod client;
pub mod daemon;
mod job;
mod machine;
mod order;
pub mod report;
mod settings;
mod users;
mod waits;
mod width;
mod window;

pub use job::NodeId;
pub use machine::{Arbiter, Refusal};
pub use report::{JobReport, PhaseReport, Report};
pub use settings::{Leases, Order, Settings};
