//! Everything that is known about one job: how it uses its files, what its input holds, its period, findings.

pub mod args;
mod phases;

use crate::inputs::{self, InputArgs};
use crate::terminal::progress::Progress;
use crate::terminal::waiting::Waiting;
use anyhow::Context;
use ftio_core::detect::{Analysis, Options, detect};
use ftio_core::signal::lanes::Lanes;
use inspect::summarize;
use inspect::summary::Summary;
use inspect::usage::{LayerUsage, Usage, usage};
use io_advice::{Finding, Job, Thresholds, advise, not_judged};
pub use phases::PhaseRow;
use sources::{Input, Kind, OpenOptions, Opened, SourceError};
use std::io;
use std::path::{Path, PathBuf};

/// What messages call it.
const STDIN: &str = "standard input";

/// One job.
#[derive(Debug)]
pub struct Study {
    pub name: String,
    pub usage: Usage,
    pub summary: Summary,
    /// The period and what led to it; or why there is none to be looked for.
    pub analysis: Result<Analysis, String>,
    /// The phases, with what the ranks do in each.
    pub phases: Vec<PhaseRow>,
    pub findings: Vec<Finding>,
}

impl Study {
    /// The layer whose times are what the program waits for.
    pub fn cost_layer(&self) -> Option<&LayerUsage> {
        self.usage.cost_layer(self.summary.modules.is_some())
    }
}

/// What is asked of studies.
#[derive(Clone, Debug)]
pub struct Question {
    pub options: Options,
    pub thresholds: Thresholds,
    /// Seconds.
    pub mtbf: Option<f64>,
}

/// Study every input; the result of each is handed on as it comes.
pub fn studies(
    paths: &[PathBuf],
    input: &InputArgs,
    question: &Question,
    mut take: impl FnMut(Result<Study, String>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if input.merge {
        anyhow::bail!(crate::exit::wrong_usage("--merge: give one input, or several to compare them"));
    }
    let reading = input.options()?;
    // One file after the other: a folder may hold more of them than may be open at a time.
    let files = inputs::expand(paths);
    let mut progress = (files.len() > 1).then(|| Progress::new(files.len() as u64, "input"));
    for file in files {
        let found = match file {
            Ok(Input::Path(path)) => study_path(&path, &reading, question),
            // An input is read four times: what can be read only once is kept in a file.
            Ok(Input::Stdin) => study_stdin(&reading, question)?,
            Err(error) => vec![Err(error.to_string())],
        };
        progress.iter_mut().for_each(Progress::hide);
        for one in found {
            take(one)?;
        }
        progress.iter_mut().for_each(|progress| progress.add(1));
    }
    progress.into_iter().for_each(Progress::finish);
    Ok(())
}

fn study_stdin(reading: &OpenOptions, question: &Question) -> anyhow::Result<Vec<Result<Study, String>>> {
    let mut file = tempfile::Builder::new().prefix("ftio-stdin-").tempfile().context("standard input")?;
    io::copy(&mut io::stdin().lock(), &mut file).context("standard input")?;
    // Not by the name of the file that it was kept in.
    let called = |name: &str| name.replace(&*file.path().to_string_lossy(), STDIN);
    let found = study_path(file.path(), reading, question);
    let renamed = |one: Result<Study, String>| match one {
        Ok(study) => Ok(study.called(&called)),
        Err(problem) => Err(called(&problem)),
    };
    Ok(found.into_iter().map(renamed).collect())
}

impl Study {
    /// By another name.
    fn called(mut self, name: &dyn Fn(&str) -> String) -> Self {
        self.name = name(&self.name);
        self.summary.source = name(&self.summary.source);
        match &mut self.analysis {
            Ok(analysis) => analysis.detection.source = name(&analysis.detection.source),
            Err(problem) => *problem = name(problem),
        }
        self
    }
}

fn study_path(path: &Path, reading: &OpenOptions, question: &Question) -> Vec<Result<Study, String>> {
    let open = || inputs::opened(&[path.to_owned()], reading).collect::<Vec<Result<Opened, SourceError>>>();
    let each = open().into_iter().zip(open()).zip(open()).zip(open());
    each.map(|(((one, two), three), four)| {
        study([one, two, three, four], question).map_err(|error| error.to_string())
    })
    .collect()
}

fn study(opened: [Result<Opened, SourceError>; 4], question: &Question) -> Result<Study, SourceError> {
    let [for_usage, for_summary, for_period, for_phases] = opened;
    let for_usage = for_usage?;
    let _waiting = Waiting::reading(&for_usage.name);
    let mut usage = usage(for_usage)?;
    let summary = summarize(for_summary?)?;
    let opened = for_period?;
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
        Ok(analysis) if !analysis.detection.phases.is_empty() => phases::rows(for_phases?, analysis)?,
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
