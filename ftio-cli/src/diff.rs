//! `ftio diff A B`: what changed from one run to another, with an exit code for tests.

use crate::exit::Exit;
use crate::print;
use crate::study::args::StudyArgs;
use crate::study::{Study, studies};
use crate::terminal::style::Style;
use crate::terminal::table;
use crate::terminal::text::printable;
use crate::terminal::width::{columns, labelled};
use crate::values::share;
use anyhow::bail;
use clap::ValueHint;
use draw::report::Subject;
use draw::report::figures::{FIGURES, Figure, Figures, Worse};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What stands behind a change for the worse.
const WORSE: &str = "  worse";

const EXAMPLES: &str = "\
Examples:
  What changed from one run to the next?
      ftio diff before.msgpack after.msgpack
  Fail a pipeline if anything got worse by more than a fifth (exit status 3):
      ftio diff --threshold-change 0.2 --only-worse reference.msgpack new.msgpack
  For a program:
      ftio diff --json a.darshan b.darshan | jq '.differences[] | select(.exceeds)'

Exit status: 0 nothing changed by more than the threshold, 3 something did, 1 failed, 2 wrong usage.";

/// Compare two runs: bytes, times, bandwidth, period, findings
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The run to compare with
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,

    /// The run that is compared
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub after: PathBuf,

    #[command(flatten)]
    pub study: StudyArgs,

    /// A change by more than this share counts
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.1")]
    #[arg(help_heading = "Comparison")]
    pub threshold_change: f64,

    /// Only changes for the worse count: longer, slower, more requests, more findings
    #[arg(long, help_heading = "Comparison")]
    pub only_worse: bool,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// The object of `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    a: &'a str,
    b: &'a str,
    threshold: f64,
    /// Does anything exceed the threshold?
    changed: bool,
    differences: Vec<Difference>,
    findings: Changes<'a>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct Difference {
    name: &'static str,
    a: Option<f64>,
    b: Option<f64>,
    /// (b − a)/a; `null` if one of them is not known or a is 0.
    change: Option<f64>,
    worse: bool,
    exceeds: bool,
}

/// Findings that came and went, by id.
#[derive(Debug, JsonSchema, Serialize)]
struct Changes<'a> {
    new: Vec<&'a str>,
    gone: Vec<&'a str>,
    both: Vec<&'a str>,
}

/// Study both and print what differs.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let question = args.study.question()?;
    let one = |path: &PathBuf| -> anyhow::Result<Study> {
        let mut found = Vec::new();
        studies(std::slice::from_ref(path), &args.study.input, &question, |study| {
            found.push(study.map_err(anyhow::Error::msg)?);
            Ok(())
        })?;
        match (found.pop(), found.is_empty()) {
            (Some(study), true) => Ok(study),
            _ => bail!("{}: holds several inputs: expected one (--metric chooses)", path.display()),
        }
    };
    let (before, after) = (one(&args.before)?, one(&args.after)?);
    let differences =
        differences(&Figures::of(&Subject::of(&before)), &Figures::of(&Subject::of(&after)), args);
    let changed = differences.iter().any(|difference| difference.exceeds);
    let record = Record {
        schema: "ftio.diff/1",
        a: &before.name,
        b: &after.name,
        threshold: args.threshold_change,
        changed,
        differences,
        findings: findings(&before, &after),
    };
    print::result(args.json, &record, |record| text(record, Style::for_stdout(), columns()))?;
    Ok(if changed { Exit::NotPeriodic } else { Exit::Done })
}

fn differences(before: &Figures, after: &Figures, args: &Args) -> Vec<Difference> {
    let one = |figure: &Figure| {
        let (a, b) = ((figure.value)(before), (figure.value)(after));
        if a.is_none() && b.is_none() {
            return None;
        }
        let change = a.zip(b).filter(|(a, _)| *a != 0.0).map(|(a, b)| (b - a) / a);
        // Something out of nothing, a number that was lost, or one that was not there.
        let leap = match (a, b) {
            (Some(a), Some(b)) => a == 0.0 && b != 0.0,
            _ => true,
        };
        let grew = a.zip(b).is_some_and(|(a, b)| b > a);
        let shrank = a.zip(b).is_some_and(|(a, b)| b < a);
        let worse = match figure.worse {
            Worse::More => grew,
            Worse::Less => shrank,
            Worse::Either | Worse::Never => false,
        };
        let large = leap || change.is_some_and(|change| change.abs() > args.threshold_change);
        let counts = if args.only_worse { worse } else { figure.worse != Worse::Never };
        Some(Difference { name: figure.name, a, b, change, worse, exceeds: large && counts })
    };
    FIGURES.iter().filter_map(one).collect()
}

fn findings<'a>(before: &'a Study, after: &'a Study) -> Changes<'a> {
    let ids = |study: &'a Study| study.findings.iter().map(|finding| finding.id).collect::<Vec<&str>>();
    let (a, b) = (ids(before), ids(after));
    Changes {
        new: b.iter().filter(|id| !a.contains(id)).copied().collect(),
        gone: a.iter().filter(|id| !b.contains(id)).copied().collect(),
        both: b.iter().filter(|id| a.contains(id)).copied().collect(),
    }
}

fn text(record: &Record<'_>, style: Style, columns: Option<usize>) -> String {
    let mut out = format!("A  {}\nB  {}\n\n", printable(record.a), printable(record.b));
    let (mut rows, mut about) = (vec![["", "A", "B", "change"].map(str::to_owned)], vec![None]);
    for difference in &record.differences {
        let Some(figure) = FIGURES.iter().find(|figure| figure.name == difference.name) else { continue };
        let value = |value: Option<f64>| value.map_or("–".into(), figure.text);
        let change = match (difference.change, difference.a == difference.b) {
            (_, true) => "=".to_owned(),
            (Some(change), _) if change.abs() < 0.000_5 => "0.0 %".to_owned(),
            (Some(change), _) => format!("{:+.1} %", 100.0 * change),
            (None, _) => "new".to_owned(),
        };
        rows.push([figure.title.to_owned(), value(difference.a), value(difference.b), change]);
        about.push(Some(difference));
    }
    let gap = table::gap(&rows, 3, columns.map(|columns| columns.saturating_sub(WORSE.len())));
    for (line, difference) in table::lines(&rows, gap, |column| column == 0).into_iter().zip(about) {
        let line = match difference.map(|difference| (difference.exceeds, difference.worse)) {
            Some((true, true)) => style.confidence(0.0, &format!("{line}{WORSE}")),
            Some((true, false)) => style.warn(&line),
            Some((false, _)) => line,
            None => style.dim(&line),
        };
        let _ = writeln!(out, "{line}");
    }
    let changes = &record.findings;
    for (label, ids) in [("New findings", &changes.new), ("Findings gone", &changes.gone)] {
        if !ids.is_empty() {
            out += &labelled(&format!("{label:<14}"), &ids.join(", "), columns);
        }
    }
    out
}
