//! A signature as JSON, as text and as a table of seconds.

use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, counted, percent, si};
use anyhow::Context;
use io_signature::compare::Comparison;
use io_signature::{Job, Signature, periodic};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// `ftio.signature/1`.
pub const SCHEMA: &str = "ftio.signature/1";

/// A signature in a file.
#[derive(Debug, Serialize)]
pub struct Found {
    pub schema: &'static str,
    /// User, nodes and name of the application, or "samples".
    pub name: String,
    pub direction: &'static str,
    /// Whose runs it is from, on how many nodes, what they ran and how often, if a job log told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
    /// The period of its bursts in seconds, as every other command finds it.
    pub period: Option<f64>,
    /// How far to trust the period.
    pub confidence: f64,
    /// Beside a trace of the application, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<Comparison>,
    #[serde(flatten)]
    pub signature: Signature,
}

impl Found {
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

/// For people.
pub fn table(found: &Found, style: Style) -> String {
    let mut out = String::new();
    let signature = &found.signature;
    let used = signature.samples.iter().filter(|sample| sample.used).count();
    let _ = writeln!(out, "{}", style.bold(&printable(&found.name)));
    let _ = writeln!(
        out,
        "  {} in {:.0} s, {} ({}), from {used} of {}",
        counted(signature.bursts.len() as u64, "burst"),
        signature.duration,
        bytes(signature.bytes),
        found.direction,
        counted(signature.samples.len() as u64, "run")
    );
    if signature.bursts.is_empty() {
        let _ = writeln!(out, "  no signature");
    } else {
        let quality = &signature.quality;
        let shown = format!("{:.2}", quality.mean);
        let _ = writeln!(
            out,
            "  quality {} of 1; leaving a run out changes at most {}; runs correlate with it by {:.2} on \
             average",
            style.confidence(quality.mean, &shown),
            percent(1.0 - quality.minimum),
            quality.agreement
        );
    }
    if let Some(period) = found.period {
        let _ = writeln!(out, "  period {period:.1} s, confidence {}", percent(found.confidence));
    }
    let _ = writeln!(out, "  others: {} all the time", si(signature.background.level, "B/s"));
    for other in &signature.background.periodic {
        let who = match other.candidates.as_slice() {
            [] => String::new(),
            all => format!("; perhaps {}", all.join(", ")),
        };
        let _ = writeln!(
            out,
            "  others: a job that writes {} every {:.0} s (confidence {}) in {}{}",
            si(other.height, "B/s"),
            other.period,
            percent(other.confidence),
            printable(&other.samples.join(", ")),
            printable(&who)
        );
    }
    if !signature.bursts.is_empty() {
        let head = format!(
            "  {:>3}{:>9}{:>9}{:>9}{:>12}{:>13}{:>8}",
            "", "start", "crest", "end", "bytes", "height", "votes"
        );
        let _ = writeln!(out, "{}", style.dim(&head));
        for (number, burst) in signature.bursts.iter().enumerate() {
            let votes = format!("{}/{}", burst.votes, burst.samples);
            let _ = writeln!(
                out,
                "  {:>3}{:>9.1}{:>9.1}{:>9.1}{:>12}{:>13}{votes:>8}",
                number + 1,
                burst.start,
                burst.crest,
                burst.end,
                bytes(burst.bytes),
                si(burst.height, "B/s")
            );
        }
    }
    for sample in signature.samples.iter().filter(|sample| !sample.used) {
        let reason = sample.reason.as_deref().unwrap_or("");
        let _ = writeln!(out, "  not used: {}: {}", printable(&sample.name), printable(reason));
    }
    if let Some(truth) = &found.truth {
        let _ = writeln!(
            out,
            "  beside the trace: cross-correlation {:.3} (shifted by {} s), correlation {:.3}, volume {}, \
             {} of {} \
             bursts, {} foreign",
            truth.cross_correlation,
            truth.shift,
            truth.correlation,
            percent(truth.volume),
            truth.found,
            truth.bursts,
            truth.foreign
        );
    }
    out
}

/// Seconds and bytes per second: a table that ftio reads.
pub fn csv(signature: &Signature, path: &Path) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let mut out = BufWriter::new(File::create(path).with_context(name)?);
    writeln!(out, "time,bandwidth")?;
    for (second, value) in signature.series.iter().enumerate() {
        writeln!(out, "{second},{value}")?;
    }
    out.flush().with_context(name)
}
