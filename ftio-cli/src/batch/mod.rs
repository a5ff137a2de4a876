//! `ftio batch`: the batch system of a machine, simulated.

mod generate;
mod inputs;
mod queue;
mod simulate;

use crate::exit::Exit;
use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  What malleable jobs would change on a machine of 128 nodes:
      ftio batch generate --jobs 2000 --nodes 128 --malleable 0.3 -o jobs.swf
      ftio batch simulate jobs.swf
  The workload of your own machine, from the Parallel Workloads Archive or from its accounting:
      ftio batch simulate machine.swf --nodes 1024 --policy easy
  How many of eight jobs do I/O at the same time:
      ftio batch queue run.msgpack --copies 8

Exit status: 0 done, 1 failed, 2 wrong usage.";

/// Simulate a batch system whose jobs can change their size, with their I/O in balance
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub command: BatchCommand,
}

#[derive(Debug, Subcommand)]
pub enum BatchCommand {
    Simulate(simulate::Args),
    Generate(generate::Args),
    Queue(queue::Args),
}

/// Simulate, or make something to simulate.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        BatchCommand::Simulate(args) => simulate::run(args),
        BatchCommand::Generate(args) => generate::run(args),
        BatchCommand::Queue(args) => queue::run(args),
    }
}
