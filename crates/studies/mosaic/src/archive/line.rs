//! The result for one log: a line of `ftio categorize --json`.

use super::record::Valid;
use super::why::why;
use crate::category::{Direction, Temporality};
use crate::log::Origin;
use crate::metadata::Metadata;
use crate::periodicity::Periodic;
use crate::run::Flow;
use crate::thresholds::Thresholds;
use crate::witness::Witness;
use schemars::JsonSchema;
use serde::Serialize;
use sources::Layer;

/// The schema that [`Line`] follows.
pub const SCHEMA: &str = "ftio.category/1";

/// What became of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It stands for its application: its only run, or its heaviest.
    Ok,
    /// Another run of its application was heavier.
    Duplicate,
    /// It could not be used.
    Invalid,
}

/// The result for one log.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Line<'a> {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Its path.
    pub source: &'a str,
    /// What became of it.
    pub status: Status,
    /// Why.
    pub reason: String,
    /// Names of its categories.
    pub categories: Vec<&'static str>,
    /// All else, unless it is invalid.
    #[serde(flatten)]
    pub details: Option<Details<'a>>,
}

/// What was found in a valid log.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Details<'a> {
    /// The periodic operations of both directions.
    pub periods: Vec<Period<'a>>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// A sentence for each category.
    pub why: Vec<String>,
    /// The application; empty if the log does not know.
    pub application: &'a str,
    /// Whose run it was.
    pub user: i64,
    /// How many runs of this application by this user there are.
    pub runs: u64,
    /// The heaviest of them.
    pub heaviest: &'a str,
    /// The scheduler's number.
    pub job: i64,
    /// Processes.
    pub ranks: u64,
    /// When it began, seconds since 1970.
    pub start: i64,
    /// How long it took, in seconds.
    pub run_time: f64,
    /// The layer it was seen from.
    pub layer: Option<Layer>,
    /// Where operations came from.
    pub operations_from: Origin,
    /// About its reads.
    pub read: Access<'a>,
    /// About its writes.
    pub write: Access<'a>,
    /// About its opens, closes and seeks.
    pub metadata: &'a Metadata,
    /// What the reader should know.
    pub notes: &'a [String],
}

/// A periodic operation.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Period<'a> {
    /// Which way.
    pub direction: Direction,
    /// What and how often.
    #[serde(flatten)]
    pub operation: &'a Periodic,
}

/// What was found about a direction.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Access<'a> {
    /// Bytes moved.
    pub bytes: u64,
    /// Operations.
    pub operations: u64,
    /// What was left of them after merging; 0 if insignificant.
    pub merged: u64,
    /// Bytes in each part of the run.
    pub chunks: &'a [u64],
    /// When they were moved.
    pub temporality: Option<Temporality>,
    /// Is it periodic?
    pub periodic: bool,
    /// What FTIO says; `None` if it was not asked.
    pub witness: Option<&'a Witness>,
    /// Bytes over time as digits.
    pub profile: &'a str,
}

impl<'a> Access<'a> {
    fn of(flow: &'a Flow) -> Self {
        Access {
            bytes: flow.bytes,
            operations: flow.operations,
            merged: flow.merged,
            chunks: &flow.chunks,
            temporality: flow.temporality,
            periodic: !flow.periodic.is_empty(),
            witness: flow.witness.as_ref(),
            profile: &flow.profile,
        }
    }
}

impl<'a> Line<'a> {
    /// For a log that could not be used.
    pub fn invalid(source: &'a str, reason: &str) -> Self {
        Line {
            schema: SCHEMA,
            source,
            status: Status::Invalid,
            reason: reason.to_owned(),
            categories: Vec::new(),
            details: None,
        }
    }

    /// For a valid log, one of so many runs of which `heaviest` was the heaviest.
    pub fn valid(
        source: &'a str,
        run: &'a Valid,
        runs: u64,
        heaviest: &'a str,
        thresholds: &Thresholds,
    ) -> Self {
        let findings = &run.findings;
        let is_heaviest = source == heaviest;
        let periods = Direction::ALL
            .into_iter()
            .flat_map(|direction| {
                findings.flow(direction).periodic.iter().map(move |operation| Period { direction, operation })
            })
            .collect();
        Line {
            schema: SCHEMA,
            source,
            status: if is_heaviest { Status::Ok } else { Status::Duplicate },
            reason: match (is_heaviest, runs) {
                (true, 1) => "the only run of its application by its user".to_owned(),
                (true, _) => format!("the heaviest of {runs} runs of its application by its user"),
                (false, _) => {
                    format!("one of {runs} runs of its application by its user; the heaviest is {heaviest}")
                }
            },
            categories: run.categories.names(),
            details: Some(Details {
                periods,
                bytes_read: findings.read.bytes,
                bytes_written: findings.write.bytes,
                why: why(run, thresholds),
                application: &run.application,
                user: run.user,
                runs,
                heaviest,
                job: run.job,
                ranks: run.ranks,
                start: run.start,
                run_time: run.run_time,
                layer: run.layer,
                operations_from: run.origin,
                read: Access::of(&findings.read),
                write: Access::of(&findings.write),
                metadata: &findings.metadata,
                notes: &run.notes,
            }),
        }
    }
}
