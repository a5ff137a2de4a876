//! `ftio advise INPUT…`: findings about a job's I/O, with evidence and what to do.

mod text;

use crate::exit::Exit;
use crate::print;
use crate::study::args::StudyArgs;
use crate::study::{Study, studies};
use crate::terminal::style::Style;
use crate::terminal::text::{Severity as Kind, complain};
use crate::terminal::width::columns;
use crate::values::one_of;
use clap::ValueHint;
use io_advice::{Finding, LIMITS, Severity, Thresholds};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
pub use text::block;

const EXAMPLES: &str = "\
Examples:
  What is wrong with a run, and what to do about it:
      ftio advise run.msgpack
      ftio advise job.darshan
  Are checkpoints too frequent, on a machine that fails once a day?
      ftio advise --mtbf 24h run.msgpack
  Only what costs time, for a script:
      ftio advise --json --severity medium run.msgpack | jq -r '.findings[].id'
  Count a request as one of many small ones only if a third of all are:
      ftio advise --set small-share=0.33 job.darshan
  All rules, and all thresholds with their defaults and sources:
      ftio advise --set help

Exit status: 0 done, 1 failed, 2 wrong usage, 3 a finding of --severity or more (only with --exit-status).";

/// Say what is wrong with a job's I/O, and what to do about it
///
/// Works on everything that ftio reads; a Darshan log needs neither DXT nor HEATMAP. Rules that need data
/// which the input does not have are skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces or logs, of any format that ftio reads, or folders of them
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub study: StudyArgs,

    /// Print one JSON object per input and line
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Only findings of at least this severity: info, low, medium or high
    #[arg(long, value_name = "LEVEL", value_parser = one_of(SEVERITIES), default_value = "info")]
    #[arg(hide_possible_values = true, help_heading = "Output")]
    pub severity: Severity,

    /// Exit with status 3 if there is such a finding
    #[arg(long, help_heading = "Output")]
    pub exit_status: bool,
}

/// `--severity`.
const SEVERITIES: [(&str, Severity); 4] = [
    ("info", Severity::Info),
    ("low", Severity::Low),
    ("medium", Severity::Medium),
    ("high", Severity::High),
];

/// One line of `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    source: &'a str,
    complete: bool,
    /// Findings of the severity that was asked for.
    findings: &'a [Finding],
    /// What is not known, and how to get it.
    gaps: &'a [String],
    thresholds: BTreeMap<&'static str, f64>,
}

/// Look at every input; one that cannot be read does not stop the others.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut out = std::io::stdout().lock();
    let question = args.study.question()?;
    let thresholds = &question.thresholds;
    let (mut exit, mut found, mut begun) = (Exit::Done, false, false);
    studies(&args.inputs, &args.study.input, &question, |study| {
        let mut study = match study {
            Ok(study) => study,
            Err(problem) => {
                complain(Kind::Error, &problem);
                exit = Exit::Failed;
                return Ok(());
            }
        };
        study.findings.retain(|finding| finding.severity >= args.severity);
        found |= !study.findings.is_empty();
        if args.json {
            print::json(&mut out, &record(&study, thresholds))?;
        } else {
            let gap = if std::mem::replace(&mut begun, true) { "\n" } else { "" };
            write!(out, "{gap}{}", block(&study, Style::for_stdout(), columns()))?;
        }
        out.flush()?;
        Ok(())
    })?;
    Ok(if exit == Exit::Done && args.exit_status && found { Exit::NotPeriodic } else { exit })
}

fn record<'a>(study: &'a Study, thresholds: &Thresholds) -> Record<'a> {
    Record {
        schema: "ftio.advice/1",
        source: &study.name,
        complete: study.summary.complete,
        findings: &study.findings,
        gaps: &study.usage.gaps,
        thresholds: LIMITS.iter().map(|limit| (limit.name, thresholds[limit.key])).collect(),
    }
}
