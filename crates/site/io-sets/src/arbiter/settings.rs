//! What can be chosen, and the constants of the rules.

use std::fmt;
use std::str::FromStr;

/// How many jobs hold a lease at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leases {
    /// As many as fill the file system, measured.
    Auto,
    /// So many, whatever the gain.
    Fixed(usize),
}

/// The order of the jobs of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Who has least left to do.
    Shortest,
    /// Whose phase began first.
    Start,
}

/// The settings of an arbiter. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How many at a time.
    pub leases: Leases,
    /// Who first.
    pub order: Order,
    /// How long a job may have to wait; `None`: twice its period, within bounds.
    pub patience: Option<f64>,
    /// How long a job holds while others of its set wait; `None`: twice the median phase of the set.
    pub turn: Option<f64>,
    /// Times are multiplied by this before a set is chosen, for experiments that are scaled down.
    pub time_scale: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { leases: Leases::Auto, order: Order::Shortest, patience: None, turn: None, time_scale: 1.0 }
    }
}

/// How long a job of known period waits at least and at most, before it goes in any case.
pub const PATIENCE: (f64, f64) = (10.0, 900.0);

/// How long a job of unknown period waits.
pub const PATIENCE_AT_FIRST: f64 = 60.0;

/// How long a job holds without having to compare with other sets.
pub(crate) const SLICE: f64 = 0.05;

/// A holder that was not heard of for so long has lost its lease.
pub(crate) const SILENT: f64 = 1.0;

/// How often those who wait hear that the arbiter is there. Well below [`SILENT`], so that one late sign
/// makes nobody go.
pub(crate) const SIGN: f64 = 0.35;

/// Jobs whose phases take less time than this go at once. A lease is held for 5 ms after the last operation,
/// which is more than it gains.
pub(crate) const SHORT: f64 = 0.025;

/// The shortest turn. A phase that was expected to be short and has held for longer takes turns too.
pub(crate) const TURN: f64 = 1.0;

/// How often things that change slowly are looked at.
pub(crate) const TICK: f64 = 0.25;

impl FromStr for Leases {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            _ if text == "auto" => Ok(Leases::Auto),
            Ok(0) | Err(_) => Err("auto, or a number of jobs from 1 on"),
            Ok(number) => Ok(Leases::Fixed(number)),
        }
    }
}

impl fmt::Display for Leases {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leases::Auto => out.write_str("auto"),
            Leases::Fixed(number) => write!(out, "{number}"),
        }
    }
}
