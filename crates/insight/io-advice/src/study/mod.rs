//! Everything that is known about one job: how it uses its files, what its input holds, its period, findings.

mod phases;

pub use phases::PhaseRow;

use crate::{Finding, Job, Thresholds, advise, not_judged};
use ftio_core::detect::{Analysis, Options, detect};
use ftio_core::signal::lanes::Lanes;
use inspect::summarize;
use inspect::summary::Summary;
use inspect::usage::{Usage, usage};
use sources::{Input, Kind, OpenOptions, Opened, SourceError, open};

/// One job.
#[derive(Debug)]
pub struct Study {
    /// The input, as messages call it.
    pub name: String,
    /// How it uses its files.
    pub usage: Usage,
    /// Its classes of operations, coverage, marks.
    pub summary: Summary,
    /// The period and what led to it; or why there is none to be looked for.
    pub analysis: Result<Analysis, String>,
    /// The phases, with what the ranks do in each.
    pub phases: Vec<PhaseRow>,
    /// What is wrong with its I/O.
    pub findings: Vec<Finding>,
}

/// What is asked of studies.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Of the analysis.
    pub options: Options,
    /// By which findings are judged.
    pub thresholds: Thresholds,
    /// Mean time between failures of the machine, in seconds.
    pub mtbf: Option<f64>,
}

/// Studies what an input holds: mostly one job. It is read four times, so it must be a file.
pub fn studies(
    input: &Input,
    reading: &OpenOptions,
    question: &Question,
) -> Result<Vec<Result<Study, SourceError>>, SourceError> {
    let once = || open(input, reading);
    let each = once()?.into_iter().zip(once()?).zip(once()?).zip(once()?);
    Ok(each.map(|(((one, two), three), four)| study([one, two, three, four], question)).collect())
}

fn study(opened: [Opened; 4], question: &Question) -> Result<Study, SourceError> {
    let [for_usage, for_summary, opened, for_phases] = opened;
    let mut usage = usage(for_usage)?;
    let summary = summarize(for_summary)?;
    let name = opened.name.clone();
    let options = Options { keep_requests: true, ..question.options.clone() };
    let heat = match &opened.kind {
        Kind::Darshan(log) => Lanes::of_heatmap(log),
        _ => None,
    };
    let analysis = opened.into_source().and_then(|source| detect(&name, source, &options));
    let mut analysis = analysis.map_err(|problem| problem.to_string());
    if let (Ok(analysis), Some(heat)) = (&mut analysis, heat) {
        // Where there are only bins, ranks are told apart all the same.
        let known = analysis.lanes.as_ref().is_some_and(|lanes| lanes.ranks() > 0);
        analysis.lanes = if known { analysis.lanes.take() } else { Some(heat) };
    }
    let phases = match &analysis {
        Ok(analysis) if !analysis.detection.phases.is_empty() => phases::rows(for_phases, analysis)?,
        _ => Vec::new(),
    };
    // Where it is known of no phase, ranks are not told apart.
    let known = phases.iter().any(|phase| phase.spread.is_some());
    let spread: Vec<f64> = phases.iter().filter(|_| known).map(|row| row.spread.unwrap_or(0.0)).collect();
    let job = Job {
        usage: &usage,
        summary: &summary,
        detection: analysis.as_ref().ok().map(|analysis| &analysis.detection),
        spread: &spread,
        mtbf: question.mtbf,
    };
    let findings = advise(&job, &question.thresholds);
    let silent = not_judged(&job, &question.thresholds);
    usage.gaps.extend(silent);
    Ok(Study { name, usage, summary, analysis, phases, findings })
}
