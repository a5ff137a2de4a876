//! `ftio schedule --apply`: what an arbiter decides, by the means of the file system.

use crate::arbiter::secret;
use crate::exit::{Exit, asked_to_end, wrong_usage};
use crate::settings::{Numbers, Row, Setting, given};
use crate::terminal::text::error;
use anyhow::Context;
use clap::{ValueEnum, ValueHint};
use io_sets::arbiter::apply::{Change, Limit, Means, Turns};
use io_sets::arbiter::client::Client;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use turns::Address;

const HEADING: &str = "Turns by the file system's own means";

/// How turns are applied.
#[derive(Debug, clap::Args)]
pub struct ApplyArgs {
    /// Apply the turns of an arbiter: by rules of Lustre's NRS TBF policy, by weights or limits of cgroups,
    /// or by a command of the site's
    #[arg(long, value_name = "MEANS", value_enum, requires = "arbiter", help_heading = HEADING)]
    pub apply: Option<MeansChoice>,

    /// Where the arbiter listens
    #[arg(long, value_name = "ADDRESS", help_heading = HEADING)]
    pub arbiter: Option<Address>,

    /// File with the secret of an arbiter that listens at tcp
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub secret: Option<PathBuf>,

    /// Print what would be done, once, and do nothing
    #[arg(long, help_heading = HEADING)]
    pub dry_run: bool,

    /// lustre-tbf: the parameter that takes the rules
    #[arg(long, value_name = "NAME", default_value = "ost.OSS.ost_io.nrs_tbf_rule", help_heading = HEADING)]
    pub parameter: String,

    /// lustre-tbf: set a rate; may be given twice. `--set help` lists them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = RATES, help_heading = HEADING)]
    pub rates: Vec<Setting>,

    /// cgroup: the directory of a job's group, with {job} in it
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub cgroup: Option<String>,

    /// cgroup: limit jobs that wait to this many bytes per second on a device, instead of changing weights
    #[arg(long, value_name = "MAJOR:MINOR=BYTES", value_parser = limit, help_heading = HEADING)]
    pub limit: Option<Limit>,

    /// command: what to run, with {job} and {state} (open, closed or gone) in it
    #[arg(long, value_name = "COMMAND", help_heading = HEADING)]
    pub command: Option<String>,
}

const OPEN_RATE: &str = "open-rate";
const CLOSED_RATE: &str = "closed-rate";

/// Requests per second by default.
const USUAL_OPEN: f64 = 10_000.0;
const USUAL_CLOSED: f64 = 1.0;

const RATES: Numbers = Numbers::new(|| {
    let row =
        |name, default, meaning| Row::new(name, default, "requests per second", (1.0, 999_999.0), meaning);
    vec![
        row(OPEN_RATE, USUAL_OPEN, "of a job that has its turn, per server and partition"),
        row(CLOSED_RATE, USUAL_CLOSED, "of a job that waits"),
    ]
});

/// `--apply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MeansChoice {
    LustreTbf,
    Cgroup,
    Command,
}

/// `--limit`.
fn limit(text: &str) -> Result<Limit, String> {
    text.parse().map_err(|expected| format!("expected {expected}"))
}

/// The interval at which the arbiter is asked.
const INTERVAL: Duration = Duration::from_millis(250);

/// Applies turns until it is interrupted; then everything is taken back.
pub fn run(args: &ApplyArgs) -> anyhow::Result<Exit> {
    let (Some(choice), Some(address)) = (args.apply, &args.arbiter) else {
        return Err(wrong_usage("--apply needs --arbiter ADDRESS"));
    };
    let mut turns = Turns::new(means(args, choice)?);
    let about = || format!("no answer of an arbiter at {address}");
    let secret = secret(args.secret.as_deref())?;
    let stop = asked_to_end()?;
    let mut client = Client::new(address, secret.as_deref()).with_context(about)?;
    let mut lost = None;
    while !stop.load(Relaxed) {
        let report = match client.report().with_context(about) {
            Ok(report) => report,
            // An arbiter that is gone must not hold jobs back.
            Err(error) => {
                lost = Some(error);
                break;
            }
        };
        make(turns.follow(&report), args.dry_run);
        if args.dry_run {
            return Ok(Exit::Done);
        }
        std::thread::sleep(INTERVAL);
    }
    make(turns.take_back(), args.dry_run);
    lost.map_or(Ok(Exit::Done), Err)
}

/// Does what has changed, or shows it.
fn make(changes: Vec<Change>, dry_run: bool) {
    for change in changes {
        if dry_run {
            println!("{}", change.action);
        } else if let Err(error) = change.perform() {
            error!("{}: {error}", change.action);
        }
    }
}

fn means(args: &ApplyArgs, choice: MeansChoice) -> anyhow::Result<Means> {
    match choice {
        MeansChoice::LustreTbf => Ok(Means::LustreTbf {
            parameter: args.parameter.clone(),
            open_rate: given(&args.rates, OPEN_RATE).unwrap_or(USUAL_OPEN) as u32,
            closed_rate: given(&args.rates, CLOSED_RATE).unwrap_or(USUAL_CLOSED) as u32,
        }),
        MeansChoice::Cgroup => match &args.cgroup {
            Some(directory) if directory.contains("{job}") => {
                Ok(Means::Cgroup { directory: directory.clone(), limit: args.limit.clone() })
            }
            _ => Err(wrong_usage("--apply cgroup needs --cgroup DIR with {job} in it")),
        },
        MeansChoice::Command => match &args.command {
            Some(command) => Ok(Means::Command(command.clone())),
            None => Err(wrong_usage("--apply command needs --command 'COMMAND {job} {state}'")),
        },
    }
}
