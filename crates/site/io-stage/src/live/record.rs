//! One line for each decision, and for what became of it.

use crate::plan::{Action, Copy, Decision, Direction, Outcome, Planner, Reason, Report};
use schemars::JsonSchema;
use serde::Serialize;

/// One line of `--json`.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Record {
    /// Which kind of record, and its version.
    pub schema: &'static str,
    /// The trace that is followed.
    pub source: String,
    /// Seconds of job time.
    pub t: f64,
    /// "copy", "suspend", "resume", "cancel" and "evict" are decisions; "copied", "confirmed",
    /// "changed", "vanished", "exists", "full", "failed", "cancelled", "evicted" and "kept" what became of
    /// them; "held" is a copy that was put off because a process has the file open; "job-ended"; and at last
    /// "summary".
    pub event: &'static str,
    /// Nothing was really done.
    pub dry_run: bool,
    /// Which way the file goes.
    pub direction: Option<Direction>,
    /// The file, below the folder.
    pub path: Option<String>,
    /// How large it is.
    pub bytes: Option<u64>,
    /// The phase that wrote it, or that needs it, from 1.
    pub phase: Option<usize>,
    /// Why.
    pub reason: Option<Reason>,
    /// Until when it is expected to stay quiet, in seconds of job time.
    pub quiet_until: Option<f64>,
    /// How long the copy took, without the time in which it was suspended.
    pub seconds: Option<f64>,
    /// What went wrong.
    pub message: Option<String>,
    /// The period of the job's I/O, as of now.
    pub period: Option<f64>,
    /// Confidence in the period.
    pub confidence: f64,
    /// Bytes in the buffer.
    pub occupancy: u64,
    /// How many fit; null if that is unknown.
    pub capacity: Option<u64>,
    /// The sums, in the last line.
    pub report: Option<Report>,
}

impl Record {
    /// About nothing in particular.
    pub fn new(source: &str, t: f64, event: &'static str, planner: &Planner) -> Self {
        let (occupancy, capacity) = planner.buffer();
        Record {
            schema: "ftio.stage/1",
            source: source.to_owned(),
            t,
            event,
            period: planner.forecast().period,
            confidence: planner.forecast().confidence,
            occupancy,
            capacity,
            ..Record::default()
        }
    }

    /// A decision.
    pub fn decision(source: &str, decision: &Decision, planner: &Planner) -> Self {
        let event = match &decision.action {
            Action::Start(_) => "copy",
            Action::Suspend => "suspend",
            Action::Resume => "resume",
            Action::Cancel => "cancel",
            Action::Evict { .. } => "evict",
        };
        let mut record = Record::new(source, decision.time, event, planner);
        (record.reason, record.quiet_until) = (Some(decision.reason), decision.quiet_until);
        match &decision.action {
            Action::Evict { path, bytes, .. } => {
                record.path = Some(path.display().to_string());
                record.bytes = Some(*bytes);
            }
            _ => {
                if let Some((copy, _)) = planner.copying() {
                    record = record.about(copy);
                }
            }
        }
        record
    }

    /// How a copy ended.
    pub fn outcome(source: &str, t: f64, copy: &Copy, outcome: &Outcome, planner: &Planner) -> Self {
        let event = match outcome {
            Outcome::Verified { .. } => "copied",
            Outcome::Confirmed => "confirmed",
            Outcome::Changed => "changed",
            Outcome::Vanished => "vanished",
            Outcome::Exists => "exists",
            Outcome::Full => "full",
            Outcome::Failed(_) => "failed",
            Outcome::Cancelled => "cancelled",
        };
        let mut record = Record::new(source, t, event, planner).about(copy);
        match outcome {
            Outcome::Verified { seconds, .. } => record.seconds = Some(*seconds),
            Outcome::Failed(why) => record.message = Some(why.clone()),
            _ => {}
        }
        record
    }

    /// About this copy.
    pub fn about(mut self, copy: &Copy) -> Self {
        self.direction = Some(copy.direction);
        self.path = Some(copy.path.display().to_string());
        self.bytes = Some(copy.bytes);
        self.phase = Some(copy.phase);
        self
    }
}
