//! `ftio recover OUT`: what a killed job has left, as one ordinary trace; `--host`: what all have left here.

pub mod host;

use crate::exit::Exit;
use crate::output::{self, Draft};
use crate::print;
use crate::terminal::text::{Severity, complain, error, warning};
use crate::terminal::units::counted;
use crate::terminal::waiting::Waiting;
use anyhow::{Context, bail};
use clap::ValueHint;
use files::shown;
use files::user::{Identity, run_as};
use launch::{helper, library};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmio_trace::recover::{self, NotRemoved, Remains};
use tmio_trace::{Outcome, Trace, rewrite};

const EXAMPLES: &str = "\
Examples:
  On the host where the job was killed:
      ftio recover run.msgpack
  The same, and nothing is left behind:
      ftio recover run.msgpack --clean
  What all killed programs have left on this host; in the epilog of the batch system, as root:
      ftio recover --host
      ftio recover --host --json >> /var/log/tmio-recover.jsonl

Exit status: 0 done, 1 failed or some spools had to stay, 2 wrong usage.";

/// Make one trace of what a killed job has left
///
/// A job that was killed leaves OUT.parts/ and, on its hosts, a spool per rank. All other subcommands read
/// these as well; this one adds the spools of this host to the parts and makes an ordinary file of them, to
/// be kept or taken elsewhere. Of a job on several hosts, run it on each of them, in any order: every run
/// adds what that host has.
///
/// A traced program that was killed leaves a spool of up to 4 MB per rank in /dev/shm (or where TMIO_SPOOL
/// said). With --host, what all spools of dead programs hold is added to the parts of their traces, so that
/// `ftio OUT` reads it on any host, and the spools are removed. As root it does so for all users, each in
/// that user's own name and with no other right.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The trace that was to be, its .parts, or a damaged trace
    #[arg(value_name = "OUT", required_unless_present = "host", value_hint = ValueHint::AnyPath)]
    pub trace: Option<PathBuf>,

    /// Clear away what dead programs have left in the memory of this host [default: in /dev/shm, $TMPDIR and
    /// /tmp]
    #[arg(long, value_name = "DIR", num_args = 0.., value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with_all = ["trace", "output", "clean"])]
    pub host: Option<Vec<PathBuf>>,

    /// Where the trace goes [default: where the job would have put it]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Afterwards remove parts and spools, if the job is gone
    #[arg(long)]
    pub clean: bool,

    /// With --clean: also if ranks ran on other hosts
    #[arg(long, requires = "clean")]
    pub force: bool,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The line of `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    /// Where the trace is.
    trace: &'a str,
    /// Operations in it.
    operations: u64,
    /// Ranks, or processes, in it.
    ranks: u64,
    /// Whether the job had finished.
    complete: bool,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match (&args.trace, &args.host) {
        (Some(trace), None) => one(trace, args),
        (_, directories) => host::run(directories.as_deref().unwrap_or_default(), args.json),
    }
}

/// Recovers one trace.
fn one(trace: &Path, args: &Args) -> anyhow::Result<Exit> {
    // The parts are what their owner has put there: root looks at them, and clears them away, in that user's
    // name. A file that root has named is root's.
    let me = files::user::effective();
    let owner = recover::owner_of_parts(trace).filter(|_| files::user::is_root()).unwrap_or(me);
    let was_there = trace.exists();
    if owner == me {
        write_out_forgotten(trace)?;
        // That may be all there was to do.
        if !was_there && args.output.is_none() && trace.is_file() {
            let outcome = Trace::open(trace)?.read(|_| {})?;
            let ranks = outcome.header.as_ref().map_or(0, |header| u64::from(header.ranks));
            tell(trace, &outcome, ranks, args.json)?;
            return Ok(Exit::Done);
        }
    }
    let who = if owner == me { Identity::alone(me) } else { Identity::of_user(owner) };
    let output = args.output.as_deref().map(output::create_private).transpose()?;
    let (args, trace) = (args.clone(), trace.to_owned());
    let (exit, output) = run_as(&who, None, move || recover_to(&trace, &args, output))
        .with_context(|| format!("cannot act for user {owner}"))??;
    output.map_or(Ok(()), Draft::finish)?;
    Ok(exit)
}

/// Processes that had no helper have left their records in memory: they are written out, if the tracer is
/// here.
fn write_out_forgotten(trace: &Path) -> anyhow::Result<()> {
    const MAX_WAIT: Duration = Duration::from_secs(60);
    let jobs = helper::forgotten_jobs();
    if jobs.is_empty() {
        return Ok(());
    }
    let whole = match library::find(None) {
        Ok(library) => helper::write_out_all(&library, jobs, MAX_WAIT)?,
        Err(problem) => {
            warning!("records stay in memory: {problem:#}");
            return Ok(());
        }
    };
    if !whole {
        let message = format!("{}: not all that is in memory could be written", shown(trace));
        complain(Severity::Warning, &message);
    }
    Ok(())
}

/// Recovers to a file that was named, which is handed back when it is whole, or to the trace's place.
fn recover_to(trace: &Path, args: &Args, output: Option<Draft>) -> anyhow::Result<(Exit, Option<Draft>)> {
    let remains = Remains::find(trace)?;
    let place = args.output.clone().unwrap_or_else(|| remains.trace.clone());
    if args.output.is_none() && !remains.may_replace_trace() {
        bail!("{}: exists already; give the recovered trace another name with -o", shown(&place));
    }
    report_running(&remains);
    let waiting = Waiting::working(&format!("recovering {}", shown(&place)));
    let (outcome, output) = match output {
        Some(mut draft) => (fill(&remains, &mut draft, &place)?, Some(draft)),
        None => (write(&remains, &place)?, None),
    };
    drop(waiting);
    for missing in &outcome.missing {
        complain(Severity::Warning, missing);
    }
    tell(&place, &outcome, remains.ranks.len() as u64, args.json)?;
    let exit = if args.clean && remains.is_from_parts() { clear(&remains, args.force)? } else { Exit::Done };
    Ok((exit, output))
}

/// Says what is in the trace.
fn tell(place: &Path, outcome: &Outcome, ranks: u64, json: bool) -> anyhow::Result<()> {
    let (trace, operations, complete) = (&*shown(place), outcome.operations, outcome.complete);
    let record = Record { schema: "ftio.recover/1", trace, operations, ranks, complete };
    Ok(print::result(json, &record, |_| {
        let (operations, ranks) = (counted(operations, "operation"), counted(ranks, "rank"));
        let state = if complete { "complete" } else { "incomplete, as the job did not finish" };
        format!("{trace}: {operations} of {ranks}; {state}\n")
    })?)
}

/// Removes what was recovered.
fn clear(remains: &Remains, force: bool) -> anyhow::Result<Exit> {
    match remains.remove(force) {
        Ok(()) => Ok(Exit::Done),
        Err(NotRemoved::Io(error)) => Err(error).with_context(|| shown(&remains.parts)),
        Err(reason) => {
            error!("{}: {reason}", shown(&remains.parts));
            Ok(Exit::Failed)
        }
    }
}

pub fn write(remains: &Remains, to: &Path) -> anyhow::Result<Outcome> {
    // As the tracer's own: for the owner alone.
    let mut draft = output::create_private(to)?;
    let outcome = fill(remains, &mut draft, to)?;
    draft.finish()?;
    Ok(outcome)
}

fn fill(remains: &Remains, draft: &mut Draft, to: &Path) -> anyhow::Result<Outcome> {
    let mut out = BufWriter::with_capacity(1 << 20, draft);
    let outcome = rewrite::rewrite(remains.open()?, &mut out)?;
    out.flush().with_context(|| shown(to))?;
    Ok(outcome)
}

fn report_running(remains: &Remains) {
    let running = remains.running();
    if running > 0 {
        let ranks = counted(running as u64, "rank");
        let message = format!("{ranks} still running; this trace holds what they have done so far");
        complain(Severity::Warning, &message);
    }
}
