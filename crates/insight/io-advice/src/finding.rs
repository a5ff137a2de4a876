//! What was found.

use crate::rules::Rule;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Worth a thought.
    Low,
    /// Costs time.
    Medium,
    /// Costs much time.
    High,
}

impl Severity {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
        }
    }
}

/// A finding, as it is written to JSON. New fields may be added at the end.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Finding {
    /// Of the rule.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// In a few words.
    pub title: String,
    /// How it is known, in a sentence.
    pub evidence: String,
    /// What to do.
    pub advice: String,
    /// Why it matters.
    pub why: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    /// The numbers that decided, by name.
    pub numbers: BTreeMap<&'static str, f64>,
    /// The files concerned, the most important first.
    pub files: Vec<String>,
    /// The ranks concerned.
    pub ranks: Vec<u32>,
}

/// What a rule has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub(crate) severity: Option<Severity>,
    pub(crate) title: String,
    pub(crate) evidence: String,
    pub(crate) advice: String,
    pub(crate) numbers: BTreeMap<&'static str, f64>,
    pub(crate) files: Vec<String>,
    pub(crate) ranks: Vec<u32>,
}

impl Finding {
    pub(crate) fn new(rule: &Rule, found: Found) -> Self {
        Finding {
            id: rule.id,
            severity: found.severity.unwrap_or(Severity::Info),
            title: found.title,
            evidence: found.evidence,
            advice: found.advice,
            why: rule.why,
            source: rule.source,
            numbers: found.numbers,
            files: found.files,
            ranks: found.ranks,
        }
    }
}
