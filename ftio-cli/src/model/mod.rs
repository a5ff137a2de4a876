//! `ftio model RUN…`: runs, or other measurements, at several scales become formulas.

mod point;
pub mod settings;
mod table;

use crate::exit::{Exit, wrong_usage};
use crate::inputs::{self, layer};
use crate::picture::PictureFile;
use crate::print as printed;
use crate::scale::parameters::{self, Parameter};
use crate::scale::{self, Target};
use crate::signal::ModeArgs;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain, note, printable, warning};
use crate::terminal::units::counted;
use crate::terminal::waiting::Waiting;
use crate::values::one_of;
use anyhow::{Context, bail};
use clap::ValueHint;
use draw::{Format, draw_sheet, models as pictures};
use perf_model::input::{self, Scaling};
use perf_model::output::json::Record;
use perf_model::output::print::{Print, print};
use perf_model::{Experiment, Models, extend, model, predict_all};
use schemars::JsonSchema;
use serde::Serialize;
use settings::Settings;
use sources::{Input, Layer, OpenOptions, SourceError, open};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Of the intervals.
const LEVEL: f64 = 0.95;

const EXAMPLES: &str = "\
Examples:
  From runs at several scales to formulas:
      ftio model runs/*.msgpack
  What to expect on 4096 processes, with the interval in which 95 % of runs should lie:
      ftio model runs/*.msgpack --evaluate Processes=4096
  Refine the models with each finished run; Extra-P reads the file as well:
      ftio model tmio_4711_64.msgpack --points scale.jsonl
  A second parameter: the same for these runs, or found in names such as app.p64.n1000.msgpack:
      ftio model --param n app.p*.n*.msgpack
  Which callpath will dominate on 4096 processes, from points that were kept:
      ftio model scale.jsonl --metric 'Time (s)' --rank Processes=4096
  The formula of one metric, for a script:
      ftio model scale.jsonl --callpath 'write_sync->total_bytes' --json | jq .terms
      ftio model scale.jsonl --print '{callpath}: {model:python}'
  Points, formulas and intervals, to open in a browser:
      ftio model scale.jsonl --evaluate 4096 --plot models.html
  An experiment of Extra-P, a folder of profiles of Score-P:
      ftio model experiment.extra-p
      ftio model profiles/ --scaling strong
  Which settings a fit has, and only the terms that theory allows:
      ftio model --set help
      ftio model scale.jsonl --set poly_exponents=0,1/2,1 --set log_exponents=0,1
  What Extra-P 4.2 would say:
      ftio model scale.jsonl --compat --print all

Callpaths and metrics of runs are those of FTIO's ioparse (write_sync->total_bytes, io_time->total_time …) \
and these: function->NAME, file->NAME, write_async->required_bandwidth, …->actual_bandwidth, …->lost_time, \
and main with Frequency (Hz) and Period (s). A metric that a run does not have is absent. Extra-P refuses a \
file in which a metric is missing at one of the scales, so --points leaves such metrics out, unless --ragged \
is given.

How to read the table: the error is the leave-one-out error, that is, how far off the formula is at a \
point that it was not fitted to. Where the data cannot separate the formula from the next best one (odds \
below 20 to 1), the other is shown after \"or\": they may differ greatly beyond the measured scales, and \
the interval of --evaluate covers both.";

/// Find the formula behind runs, or measurements, at several scales
///
/// Each trace is one run. The number of processes comes from the trace itself, or from the last number in its
/// name if the trace does not know it. The same scale twice is a repetition, which tells how much runs
/// scatter.
///
/// Each metric of each callpath becomes a constant plus terms c · p^i · log2(p)^j (the performance model
/// normal form, as in Extra-P), for one to four parameters.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Runs: traces of any format that ftio reads. Or measurements: JSON lines of --points, Extra-P's JSON or
    /// text, an experiment that Extra-P has saved (.extra-p), or a folder of Cube profiles
    /// (app.p4.r1/profile.cubex); - is standard input
    #[arg(value_name = "RUN|FILE", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,

    /// Add what the runs have measured to this file, and model all that is in it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Runs")]
    pub points: Option<PathBuf>,

    /// With --points: keep metrics that not every run has: ftio model reads them, Extra-P refuses the file
    #[arg(long, requires = "points", help_heading = "Runs")]
    #[arg(hide_short_help = true)]
    pub ragged: bool,

    /// A further parameter of the runs, up to three: NAME=NUMBER, or NAME to find it in the names of the
    /// traces ("n" in app.n1000.msgpack). Processes=NUMBER replaces the number of processes
    #[arg(short, long = "param", value_name = "NAME[=NUMBER]", help_heading = "Runs")]
    pub parameters: Vec<Parameter>,

    #[command(flatten)]
    pub mode: ModeArgs,

    /// Layer to take from runs that have several
    #[arg(long, value_name = "LAYER", value_parser = layer, help_heading = "Runs")]
    pub layer: Option<Layer>,

    /// Take only the last N runs of each scale: files are appended to, so these are the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,

    /// Cube profiles: with weak scaling every process is a measurement, with weak-threaded every thread that
    /// did something, with strong scaling their sum is one
    #[arg(long, value_parser = one_of(SCALINGS), value_name = "KIND", default_value = "weak")]
    #[arg(hide_short_help = true)]
    pub scaling: Scaling,

    /// Set an option of the fit, such as modeler=refining or poly_exponents=0,1/2,1; may be given several
    /// times. `--set help` lists all, with their values and where they come from
    #[arg(long = "set", alias = "options", value_name = "NAME=VALUE", num_args = 0..=1)]
    #[arg(default_missing_value = "help")]
    pub options: Vec<String>,

    /// Decide as Extra-P 4.2 does: same terms, coefficients and costs
    #[arg(long)]
    pub compat: bool,

    /// Only callpaths that contain this text
    #[arg(long, value_name = "TEXT")]
    pub callpath: Option<String>,

    /// Only metrics that contain this text
    #[arg(long, value_name = "TEXT")]
    pub metric: Option<String>,

    /// Also say what to expect at a point: Processes=4096, or p=64,n=1e6, or just 4096; may be given several
    /// times
    #[arg(short, long, value_name = "POINT", allow_negative_numbers = true)]
    pub evaluate: Vec<String>,

    /// Instead of models, rank the callpaths of each metric by their predicted value at this point, at that
    /// of --evaluate, or at the largest measured scale
    #[arg(long, value_name = "POINT", num_args = 0..=1, default_missing_value = "")]
    pub rank: Option<String>,

    /// Draw points, models and intervals; the format follows from the ending of the name: .html, .svg or .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print all, functions, callpaths, metrics, parameters (also all-python, functions-latex …) as Extra-P
    /// does, or a format string: {callpath} {metric} {model} {model:python} {smape} {rss} {ar2} {re}
    /// {smape_loo} {runner_up} {notes} {points} {measurements} {parameters}
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "rank"])]
    pub print: Option<String>,

    /// Print one JSON object per model and line
    #[arg(long)]
    pub json: bool,

    /// Show metrics that are 0 at every scale, too
    #[arg(short, long)]
    pub all: bool,
}

/// `--scaling`.
const SCALINGS: [(&str, Scaling); 3] =
    [("weak", Scaling::Weak), ("weak-threaded", Scaling::WeakThreaded), ("strong", Scaling::Strong)];

impl Args {
    /// Words after `--set` that set nothing: `help`, or, in `--set FILE`, the file.
    fn wants_list(&self) -> bool {
        self.options.iter().any(|word| !word.contains('='))
    }

    /// The inputs, and the point of `--rank`. In `--rank FILE` the file was taken for the point.
    fn inputs_and_rank(&self) -> (Vec<PathBuf>, Option<&str>) {
        match (self.inputs.as_slice(), self.rank.as_deref()) {
            ([], Some(file)) if !file.is_empty() => (vec![PathBuf::from(file)], Some("")),
            (inputs, rank) => (inputs.to_vec(), rank),
        }
    }
}

/// Read, model, print.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = Settings::new(args.compat, &args.options)?;
    if args.wants_list() {
        let text = settings.list(args.json, Style::for_stdout())?;
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(Exit::Done);
    }
    let picture = args.plot.as_deref().map(PictureFile::open).transpose()?;
    let (inputs, rank) = args.inputs_and_rank();
    let Found { mut experiment, name, exit } = read(&inputs, args)?;
    for note in &experiment.notes {
        complain(Severity::Warning, note);
    }
    if let Some(last) = args.last {
        experiment.keep_last(last as usize);
    }
    narrow(&mut experiment, args)?;
    let waiting = Waiting::working(&format!("modelling {}", counted(experiment.sets.len() as u64, "metric")));
    let models = model(&experiment, &settings.options)?;
    drop(waiting);
    for skipped in &models.skipped {
        warning!("{name}: {}, {}: {}", skipped.callpath, skipped.metric, skipped.reason);
    }
    let parse = |text: &str| {
        point::parse(text, &models.parameters).map_err(|problem| wrong_usage(problem.to_string()))
    };
    let points: Vec<Vec<f64>> =
        args.evaluate.iter().map(|text| parse(text)).collect::<anyhow::Result<_>>()?;

    let mut out = std::io::stdout().lock();
    if let Some(text) = rank {
        let place = match text {
            "" => points.first().cloned().unwrap_or_else(|| largest(&experiment)),
            text => parse(text)?,
        };
        ranking(&models, &place, &largest(&experiment), args, &mut out)?;
    } else if args.json {
        for (one, predictions) in models.models.iter().zip(predict_all(&models, &points, LEVEL)?) {
            let record = Record { predictions, ..Record::new(one, &models.parameters) };
            writeln!(out, "{}", record.line())?;
        }
    } else if let Some(format) = &args.print {
        out.write_all(print(&experiment, &models, &Print::parse(format))?.as_bytes())?;
    } else {
        let name = printable(&name);
        let predictions = &predict_all(&models, &points, LEVEL)?;
        let (points, largest) = (&points, &largest(&experiment));
        let shown = table::Shown { name: &name, points, predictions, largest, level: LEVEL, all: args.all };
        out.write_all(table::table(&experiment, &models, &shown, Style::for_stdout()).as_bytes())?;
    }
    out.flush()?;
    if let Some(file) = picture {
        draw(&models, &points, &file, args.all)?;
    }
    Ok(exit)
}

/// What is modelled.
struct Found {
    experiment: Experiment,
    /// What messages call it.
    name: String,
    /// Whether every run could be measured.
    exit: Exit,
}

/// Measurements, or runs, which are measured.
fn read(inputs: &[PathBuf], args: &Args) -> anyhow::Result<Found> {
    let only = match inputs {
        [] => return Err(wrong_usage("expected runs, or a file of measurements (see ftio model --help)")),
        [only] if args.points.is_none() => Some(only),
        _ => None,
    };
    let Some(only) = only else { return measure(inputs, args) };
    let name =
        if only.as_os_str() == "-" { "standard input".into() } else { only.to_string_lossy().into_owned() };
    let waiting = Waiting::reading(&name);
    let measurements = read_measurements(only, args.scaling);
    drop(waiting);
    match measurements {
        Ok(experiment) => Ok(Found { experiment, name, exit: Exit::Done }),
        // A folder of runs, or one of them.
        Err(problem) if is_run(only) => measure(inputs, args).map_err(|_| problem),
        Err(problem) => Err(problem),
    }
}

/// Whether something is an input of the analysis, or a folder of such.
fn is_run(path: &Path) -> bool {
    let inputs = inputs::expand(std::slice::from_ref(&path.to_owned()));
    let can_be_read = |input: &Result<Input, SourceError>| {
        input.as_ref().is_ok_and(|input| open(input, &OpenOptions::default()).is_ok())
    };
    inputs.first().is_some_and(can_be_read)
}

fn measure(runs: &[PathBuf], args: &Args) -> anyhow::Result<Found> {
    let names = parameters::names(&args.parameters).map_err(wrong_usage)?;
    let mut target = args.points.as_deref().map(|path| Target::open(Some(path))).transpose()?;
    let existing = target.as_mut().map(Target::existing).transpose()?.flatten();
    if let Some(existing) = existing.as_ref().filter(|existing| existing.parameters != names) {
        bail!("expected the parameters {}, found {}", existing.parameters.join(", "), names.join(", "));
    }
    let reading = OpenOptions { layer: args.layer, ..OpenOptions::default() };
    let (measured, exit) = scale::measured(runs, &reading, args.mode.mode, &args.parameters);
    let counted_runs = counted(measured.len() as u64, "run");
    match target {
        Some(target) if measured.is_empty() => {
            target.give_up();
            bail!("no run could be measured");
        }
        None if measured.is_empty() => bail!("no run could be measured"),
        None => {
            let lines = extend(None, &measured, scale::countable, true).lines(&names);
            let experiment = input::parse(&lines, &counted_runs, Some(input::Format::JsonLines))?;
            Ok(Found { experiment, name: counted_runs, exit })
        }
        Some(mut target) => {
            let added = extend(existing.as_ref(), &measured, scale::countable, args.ragged);
            target.write(&added.lines(&names))?;
            scale::tell(&added, &target, measured.len());
            let name = target.name();
            Ok(Found { experiment: input::read(Path::new(&name), None)?, name, exit })
        }
    }
}

fn read_measurements(file: &Path, scaling: Scaling) -> anyhow::Result<Experiment> {
    if file.is_dir() {
        return Ok(input::read_runs(file, scaling)?);
    }
    if file.as_os_str() != "-" {
        return Ok(input::read(file, None)?);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
    Ok(input::parse_bytes(bytes, "standard input", None)?)
}

/// Only what `--callpath` and `--metric` ask for.
fn narrow(experiment: &mut Experiment, args: &Args) -> anyhow::Result<()> {
    let wanted = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|text| name.contains(text));
    let before = experiment.sets.len();
    experiment.sets.retain(|set| wanted(&args.callpath, &set.callpath) && wanted(&args.metric, &set.metric));
    if experiment.sets.is_empty() && before > 0 {
        bail!("none of the {before} metrics matches --callpath and --metric; --print callpaths lists them");
    }
    Ok(())
}

/// The largest measured value of each parameter.
fn largest(experiment: &Experiment) -> Vec<f64> {
    let of = |i: usize| experiment.coordinates.iter().map(|point| point[i]).fold(f64::NEG_INFINITY, f64::max);
    (0..experiment.parameters.len()).map(of).collect()
}

/// One line of `--rank --json`.
#[derive(JsonSchema, Serialize)]
pub struct RankRecord<'a> {
    schema: &'static str,
    point: &'a [f64],
    #[serde(flatten)]
    ranked: perf_model::Ranked,
}

fn ranking(
    models: &Models,
    place: &[f64],
    largest: &[f64],
    args: &Args,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let ranked = perf_model::rank(models, place, None)?;
    if !args.json {
        let text = table::ranking(&ranked, &models.parameters, place, largest, args.all, Style::for_stdout());
        return Ok(out.write_all(text.as_bytes())?);
    }
    for ranked in ranked {
        let record = RankRecord { schema: "ftio.rank/1", point: place, ranked };
        printed::json(out, &record)?;
    }
    Ok(())
}

fn draw(models: &Models, points: &[Vec<f64>], file: &PictureFile, all: bool) -> anyhow::Result<()> {
    let charts = pictures::charts(models, points, LEVEL, all)?;
    let picture = if file.format() == Format::Html {
        pictures::page::draw(&charts)?.into_bytes()
    } else {
        let (most, count) = (pictures::MAX_DRAWN, charts.len());
        if count > most {
            let name = file.path().display();
            note!(
                "{name}: the first {most} of {count} models; choose with --callpath and --metric, or use \
                     .html"
            );
        }
        draw_sheet(&pictures::sheet(&charts[..count.min(most)]), file.format())?
    };
    file.write(Ok(picture))
}
