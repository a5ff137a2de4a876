//! The arguments of `ftio signature`.

use super::options::ReadingArgs;
use crate::settings::{Numbers, Row, Setting};
use clap::{Subcommand, ValueHint, value_parser};
use io_signature::settings::{Setting as Number, TABLE};
use io_signature::{Method, Settings};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  What does a user's application do on 64 nodes? From the servers' log and the job log:
      sacct -P -a -o JobID,User,NNodes,Start,End,Elapsed,JobName > jobs.txt
      ftio signature --log servers.csv --jobs jobs.txt --user ann --nodes 64 --name lmp
  From samples that are cut out already, with a picture:
      ftio signature --samples run-*.csv --plot signature.svg
  As JSON, which is an input of every other command:
      ftio signature --samples run-*.csv --json > lmp.json
      ftio lmp.json
  Every application of a job log, on all cores; repeat the command to resume it:
      ftio signature --log servers.csv --jobs jobs.txt --all -o signatures.jsonl
  Which partition is best for it, within the next hour?
      ftio signature place lmp.json --partition scratch1.csv scratch2.csv --wait 3600
  When to start several jobs so that together they stay below 10 GB/s?
      ftio signature stagger lmp.json s3d.json --capacity 10GB

The log is any table that ftio reads: a column of times (seconds, or 2024-05-01T12:00:00) and one of bytes \
per second for each server or partition; counters are turned into rates. Range queries of Prometheus are \
read.

Exit status: 0 done, 1 failed or no signature, 2 wrong usage.";

/// Find what an application does from the log of storage servers
///
/// The servers log the sum of what all jobs do. What all runs of one application have in common is its own:
/// its signature, the throughput it would cause alone. The method is that of IOSI (Liu et al., FAST 2014).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<SignatureCommand>,

    /// The servers' log: throughput over time, one file or one per server
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = ValueHint::FilePath)]
    #[arg(required_unless_present = "samples", requires = "jobs")]
    pub log: Vec<PathBuf>,

    /// The job log: CSV with user, nodes, start, end and name, or the output of sacct -P
    #[arg(long, value_name = "FILE", requires = "log", value_hint = ValueHint::FilePath)]
    pub jobs: Option<PathBuf>,

    /// Samples that are cut out already, one file per run
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "log")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub samples: Vec<PathBuf>,

    /// Runs of this user
    #[arg(long, value_name = "USER", requires = "jobs")]
    pub user: Option<String>,

    /// Runs on this many nodes
    #[arg(long, value_name = "N", requires = "jobs")]
    pub nodes: Option<u32>,

    /// Runs whose job name or command contains this
    #[arg(long, value_name = "NAME", requires = "jobs")]
    pub name: Option<String>,

    /// Every application (user, nodes, name) of the job log that ran often enough, one line each
    #[arg(long, requires = "jobs", conflicts_with_all = ["plot", "csv", "truth"])]
    pub all: bool,

    /// With --all: keep the results in this file, one JSON object per line; if it exists, resume where it
    /// stopped
    #[arg(short, long, value_name = "FILE", requires = "all", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// With --all: threads [default: one for each core]
    #[arg(long, value_name = "N", requires = "all", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    /// Seconds by which times without a zone in the job log are ahead of the log of the servers, such as 7200
    #[arg(long, value_name = "SECONDS", default_value = "0", allow_negative_numbers = true)]
    pub utc_offset: f64,

    /// A trace of the application (tmio, Darshan …), to compare the signature with
    #[arg(long, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub truth: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,

    /// Write the signature as a table of seconds and bytes per second
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,

    /// Draw the samples, the signature and its bursts
    #[arg(long, value_name = "FILE.(svg|png)", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    #[command(flatten)]
    pub method: MethodArgs,
}

#[derive(Debug, Subcommand)]
pub enum SignatureCommand {
    Place(super::place::Args),
    Stagger(super::stagger::Args),
}

/// The method, and its numbers.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// As in the paper, also where that loses long flat bursts
    #[arg(long)]
    pub as_published: bool,

    /// Set a number of the method; may be given several times. `--set help` lists all
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = NUMBERS)]
    pub given: Vec<Setting>,
}

const NUMBERS: Numbers = Numbers::new(|| {
    let published = |row: &'static Number| match row.published == row.default {
        true => String::new(),
        false => format!("(as published: {})", row.published),
    };
    let row = |row: &'static Number| Row {
        name: row.name,
        default: row.default,
        unit: published(row),
        range: row.range,
        meaning: row.meaning,
        source: row.source,
    };
    TABLE.iter().map(row).collect()
});

impl MethodArgs {
    pub fn method(&self) -> Method {
        if self.as_published { Method::Published } else { Method::Median }
    }

    pub fn settings(&self) -> Settings {
        let mut settings = if self.as_published { Settings::published() } else { Settings::default() };
        for (name, value) in &self.given {
            if let Some(setting) = settings.get_mut(name) {
                *setting = *value;
            }
        }
        settings
    }
}
