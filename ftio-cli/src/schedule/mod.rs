//! `ftio schedule`: priorities for the I/O of running jobs (Set-10), and the turns of an arbiter.

mod apply;
mod follow;

use crate::exit::{Exit, wrong_usage};
use crate::follow::PollArgs;
use crate::inputs::QuantityArgs;
use crate::signal::ModeArgs;
use clap::ValueHint;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  On a node of a job, in its job script (the file system's client knows the job by IOSETS_JOB_ID):
      export IOSETS_JOB_ID=$SLURM_JOB_ID
      ftio schedule --configfs /sys/kernel/config/iosets --until-complete run.msgpack &
      ftio trace -o run.msgpack --flush interval:1 -- srun ./app
  For all jobs whose traces are in a folder:
      ftio schedule --configfs /sys/kernel/config/iosets jobs/*.msgpack
  Starting from the period of earlier runs:
      ftio schedule --configfs DIR --history old/ run.msgpack
  What that would do to sixteen applications, and what sharing has cost jobs that ran together:
      ftio simulate turns
      ftio measure jobs/*.msgpack
  Hold back jobs that an arbiter lets wait, by rules of the file system (see ftio arbiter); first look:
      ftio schedule --apply lustre-tbf --arbiter unix:/run/scratch.sock --dry-run

The priority is 10 to the power of -i, where i is log10 of the period in seconds, rounded. The file holds \
it multiplied by 10000000: 1000000 for periods of about 10 s, 100000 for about 100 s. Until a period is \
known, a job has a priority of its own between 200001 and 209999.

Exit status: 0 done (also when interrupted), 1 failed, 2 wrong usage.";

/// Give running jobs I/O priorities by their periods (Set-10)
///
/// Follows the traces of running jobs, and keeps DIR/JOB/priority up to date: jobs that do I/O often come
/// before those that do it seldom. When a job ends its priority is removed; when this command ends, all are.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directory for the priorities: iosets in the kernel's configfs, or any other
    #[arg(long, value_name = "DIR", required_unless_present = "apply", value_hint = ValueHint::DirPath)]
    pub configfs: Option<PathBuf>,

    /// Traces to follow, which need not exist yet
    #[arg(value_name = "TRACE", required_unless_present = "apply", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub apply: apply::ApplyArgs,

    /// The job's id, if there is one trace [default: $IOSETS_JOB_ID if there is one trace; what the trace
    /// says; $SLURM_JOB_ID if there is one trace; the trace's name]
    #[arg(long, value_name = "ID")]
    pub job: Option<String>,

    /// Earlier runs of the application, whose period counts until one is found; a trace or a folder of them
    #[arg(long, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub history: Vec<PathBuf>,

    /// Before its period is known, already lower the priority of a job that has done I/O rarely so far
    #[arg(long)]
    pub early: bool,

    /// Stop when all jobs have ended
    #[arg(long)]
    pub until_complete: bool,

    #[command(flatten)]
    pub poll: PollArgs,

    #[command(flatten)]
    pub mode: ModeArgs,

    #[command(flatten)]
    pub quantity: QuantityArgs,

    /// Periods shorter than this, in seconds, are of no interest
    #[arg(long, value_name = "SECONDS", value_parser = crate::values::positive_seconds, default_value = "1")]
    pub min_period: f64,

    /// Periods longer than this are of no interest
    #[arg(long, value_name = "SECONDS", value_parser = crate::values::positive_seconds)]
    pub max_period: Option<f64>,

    /// Print one JSON object per change of a priority
    #[arg(long)]
    pub json: bool,
}

/// Keep priorities, or apply the turns of an arbiter.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.configfs {
        _ if args.apply.apply.is_some() => apply::run(&args.apply),
        Some(directory) => follow::run(args, directory),
        None => Err(wrong_usage("expected --configfs DIR or --apply")),
    }
}
