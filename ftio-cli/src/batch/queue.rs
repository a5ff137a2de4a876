//! `ftio batch queue`: how long the I/O queue of jobs that share a file system gets.

use crate::exit::Exit;
use crate::inputs::{self, InputArgs};
use crate::picture::PictureFile;
use crate::terminal::style::Style;
use crate::terminal::units::{counted, percent, seconds};
use crate::terminal::waiting::Waiting;
use crate::values::{positive, positive_seconds};
use anyhow::{Context, bail};
use batch_sim::queue::{Chain, Course, Member, fit, resampled, simulate, templates};
use clap::ValueHint;
use draw::draw_sheet;
use ftio_core::request::{Request, Span};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Four of each of these two applications at the same time:
      ftio batch queue app-a.msgpack app-b.msgpack --copies 4
  The same on a file system of 2 GB/s and 5000 requests per second:
      ftio batch queue app-a.msgpack app-b.msgpack --copies 4 --bandwidth 2e9 --iops 5000
  Traces of jobs that ran together, with the rates adapted to what the queue really was:
      ftio batch queue --fit run/*.msgpack --plot queue.svg

A job computes, does I/O, and computes again; the queue is made of the jobs that do I/O or wait for it. \
Times are taken as exponentially distributed, so that the queue is a Markov chain, which is solved, and \
simulated for its course over time.

Exit status: 0 done, 1 failed, 2 wrong usage.";

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

/// The I/O of a job: its phases with their begin, end, bytes and requests.
struct Phases {
    name: String,
    length: f64,
    list: Vec<(f64, f64, f64, f64)>,
}

#[derive(Serialize)]
struct Record {
    schema: &'static str,
    /// Jobs in all.
    jobs: usize,
    templates: Vec<TemplateRecord>,
    /// Mean length of the queue in the long run, by the closed form.
    mean: f64,
    /// Share of the time in which the queue has each length, from 0 on.
    stationary: Vec<f64>,
    /// Share of the time in which a job has to wait for another.
    waiting: f64,
    /// Mean length of the queue in the traces, if they ran together.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<f64>,
    /// Factors that compute and service times were multiplied with to fit that.
    #[serde(skip_serializing_if = "Option::is_none")]
    fitted: Option<[f64; 2]>,
    /// The simulated course.
    course: Course,
}

/// Jobs that behave alike.
#[derive(Serialize)]
struct TemplateRecord {
    /// The traces.
    sources: Vec<String>,
    #[serde(flatten)]
    member: Member,
    /// Share of the time in I/O along the run, in 32 parts.
    profile: Vec<f64>,
}

/// Model and print.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let picture = args.plot.as_deref().map(PictureFile::open_drawing).transpose()?;
    let jobs = read(args)?;
    let profiles: Vec<Vec<f64>> = jobs.iter().map(profile).collect();
    let copies = args.copies as usize;
    let mut found: Vec<TemplateRecord> = Vec::new();
    for template in templates(&profiles, args.seed) {
        let members: Vec<&Phases> = template.members.iter().map(|place| &jobs[*place]).collect();
        let sources = members.iter().map(|job| job.name.clone()).collect();
        let member = member(&members, args)?;
        let member = Member { jobs: copies * members.len(), ..member };
        found.push(TemplateRecord { sources, member, profile: template.profile });
    }
    let mut members: Vec<Member> = found.iter().map(|template| template.member).collect();
    let length = jobs.iter().map(|job| job.length).fold(0.0, f64::max);
    let measured = (args.fit && copies == 1).then(|| measured(&jobs, length));
    let mut fitted = None;
    if let Some((mean, variance)) = measured {
        let factors = fit(&members, mean, variance);
        for member in &mut members {
            (member.compute, member.service) = (member.compute * factors[0], member.service * factors[1]);
        }
        fitted = Some(factors);
    }
    let waiting = Waiting::working("simulating the queue");
    let chain = Chain::of_jobs(&members);
    let stationary = chain.stationary();
    let span = args.seconds.unwrap_or(length);
    let course = simulate(&chain, 0, span, 200, args.runs as usize, args.seed);
    drop(waiting);
    let record = Record {
        schema: "ftio.batch-queue/1",
        jobs: chain.most(),
        templates: found,
        mean: chain.mean(),
        waiting: stationary.iter().skip(2).sum(),
        stationary,
        measured: measured.map(|(mean, _)| mean),
        fitted,
        course,
    };
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &record).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        table(&record, &mut out)?;
    }
    out.flush()?;
    if let Some(file) = picture {
        file.write(draw_sheet(&draw::batch::queue(&record.course, record.jobs, record.mean), file.format()))?;
    }
    Ok(Exit::Done)
}

fn read(args: &Args) -> anyhow::Result<Vec<Phases>> {
    let options = args.input.options()?;
    let mut jobs = Vec::new();
    for opened in inputs::opened(&args.traces, &options) {
        let explain = |error| anyhow::anyhow!(inputs::explained(&error));
        let opened = opened.map_err(explain)?;
        let name = opened.name.clone();
        let mut requests: Vec<Request> = Vec::new();
        let job = opened
            .into_source()
            .and_then(|source| source.read(Span::Actual, &mut |batch| requests.extend_from_slice(batch)))
            .map_err(explain)?;
        let first = job.start.or_else(|| requests.iter().map(|request| request.start).min());
        let last = job.end.max(requests.iter().map(|request| request.end).max());
        let (Some(first), Some(last)) = (first, last) else { bail!("{name}: there is no I/O in it") };
        let at = |time: i64| ftio_core::time::seconds(time.saturating_sub(first));
        requests.sort_by_key(|request| request.start);
        let mut list: Vec<(f64, f64, f64, f64)> = Vec::new();
        for request in &requests {
            let (start, end, bytes) = (at(request.start), at(request.end), request.bytes as f64);
            match list.last_mut() {
                Some(phase) if start - phase.1 < args.gap => {
                    *phase = (phase.0, phase.1.max(end), phase.2 + bytes, phase.3 + 1.0);
                }
                _ => list.push((start, end, bytes, 1.0)),
            }
        }
        if list.is_empty() {
            bail!("{name}: there is no I/O in it");
        }
        jobs.push(Phases { name, length: at(last), list });
    }
    Ok(jobs)
}

/// Share of the time in I/O, in parts of the run.
fn profile(job: &Phases) -> Vec<f64> {
    const PARTS: usize = 256;
    let width = job.length / PARTS as f64;
    let busy = |part: usize| {
        let (from, to) = (part as f64 * width, (part + 1) as f64 * width);
        let inside = |phase: &(f64, f64, f64, f64)| (phase.1.min(to) - phase.0.max(from)).max(0.0);
        job.list.iter().map(inside).sum::<f64>() / width
    };
    resampled(&(0..PARTS).map(busy).collect::<Vec<f64>>())
}

/// Mean times of the jobs of a template.
fn member(jobs: &[&Phases], args: &Args) -> anyhow::Result<Member> {
    let sum =
        |of: fn(&(f64, f64, f64, f64)) -> f64| jobs.iter().flat_map(|job| &job.list).map(of).sum::<f64>();
    let phases: usize = jobs.iter().map(|job| job.list.len()).sum();
    let (io, bytes, requests) = (sum(|phase| phase.1 - phase.0), sum(|phase| phase.2), sum(|phase| phase.3));
    let length: f64 = jobs.iter().map(|job| job.length).sum();
    let each = phases as f64;
    let by_rate = [args.bandwidth.map(|most| bytes / most), args.iops.map(|most| requests / most)];
    let needed = by_rate
        .into_iter()
        .flatten()
        .fold(None, |most: Option<f64>, time| Some(most.unwrap_or(0.0).max(time)));
    let service = needed.unwrap_or(io) / each;
    let compute = (length - io) / each;
    if compute <= 0.0 || service <= 0.0 {
        let name = &jobs[0].name;
        return Err(anyhow::anyhow!(
            "it does I/O all the time, or none that takes time; a smaller --gap may tell phases apart"
        ))
        .with_context(|| name.clone());
    }
    Ok(Member { jobs: 0, compute, service })
}

/// Mean and variance of the number of jobs that do I/O at the same time.
fn measured(jobs: &[Phases], length: f64) -> (f64, f64) {
    let phases = || jobs.iter().flat_map(|job| &job.list);
    let mut steps: Vec<(f64, f64)> = phases().flat_map(|phase| [(phase.0, 1.0), (phase.1, -1.0)]).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (mut queue, mut since, mut sum, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for (time, step) in steps {
        sum += queue * (time - since);
        squares += queue * queue * (time - since);
        (queue, since) = (queue + step, time);
    }
    let mean = sum / length;
    (mean, squares / length - mean * mean)
}

fn table(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let style = Style::for_stdout();
    let head = format!("{:>6}{:>18}{:>18}  {}", "jobs", "compute", "I/O alone", "traces");
    writeln!(out, "{}", style.dim(&head))?;
    for template in &record.templates {
        let member = &template.member;
        let names = crate::terminal::text::printable(&template.sources.join(", ")).into_owned();
        writeln!(
            out,
            "{:>6}{:>18}{:>18}  {names}",
            member.jobs,
            seconds(member.compute),
            seconds(member.service)
        )?;
    }
    let jobs = counted(record.jobs as u64, "job");
    writeln!(out, "{} of {jobs} in the I/O queue on average", style.bold(&format!("{:.3}", record.mean)))?;
    if let (Some(measured), Some([compute, service])) = (record.measured, record.fitted) {
        let factors = format!("compute times by {compute:.2} and service times by {service:.2}");
        writeln!(out, "  measured {measured:.3}; to fit that, multiplied {factors}")?;
    }
    let shares = record.stationary.iter().take(6).enumerate();
    let shares: Vec<String> =
        shares.map(|(length, share)| format!("{length}: {}", percent(*share))).collect();
    writeln!(out, "  length {}", shares.join(", "))?;
    writeln!(out, "  somebody waits for {} of the time", percent(record.waiting))
}
