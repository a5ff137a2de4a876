//! `ftio simulate workload`: a workload after Lublin and Feitelson.

use crate::exit::Exit;
use crate::output;
use crate::values::{number, positive};
use batch_sim::lublin::{Options, workload};
use batch_sim::swf;
use clap::ValueHint;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Ten thousand jobs for 128 nodes, of which 30 % are malleable:
      ftio simulate workload --jobs 10000 --malleable 0.3 -o jobs.swf

The file is in the Standard Workload Format; its extra columns are kind, fewest and most nodes, serial \
share, share of I/O time, bandwidth in bytes per second while doing I/O, and priority. Malleable jobs run on \
a quarter of their preferred nodes up to twice as many. The same seed gives the same jobs, whatever the \
share of malleable ones.";

/// Make a workload of jobs as several machines have seen them (Lublin and Feitelson), with I/O
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Number of jobs
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub jobs: u32,

    /// Nodes of the machine
    #[arg(long, value_name = "N", default_value_t = 128)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub nodes: u32,

    /// Share of the machine that the jobs need
    #[arg(long, value_name = "SHARE", default_value_t = 0.8, value_parser = positive)]
    pub load: f64,

    /// Share of the jobs that are malleable
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub malleable: f64,

    /// Users ask for up to this many times the run time; 1: they know it exactly
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = at_least_one)]
    pub overestimate: f64,

    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Write to this file
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

fn share(text: &str) -> Result<f64, String> {
    number(text, |share| (0.0..=1.0).contains(&share), "a number from 0 to 1")
}

fn at_least_one(text: &str) -> Result<f64, String> {
    number(text, |factor| (1.0..=1e6).contains(&factor), "a number of at least 1")
}

/// Make and write it.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Args { nodes, load, malleable, overestimate, seed, .. } = *args;
    let jobs = workload(&Options { jobs: args.jobs as usize, nodes, load, malleable, overestimate, seed });
    let note =
        format!("generated after Lublin and Feitelson, seed {seed}, load {load}, malleable {malleable}");
    output::write(&args.output, swf::write(&jobs, nodes, &note).as_bytes())?;
    Ok(Exit::Done)
}
