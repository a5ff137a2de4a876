//! `ftio convert IN -o OUT`: our trace in other formats. CSV, Chrome's and our own are written as the trace is read; memory does
//! not grow with it.

mod chrome;
mod csv;

use crate::cli::{ConvertArgs, Target};
use crate::exit::Exit;
use crate::rewrite;
use crate::terminal::text::{complain, warn_once};
use anyhow::{Context, bail};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tmio_trace::{Event, Outcome, Trace, tmio};

/// A format that a trace can be written in.
trait Exporter {
    /// Take in the next part of the trace.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// Write what comes last.
    fn finish(&mut self) -> io::Result<()>;
}

pub fn run(args: &ConvertArgs) -> anyhow::Result<Exit> {
    let target = match args.to.map_or_else(|| guess(&args.output), Ok) {
        Ok(target) => target,
        Err(problem) => {
            complain("", &format!("{problem:#}"));
            return Ok(Exit::Usage);
        }
    };
    let trace = Trace::open(&args.input)?;
    let to_stdout = args.output.as_os_str() == "-";
    // Written beside its place and moved there when it is whole: nobody finds half a file.
    let unfinished = beside(&args.output);
    let out: Box<dyn Write> = if to_stdout {
        Box::new(io::stdout().lock())
    } else {
        Box::new(File::create(&unfinished).with_context(|| unfinished.display().to_string())?)
    };
    let written = write(trace, target, BufWriter::with_capacity(1 << 20, out));
    if to_stdout {
        return written;
    }
    match written {
        Ok(exit) => {
            std::fs::rename(&unfinished, &args.output).with_context(|| args.output.display().to_string())?;
            Ok(exit)
        }
        Err(error) => {
            let _ = std::fs::remove_file(&unfinished);
            Err(error.context(args.output.display().to_string()))
        }
    }
}

fn write(trace: Trace, target: Target, mut out: impl Write) -> anyhow::Result<Exit> {
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
    Ok(Exit::Done)
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
    match output.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Target::Csv),
        Some("jsonl") => Ok(Target::TmioJsonl),
        Some("json") => bail!("{}: which format? Say --to chrome or --to tmio-json", output.display()),
        Some("msgpack") => bail!("{}: which format? Say --to msgpack or --to tmio-msgpack", output.display()),
        _ => bail!("{}: which format? `ftio convert --help` lists what --to takes", output.display()),
    }
}

fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    name.into()
}
