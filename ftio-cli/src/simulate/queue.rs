//! `ftio simulate queue`: how long the I/O queue of jobs that share a file system gets.

use crate::exit::Exit;
use crate::inputs::{self, InputArgs};
use crate::picture::PictureFile;
use crate::print;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{counted, percent, seconds};
use crate::terminal::waiting::Waiting;
use crate::values::{positive, positive_seconds};
use batch_sim::traced::{NoQueue, Question, Queue, TracedJob, queue};
use clap::ValueHint;
use draw::draw_sheet;
use sources::{Opened, SourceError};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Four of each of these two applications at the same time:
      ftio simulate queue app-a.msgpack app-b.msgpack --copies 4
  The same on a file system of 2 GB/s and 5000 requests per second:
      ftio simulate queue app-a.msgpack app-b.msgpack --copies 4 --bandwidth 2e9 --iops 5000
  Traces of jobs that ran together, with the rates adapted to what the queue really was:
      ftio simulate queue --fit run/*.msgpack --plot queue.svg

A job computes, does I/O, and computes again; the queue is made of the jobs that do I/O or wait for it. \
Times are taken as exponentially distributed, so that the queue is a Markov chain, which is solved, and \
simulated for its course over time.";

/// Model the I/O queue of jobs that share a file system, from their traces
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces of jobs, of any format that ftio reads
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    /// Each trace stands for this many jobs
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub copies: u32,

    /// Bytes per second of the file system [default: a phase takes as long as in its trace]
    #[arg(long, value_name = "BYTES", value_parser = positive)]
    pub bandwidth: Option<f64>,

    /// Requests per second of the file system
    #[arg(long, value_name = "N", value_parser = positive)]
    pub iops: Option<f64>,

    /// I/O that is less than this many seconds apart is one phase
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = positive_seconds)]
    pub gap: f64,

    /// The jobs ran together and started at the same moment: adapt compute and service times so that mean
    /// and deviation of the queue are as in the traces
    #[arg(long)]
    pub fit: bool,

    /// Seconds to simulate [default: the longest trace]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub seconds: Option<f64>,

    /// Number of simulations
    #[arg(long, value_name = "N", default_value_t = 400)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub runs: u32,

    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    #[command(flatten)]
    pub input: InputArgs,

    /// Draw the queue over time; the format follows from the ending of the name: .svg or .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Model and print.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let picture = args.plot.as_deref().map(PictureFile::open_drawing).transpose()?;
    let jobs = read(args)?;
    let question = Question {
        copies: args.copies as usize,
        bandwidth: args.bandwidth,
        iops: args.iops,
        fit: args.fit,
        seconds: args.seconds,
        runs: args.runs as usize,
        seed: args.seed,
    };
    let waiting = Waiting::working("simulating the queue");
    let record = queue(&jobs, &question).map_err(|why| anyhow::anyhow!(explained(&why)))?;
    drop(waiting);
    print::result(args.json, &record, table)?;
    if let Some(file) = picture {
        file.write(draw_sheet(&draw::batch::queue(&record.course, record.jobs, record.mean), file.format()))?;
    }
    Ok(Exit::Done)
}

fn read(args: &Args) -> anyhow::Result<Vec<TracedJob>> {
    let options = args.input.options()?;
    let read = |opened: Result<Opened, SourceError>| TracedJob::read(opened?, args.gap);
    let jobs = inputs::opened(&args.traces, &options).map(read);
    jobs.map(|job| job.map_err(|why| anyhow::anyhow!(explained(&why)))).collect()
}

/// Why nothing can be said, and which option may help.
fn explained(why: &NoQueue) -> String {
    match why {
        NoQueue::Source(error) => inputs::explained(error),
        NoQueue::OneState(_) => format!("{why}; a smaller --gap may tell phases apart"),
        _ => why.to_string(),
    }
}

fn table(record: &Queue) -> String {
    let style = Style::for_stdout();
    let line = |jobs: &str, compute: &str, service: &str, traces: &str| {
        format!("{jobs:>6}{compute:>18}{service:>18}  {traces}")
    };
    let mut lines = vec![style.dim(&line("jobs", "compute", "I/O alone", "traces"))];
    for template in &record.templates {
        let member = &template.member;
        let (jobs, names) = (member.jobs.to_string(), template.sources.join(", "));
        lines.push(line(&jobs, &seconds(member.compute), &seconds(member.service), &printable(&names)));
    }
    let (mean, jobs) = (style.bold(&format!("{:.3}", record.mean)), counted(record.jobs as u64, "job"));
    lines.push(format!("{mean} of {jobs} in the I/O queue on average"));
    if let (Some(measured), Some([compute, service])) = (record.measured, record.fitted) {
        let factors = format!("compute times by {compute:.2} and service times by {service:.2}");
        lines.push(format!("  measured {measured:.3}; to fit that, multiplied {factors}"));
    }
    let shares = record.stationary.iter().take(6).enumerate();
    let shares: Vec<String> =
        shares.map(|(length, share)| format!("{length}: {}", percent(*share))).collect();
    lines.push(format!("  length {}", shares.join(", ")));
    lines.push(format!("  jobs wait for {} of the time\n", percent(record.waiting)));
    lines.join("\n")
}
