//! `ftio simulate batch`: a workload under one policy or several.

use super::inputs;
use crate::exit::{Exit, wrong_usage};
use crate::output;
use crate::picture::PictureFile;
use crate::print;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain};
use crate::terminal::units::{counted, grouped, percent, si};
use crate::terminal::waiting::Waiting;
use crate::values::{not_negative, one_of, positive, share};
use batch_sim::{EventKind, Expansion, Job, JobRun, Metrics, Outcome, Policy, Settings};
use clap::ValueHint;
use draw::draw_sheet;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  Three policies compared:
      ftio simulate batch jobs.swf --nodes 128
  MEBF with the jobs' I/O in balance, as a picture and as JSON:
      ftio simulate batch jobs.swf --nodes 128 --policy mebf --balance --plot jobs.svg --json
  What a change of size costs, and who gets free nodes:
      ftio simulate batch jobs.swf --policy mebf --expansion hand-off --cost 30
  The jobs of executable 7 scale as a model says, and do I/O as a trace shows:
      ftio scale runs/*.msgpack | ftio model - --json > model.jsonl
      ftio simulate batch jobs.swf --model 7=model.jsonl --io 7=run.msgpack

Policies:
  fcfs   first come, first served
  easy   a later job may start earlier if it does not delay the first of the queue (EASY backfilling)
  mebf   and malleable jobs get idle nodes, and give nodes up for others (Malleable EASY Backfilling)

A plain SWF file is a workload of rigid jobs: requested processors are nodes, and the requested time, if \
there is one, is what the scheduler expects. Extra columns say more: see docs/batch.md.";

/// Simulate a workload under FCFS, EASY or MEBF, with or without I/O balance
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The workload in the Standard Workload Format; - is standard input
    #[arg(value_name = "WORKLOAD", value_hint = ValueHint::FilePath)]
    pub workload: PathBuf,

    /// Nodes of the machine [default: what the workload says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub nodes: Option<u32>,

    /// Only these policies: fcfs, easy, mebf [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = one_of(Policy::ALL.map(|policy| (policy.name(), policy))))]
    pub policy: Vec<Policy>,

    /// Of the jobs that may start, grow or shrink, take those that keep the machine's I/O close to the
    /// workload's
    #[arg(long)]
    pub balance: bool,

    /// Who gets free nodes under mebf: aggressive (all it can use, until others need them), aggressive-kept
    /// (and keeps them), hand-off (if it more than doubles, and as many stay free), keep-spare (the same,
    /// less 30 %)
    #[arg(long, value_name = "WAY", default_value = "aggressive", hide_possible_values = true)]
    #[arg(value_parser = one_of(Expansion::ALL.map(|way| (way.name(), way))))]
    #[arg(help_heading = "Malleable jobs")]
    pub expansion: Expansion,

    /// Seconds that a change of size costs the job
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = not_negative)]
    #[arg(help_heading = "Malleable jobs")]
    pub cost: f64,

    /// Share of its nodes that a job gives up at once [default: hand-off 0.5, aggressive 1, keep-spare 0.3]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Malleable jobs")]
    pub sharing: Option<f64>,

    /// How many times longer the rest of a job may take when it shrinks, if it ends soon
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0, value_parser = positive)]
    #[arg(help_heading = "Malleable jobs")]
    pub most_stretch: f64,

    /// A job with less time left ends soon, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = not_negative)]
    #[arg(help_heading = "Malleable jobs")]
    pub soon: f64,

    /// How the time of jobs depends on nodes, from ftio model --json; for all jobs whose size may change, or
    /// for those of an executable of the workload
    #[arg(long, value_name = "[EXECUTABLE=]FILE", value_parser = inputs::about, help_heading = "Jobs")]
    pub model: Vec<inputs::About>,

    /// The metric of the model [default: the one with "time" in its name]
    #[arg(long, value_name = "NAME", help_heading = "Jobs")]
    pub metric: Option<String>,

    /// The I/O of jobs: a trace of any format that ftio reads, or ftio categorize --json, whose lines are
    /// about the jobs of their numbers
    #[arg(long, value_name = "[EXECUTABLE=]FILE", value_parser = inputs::about, help_heading = "Jobs")]
    pub io: Vec<inputs::About>,

    /// Write everything that happens as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub events: Option<PathBuf>,

    /// Draw nodes over time with the jobs in them, and the sum of their bandwidths; the format follows from
    /// the ending of the name: .svg or .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub plot: Option<PathBuf>,

    /// Print one JSON object per policy and line
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// One line of `--json`.
#[derive(JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    /// The workload, as the user named it.
    source: String,
    /// Nodes of the machine.
    nodes: u32,
    policy: Policy,
    /// How mebf expands jobs; null under other policies.
    expansion: Option<Expansion>,
    /// Is I/O kept in balance?
    balance: bool,
    /// Seconds that a change of size costs.
    cost: f64,
    /// Jobs that never ran according to the workload, and were left out.
    never_ran: usize,
    /// Jobs that need more nodes than there are, and were left out.
    too_large: usize,
    metrics: &'a Metrics,
    /// The jobs, in the order of the workload.
    jobs: &'a [JobRun],
}

/// Simulate and print.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let picture = args.plot.as_deref().map(PictureFile::open_drawing).transpose()?;
    if let Some(path) = &args.events {
        output::check(path)?;
    }
    let mut workload = inputs::workload(&args.workload)?;
    let Some(nodes) = args.nodes.or(workload.nodes) else {
        return Err(wrong_usage("the workload does not tell how many nodes there are: expected --nodes N"));
    };
    for about in &args.model {
        let count = inputs::apply_model(about, args.metric.as_deref(), &mut workload)?;
        told(about, count, "can change their size and are covered by this model");
    }
    for about in &args.io {
        let count = inputs::apply_io(about, &mut workload)?;
        told(about, count, "are those whose I/O is in it");
    }
    let too_large = workload.fit(nodes);
    leave_out(too_large, &format!("more than {}", counted(nodes.into(), "node")), "needs", "need");
    leave_out(workload.never_ran, "no run time or no nodes", "has", "have");
    let jobs = workload.jobs();
    let policies = if args.policy.is_empty() { Policy::ALL.to_vec() } else { args.policy.clone() };
    let mut results = Vec::new();
    for policy in policies {
        let _waiting = Waiting::working(&format!("simulating {}", policy.name()));
        let outcome = batch_sim::simulate(&jobs, &settings(args, policy, nodes))?;
        let metrics = Metrics::of(&jobs, &outcome, nodes);
        results.push((policy, outcome, metrics));
    }
    let mut out = io::stdout().lock();
    for (policy, outcome, metrics) in results.iter().filter(|_| args.json) {
        let (policy, jobs) = (*policy, outcome.jobs.as_slice());
        let record = Record {
            schema: "ftio.batch/1",
            source: args.workload.display().to_string(),
            nodes,
            policy,
            expansion: (policy == Policy::Mebf).then_some(args.expansion),
            balance: args.balance,
            cost: args.cost,
            never_ran: workload.never_ran,
            too_large,
            metrics,
            jobs,
        };
        print::json(&mut out, &record)?;
    }
    if !args.json {
        write!(out, "{}", table(&jobs, nodes, &results, Style::for_stdout()))?;
    }
    out.flush()?;
    if let Some(path) = &args.events {
        write_events(path, &results)?;
    }
    for (number, (policy, outcome, _)) in results.iter().enumerate() {
        let Some(file) = &picture else { break };
        let file = if results.len() > 1 { file.numbered(number + 1) } else { file.clone() };
        file.write(draw_sheet(
            &draw::batch::nodes(&jobs, outcome, nodes, *policy, args.balance),
            file.format(),
        ))?;
    }
    Ok(Exit::Done)
}

fn settings(args: &Args, policy: Policy, nodes: u32) -> Settings {
    Settings {
        nodes,
        policy,
        expansion: args.expansion,
        balance: args.balance,
        cost: args.cost,
        most_stretch: args.most_stretch,
        sharing: args.sharing,
        soon: args.soon,
        ..Settings::default()
    }
}

fn told(about: &inputs::About, count: usize, what: &str) {
    let severity = if count == 0 { Severity::Warning } else { Severity::Note };
    complain(severity, &format!("{}: {} {what}", about.path.display(), counted(count as u64, "job")));
}

fn leave_out(count: usize, why: &str, one: &str, several: &str) {
    if count > 0 {
        let verb = if count == 1 { one } else { several };
        let message = format!("{} that {verb} {why} left out", counted(count as u64, "job"));
        complain(Severity::Warning, &message);
    }
}

/// A line of the table: what it says, and how.
type Line = (&'static str, fn(&Metrics) -> String);

const LINES: [Line; 8] = [
    ("time until all jobs are done", |all| format!("{:.0} s", all.makespan)),
    ("mean wait", |all| format!("{:.0} s", all.mean_wait)),
    ("mean bounded slowdown", |all| format!("{:.2}", all.mean_bounded_slowdown)),
    ("95 % of slowdowns are below", |all| format!("{:.2}", all.p95_bounded_slowdown)),
    ("nodes in use", |all| percent(all.utilisation)),
    ("bandwidth of all jobs", |all| si(all.bandwidth_mean, "B/s")),
    ("its deviation over time", |all| si(all.bandwidth_variance.sqrt(), "B/s")),
    ("changes of size", |all| grouped((all.expansions + all.shrinks) as u64)),
];

/// One column a policy: three of them fit in 80 columns.
fn table(jobs: &[Job], nodes: u32, results: &[(Policy, Outcome, Metrics)], style: Style) -> String {
    let malleable = jobs.iter().filter(|job| job.kind == batch_sim::Kind::Malleable).count();
    let mut out = format!(
        "{} on {}, {} malleable\n",
        counted(jobs.len() as u64, "job"),
        counted(nodes.into(), "node"),
        grouped(malleable as u64)
    );
    let row = |first: &str, rest: &dyn Fn(&(Policy, Outcome, Metrics)) -> String| {
        let cells: String = results.iter().map(|result| format!("{:>14}", rest(result))).collect();
        format!("{first:<30}{cells}")
    };
    let _ = writeln!(out, "{}", style.dim(&row("", &|(policy, ..)| policy.name().into())));
    for (what, cell) in LINES {
        let _ = writeln!(out, "{}", row(what, &|(.., metrics)| cell(metrics)));
    }
    out
}

fn write_events(path: &Path, results: &[(Policy, Outcome, Metrics)]) -> anyhow::Result<()> {
    let mut text = String::from("policy,time,event,job,nodes,free,queued\n");
    for (policy, outcome, _) in results {
        for event in &outcome.events {
            let kind = EventKind::name(event.kind);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{},{kind},{},{},{},{}",
                policy.name(),
                event.time,
                event.job,
                event.nodes,
                event.free,
                event.queued
            );
        }
    }
    output::write(path, text.as_bytes())
}
