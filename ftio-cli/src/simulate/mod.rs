//! `ftio simulate WHAT`: what would be if, of jobs and storage that need not exist.

pub mod batch;
mod inputs;
mod queue;
pub mod staging;
pub mod turns;
mod workload;

use crate::exit::Exit;
use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  What taking turns at I/O would do to the published set of applications:
      ftio simulate turns
  What staging would gain, with 2 GB/s out of a buffer of 10 TB:
      ftio simulate staging --period 600 --phase-bytes 1T --rate 2G --capacity 10T --bandwidth 20G
  What malleable jobs would change on a machine of 128 nodes:
      ftio simulate workload --jobs 2000 --nodes 128 --malleable 0.3 -o jobs.swf
      ftio simulate batch jobs.swf
  How many of eight jobs do I/O at the same time:
      ftio simulate queue run.msgpack --copies 8";

/// Simulate turns at I/O, staging, batch systems and I/O queues
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub what: What,
}

#[derive(Debug, Subcommand)]
pub enum What {
    Turns(turns::Args),
    Staging(staging::Args),
    Batch(batch::Args),
    Queue(queue::Args),
    Workload(workload::Args),
}

/// Simulate, or make a workload to simulate.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.what {
        What::Turns(args) => turns::run(args),
        What::Staging(args) => staging::run(args),
        What::Batch(args) => batch::run(args),
        What::Queue(args) => queue::run(args),
        What::Workload(args) => workload::run(args),
    }
}
