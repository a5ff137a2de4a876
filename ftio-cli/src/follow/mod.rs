//! Traces that are followed while they grow.

mod watch;

use crate::values::positive_seconds;
use clap::Args;
use std::time::Duration;
pub use watch::Watch;

/// How long to wait after a file event for others of the same burst.
pub const TOGETHER: Duration = Duration::from_millis(4);

/// How often files are looked at.
#[derive(Clone, Copy, Debug, Args)]
pub struct PollArgs {
    /// Look for additions this often, besides file events [default: 1 on network file systems, which have no events;
    /// else 10]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub poll: Option<f64>,
}
