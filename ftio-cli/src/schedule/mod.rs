//! `ftio schedule`: priorities for the I/O of running jobs (Set-10), and a simulator that shows what they do.

mod chart;
mod predictor;
mod simulate;
mod table;

use crate::exit::Exit;
use clap::Subcommand;

/// Give running jobs I/O priorities by their periods, or simulate what that does (Set-10)
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_required = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<ScheduleCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ScheduleCommand {
    Simulate(simulate::Args),
}

/// Schedule or simulate.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(ScheduleCommand::Simulate(args)) => simulate::run(args),
        None => Ok(Exit::Usage),
    }
}
