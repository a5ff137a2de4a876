//! `ftio model FILE`: measurements at several scales become formulas.

mod point;
mod settings;
mod table;

use crate::exit::{Exit, wrong_usage};
use crate::picture::PictureFile;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain, printable};
use crate::terminal::units::counted;
use crate::terminal::waiting::Waiting;
use anyhow::{Context, bail};
use clap::{ValueEnum, ValueHint};
use draw::{Format, draw_sheet, models as pictures};
use perf_model::input::{self, Scaling};
use perf_model::output::json::Record;
use perf_model::output::print::{Print, print};
use perf_model::{Experiment, Models, model};
use serde::Serialize;
use settings::Settings;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Of the intervals.
const LEVEL: f64 = 0.95;

const EXAMPLES: &str = "\
Examples:
  From runs to formulas in one line:
      ftio scale runs/*.msgpack | ftio model -
  What to expect on 4096 processes, with the interval in which 95 % of runs should lie:
      ftio model scale.jsonl --evaluate Processes=4096
  Which callpath will dominate there:
      ftio model scale.jsonl --metric 'Time (s)' --rank Processes=4096
  The formula of one metric, for a script:
      ftio model scale.jsonl --callpath 'write_sync->total_bytes' --json | jq .terms
      ftio model scale.jsonl --print '{callpath}: {model:python}'
  Points, formulas and intervals, to open in a browser:
      ftio model scale.jsonl --evaluate 4096 --plot models.html
  An experiment of Extra-P, a folder of profiles of Score-P:
      ftio model experiment.extra-p
      ftio model runs/ --scaling strong
  Which options a fit has, and only the terms that theory allows:
      ftio model --options
      ftio model scale.jsonl --options poly_exponents=0,1/2,1 --options log_exponents=0,1
  What Extra-P 4.2 would say:
      ftio model scale.jsonl --compat --print all

How to read the table: the error is the leave-one-out error, that is, how far off the formula is at a \
point that it was not fitted to. Where the data cannot separate the formula from the next best one (odds \
below 20 to 1), the other is shown after \"or\": they may differ greatly beyond the measured scales, and \
the interval of --evaluate covers both.

Exit status: 0 done, 1 failed, 2 wrong usage.";

/// Find the formula behind measurements at several scales
///
/// Each metric of each callpath becomes a constant plus terms c · p^i · log2(p)^j (the performance model
/// normal form, as in Extra-P), for one to four parameters.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Measurements: JSON lines as ftio scale writes them, Extra-P's JSON or text, an experiment that Extra-P
    /// has saved (.extra-p), or a folder of Cube profiles (app.p4.r1/profile.cubex); - is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub file: Option<PathBuf>,

    /// How to search: refining tries finer exponents, segmented two formulas with a change between them; both
    /// for one parameter only
    /// [default: default]
    #[arg(long, value_enum, value_name = "NAME")]
    pub modeler: Option<ModelerChoice>,

    /// How the repetitions of a scale become one value [default: mean]
    #[arg(long, value_enum, value_name = "NAME")]
    pub measure: Option<MeasureChoice>,

    /// Take only the last N runs of each scale: files are appended to, so these are the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,

    /// Cube profiles: with weak scaling every process is a measurement, with weak-threaded every thread that
    /// did something, with strong scaling their sum is one
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    pub scaling: ScalingChoice,

    /// Set an option of the fit, such as poly_exponents=0,1/2,1; may be given several times. Without a value:
    /// list all options, with their values and where they come from
    #[arg(long, value_name = "KEY=VALUE", num_args = 0..=1, default_missing_value = "")]
    pub options: Vec<String>,

    /// Decide as Extra-P 4.2 does: same terms, coefficients and costs
    #[arg(long)]
    pub compat: bool,

    /// Only callpaths that contain this text
    #[arg(short, long, value_name = "TEXT")]
    pub callpath: Option<String>,

    /// Only metrics that contain this text
    #[arg(short, long, value_name = "TEXT")]
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

/// `--modeler`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModelerChoice {
    #[value(alias = "basic")]
    Default,
    Refining,
    Segmented,
}

/// `--measure`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MeasureChoice {
    Mean,
    Median,
    #[value(alias = "min")]
    Minimum,
    #[value(alias = "max")]
    Maximum,
}

/// `--scaling`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ScalingChoice {
    #[default]
    Weak,
    WeakThreaded,
    Strong,
}

impl ModelerChoice {
    fn name(self) -> &'static str {
        match self {
            ModelerChoice::Default => "default",
            ModelerChoice::Refining => "refining",
            ModelerChoice::Segmented => "segmented",
        }
    }
}

impl MeasureChoice {
    fn name(self) -> &'static str {
        match self {
            MeasureChoice::Mean => "mean",
            MeasureChoice::Median => "median",
            MeasureChoice::Minimum => "minimum",
            MeasureChoice::Maximum => "maximum",
        }
    }
}

impl Args {
    /// Words after `--options` that set nothing: none, or, in `--options FILE`, the file.
    fn wants_list(&self) -> bool {
        self.options.iter().any(|word| !word.contains('='))
    }

    /// The file, and the point of `--rank`. In `--rank FILE` the file was taken for the point.
    fn file_and_rank(&self) -> Option<(PathBuf, Option<&str>)> {
        match (&self.file, self.rank.as_deref()) {
            (Some(file), rank) => Some((file.clone(), rank)),
            (None, Some(file)) if !file.is_empty() => Some((PathBuf::from(file), Some(""))),
            (None, _) => None,
        }
    }
}

/// Read, model, print.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = Settings::new(args.compat, args.modeler, args.measure, &args.options)?;
    if args.wants_list() {
        let text = settings.list(args.json, Style::for_stdout())?;
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(Exit::Done);
    }
    let picture = args.plot.as_deref().map(PictureFile::open).transpose()?;
    let (file, rank) = args.file_and_rank().ok_or_else(|| {
        wrong_usage("expected a file of measurements, or - for standard input (see ftio model --help)")
    })?;
    let waiting = Waiting::reading(&file.to_string_lossy());
    let mut experiment = read(&file, args.scaling)?;
    drop(waiting);
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
        let name = file.display();
        complain(
            Severity::Warning,
            &format!("{name}: {}, {}: {}", skipped.callpath, skipped.metric, skipped.reason),
        );
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
        ranking(&models, &place, args, &mut out)?;
    } else if args.json {
        for one in &models.models {
            let mut record = Record::new(one, &models.parameters);
            let predictor = one.predictor();
            record.predictions =
                points.iter().map(|point| predictor.predict(point, LEVEL)).collect::<Result<_, _>>()?;
            writeln!(out, "{}", record.line())?;
        }
    } else if let Some(format) = &args.print {
        out.write_all(print(&experiment, &models, &Print::parse(format))?.as_bytes())?;
    } else {
        let name = if file.as_os_str() == "-" { "standard input".into() } else { file.to_string_lossy() };
        let name = printable(&name);
        let shown = table::Shown { name: &name, points: &points, level: LEVEL, all: args.all };
        out.write_all(table::table(&experiment, &models, &shown, Style::for_stdout()).as_bytes())?;
    }
    out.flush()?;
    if let Some(file) = picture {
        draw(&models, &points, &file, args.all)?;
    }
    Ok(Exit::Done)
}

fn read(file: &Path, scaling: ScalingChoice) -> anyhow::Result<Experiment> {
    if file.is_dir() {
        let scaling = match scaling {
            ScalingChoice::Weak => Scaling::Weak,
            ScalingChoice::WeakThreaded => Scaling::WeakThreaded,
            ScalingChoice::Strong => Scaling::Strong,
        };
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
#[derive(Serialize)]
struct RankRecord<'a> {
    schema: &'static str,
    point: &'a [f64],
    #[serde(flatten)]
    ranked: perf_model::Ranked,
}

fn ranking(models: &Models, place: &[f64], args: &Args, out: &mut impl Write) -> anyhow::Result<()> {
    let ranked = perf_model::rank(models, place, None)?;
    if !args.json {
        let text = table::ranking(&ranked, &models.parameters, place, args.all, Style::for_stdout());
        return Ok(out.write_all(text.as_bytes())?);
    }
    for ranked in ranked {
        let record = RankRecord { schema: "ftio.rank/1", point: place, ranked };
        serde_json::to_writer(&mut *out, &record).map_err(std::io::Error::from)?;
        writeln!(out)?;
    }
    Ok(())
}

fn draw(models: &Models, points: &[Vec<f64>], file: &PictureFile, all: bool) -> anyhow::Result<()> {
    let charts = pictures::charts(models, points, LEVEL, all)?;
    let picture = if file.format() == Format::Html {
        pictures::page::draw(&charts)?.into_bytes()
    } else {
        let (most, count) = (pictures::MOST, charts.len());
        if count > most {
            let name = file.path().display();
            complain(
                Severity::Note,
                &format!(
                    "{name}: the first {most} of {count} models; choose with --callpath and --metric, or use \
                     .html"
                ),
            );
        }
        draw_sheet(&pictures::sheet(&charts[..count.min(most)]), file.format())?
    };
    file.write(Ok(picture))
}
