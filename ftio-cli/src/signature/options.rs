//! Options of `ftio signature` and of its subcommands.

use crate::inputs::COUNTERS;
use crate::values::{number, one_of};
use clap::ValueHint;
use io_signature::read::{Direction, Reading};
use sources::Rate;
use std::path::PathBuf;

/// How logs and samples are read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Logs")]
pub struct ReadingArgs {
    /// Columns to take: those with write, or with read, in their name; both, or all if no name tells
    #[arg(long, value_name = "DIRECTION", value_parser = one_of(DIRECTIONS), default_value = "write")]
    pub direction: Direction,

    /// Of logs with several columns, take those whose name contains this
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,

    /// One signature per server or partition instead of one for their sum
    #[arg(long)]
    pub apart: bool,

    /// The unit of the throughput, such as MB or KiB [default: as the column's name tells, else bytes]
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    pub unit: Option<f64>,

    /// Columns are counters, whose rate is taken: on, off, or auto by their names and values
    #[arg(long, value_name = "WHEN", value_parser = one_of(COUNTERS), default_value = "auto")]
    pub counters: Rate,
}

/// Where goes what `place` and `stagger` find.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct ResultArgs {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,

    /// Draw the jobs on top of what else is expected
    #[arg(long, value_name = "FILE.(svg|png)", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
}

/// `--direction`.
const DIRECTIONS: [(&str, Direction); 3] =
    [("write", Direction::Write), ("read", Direction::Read), ("both", Direction::Both)];

impl ReadingArgs {
    /// For reading logs.
    pub fn reading(&self) -> Reading {
        let metric = self.metric.clone();
        Reading { direction: self.direction, metric, unit: self.unit, rate: self.counters }
    }
}

/// A unit of throughput.
pub fn unit(text: &str) -> Result<f64, String> {
    sources::units::rate(text).ok_or_else(|| "expected a unit such as B, kB, MB, GB or MiB".to_owned())
}

/// A throughput: a number of bytes per second, with or without a unit.
pub fn throughput(text: &str) -> Result<f64, String> {
    let place = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(text.len());
    let (amount, unit) = text.split_at(place);
    let factor = if unit.is_empty() { Some(1.0) } else { sources::units::rate(unit) };
    match (amount.trim().parse::<f64>(), factor) {
        (Ok(number), Some(factor)) if number > 0.0 && number.is_finite() => Ok(number * factor),
        _ => Err("expected bytes per second, such as 2.5GB or 1000000".to_owned()),
    }
}

/// Seconds that may be 0.
pub fn seconds(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1e7).contains(&value), "seconds, up to 10000000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughputs() {
        assert_eq!(throughput("2.5GB"), Ok(2.5e9));
        assert_eq!(throughput("10 GiB/s"), Ok(10.0 * 1_073_741_824.0));
        assert_eq!(throughput("1e9"), Ok(1e9));
        assert!(throughput("x").is_err() && throughput("-1").is_err() && throughput("3 apples").is_err());
    }
}
