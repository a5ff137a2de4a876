//! Applications on a shared file system, simulated.
//!
//! Each application computes, does I/O, and computes again; it writes the same number of bytes each time, and
//! goes on when all of them are written. How fast that is depends on who else does I/O, and on how the
//! servers [share](Sharing) their bandwidth. Two levels of detail, behind one interface:
//!
//! - [`Level::Fluid`]: bytes flow at rates that change when somebody begins or ends. Fast: a simulated hour
//!   of a thousand applications takes seconds;
//! - [`Level::Requests`]: each process writes request by request and waits for each, and each server has a
//!   [queue](crate::queue::Queue) that decides on its own.
//!
//! A time is an integer, nanoseconds from the start of the simulation, and what is random comes from a seed
//! and is drawn by each application for itself: the same whatever the policy.

mod application;
mod fluid;
mod predictor;
mod requests;
mod run;
mod sharing;

pub use application::{Application, Noise, Placement};
pub use predictor::{Early, Erroneous, Known, NewPredictor, Predictor, Transfer, early_guess};
pub use run::{Course, IoPhase, Outcome, Simulation};
pub use sharing::{Flow, rates};

use crate::queue::{Nanoseconds, Patience};

/// The shared file system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platform {
    /// How many servers; each decides alone.
    pub servers: usize,
    /// Over how many of them a file is spread.
    pub stripe: usize,
    /// Bytes per second of all servers together.
    pub capacity: f64,
    /// Bytes per second that one application reaches when it is alone.
    pub alone: f64,
    /// Bytes per request.
    pub request: u64,
}

/// How servers share their bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharing {
    /// All alike: requests as they come.
    Fair,
    /// One application at a time, whoever began first.
    FirstCome,
    /// By sets: exclusively within, by priority between.
    Sets(Patience),
}

/// How finely to simulate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Rates.
    #[default]
    Fluid,
    /// Requests and queues.
    Requests,
}

/// What an application does to the file system at once: one I/O phase.
#[derive(Clone, Debug)]
struct Demand {
    application: usize,
    job: crate::queue::JobId,
    processes: u32,
    bytes: u64,
    /// The most that this phase reaches alone, bytes per second.
    most: f64,
    /// Its share compared to others where all should be alike.
    weight: f64,
}

/// The part of a simulation that the two levels do differently.
trait FileSystem {
    /// An I/O phase begins.
    fn begin(&mut self, demand: &Demand, placement: &Placement, now: Nanoseconds);

    /// The priority of an application from now on.
    fn prioritise(&mut self, application: usize, priority: crate::rules::Priority);

    /// When something happens next.
    fn next(&self) -> Option<Nanoseconds>;

    /// Go on until the time of [`next`](Self::next), and tell which applications' phases ended then.
    fn advance(&mut self, to: Nanoseconds, ended: &mut Vec<usize>);

    /// What an application transferred since it was last asked.
    fn transfers(&mut self, application: usize) -> Vec<Transfer>;
}

fn seconds(time: Nanoseconds) -> f64 {
    time as f64 * 1e-9
}

fn nanoseconds(seconds: f64) -> Nanoseconds {
    (seconds * 1e9).round().max(0.0) as Nanoseconds
}
