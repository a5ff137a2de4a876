//! `ftio convert IN -o OUT`: an input in other formats. Our trace is written to CSV, Chrome's format and our
//! own as it is read, and memory does not grow with it; other inputs are encoded in memory first.

use crate::exit::{Exit, wrong_usage};
use crate::inputs::{self, InputArgs};
use crate::output::{self, Draft};
use crate::terminal::text::{Severity, complain, warn_once};
use crate::terminal::waiting::Waiting;
use anyhow::Context;
use clap::{ValueEnum, ValueHint};
#[cfg(feature = "parquet")]
use emit::parquet;
use emit::samples::Samples;
use emit::{chrome, csv, export};
use sources::{Kind, Opened, as_trace};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tmio_trace::{Trace, rewrite, tmio};

const EXAMPLES: &str = "\
Examples:
  Every operation as a row, for pandas (pandas.read_parquet) or polars:
      ftio convert run.msgpack -o run.parquet
  The same as text:
      ftio convert run.msgpack -o run.csv
  A time line for ui.perfetto.dev:
      ftio convert run.msgpack -o run.json --to chrome
  A Darshan log with DXT for the Python FTIO:
      ftio convert job.darshan -o job.jsonl";

/// Write a trace in another format
///
/// Formats: csv (one line per operation: rank,start,end,bytes,kind,file,offset); parquet (the same and more,
/// for pandas, polars and databases); chrome (JSON that Perfetto and chrome://tracing open: a process per
/// rank); tmio-json, tmio-jsonl and tmio-msgpack (what the C++ TMIO writes and the Python FTIO reads);
/// msgpack (ours, rewritten).
///
/// Sampled quantities have no operations: csv and parquet get a row for each time.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A trace, or any other input that ftio reads; - is standard input
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    pub input: PathBuf,

    /// Where it goes; "-" is stdout
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// The format: csv, parquet, chrome, tmio-json, tmio-jsonl, tmio-msgpack or msgpack [default: by the
    /// ending of OUT, if it is .csv, .parquet or .jsonl]
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub to: Option<Target>,

    #[command(flatten)]
    pub reading: InputArgs,
}

/// `--to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
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
    if !inputs.is_empty() && inputs.iter().all(|input| matches!(input.kind, Kind::Sampled(_))) {
        return convert_samples(inputs, target, args);
    }
    let (Some(opened), true) = (inputs.pop(), inputs.is_empty()) else {
        let name = args.input.display();
        anyhow::bail!("{name}: holds several inputs: expected one (--metric chooses, --merge joins)");
    };
    let _waiting = Waiting::reading(&opened.name);
    let (trace, told) = as_trace(opened)?;
    warn_once(&told.warnings);
    told.notes.iter().for_each(|note| complain(Severity::Note, note));
    let name = || args.output.display().to_string();
    let mut draft = output::create(&args.output)?;
    write(trace, target, BufWriter::with_capacity(1 << 20, &mut draft)).with_context(name)?;
    draft.finish()?;
    Ok(Exit::Done)
}

/// Quantities over time as a table.
fn convert_samples(inputs: Vec<Opened>, target: Target, args: &Args) -> anyhow::Result<Exit> {
    let quantity = |input: Opened| match input.kind {
        Kind::Sampled(quantity) => Some(quantity),
        _ => None,
    };
    let samples = Samples::of(inputs.into_iter().filter_map(quantity).collect());
    let write: fn(&Samples, &mut Draft) -> anyhow::Result<()> = match target {
        Target::Csv => |samples, out| Ok(samples.write_csv(out)?),
        #[cfg(feature = "parquet")]
        Target::Parquet => |samples, out| Ok(parquet::samples(samples, out)?),
        _ => {
            let name = args.input.display();
            anyhow::bail!(
                "{name}: holds samples and no operations: they can be written as csv or parquet only"
            )
        }
    };
    let mut draft = output::create(&args.output)?;
    write(&samples, &mut draft).with_context(|| args.output.display().to_string())?;
    draft.finish()?;
    Ok(Exit::Done)
}

fn write(trace: Trace, target: Target, mut out: impl Write + Send) -> anyhow::Result<()> {
    let outcome = match target {
        Target::Csv => export(trace, csv::Csv::new(&mut out))?,
        #[cfg(feature = "parquet")]
        Target::Parquet => export(trace, parquet::Parquet::new(&mut out)?)?,
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

/// The format that the ending of a name asks for.
fn guess(output: &Path) -> anyhow::Result<Target> {
    let choices = match output.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => return Ok(Target::Csv),
        #[cfg(feature = "parquet")]
        Some("parquet" | "pq") => return Ok(Target::Parquet),
        Some("jsonl") => return Ok(Target::TmioJsonl),
        Some("json") => "Use --to chrome or --to tmio-json",
        Some("msgpack") => "Use --to msgpack or --to tmio-msgpack",
        _ => "`ftio convert --help` lists what --to takes",
    };
    Err(wrong_usage(format!("{}: which format? {choices}", output.display())))
}
