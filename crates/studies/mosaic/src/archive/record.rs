//! What is kept of a log between the two stages: numbers, no sentences.

use super::Identity;
use crate::category::Categories;
use crate::log::{self, Invalid, InvalidKind, LoggedRun, Origin, Reading};
use crate::requests;
use crate::run::{Findings, categorize};
use crate::thresholds::Thresholds;
use darshan_log::Log;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sources::Layer;
use sources::{Input, Kind, OpenOptions, SourceError, open};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// All that the result of a log depends on besides the log. Parts of one archive must have the same.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How logs are read.
    pub reading: Reading,
    /// What makes two runs the same application.
    pub identity: Identity,
    /// The numbers in the rules.
    pub thresholds: Thresholds,
}

/// A log, read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// Its path.
    pub source: String,
    /// What was found, if it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid: Option<Box<Valid>>,
    /// Why it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<Invalid>,
}

/// What was found in a valid log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Valid {
    /// Whose run it was.
    pub user: i64,
    /// Of which application; empty if the log does not know.
    pub application: String,
    /// The scheduler's number.
    pub job: i64,
    /// Bytes moved in both directions, by which runs are compared.
    pub bytes: u64,
    /// Its categories.
    pub categories: Categories,
    /// Processes.
    pub ranks: u64,
    /// When it began, seconds since 1970.
    pub start: i64,
    /// How long it took, in seconds.
    pub run_time: f64,
    /// The layer it was seen from; `None` if nothing was moved.
    pub layer: Option<Layer>,
    /// Where operations came from.
    pub origin: Origin,
    /// What the rules say.
    pub findings: Findings,
    /// What the reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Record {
    /// Read a log, whatever it may be: what goes wrong is in the record.
    pub fn of(path: &str, settings: &Settings) -> Record {
        let read = || examine_input(path, settings);
        // A defect of ours is one invalid log, not the end of a night's work.
        let result = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
            let reason = format!("{path}: reading it failed unexpectedly: please report this log");
            Err(Invalid { kind: InvalidKind::Defect, reason })
        });
        let (valid, invalid) = match result {
            Ok(valid) => (Some(Box::new(valid)), None),
            Err(invalid) => (None, Some(invalid)),
        };
        Record { source: path.to_owned(), valid, invalid }
    }
}

/// What the rules say about an input, whatever its format.
fn examine_input(path: &str, settings: &Settings) -> Result<Valid, Invalid> {
    let options = OpenOptions { layer: settings.reading.layer, ..OpenOptions::default() };
    let mut inputs = open(&Input::new(Path::new(path)), &options).map_err(invalid)?;
    let (Some(opened), true) = (inputs.pop(), inputs.is_empty()) else {
        let reason = format!("{path}: expected one run, found several metrics");
        return Err(Invalid::new(InvalidKind::Unsupported, reason));
    };
    if let Kind::Darshan(log) = &opened.kind {
        return examine(&log.log, settings);
    }
    let name = opened.name.clone();
    if let Kind::Ours(trace) = opened.kind {
        let (found, owner) = requests::read_trace(&name, trace, &settings.reading, &settings.thresholds)?;
        let application = settings.identity.of(&owner.command).to_owned();
        return Ok(valid(found, settings, owner.user, application, owner.job, owner.start));
    }
    // A signature, or a heatmap: bytes per second.
    let is_bandwidth = matches!(&opened.kind, Kind::Sampled(sampled) if sampled.series.is_bandwidth);
    let source = opened.into_source().map_err(invalid)?;
    let found = requests::read(&name, source, is_bandwidth, &settings.thresholds)?;
    // Nobody knows whose run it was, or of which application.
    Ok(valid(found, settings, -1, String::new(), 0, 0))
}

fn valid(
    found: LoggedRun,
    settings: &Settings,
    user: i64,
    application: String,
    job: i64,
    start: i64,
) -> Valid {
    let findings = categorize(&found.run, &settings.thresholds, settings.reading.witness);
    Valid {
        user,
        application,
        job,
        bytes: findings.read.bytes.saturating_add(findings.write.bytes),
        categories: findings.categories(),
        ranks: found.run.ranks,
        start,
        run_time: found.run.run_time,
        layer: found.layer,
        origin: found.origin,
        findings,
        notes: found.notes,
    }
}

fn invalid(error: SourceError) -> Invalid {
    match error {
        SourceError::Darshan(error) => Invalid::from(error),
        SourceError::Io { .. } => Invalid::new(InvalidKind::Unreadable, error.to_string()),
        SourceError::Malformed { .. } | SourceError::Unusable { .. } | SourceError::Trace(_) => {
            Invalid::new(InvalidKind::Damaged, error.to_string())
        }
        _ => Invalid::new(InvalidKind::Unsupported, error.to_string()),
    }
}

/// What the rules say about a log.
pub fn examine(log: &Log, settings: &Settings) -> Result<Valid, Invalid> {
    let found = log::read(log, &settings.reading, &settings.thresholds)?;
    let job = log.job();
    let application = settings.identity.of(&job.command).to_owned();
    Ok(valid(found, settings, job.uid, application, job.job_id, job.start.seconds))
}
