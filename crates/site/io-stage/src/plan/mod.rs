//! Which file is copied, when, and when to stop.
//!
//! A [`Planner`] is told what happens (requests of the job, flushes, what is expected, what lies in the
//! buffer, how a copy went) and says what to do ([`Planner::decide`]). It reads no clock and touches no file.
//!
//! The rules:
//!
//! 1. Nothing is copied during a phase, nor nearer to one than the guard time: 10 % of the period, and at
//!    least one second. The quiet ends the guard time before the expected start of the next phase, and not
//!    after the earliest start that is likely (the lower end of the predictor's 80 % interval).
//! 2. At the first request of a phase that comes early, a copy is suspended.
//! 3. Out go files that were written in a phase that is over, that are closed, and that were not read in the
//!    last two phases: those of the oldest phase first, of these the smallest first.
//! 4. A file is begun only if it can be copied before the quiet ends. One that is too large for any quiet is
//!    begun when nothing else fits, and goes on in the next quiet.
//! 5. Without a period to rely on, files leave only if the buffer is above its high mark, or the job has
//!    ended.
//! 6. A file is removed from the buffer only above the high mark, and only if a copy of this very version was
//!    verified and nobody has opened it since.
//! 7. A file that a phase needs comes in during the quiet before it, if there is room below the high mark.

mod choose;
mod decision;
mod files;
mod needs;
mod phases;
mod planner;
mod settings;
mod tally;
mod window;

pub use decision::{Action, Copy, Decision, Direction, Outcome};
pub use files::{Entry, Kind, Use};
pub use needs::{BadNeed, Need, parse_needs};
pub use phases::{Phase, overlap, phases_of};
pub use planner::Planner;
pub use settings::{Settings, When};
pub use tally::Report;
pub use window::{Forecast, Permission, Reason};

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
