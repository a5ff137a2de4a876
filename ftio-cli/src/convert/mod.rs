//! `ftio convert IN -o OUT`: an input in other formats. Our trace is written to CSV, Chrome's format and our
//! own as it is read, and memory does not grow with it; other inputs are encoded in memory first.

mod chrome;
mod csv;
mod exporter;

use crate::exit::{Exit, wrong_usage};
use crate::inputs::{self, InputArgs};
use crate::output;
use crate::terminal::text::warn_once;
use anyhow::Context;
use clap::{ValueEnum, ValueHint};
use exporter::Exporter;
use ftio_core::source::{Opened, as_trace};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tmio_trace::{Outcome, Trace, rewrite, tmio};

/// Write a trace in another format
///
/// Formats: csv (one line per operation: rank,start,end,bytes,kind,file,offset); chrome (JSON that Perfetto
/// and chrome://tracing open: a process per rank); tmio-json, tmio-jsonl and tmio-msgpack (what the C++ TMIO
/// writes and the Python FTIO reads); msgpack (ours, written anew).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A trace of tmio, or any other input of requests; - is standard input
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    pub input: PathBuf,

    /// Where it goes; "-" is stdout
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// The format: csv, chrome, tmio-json, tmio-jsonl, tmio-msgpack or msgpack [default: by the ending of
    /// OUT, if it is .csv or .jsonl]
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub to: Option<Target>,

    #[command(flatten)]
    pub reading: InputArgs,
}

/// `--to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    Csv,
    Chrome,
    TmioJson,
    TmioJsonl,
    TmioMsgpack,
    Msgpack,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let target = args.to.map_or_else(|| guess(&args.output), Ok)?;
    let reading = args.reading.options()?;
    let paths = std::slice::from_ref(&args.input);
    let mut inputs: Vec<Opened> =
        inputs::sources(paths, args.reading.merge, &reading).collect::<Result<_, _>>()?;
    let (Some(opened), true) = (inputs.pop(), inputs.is_empty()) else {
        let name = args.input.display();
        anyhow::bail!("{name}: holds several inputs: expected one (--metric chooses, --merge joins)");
    };
    let (trace, notes) = as_trace(opened)?;
    warn_once(&notes);
    let name = || args.output.display().to_string();
    let mut draft = output::create(&args.output)?;
    write(trace, target, BufWriter::with_capacity(1 << 20, &mut draft)).with_context(name)?;
    draft.finish()?;
    Ok(Exit::Done)
}

fn write(trace: Trace, target: Target, mut out: impl Write) -> anyhow::Result<()> {
    let outcome = match target {
        Target::Csv => export(trace, csv::Csv::new(&mut out))?,
        Target::Chrome => export(trace, chrome::Chrome::new(&mut out))?,
        Target::TmioJson => tmio::convert(trace, tmio::Format::Json, None, &mut out)?,
        Target::TmioJsonl => tmio::convert(trace, tmio::Format::Jsonl, None, &mut out)?,
        Target::TmioMsgpack => tmio::convert(trace, tmio::Format::Msgpack, None, &mut out)?,
        Target::Msgpack => rewrite::rewrite(trace, &mut out)?,
    };
    out.flush()?;
    warn_once(&outcome.warnings);
    Ok(())
}

fn export(trace: Trace, mut exporter: impl Exporter) -> anyhow::Result<Outcome> {
    let mut problem = Ok(());
    let outcome = trace.read(|event| {
        if problem.is_ok() {
            problem = exporter.event(&event);
        }
    })?;
    problem?;
    exporter.finish()?;
    Ok(outcome)
}

/// The format that the ending of a name asks for.
fn guess(output: &Path) -> anyhow::Result<Target> {
    let choices = match output.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => return Ok(Target::Csv),
        Some("jsonl") => return Ok(Target::TmioJsonl),
        Some("json") => "Use --to chrome or --to tmio-json",
        Some("msgpack") => "Use --to msgpack or --to tmio-msgpack",
        _ => "`ftio convert --help` lists what --to takes",
    };
    Err(wrong_usage(format!("{}: which format? {choices}", output.display())))
}
