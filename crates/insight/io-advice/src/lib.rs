//! Findings about an application's I/O: what is wrong, how that is known, and what to do about it.
//!
//! Every [rule](rules::RULES) is a row of one table: an id, where it comes from, why it matters, and a
//! function that looks at a [`Job`] and may find something. Numbers that decide are
//! [thresholds], in a table of their own, each with its source. A rule that lacks the data that
//! it needs finds nothing: what was not measured is neither good nor bad. Nor does one that would have to
//! see the whole job (its [`Scope`]) where parts of it are missing.
//!
//! A finding is *high* or *medium* only if it concerns a share of the run time that is worth the work, where
//! times are known.

#![forbid(unsafe_code)]

mod amounts;
pub mod finding;
pub mod rules;
pub mod scope;
pub mod study;
pub mod thresholds;

pub use finding::{Finding, Severity};
pub use rules::{RULES, Rule};
pub use scope::Scope;
pub use thresholds::{LIMITS, Limit, Thresholds};

use ftio_core::detect::detection::Detection;
use inspect::summary::Summary;
use inspect::usage::{LayerUsage, Usage};

/// What is known about a job.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// How it uses its files.
    pub usage: &'a Usage,
    /// Its classes of operations, coverage, marks.
    pub summary: &'a Summary,
    /// Its period, where the input tells when I/O took place.
    pub detection: Option<&'a Detection>,
    /// Seconds between the first and the last rank to begin each phase, in the order of the phases; empty
    /// where ranks are not told apart.
    pub spread: &'a [f64],
    /// Mean time between failures of the machine, in seconds, if the user says so.
    pub mtbf: Option<f64>,
}

impl Job<'_> {
    /// Share of the run time that a number of seconds of one rank is. How long a job ran is not known if the
    /// end of its trace is missing.
    fn of_run_time(&self, seconds: f64) -> Option<f64> {
        (self.usage.run_time > 0.0 && !self.summary.damaged).then(|| seconds / self.usage.run_time)
    }

    /// Share of the run time that goes into requests of the layer that was chosen: that of an average rank,
    /// or of the busiest if the others wait for it.
    fn io_share(&self) -> Option<f64> {
        self.share_of(self.usage.layers.get(self.usage.layer.as_deref()?)?)
    }

    /// The same of the layer that the program calls, which has the most time.
    fn cost_share(&self) -> Option<f64> {
        self.share_of(self.usage.cost_layer()?)
    }

    fn share_of(&self, layer: &LayerUsage) -> Option<f64> {
        let ranks = f64::from(self.usage.ranks?.max(1));
        let mean = (layer.read.time + layer.write.time + layer.meta.time) / ranks;
        let slowest = self.usage.files.iter().filter_map(|file| file.slowest).map(|(_, seconds, _)| seconds);
        let busiest = self.usage.by_rank.iter().map(|rank| rank.time()).chain(slowest).fold(0.0, f64::max);
        self.of_run_time(mean.max(busiest)).filter(|share| *share > 0.0)
    }
}

/// All findings, the gravest first. A rule that needs more of the job than there is finds nothing.
pub fn advise(job: &Job<'_>, thresholds: &Thresholds) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES
        .iter()
        .filter(|rule| job.tells(rule.scope, thresholds))
        .filter_map(|rule| {
            let found = (rule.check)(job, thresholds)?;
            Some(Finding::new(rule, found))
        })
        .collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// What cannot be told about this job, for people: rules that need more of it than there is, and why
/// checkpoints are not judged although the user asked.
pub fn not_judged(job: &Job<'_>, thresholds: &Thresholds) -> Vec<String> {
    let silent = RULES.iter().filter(|rule| !job.tells(rule.scope, thresholds) && job.asks(rule));
    let silent: Vec<&str> = silent.map(|rule| rule.id).collect();
    let rules = (!silent.is_empty()).then(|| {
        format!(
            "{}: cannot be told, because parts of the job's I/O are missing (see not-all-seen)",
            silent.join(", ")
        )
    });
    let whole = job.tells(Scope::Phases, thresholds);
    rules.into_iter().chain(rules::why_no_interval(job).filter(|_| whole)).collect()
}
