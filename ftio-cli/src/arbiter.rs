//! `ftio arbiter`: jobs on a file system take turns at I/O.

use crate::exit::{Exit, asked_to_end, wrong_usage};
use crate::terminal::text::warning;
use crate::values::{one_of, positive, positive_seconds};
use crate::{log, print};
use anyhow::Context;
use clap::ValueHint;
use io_sets::arbiter::daemon::{Daemon, Options};
use io_sets::arbiter::{Leases, Order, Settings};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use turns::Address;

const EXAMPLES: &str = "\
Examples:
  One arbiter for the jobs of this node, and a job that asks it:
      ftio arbiter --listen unix:/run/scratch.sock &
      TMIO_IOSETS=unix:/run/scratch.sock ftio trace -- mpirun -n 4 ./app
  One for the file system of a cluster; clients must know the secret:
      ftio arbiter --listen tcp:10.0.0.1:4711 --secret /etc/ftio/secret
      TMIO_IOSETS=tcp:10.0.0.1:4711,secret=/etc/ftio/secret,mount=/scratch srun ./app
  Where nothing can listen, through a directory that all nodes see:
      ftio arbiter --listen dir:/scratch/.turns
  Who holds and who waits:
      ftio top --arbiter unix:/run/scratch.sock

When it pays: jobs alike that write at the same time, on a file system that one of them can fill (one at a \
time instead of all at once: 40 % less stretch, measured). It pays little if jobs start at random or their \
periods are mixed, and nothing where a job cannot fill the file system: then more go at a time, in the end \
everybody. Jobs outside take away about their share of the gain. See docs/set-10.md.

FTIO_LOG=debug logs who is refused, FTIO_LOG_FORMAT=json logs in JSON, for journald.

A lease is advice: it protects no data. If the arbiter is gone, stopped or slow, jobs go on within a second.

Exit status: 0 done (also when interrupted), 1 failed, 2 wrong usage.";

/// Let the jobs on a file system take turns at I/O (Set-10)
///
/// Jobs under libtmio.so with TMIO_IOSETS=ADDRESS ask when they begin to do I/O, and give their turn back
/// when they are idle. How often each job does I/O is learned from that. Jobs that do I/O often go before
/// those that do it seldom, those of a kind one at a time; how many at a time fill the file system is
/// measured.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where jobs ask: unix:PATH, tcp:HOST:PORT or dir:PATH; may be given several times
    #[arg(long, value_name = "ADDRESS", required = true)]
    pub listen: Vec<Address>,

    /// How many jobs may do I/O at a time: auto, which measures how many fill the file system, or a number
    #[arg(long, value_name = "N", default_value_t = Leases::Auto, value_parser = leases)]
    pub leases: Leases,

    /// Of jobs that do I/O equally often, who goes first: who has least left to write, or who began first
    #[arg(long, value_name = "ORDER", value_parser = one_of(ORDERS), default_value = "shortest")]
    pub order: Order,

    /// Longest wait of a job, in seconds; then it goes in any case [default: twice its period, 10 to 900 s]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub patience: Option<f64>,

    /// File with the secret that jobs on other hosts must know; needed for tcp
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub secret: Option<PathBuf>,

    /// Take priorities from DIR/JOB/priority, where `ftio schedule --configfs DIR` or `ftio serve --configfs
    /// DIR` keeps them; jobs without one are observed
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub priorities: Option<PathBuf>,

    /// Print one JSON object per I/O phase that has ended; at the end, of those under way as well
    #[arg(long)]
    pub json: bool,

    /// Multiply times by this before a set is chosen: for experiments that are scaled down
    #[arg(long, value_name = "FACTOR", value_parser = positive, default_value = "1", hide = true)]
    pub time_scale: f64,
}

/// `--order`.
const ORDERS: [(&str, Order); 2] = [("shortest", Order::Shortest), ("start", Order::Start)];

fn leases(text: &str) -> Result<Leases, String> {
    text.parse().map_err(|expected| format!("expected {expected}"))
}

/// The secret in a file, which others must not be able to read.
pub fn secret(path: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let name = || path.display().to_string();
    let file = std::fs::File::open(path).with_context(name)?;
    let mode = file.metadata().with_context(name)?.permissions().mode();
    let text = std::io::read_to_string(file).with_context(name)?;
    if mode & 0o007 != 0 {
        warning!("{}: everybody on this host can read the secret", path.display());
    }
    match text.trim() {
        "" => Err(wrong_usage(format!("{}: the secret is empty", path.display()))),
        secret => Ok(Some(secret.to_owned())),
    }
}

/// Runs until it is interrupted.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    log::set_up("")?;
    let settings = Settings {
        leases: args.leases,
        order: args.order,
        patience: args.patience,
        turn: None,
        time_scale: args.time_scale,
    };
    let options = Options {
        listen: args.listen.clone(),
        secret: secret(args.secret.as_deref())?,
        settings,
        priorities: args.priorities.clone(),
    };
    let stop = asked_to_end()?;
    let mut daemon = Daemon::new(options)?;
    for address in daemon.addresses() {
        tracing::info!(%address, "listening at {address}");
    }
    let json = args.json;
    let mut broken = None;
    daemon.run(&stop, |phase| {
        if json && broken.is_none() {
            broken = print::json(&mut std::io::stdout(), phase).err();
        }
    })?;
    broken.map_or(Ok(Exit::Done), |error| Err(error.into()))
}
