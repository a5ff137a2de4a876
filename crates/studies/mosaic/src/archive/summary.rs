//! The sum over an archive: how many logs, two [views](super::view) of them, examples, and what could not be
//! used.
//!
//! Both views of the paper (III-B4): *unique applications*, each by its heaviest run, say how applications
//! behave; *all runs*, in which an application counts once for each of its runs, say what the file system has
//! to bear.

use super::Settings;
use super::record::Valid;
use super::site::{Resemblance, SiteRow, resemblance, shown};
use super::view::{Count, View};
use crate::log::{Invalid, InvalidKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The schema that [`Summary`] follows.
pub const SCHEMA: &str = "ftio.categorize.summary/1";

/// Examples kept of each category.
const EXAMPLES: usize = 3;
/// Bad logs that are named; all of them are in the lines.
const BAD_LOGS: usize = 1000;

/// The sum.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Summary {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Logs in all.
    pub logs: u64,
    /// Those that stand for their application.
    pub ok: u64,
    /// Further runs of these applications.
    pub duplicate: u64,
    /// Those that could not be used.
    pub invalid: u64,
    /// And why not.
    pub invalid_kinds: BTreeMap<InvalidKind, u64>,
    /// Share of further runs that have exactly the categories of the heaviest.
    pub like_the_heaviest: Option<f64>,
    /// The same for each application with ten runs or more.
    pub resemblance: Resemblance,
    /// Each application once.
    pub unique: View,
    /// Each application as often as it ran.
    pub all_runs: View,
    /// Some logs of each category, the heaviest.
    pub examples: BTreeMap<&'static str, Vec<Example>>,
    /// The applications, those that moved most first.
    pub applications: Vec<SiteRow>,
    /// The first of the logs that could not be used.
    pub bad_logs: Vec<BadLog>,
    /// What all this depends on.
    pub settings: Settings,
}

/// A log that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct BadLog {
    /// Its path.
    pub source: String,
    /// Why in a word.
    pub kind: InvalidKind,
    /// Why.
    pub reason: String,
}

/// A log that is typical of a category.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Example {
    /// Its path.
    pub source: String,
    /// Its application.
    pub application: String,
    /// Bytes it moved.
    pub bytes: u64,
    /// Processes.
    pub ranks: u64,
    /// Seconds it took.
    pub run_time: f64,
    /// Bytes read over time, as digits.
    pub read: String,
    /// Bytes written over time.
    pub write: String,
    /// Its categories.
    pub categories: Vec<&'static str>,
}

/// Adds up the summary, log by log in the order of their paths.
#[derive(Debug)]
pub(super) struct Adder {
    summary: Summary,
    unique: Count,
    all_runs: Count,
    like_the_heaviest: u64,
}

impl Adder {
    pub fn new(settings: &Settings) -> Self {
        Adder {
            summary: Summary { schema: SCHEMA, settings: settings.clone(), ..Summary::default() },
            unique: Count::new(),
            all_runs: Count::new(),
            like_the_heaviest: 0,
        }
    }

    /// A log that could not be used.
    pub fn invalid(&mut self, source: &str, invalid: &Invalid) {
        self.summary.logs += 1;
        self.summary.invalid += 1;
        *self.summary.invalid_kinds.entry(invalid.kind).or_default() += 1;
        if self.summary.bad_logs.len() < BAD_LOGS {
            self.summary.bad_logs.push(BadLog {
                source: source.to_owned(),
                kind: invalid.kind,
                reason: invalid.reason.clone(),
            });
        }
    }

    /// The heaviest of so many runs.
    pub fn heaviest(&mut self, source: &str, run: &Valid, runs: u64) {
        self.summary.logs += 1;
        self.summary.ok += 1;
        let within = self.summary.settings.thresholds.witness_within;
        self.unique.add(run, 1, within);
        self.all_runs.add(run, runs, within);
        for category in run.categories.iter().filter(|category| !category.is_derived()) {
            let examples = self.summary.examples.entry(category.name()).or_default();
            let place = examples.partition_point(|example| example.bytes >= run.bytes);
            if place < EXAMPLES {
                examples.insert(place, example(source, run));
                examples.truncate(EXAMPLES);
            }
        }
    }

    /// Another of its runs.
    pub fn duplicate(&mut self, is_like_the_heaviest: bool) {
        self.summary.logs += 1;
        self.summary.duplicate += 1;
        self.like_the_heaviest += u64::from(is_like_the_heaviest);
    }

    pub fn finish(mut self, applications: Vec<SiteRow>) -> Summary {
        self.summary.resemblance = resemblance(&applications);
        self.summary.applications = shown(applications);
        let duplicates = self.summary.duplicate;
        self.summary.like_the_heaviest =
            (duplicates > 0).then(|| self.like_the_heaviest as f64 / duplicates as f64);
        self.summary.unique = self.unique.finish();
        self.summary.all_runs = self.all_runs.finish();
        self.summary
    }
}

fn example(source: &str, run: &Valid) -> Example {
    Example {
        source: source.to_owned(),
        application: run.application.clone(),
        bytes: run.bytes,
        ranks: run.ranks,
        run_time: run.run_time,
        read: run.findings.read.profile.clone(),
        write: run.findings.write.profile.clone(),
        categories: run.categories.names(),
    }
}
