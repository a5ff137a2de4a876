//! Archives: many logs, on one machine or several, in memory that does not grow with them.
//!
//! Two stages. The first reads logs, in parallel and one independently of the other, and appends a [`record`]
//! for each to a [`part`]: a file that says how far the work has come, can be continued, and is all that a
//! machine that took a [`shard`] of the archive has to hand over. The second takes one part or many and goes
//! through their records in the order of the logs' names, twice: once to find which run of each application
//! is the heaviest, and once to write [lines](mod@line) and add up the [`summary`]. As the second stage sees
//! the same records in the same order however the first was divided, so is its result.

mod application;
pub mod line;
pub mod listing;
mod merged;
pub mod part;
pub mod process;
pub mod record;
pub mod reduce;
pub mod shard;
pub mod site;
pub mod summary;
pub mod view;
mod why;

pub use application::Identity;
pub use line::Line;
pub use listing::Listing;
pub use part::{Part, PartError};
pub use process::process;
pub use record::{Record, Settings};
pub use reduce::reduce;
pub use shard::Shard;
pub use summary::Summary;
