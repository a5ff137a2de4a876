//! What is said when a job's priority changes.

use crate::rules::Set;
use crate::standing::Standing;
use schemars::JsonSchema;
use serde::Serialize;

/// One line of `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Record {
    /// Which kind of record, and its version.
    pub schema: &'static str,
    /// The job's id.
    pub job: String,
    /// Its trace.
    pub source: String,
    /// "started", "changed" or "ended".
    pub event: &'static str,
    /// Seconds of job time; null before the first flush.
    pub t: Option<f64>,
    /// What the priority is based on; null: nothing is known yet.
    pub period: Option<f64>,
    /// i of the set Sᵢ; null: a set of its own.
    pub set: Option<i32>,
    /// As written to the file; null once the job has ended.
    pub priority: Option<u32>,
}

impl Record {
    pub(super) fn new(
        event: &'static str,
        job: &str,
        source: &str,
        t: Option<f64>,
        standing: &Standing,
    ) -> Self {
        Record {
            schema: "ftio.priority/1",
            job: job.to_owned(),
            source: source.to_owned(),
            event,
            t,
            period: standing.period(),
            set: Set::of_priority(standing.priority()).map(Set::number),
            priority: (event != "ended").then(|| standing.priority().stored()),
        }
    }
}
