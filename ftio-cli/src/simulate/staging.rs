//! `ftio simulate staging`: what staging would gain, for storage that is not at hand.

use crate::exit::{Exit, wrong_usage};
use crate::print;
use crate::signal::ModeArgs;
use crate::stage::replay::script;
use crate::stage::{RuleArgs, WHEN};
use crate::terminal::style::Style;
use crate::terminal::units::{bytes, percent, seconds};
use crate::terminal::waiting::Waiting;
use crate::values::{number, positive_seconds, size};
use clap::ValueHint;
use ftio_core::detect::Options;
use io_stage::live::Online;
use io_stage::live::replay::played;
use io_stage::plan::{Report, Settings};
use io_stage::simulate::{Job, Run, Storage, job};
use schemars::JsonSchema;
use serde::Serialize;
use sources::OpenOptions;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  A job that writes 1 TB every ten minutes to a buffer of 20 GB/s and 10 TB; 2 GB/s leave it:
      ftio simulate staging --period 600 --phase-bytes 1T --bandwidth 20G --rate 2G --capacity 10T --evict
  The same with phases that come up to 20 % earlier or later:
      ftio simulate staging --period 600 --phase-bytes 1T --bandwidth 20G --rate 2G --jitter 0.2
  A job that has run already:
      ftio simulate staging run.msgpack --rate 2G

While the job and a copy use the buffer at the same time, every stream of requests gets an equal share of \
its bandwidth: with --streams 4, a copy takes a fifth of it. A job from a trace is not slowed down: its \
requests stay where they were.";

/// Simulate staging: what does it cost the job, and when is everything out of the buffer?
///
/// Compares no staging with staging at once, at the end of the job, and in the quiet between its phases, with
/// the decisions and the predictor of `ftio stage`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A trace to play, instead of a job that is made up
    #[arg(value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    #[arg(conflicts_with_all = ["period", "phase_bytes"])]
    pub trace: Option<PathBuf>,

    /// Seconds from the start of a phase to that of the next
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, help_heading = "The job")]
    #[arg(required_unless_present = "trace")]
    pub period: Option<f64>,

    /// Bytes that a phase writes, such as 1T
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "The job")]
    #[arg(required_unless_present = "trace")]
    pub phase_bytes: Option<f64>,

    /// Number of phases
    #[arg(long, value_name = "N", default_value = "20")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    #[arg(help_heading = "The job")]
    pub phases: u32,

    /// Files that each phase writes
    #[arg(long, value_name = "N", default_value = "16")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    #[arg(help_heading = "The job")]
    pub files: u32,

    /// Streams of requests that the job has at the same time, usually one per rank
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "The job")]
    pub streams: u32,

    /// By how much the computing between phases varies, as a share: 0.2 is up to 20 % shorter or longer
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = jitter, help_heading = "The job")]
    pub jitter: f64,

    /// Bytes per second that the buffer can move
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "The buffer")]
    #[arg(required_unless_present = "trace")]
    pub bandwidth: Option<f64>,

    #[command(flatten)]
    pub rules: RuleArgs,

    #[command(flatten)]
    pub mode: ModeArgs,

    /// Seconds between flushes of the trace [default: 1, or 1 % of the period if that is more]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, help_heading = "The job")]
    pub flush: Option<f64>,

    /// Random numbers begin here
    #[arg(long, value_name = "N", default_value = "1", help_heading = "The job")]
    pub seed: u64,

    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

fn jitter(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..1.0).contains(&value), "a number from 0 to below 1")
}

/// One policy.
#[derive(Debug, JsonSchema, Serialize)]
struct Policy {
    /// "none", "at-once", "at-end" or "quiet".
    policy: &'static str,
    /// When the job ended, in seconds.
    wall: f64,
    /// How much longer that is than without staging, as a share.
    added: f64,
    /// Seconds from the end of the job until everything was out of the buffer; null if that never happened.
    drained: Option<f64>,
    /// Was more in the buffer than fits?
    over_capacity: bool,
    report: Report,
}

const SCHEMA: &str = "ftio.stage-simulate/1";

/// What `--json` prints.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct Record {
    schema: &'static str,
    /// The trace that was played; null if the job was made up.
    source: Option<String>,
    period: Option<f64>,
    phase_bytes: Option<u64>,
    phases: Option<u32>,
    jitter: Option<f64>,
    /// Bytes per second.
    bandwidth: Option<f64>,
    /// Bytes per second.
    rate: f64,
    capacity: Option<u64>,
    policies: Vec<Policy>,
}

/// Simulate and print.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(rate) = args.rules.rate else {
        return Err(wrong_usage("expected --rate: how many bytes per second leave the buffer"));
    };
    let settings = args.rules.settings()?;
    let waiting = Waiting::working("simulating");
    let record = match &args.trace {
        Some(trace) => of_trace(args, trace, &settings, rate)?,
        None => made_up(args, &settings, rate)?,
    };
    drop(waiting);
    print::result(args.json, &record, |record| table(record, Style::for_stdout()))?;
    Ok(Exit::Done)
}

fn of_trace(args: &Args, trace: &Path, settings: &Settings, rate: f64) -> anyhow::Result<Record> {
    let script = script(trace, &OpenOptions::default())?;
    let capacity = args.rules.capacity.map(|capacity| capacity as u64);
    let detect = Options { mode: args.mode.mode, ..Options::default() };
    let policies = WHEN.map(|(name, when)| {
        let run = played(&script, &Settings { when, ..settings.clone() }, &detect, rate, capacity);
        policy(name, run, script.end, capacity)
    });
    let source = Some(trace.display().to_string());
    Ok(Record { schema: SCHEMA, source, rate, capacity, policies: policies.into(), ..Record::default() })
}

fn made_up(args: &Args, settings: &Settings, rate: f64) -> anyhow::Result<Record> {
    let (Some(period), Some(phase), Some(bandwidth)) = (args.period, args.phase_bytes, args.bandwidth) else {
        return Err(wrong_usage("expected TRACE, or --period, --phase-bytes and --bandwidth"));
    };
    let compute = period - phase / bandwidth;
    if compute <= 0.0 {
        let (needed, period) = (seconds(phase / bandwidth), seconds(period));
        return Err(wrong_usage(format!(
            "a phase takes {needed} at this bandwidth, more than the period of {period}"
        )));
    }
    let capacity = args.rules.capacity.map(|capacity| capacity as u64);
    let flush = args.flush.unwrap_or((0.01 * period).max(1.0));
    let storage = Storage { bandwidth, rate, capacity, flush };
    let of = Job {
        phases: args.phases,
        compute,
        jitter: args.jitter,
        bytes: phase as u64,
        files: args.files,
        streams: args.streams,
        seed: args.seed,
    };
    let detect = Options { mode: args.mode.mode, ..Options::default() };
    let play =
        |settings: Option<Settings>| job(&of, storage, settings, &mut Online::new("job", detect.clone()));
    let plain = play(None);
    let wall = plain.end;
    let mut policies = vec![policy("none", plain, wall, capacity)];
    for (name, when) in WHEN {
        let run = play(Some(Settings { when, ..settings.clone() }));
        policies.push(policy(name, run, wall, capacity));
    }
    Ok(Record {
        schema: SCHEMA,
        source: None,
        period: Some(period),
        phase_bytes: Some(phase as u64),
        phases: Some(args.phases),
        jitter: Some(args.jitter),
        bandwidth: Some(bandwidth),
        rate,
        capacity,
        policies,
    })
}

fn policy(name: &'static str, run: Run, wall: f64, capacity: Option<u64>) -> Policy {
    Policy {
        policy: name,
        wall: run.end,
        added: if wall > 0.0 { run.end / wall - 1.0 } else { 0.0 },
        drained: run.drained,
        over_capacity: capacity.is_some_and(|capacity| run.report.peak_occupancy > capacity),
        report: run.report,
    }
}

fn table(record: &Record, style: Style) -> String {
    let mut out = String::new();
    let headings = ["wall time", "added", "inside phases", "most in buffer", "after the end", "suspended"];
    let _ = write!(out, "{:8}", "");
    for heading in headings {
        let _ = write!(out, "{}", style.bold(&format!("{heading:>16}")));
    }
    out.push('\n');
    for policy in &record.policies {
        let report = &policy.report;
        let drained = policy.drained.map_or("never".into(), seconds);
        let mut most = bytes(report.peak_occupancy as f64);
        if policy.over_capacity {
            most.push_str(" !");
        }
        let cells = [
            seconds(policy.wall),
            percent(policy.added),
            seconds(report.seconds_overlap),
            most,
            drained,
            report.suspended.to_string(),
        ];
        let _ = write!(out, "{:8}", policy.policy);
        cells.iter().for_each(|cell| {
            let _ = write!(out, "{cell:>16}");
        });
        out.push('\n');
    }
    if record.policies.iter().any(|policy| policy.over_capacity) {
        out.push_str("\n! more than fits into the buffer: the job would have failed, or written elsewhere\n");
    }
    out
}
