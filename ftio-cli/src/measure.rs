//! `ftio measure`: stretch, I/O slowdown and utilisation of real runs, from their traces.

use crate::exit::{Exit, wrong_usage};
use crate::inputs::{QuantityArgs, expand, explained};
use crate::print;
use crate::terminal::style::Style;
use crate::terminal::units::{percent, seconds, si};
use crate::terminal::waiting::Waiting;
use crate::values::{positive, positive_seconds};
use clap::ValueHint;
use io_sets::measure::{Measured, NotMeasured, Ran, measure};
use io_sets::metrics::{Frame, Metrics};
use sources::{Input, OpenOptions, SourceError, open};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Sixteen jobs that ran together, from second 400 to 3200 after the first one began:
      ftio measure --frame 400..3200 jobs/*.msgpack
  With the bandwidth that one job reaches alone, in bytes per second:
      ftio measure --alone 115343360 jobs/*.msgpack
  Before and after: run the same jobs with and without an arbiter, and compare
      ftio measure --json with/*.msgpack | jq .metrics

Stretch: how much longer a job took than it would have taken alone. I/O slowdown: the same of its I/O. \
Utilisation: the share of the time in which jobs computed. As in Inria RR-9537, section 4.3.";

/// Measure what sharing a file system has cost jobs that ran together
///
/// Each trace is a job; their clocks are compared by the time of day at which they began. I/O phases are
/// requests with less than --silence between them; all else is computing.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces of jobs that ran at the same time
    #[arg(value_name = "TRACE", required = true, value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    /// Time frame in seconds since the first job began, such as 400..3200 [default: while all jobs ran]
    #[arg(long, value_name = "FROM..TO", value_parser = frame)]
    pub frame: Option<Frame>,

    /// Bytes per second that a job reaches alone [default: the median of the phases that met no other job's]
    #[arg(long, value_name = "BYTES/S", value_parser = positive)]
    pub alone: Option<f64>,

    /// Requests with less than this between them, in seconds, belong to one I/O phase
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, default_value = "0.05")]
    pub silence: f64,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub quantity: QuantityArgs,
}

fn frame(text: &str) -> Result<Frame, String> {
    let parts = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match parts {
        Some((begin, end)) if begin >= 0.0 && end > begin && f64::is_finite(end) => Ok(Frame { begin, end }),
        _ => Err("expected FROM..TO in seconds, such as 400..3200".to_owned()),
    }
}

/// Measures.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let options = args.quantity.options()?;
    let mut jobs = Vec::new();
    for input in expand(&args.traces) {
        let read = input.and_then(|input| read(&input, &options, args.silence));
        jobs.extend(read.map_err(|error| anyhow::anyhow!(explained(&error)))?);
    }
    let record = measure(&jobs, args.frame, args.alone).map_err(|why| wrong_usage(advised(&why)))?;
    print::result(args.json, &record, |record| text(record, Style::for_stdout()))?;
    Ok(Exit::Done)
}

fn read(input: &Input, options: &OpenOptions, silence: f64) -> Result<Vec<Ran>, SourceError> {
    let read = |opened: sources::Opened| {
        let _waiting = Waiting::reading(&opened.name);
        Ran::read(opened, silence)
    };
    open(input, options)?.into_iter().map(read).collect()
}

/// Why nothing can be said, and which option helps.
fn advised(why: &NotMeasured) -> String {
    match why {
        NotMeasured::NotTogether => format!("{why}; give --frame FROM..TO"),
        NotMeasured::NeverAlone => format!("{why}: give the bandwidth of a job alone with --alone BYTES/S"),
        NotMeasured::Outside { job, ran, frame } => format!(
            "{job}: ran from {} to {}, not for all of the frame from {} to {}",
            seconds(ran.begin),
            seconds(ran.end),
            seconds(frame.begin),
            seconds(frame.end)
        ),
        _ => why.to_string(),
    }
}

fn text(record: &Measured, style: Style) -> String {
    let Metrics { stretch_max, stretch_geomean, io_slowdown, utilisation } = record.metrics;
    let mut text = format!(
        "{} jobs from {} to {}; one alone reaches {}\n",
        record.jobs.len(),
        seconds(record.frame.begin),
        seconds(record.frame.end),
        si(record.alone, "B/s")
    );
    text += &style.bold(&format!(
        "stretch {stretch_geomean:.3} (at most {stretch_max:.3}), I/O slowdown {io_slowdown:.3}, \
         utilisation {}",
        percent(utilisation)
    ));
    text += "\n  stretch  slowdown  phases  computed  job\n";
    for job in &record.jobs {
        let slowdown = job.io_slowdown.map_or("-".to_owned(), |slowdown| format!("{slowdown:.3}"));
        text += &format!(
            "{:9.3} {slowdown:>9} {:>7} {:>9}  {}\n",
            job.stretch,
            job.phases,
            seconds(job.compute),
            job.source
        );
    }
    text
}
