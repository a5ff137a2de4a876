//! `ftio report INPUT…`: one self-contained page about a job, or one that compares several.

mod text;

use crate::exit::{Exit, wrong_usage};
use crate::output;
use crate::study::args::StudyArgs;
use crate::study::{PhaseRow, Study, studies};
use crate::terminal::text::{Severity, complain, warn_once};
use clap::{ValueEnum, ValueHint};
use draw::report::Subject;
use ftio_core::detect::detection::Detection;
use inspect::summary::Summary;
use inspect::usage::Usage;
use io_advice::Finding;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  A page about one run, to open in a browser, mail or print:
      ftio report run.msgpack -o run.html
  The same from a Darshan log, which need not have DXT, into report.html (which is replaced):
      ftio report job.darshan
  Three runs side by side:
      ftio report run-1.msgpack run-2.msgpack run-3.msgpack -o runs.html
  In the terminal, or for another program:
      ftio report --format text run.msgpack
      ftio report --json run.msgpack | jq .findings";

/// Write a report about a job: cost, phases, files, ranks, advice
///
/// The page needs no network and no other file. Missing data is marked where it would be, with how to record
/// it. Several inputs give a page that compares them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces or logs, of any format that ftio reads, or folders of them
    #[arg(required = true, value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub study: StudyArgs,

    /// Where it goes; - is standard output [default: report.html, or standard output with --format text or
    /// --json]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// The format: html (also for print) or text [default: by the ending of FILE, else html]
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true, help_heading = "Output")]
    pub format: Option<Format>,

    /// Print one JSON object per input and line
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub json: bool,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Html,
    Text,
    #[value(hide = true)]
    Json,
}

impl Args {
    /// The format, and where it goes.
    fn target(&self) -> anyhow::Result<(Format, PathBuf)> {
        let ending = self.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
        let format = match (self.format, ending) {
            _ if self.json => Format::Json,
            (Some(format), _) => format,
            (None, Some("html" | "htm") | None) => Format::Html,
            (None, Some("txt")) => Format::Text,
            (None, Some("json" | "jsonl")) => Format::Json,
            (None, Some(other)) => {
                return Err(wrong_usage(format!("unknown format .{other}: use --format html, text or json")));
            }
        };
        let default = if format == Format::Html { "report.html" } else { "-" };
        Ok((format, self.output.clone().unwrap_or_else(|| default.into())))
    }
}

/// One object of `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    source: &'a str,
    summary: &'a Summary,
    usage: &'a Usage,
    /// `null` where the input does not tell when its I/O took place: `no_period` says why.
    detection: Option<&'a Detection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_period: Option<&'a str>,
    /// The phases of `detection`, with what the ranks do in each.
    phases: &'a [PhaseRow],
    findings: &'a [Finding],
}

/// Study every input, and write the page. One that cannot be read does not stop the others.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (format, target) = args.target()?;
    output::check(&target)?;
    let question = args.study.question()?;
    let mut exit = Exit::Done;
    let mut found: Vec<Study> = Vec::new();
    studies(&args.inputs, &args.study.input, &question, |study| {
        match study {
            Ok(study) => {
                warn_once(&study.summary.warnings);
                found.push(study);
            }
            Err(problem) => {
                complain(Severity::Error, &problem);
                exit = Exit::Failed;
            }
        }
        Ok(())
    })?;
    if found.is_empty() {
        return Ok(Exit::Failed);
    }
    let content = match format {
        Format::Html => match found.as_slice() {
            [one] => draw::report::page(&Subject::of(one))?,
            several => draw::report::comparison(&several.iter().map(Subject::of).collect::<Vec<_>>())?,
        },
        Format::Text => text::text(&found),
        Format::Json => json(&found)?,
    };
    output::write(&target, content.as_bytes())?;
    if target.as_os_str() != "-" {
        writeln!(std::io::stdout(), "{}", target.display())?;
    }
    Ok(exit)
}

fn json(studies: &[Study]) -> anyhow::Result<String> {
    let mut out = String::new();
    for study in studies {
        let record = Record {
            schema: "ftio.report/1",
            source: &study.name,
            summary: &study.summary,
            usage: &study.usage,
            detection: study.analysis.as_ref().ok().map(|analysis| &analysis.detection),
            no_period: study.analysis.as_ref().err().map(String::as_str),
            phases: &study.phases,
            findings: &study.findings,
        };
        out += &serde_json::to_string(&record)?;
        out.push('\n');
    }
    Ok(out)
}
