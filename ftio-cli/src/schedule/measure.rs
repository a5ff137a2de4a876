//! `ftio schedule measure`: stretch, I/O slowdown and utilisation of real runs, from their traces.

use crate::exit::{Exit, wrong_usage};
use crate::inputs::{QuantityArgs, expand, explained};
use crate::terminal::style::Style;
use crate::terminal::units::{percent, seconds, si};
use crate::terminal::waiting::Waiting;
use crate::values::{positive, positive_seconds};
use clap::ValueHint;
use io_sets::metrics::{Frame, Metrics, bandwidth_alone};
use io_sets::simulate::{Course, IoPhase, Outcome};
use serde::Serialize;
use sources::Request;
use sources::{Input, OpenOptions, Span, open};
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Sixteen jobs that ran together, from second 400 to 3200 after the first one began:
      ftio schedule measure --frame 400..3200 jobs/*.msgpack
  With the bandwidth that one job reaches alone, in bytes per second:
      ftio schedule measure --alone 115343360 jobs/*.msgpack
  Before and after: run the same jobs with and without an arbiter, and compare
      ftio schedule measure --json with/*.msgpack | jq .metrics

Stretch: how much longer a job took than it would have taken alone. I/O slowdown: the same of its I/O. \
Utilisation: the share of the time in which jobs computed. As in Inria RR-9537, section 4.3.

Exit status: 0 done, 1 failed, 2 wrong usage.";

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

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Record {
    pub schema: &'static str,
    /// Seconds since the first job began.
    pub frame: Frame,
    /// Bytes per second that a job reaches alone.
    pub alone: f64,
    pub metrics: Metrics,
    pub jobs: Vec<JobRecord>,
}

/// One job in the frame.
#[derive(Debug, Serialize)]
pub struct JobRecord {
    pub source: String,
    /// When it began and ended, seconds since the first one began.
    pub start: f64,
    pub end: f64,
    /// I/O phases that touch the frame.
    pub phases: usize,
    /// Seconds of computing in the frame.
    pub compute: f64,
    /// Seconds that its I/O in the frame would have taken alone.
    pub io_alone: f64,
    pub stretch: f64,
    /// Null if it did no I/O in the frame.
    pub io_slowdown: Option<f64>,
}

fn frame(text: &str) -> Result<Frame, String> {
    let parts = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match parts {
        Some((begin, end)) if begin >= 0.0 && end > begin && f64::is_finite(end) => Ok(Frame { begin, end }),
        _ => Err("expected FROM..TO in seconds, such as 400..3200".to_owned()),
    }
}

/// A job as its trace shows it; times in nanoseconds.
struct Ran {
    source: String,
    /// Time of day at job time 0, and job times of its start and end.
    origin: i64,
    start: i64,
    end: i64,
    phases: Vec<(i64, i64, u64)>,
}

/// Measures.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let options = args.quantity.options()?;
    let mut jobs = Vec::new();
    for input in expand(&args.traces) {
        let read = input.and_then(|input| read(&input, &options, args.silence));
        jobs.extend(read.map_err(|error| anyhow::anyhow!(explained(&error)))?);
    }
    let record = measure(&jobs, args)?;
    let mut out = std::io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&record)?)?,
        false => out.write_all(text(&record, Style::for_stdout()).as_bytes())?,
    }
    Ok(Exit::Done)
}

fn read(input: &Input, options: &OpenOptions, silence: f64) -> Result<Vec<Ran>, sources::SourceError> {
    let mut jobs = Vec::new();
    for opened in open(input, options)? {
        let source = opened.name.clone();
        let _waiting = Waiting::reading(&source);
        let mut requests: Vec<Request> = Vec::new();
        let job =
            opened.into_source()?.read(Span::default(), &mut |some| requests.extend_from_slice(some))?;
        let phases = phases(requests, (silence * 1e9) as i64);
        let last = phases.last().map_or(0, |phase| phase.1);
        let end = job.end.unwrap_or(last).max(last);
        let (origin, start) = (job.origin.unwrap_or(0), job.start.unwrap_or(0));
        jobs.push(Ran { source, origin, start, end, phases });
    }
    Ok(jobs)
}

/// Requests with less than `silence` between them.
fn phases(mut requests: Vec<Request>, silence: i64) -> Vec<(i64, i64, u64)> {
    requests.sort_by_key(|request| request.start);
    let mut phases: Vec<(i64, i64, u64)> = Vec::new();
    for Request { start, end, bytes, .. } in requests {
        match phases.last_mut() {
            Some(phase) if start - phase.1 < silence => {
                phase.1 = phase.1.max(end);
                phase.2 += bytes;
            }
            _ => phases.push((start, end.max(start), bytes)),
        }
    }
    phases
}

fn measure(jobs: &[Ran], args: &Args) -> anyhow::Result<Record> {
    let first = jobs.iter().map(|job| job.origin + job.start).min().unwrap_or(0);
    let course = |job: &Ran| {
        let at = |time: i64| (job.origin - first + time) as f64 * 1e-9;
        let phase = |&(start, end, bytes): &(i64, i64, u64)| IoPhase {
            start: at(start),
            end: at(end),
            bytes: bytes as f64,
        };
        Course {
            start: at(job.start),
            end: at(job.end),
            phases: job.phases.iter().map(phase).collect(),
            priorities: Vec::new(),
            predictions: [0; 2],
        }
    };
    let outcome = Outcome { courses: jobs.iter().map(course).collect() };
    let shared = Frame {
        begin: outcome.courses.iter().map(|course| course.start).fold(0.0, f64::max),
        end: outcome.courses.iter().map(|course| course.end).fold(f64::INFINITY, f64::min),
    };
    let frame = args.frame.unwrap_or(shared);
    if frame.length() <= 0.0 || !frame.length().is_finite() {
        return Err(wrong_usage("the jobs did not run at the same time; give --frame FROM..TO"));
    }
    for (job, course) in jobs.iter().zip(&outcome.courses) {
        if course.start > frame.begin || course.end < frame.end {
            return Err(wrong_usage(format!(
                "{}: ran from {} to {}, not for all of the frame from {} to {}",
                job.source,
                seconds(course.start),
                seconds(course.end),
                seconds(frame.begin),
                seconds(frame.end)
            )));
        }
    }
    let alone = args.alone.or_else(|| bandwidth_alone(std::slice::from_ref(&outcome))).ok_or_else(|| {
        wrong_usage("no I/O phase met no other job's: give the bandwidth of a job alone with --alone BYTES/S")
    })?;
    let rows = jobs.iter().zip(&outcome.courses).map(|(job, course)| {
        let work = frame.work(course, alone);
        let touches = |phase: &&IoPhase| phase.start < frame.end && phase.end > frame.begin;
        JobRecord {
            source: job.source.clone(),
            start: course.start,
            end: course.end,
            phases: course.phases.iter().filter(touches).count(),
            compute: work.compute,
            io_alone: work.io,
            stretch: frame.length() / (work.compute + work.io),
            io_slowdown: (work.io > 0.0).then(|| (frame.length() - work.compute) / work.io),
        }
    });
    Ok(Record {
        schema: "ftio.measure/1",
        frame,
        alone,
        metrics: Metrics::of(&outcome, frame, alone),
        jobs: rows.collect(),
    })
}

fn text(record: &Record, style: Style) -> String {
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
