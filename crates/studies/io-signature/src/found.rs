//! A signature in a file, with what is known about its application.

use crate::compare::Comparison;
use crate::{Job, Signature, periodic};
use schemars::JsonSchema;
use serde::Serialize;

/// `ftio.signature/1`.
pub const SCHEMA: &str = "ftio.signature/1";

/// A signature in a file.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Found {
    /// Which kind of record, and its version.
    pub schema: &'static str,
    /// User, nodes and name of the application, or "samples".
    pub name: String,
    /// "write", "read" or "both".
    pub direction: &'static str,
    /// Whose runs it is from, if a job log told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// On how many nodes they ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// What they ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How many they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
    /// The period of its bursts in seconds, as every other command finds it.
    pub period: Option<f64>,
    /// How far to trust the period.
    pub confidence: f64,
    /// Beside a trace of the application, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<Comparison>,
    /// The signature itself.
    #[serde(flatten)]
    pub signature: Signature,
}

impl Found {
    /// By this name.
    pub fn new(name: &str, direction: &'static str, signature: Signature) -> Self {
        let period = periodic::period(&signature.series);
        Found {
            schema: SCHEMA,
            name: name.to_owned(),
            direction,
            user: None,
            nodes: None,
            command: None,
            runs: None,
            period: period.map(|(period, _)| period),
            confidence: period.map_or(0.0, |(_, confidence)| confidence),
            truth: None,
            signature,
        }
    }

    /// The runs that it is from.
    pub fn of_runs(mut self, runs: &[&Job]) -> Self {
        if let Some(job) = runs.first() {
            self.user = Some(job.user.clone());
            self.nodes = Some(job.nodes);
            self.command = Some(job.name.clone());
        }
        self.runs = Some(runs.len());
        self
    }
}
