//! `ftio scale TRACE…`: runs at several scales become measurements for scaling models, in Extra-P's JSON
//! lines.

pub mod parameters;

use crate::exit::{Exit, told, wrong_usage};
use crate::inputs::{self, InputArgs};
use crate::terminal::text::{Severity, complain, note, printable, warn_once, warning};
use crate::terminal::units::counted;
use crate::terminal::waiting::Waiting;
use anyhow::Context;
use clap::ValueHint;
use ftio_core::detect::{self, detect};
use inspect::profile::measurements::{is_zero_if_absent, measurements};
use inspect::profile::profile_and;
use parameters::{Parameter, point};
use perf_model::input::{self, Format};
use perf_model::{Experiment, Extension, Name, Run, extend};
use sources::request::Mode;
use sources::{OpenOptions, Opened, Source};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  From runs to formulas in one line:
      ftio scale runs/*.msgpack | ftio model -
  Refine the models with each finished run:
      ftio scale -o scale.jsonl tmio_4711_64.msgpack
      ftio model scale.jsonl --evaluate Processes=4096
  A second parameter: the same for these runs, or found in names such as app.p64.n1000.msgpack:
      ftio scale --param n=1000 -o scale.jsonl run.msgpack
      ftio scale --param n -o scale.jsonl app.p*.n*.msgpack
  Extra-P reads the file as well:
      extrap --json scale.jsonl

Callpaths and metrics are those of FTIO's ioparse (write_sync->total_bytes, io_time->total_time …) and \
these: function->NAME, file->NAME, write_async->required_bandwidth, …->actual_bandwidth, …->lost_time, and \
main with Frequency (Hz) and Period (s). A metric that a run does not have is absent. Extra-P refuses a \
file in which a metric is missing at one of the scales, so such metrics are left out with a message, \
unless --ragged is given.

Exit status: 0 done, 1 failed (other runs are still measured), 2 wrong usage.";

/// Where ioparse puts its result.
const IOPARSE: &str = "scale.jsonl";

/// Turn runs at several scales into measurements for scaling models (Extra-P's JSON lines)
///
/// Each trace is one run. The number of processes comes from the trace itself, or from the last number in its
/// name if the trace does not know it. The same scale twice is a repetition, which tells how much runs
/// scatter.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces, each one run: of tmio, of TMIO, Darshan logs, and whatever else ftio reads
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    /// Append to this file; - is standard output [default: -]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// A further parameter of these runs, up to three: NAME=NUMBER, or NAME to find it in the names of the
    /// traces ("n" in app.n1000.msgpack). Processes=NUMBER replaces the number of processes
    #[arg(short, long = "param", value_name = "NAME[=NUMBER]")]
    pub parameters: Vec<Parameter>,

    /// Which requests to find the period of: write_sync, read_sync, write_async, read_async, write, read or
    /// all [default: write, or read if less than a tenth of the bytes was written]
    #[arg(short, long, value_name = "MODE", hide_possible_values = true)]
    pub mode: Option<Mode>,

    /// As the Python FTIO's ioparse does: replace scale.jsonl
    #[arg(long, hide = true, conflicts_with = "output")]
    pub as_ioparse: bool,

    /// Keep metrics that not every run has: ftio model reads them, Extra-P refuses the file
    #[arg(long)]
    pub ragged: bool,

    #[command(flatten)]
    pub input: InputArgs,
}

/// Measure every run; one that cannot be read does not stop the others.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let names = parameters::names(&args.parameters).map_err(wrong_usage)?;
    let mut target = match args.as_ioparse {
        true => Target::anew(Path::new(IOPARSE))?,
        false => Target::open(args.output.as_deref())?,
    };
    let existing = target.existing()?;
    if let Some(existing) = existing.as_ref().filter(|existing| existing.parameters != names) {
        anyhow::bail!(
            "{}: expected the parameters {}, found {}: use --param, or another file",
            target.name(),
            names.join(", "),
            existing.parameters.join(", ")
        );
    }
    let reading = args.input.options()?;
    let (runs, exit) = measured(&args.traces, &reading, args.mode, &args.parameters);
    if runs.is_empty() {
        target.give_up();
        return Ok(exit);
    }
    let added = extend(existing.as_ref(), &runs, countable, args.ragged);
    target.write(&added.lines(&names))?;
    tell(&added, &target, runs.len());
    Ok(exit)
}

/// Every run that can be measured; one that cannot does not stop the others.
pub fn measured(
    traces: &[PathBuf],
    reading: &OpenOptions,
    mode: Option<Mode>,
    parameters: &[Parameter],
) -> (Vec<Run>, Exit) {
    let (mut runs, mut exit) = (Vec::new(), Exit::Done);
    for opened in inputs::opened(traces, reading) {
        match opened.map_err(Into::into).and_then(|opened| measure(opened, mode, parameters)) {
            Ok(run) => runs.push(run),
            Err(problem) => {
                complain(Severity::Error, &told(&problem));
                exit = Exit::Failed;
            }
        }
    }
    (runs, exit)
}

/// One run: the values of its parameters, and what was measured.
fn measure(opened: Opened, mode: Option<Mode>, parameters: &[Parameter]) -> anyhow::Result<Run> {
    let path = PathBuf::from(&opened.name);
    let _waiting = Waiting::reading(&opened.name);
    let options = detect::Options { mode, ..detect::Options::default() };
    let look = |name: &str, source: Box<dyn Source + '_>| detect(name, source, &options);
    let (profile, analysis) = profile_and(opened, Box::new(look))?;
    warn_once(&profile.warnings);
    // A log of counters alone has no period, and is of use all the same.
    let analysis = analysis.map_err(|problem| note!("no period: {problem}")).ok();
    let point = point(&path, profile.ranks, parameters).map_err(anyhow::Error::msg)?;
    let detection = analysis.as_ref().map(|analysis| &analysis.detection);
    let values = measurements(&profile, detection).into_iter();
    let values = values.map(|one| ((one.callpath, one.metric.to_owned()), one.value)).collect();
    Ok(Run { point, values })
}

/// Whether runs that do not have a metric have 0 of it.
pub fn countable((callpath, metric): &Name) -> bool {
    is_zero_if_absent(callpath, metric)
}

/// What a user of Extra-P should know.
pub fn tell(added: &Extension, target: &Target, runs: usize) {
    let list = |sets: &[Name]| {
        let named: Vec<String> =
            sets.iter().take(3).map(|(path, metric)| format!("{path} ({metric})")).collect();
        let more = sets.len().saturating_sub(3);
        if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
    };
    if !added.left_out.is_empty() {
        note!("not every run has {}: left out; --ragged keeps what there is", list(&added.left_out));
    }
    if !added.missing.is_empty() {
        warning!(
            "{}: lacks {} at some of its scales: ftio model reads that, Extra-P does not",
            target.name(),
            list(&added.missing)
        );
    }
    if let Target::File { .. } = target {
        eprintln!(
            "{}: {} of {} added",
            printable(&target.name()),
            counted(added.measurements() as u64, "measurement"),
            counted(runs as u64, "run")
        );
    }
}

/// Where the lines go. A file is opened before the work begins.
pub enum Target {
    Stdout,
    File { path: PathBuf, file: std::fs::File },
}

impl Target {
    pub fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        match path {
            None => Ok(Target::Stdout),
            Some(path) if path.as_os_str() == "-" => Ok(Target::Stdout),
            Some(path) => {
                let file = std::fs::OpenOptions::new().read(true).append(true).create(true).open(path);
                let file = file.with_context(|| path.display().to_string())?;
                Ok(Target::File { path: path.to_owned(), file })
            }
        }
    }

    /// A file of which nothing is kept.
    fn anew(path: &Path) -> anyhow::Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(path);
        Ok(Target::File { path: path.to_owned(), file: file.with_context(|| path.display().to_string())? })
    }

    pub fn name(&self) -> String {
        match self {
            Target::Stdout => "standard output".into(),
            Target::File { path, .. } => path.display().to_string(),
        }
    }

    /// What was measured before; `None` if nothing was.
    pub fn existing(&mut self) -> anyhow::Result<Option<Experiment>> {
        let name = self.name();
        let Target::File { file, .. } = self else { return Ok(None) };
        // A device or a pipe holds nothing, or never ends.
        if !file.metadata().is_ok_and(|about| about.is_file()) {
            return Ok(None);
        }
        let mut text = String::new();
        file.read_to_string(&mut text).with_context(|| name.clone())?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        Ok(Some(input::parse(&text, &name, Some(Format::JsonLines))?))
    }

    /// There is nothing to write: a file that was made for it goes again.
    pub fn give_up(self) {
        if let Target::File { path, file } = self
            && file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0)
        {
            let _ = std::fs::remove_file(path);
        }
    }

    /// All lines in one write, so that runs that finish at the same time do not tear each other's.
    pub fn write(&mut self, lines: &str) -> anyhow::Result<()> {
        match self {
            Target::Stdout => {
                let mut out = std::io::stdout().lock();
                out.write_all(lines.as_bytes())?;
                out.flush()?;
            }
            Target::File { path, file } => {
                let mut text = String::new();
                if !ends_with_line_break(file).with_context(|| path.display().to_string())? {
                    text.push('\n');
                }
                text.push_str(lines);
                file.write_all(text.as_bytes()).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }
}

fn ends_with_line_break(file: &mut std::fs::File) -> std::io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(true);
    }
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
