//! `ftio advise INPUT…`: findings about a job's I/O, with evidence and what to do.

mod list;
mod text;

use crate::exit::Exit;
use crate::inputs::InputArgs;
use crate::report::study::{Question, Study, studies};
use crate::signal::WindowArgs;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity as Kind, complain};
use crate::terminal::width::columns;
use crate::values::duration;
use clap::{ValueEnum, ValueHint};
use io_advice::{Finding, LIMITS, Severity, Thresholds};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
pub use text::{block, tally};

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
      ftio advise --threshold small-share=0.33 job.darshan
  All rules, and all thresholds with their defaults and sources:
      ftio advise --list

Exit status: 0 done, 1 failed, 2 wrong usage, 3 a finding of --severity or more (only with --exit-status).";

/// Say what is wrong with a job's I/O, how that is known, and what to do
///
/// Works on everything that ftio reads; a Darshan log needs neither DXT nor HEATMAP. What an input does not
/// tell leads to no finding.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces or logs, of any format that ftio reads, or folders of them
    #[arg(required_unless_present = "list", value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub window: WindowArgs,

    #[command(flatten)]
    pub rules: RuleArgs,

    /// Print one JSON object per input and line
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Only findings of at least this severity: info, low, medium or high
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t, hide_possible_values = true)]
    #[arg(help_heading = "Output")]
    pub severity: SeverityChoice,

    /// Exit with status 3 if there is such a finding
    #[arg(long, help_heading = "Output")]
    pub exit_status: bool,

    /// Print all rules and thresholds, and do nothing else
    #[arg(long, help_heading = "Output")]
    pub list: bool,
}

/// What decides about findings.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Rules")]
pub struct RuleArgs {
    /// Set a threshold; may be given several times. `ftio advise --list` shows all
    #[arg(long = "threshold", value_name = "NAME=VALUE", value_parser = threshold)]
    pub thresholds: Vec<(String, f64)>,

    /// Mean time between failures of the machine, in seconds or as 30m, 24h, 7d: are checkpoints too
    /// frequent?
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub mtbf: Option<f64>,
}

impl RuleArgs {
    pub fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        for (name, value) in &self.thresholds {
            // The parser has tried it.
            let _ = thresholds.set(name, *value);
        }
        thresholds
    }
}

/// `--severity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SeverityChoice {
    #[default]
    Info,
    Low,
    Medium,
    High,
}

impl From<SeverityChoice> for Severity {
    fn from(choice: SeverityChoice) -> Self {
        match choice {
            SeverityChoice::Info => Severity::Info,
            SeverityChoice::Low => Severity::Low,
            SeverityChoice::Medium => Severity::Medium,
            SeverityChoice::High => Severity::High,
        }
    }
}

/// One line of `--json`.
#[derive(Debug, Serialize)]
struct Record<'a> {
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
    if args.list {
        out.write_all(list::list(columns()).as_bytes())?;
        return Ok(Exit::Done);
    }
    args.window.check()?;
    let thresholds = args.rules.thresholds();
    let question =
        Question { options: args.window.options(), thresholds: thresholds.clone(), mtbf: args.rules.mtbf };
    let (mut exit, mut found, mut begun) = (Exit::Done, false, false);
    studies(&args.inputs, &args.input, &question, |study| {
        let mut study = match study {
            Ok(study) => study,
            Err(problem) => {
                complain(Kind::Error, &problem);
                exit = Exit::Failed;
                return Ok(());
            }
        };
        study.findings.retain(|finding| finding.severity >= args.severity.into());
        found |= !study.findings.is_empty();
        if args.json {
            serde_json::to_writer(&mut out, &record(&study, &thresholds)).map_err(std::io::Error::from)?;
            writeln!(out)?;
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

/// `--threshold`.
fn threshold(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = value.parse().map_err(|_| format!("{value:?} is no number"))?;
    Thresholds::default().set(name, value)?;
    Ok((name.to_owned(), value))
}
