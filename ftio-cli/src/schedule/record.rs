//! What is said when a job's priority changes.

use crate::terminal::units::seconds;
use io_sets::rules::Set;
use io_sets::standing::Standing;
use serde::Serialize;

/// One line of `--json`.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    pub schema: &'static str,
    pub job: &'a str,
    pub source: &'a str,
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

impl<'a> Record<'a> {
    pub fn new(
        event: &'static str,
        job: &'a str,
        source: &'a str,
        t: Option<f64>,
        standing: &Standing,
    ) -> Self {
        Record {
            schema: "ftio.priority/1",
            job,
            source,
            event,
            t,
            period: standing.period(),
            set: Set::of_priority(standing.priority()).map(Set::number),
            priority: (event != "ended").then(|| standing.priority().stored()),
        }
    }

    /// For people.
    pub fn line(&self) -> String {
        let when = self.t.map_or(String::new(), |t| format!(" at {}", seconds(t)));
        let Some(priority) = self.priority else {
            return format!("job {}{when}: over, priority removed", self.job);
        };
        let why = match (self.period, self.set) {
            (Some(period), Some(set)) => format!("period {}, set {set}", seconds(period)),
            _ => "period unknown, a set of its own".into(),
        };
        format!("job {}{when}: priority {priority} ({why})", self.job)
    }
}
