//! `ftio clean`: what dead processes have left in the memory of this host.

use crate::exit::Exit;
use crate::terminal::text::{Severity, complain};
use crate::terminal::units::{bytes, counted};
use clap::ValueHint;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use tmio_trace::roll;
use tmio_trace::salvage::{self, Tally};

const EXAMPLES: &str = "\
Examples:
  After a job was killed, on its host:
      ftio clean
  In the epilog of the batch system, as root:
      ftio clean --json >> /var/log/tmio-clean.jsonl

Exit status: 0 done, 1 if some spools had to stay, 2 wrong usage.";

/// Clear away what killed programs have left in this host's memory
///
/// A traced program that was killed leaves a spool of up to 4 MB per rank in /dev/shm (or where TMIO_SPOOL
/// said). This adds what the spools hold to the parts of their traces, so that `ftio OUT` reads it on any
/// host, and removes them. Spools of programs that still run are left alone. As root it does so for all
/// users: call it in the batch system's epilog, after the job's last process has ended.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where spools are [default: /dev/shm, $TMPDIR and /tmp]
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The line of `--json`.
#[derive(Debug, Serialize)]
struct Record {
    schema: &'static str,
    /// Spools that were removed.
    removed: u64,
    /// Their bytes.
    bytes: u64,
    /// Operations that were added to traces.
    operations: u64,
    /// Spools that belong to programs that still run.
    kept: u64,
    /// Spools that stay because their records could not be added to a trace.
    failed: u64,
    /// Lists that processes had left which were killed while they started.
    lists: u64,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut bases = args.directories.clone();
    if bases.is_empty() {
        bases.push("/dev/shm".into());
        bases.extend(std::env::var_os("TMPDIR").map(PathBuf::from));
        bases.push("/tmp".into());
    }
    let mut directories = salvage::spool_directories(&bases);
    // One of them may have been named itself.
    directories.extend(args.directories.iter().filter(|path| salvage::is_spool_directory(path)).cloned());
    let mut tally = Tally::default();
    for directory in &directories {
        salvage::clean(directory, None, &mut tally);
    }
    // Processes that were killed while they started have left the list by which they find each other.
    let lists: u64 = bases.iter().map(|base| roll::clean(base)).sum();
    let Tally { removed, bytes: size, operations, kept, failed } = tally;
    let mut out = std::io::stdout();
    if args.json {
        let schema = "ftio.clean/1";
        let record = Record { schema, removed, bytes: size, operations, kept, failed, lists };
        serde_json::to_writer(&mut out, &record).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        let (spools, operations) = (counted(removed, "spool"), counted(operations, "operation"));
        writeln!(
            out,
            "{spools} removed ({}), {operations} added to their traces, {kept} in use",
            bytes(size as f64)
        )?;
    }
    if failed > 0 {
        let spools = counted(failed, "spool");
        complain(
            Severity::Error,
            &format!("{spools} kept: their records could not be added to their traces"),
        );
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}
