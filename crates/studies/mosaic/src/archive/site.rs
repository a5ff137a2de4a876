//! The applications of a site, one row each.

use super::record::Valid;
use crate::category::Direction;
use schemars::JsonSchema;
use serde::Serialize;

/// Rows that are kept: the applications that moved most.
const MAX_POINTS: usize = 5000;
/// An application needs this many runs before it is said whether they are alike.
const ENOUGH_RUNS: u64 = 10;

/// An application of a user.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SiteRow {
    /// Its name; empty if the log does not know.
    pub application: String,
    /// Whose runs they are.
    pub user: i64,
    /// How many runs there are.
    pub runs: u64,
    /// Bytes that they moved, all together.
    pub bytes: u64,
    /// Categories of the heaviest run.
    pub categories: Vec<&'static str>,
    /// Periods of the heaviest run in seconds, those of reads first.
    pub periods: Vec<f64>,
    /// Share of the further runs that have exactly these categories; null if there are none.
    pub like_the_heaviest: Option<f64>,
    /// The log of the heaviest run.
    pub heaviest: String,
    /// Its bytes read over time, as digits.
    pub read: String,
    /// Its bytes written over time.
    pub write: String,
}

/// Do the runs of applications resemble each other?
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Resemblance {
    /// Applications with ten runs or more.
    pub applications: u64,
    /// Share of their further runs that have the categories of the heaviest, as the mean over applications.
    pub mean: Option<f64>,
    /// Share of these applications of which at least nine in ten runs have.
    pub nearly_all: Option<f64>,
}

impl SiteRow {
    pub(super) fn new(source: &str, run: &Valid, runs: u64, bytes: u64) -> Self {
        let periods = Direction::ALL.iter().flat_map(|direction| &run.findings.flow(*direction).periodic);
        SiteRow {
            application: run.application.clone(),
            user: run.user,
            runs,
            bytes,
            categories: run.categories.names(),
            periods: periods.map(|operation| operation.period).collect(),
            like_the_heaviest: None,
            heaviest: source.to_owned(),
            read: run.findings.read.profile.clone(),
            write: run.findings.write.profile.clone(),
        }
    }
}

/// The rows that are shown, the heaviest first.
pub(super) fn shown(mut rows: Vec<SiteRow>) -> Vec<SiteRow> {
    rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.heaviest.cmp(&b.heaviest)));
    rows.truncate(MAX_POINTS);
    rows
}

pub(super) fn resemblance(rows: &[SiteRow]) -> Resemblance {
    let shares: Vec<f64> =
        rows.iter().filter(|row| row.runs >= ENOUGH_RUNS).filter_map(|row| row.like_the_heaviest).collect();
    let count = shares.len() as f64;
    let of = |sum: f64| (!shares.is_empty()).then(|| sum / count);
    Resemblance {
        applications: shares.len() as u64,
        mean: of(shares.iter().sum()),
        nearly_all: of(shares.iter().filter(|share| **share >= 0.9).count() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(runs: u64, bytes: u64, alike: Option<f64>) -> SiteRow {
        SiteRow {
            application: "app".into(),
            user: 1,
            runs,
            bytes,
            categories: Vec::new(),
            periods: Vec::new(),
            like_the_heaviest: alike,
            heaviest: format!("{bytes}"),
            read: String::new(),
            write: String::new(),
        }
    }

    #[test]
    fn only_applications_with_many_runs_say_something() {
        let rows = [row(10, 5, Some(1.0)), row(20, 9, Some(0.5)), row(9, 7, Some(0.0)), row(1, 1, None)];
        let found = resemblance(&rows);
        assert_eq!((found.applications, found.mean, found.nearly_all), (2, Some(0.75), Some(0.5)));
        assert_eq!(resemblance(&rows[3..]), Resemblance::default());
        let order: Vec<u64> = shown(rows.to_vec()).iter().map(|row| row.bytes).collect();
        assert_eq!(order, [9, 7, 5, 1]);
    }
}
