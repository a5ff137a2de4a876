//! `ftio recover OUT`: what a killed job has left, as one ordinary trace.

use crate::exit::Exit;
use crate::rewrite;
use crate::terminal::text::{Severity, complain, printable};
use crate::terminal::units::counted;
use anyhow::{Context, bail};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tmio_trace::reader::parts_path;
use tmio_trace::{Event, RankInfo, Trace};

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (trace, parts) = places(&args.trace);
    let output = args.output.clone().unwrap_or_else(|| trace.clone());
    if trace.is_file() && args.output.is_none() {
        bail!("{}: exists already; give the recovered trace another name with -o", trace.display());
    }
    let from = if trace.is_file() && args.trace != parts { &trace } else { &parts };
    let ranks = ranks(from)?;
    report_running(&ranks);
    let unfinished = PathBuf::from(format!("{}.{}.tmp", output.display(), std::process::id()));
    let written = write(from, &unfinished);
    let outcome = match written {
        Ok(outcome) => outcome,
        Err(error) => {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
    };
    fs::rename(&unfinished, &output).with_context(|| output.display().to_string())?;
    writeln!(
        std::io::stdout(),
        "{}: {} of {}, {} of them from spools; {}",
        printable(&output.to_string_lossy()),
        counted(outcome.operations, "operation"),
        counted(ranks.len() as u64, "rank"),
        outcome.from_spool,
        if outcome.complete { "complete" } else { "incomplete, as the job did not finish" }
    )?;
    if args.clean && from == &parts { clean(&parts, &ranks, args.force) } else { Ok(Exit::Done) }
}

use clap::ValueHint;

/// Make one trace of what a killed job has left
///
/// A job that was killed leaves OUT.parts/ and, on its hosts, a spool per rank. All other subcommands read these as well; this
/// one makes an ordinary file of them, to be kept or taken elsewhere. Run it where the job ran: a spool can only be read
/// there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The trace that was to be, its .parts, or a damaged trace
    #[arg(value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub trace: PathBuf,

    /// Where the trace goes [default: where the job would have put it]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Afterwards remove parts and spools, if the job is gone
    #[arg(long)]
    pub clean: bool,

    /// With --clean: also if ranks ran on other hosts
    #[arg(long, requires = "clean")]
    pub force: bool,
}

/// The trace and its parts, whichever of them was named.
fn places(named: &Path) -> (PathBuf, PathBuf) {
    if named.extension().is_some_and(|extension| extension == "parts") {
        (named.with_extension(""), named.to_owned())
    } else {
        (named.to_owned(), parts_path(named))
    }
}

/// What is known of the ranks before anything is written.
fn ranks(from: &Path) -> anyhow::Result<Vec<RankInfo>> {
    let mut ranks = Vec::new();
    Trace::open(from)?.read(|event| {
        if let Event::Rank(info) = event {
            ranks.push(info.clone());
        }
    })?;
    Ok(ranks)
}

fn write(from: &Path, to: &Path) -> anyhow::Result<tmio_trace::Outcome> {
    let file = File::create(to).with_context(|| to.display().to_string())?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let outcome = rewrite::rewrite(Trace::open(from)?, &mut out)?;
    out.flush().with_context(|| to.display().to_string())?;
    Ok(outcome)
}

fn report_running(ranks: &[RankInfo]) {
    let running = ranks.iter().filter(|rank| runs(rank)).count();
    if running > 0 {
        let message = format!("{running} ranks of the job run still: this is what they have done so far");
        complain(Severity::Warning, &message);
    }
    let elsewhere: Vec<&RankInfo> = ranks.iter().filter(|rank| !is_here(rank)).collect();
    if let Some(first) = elsewhere.first() {
        let message = format!(
            "{} ran on other hosts ({} …) or before a reboot: what they had not written out cannot be read here",
            counted(elsewhere.len() as u64, "rank"),
            first.host
        );
        complain(Severity::Warning, &message);
    }
}

/// Remove parts and spools, unless somebody may still write to them.
fn clean(parts: &Path, ranks: &[RankInfo], force: bool) -> anyhow::Result<Exit> {
    if ranks.iter().any(runs) {
        complain(Severity::Error, &format!("{}: not removed, the job runs still", parts.display()));
        return Ok(Exit::Failed);
    }
    if !force && ranks.iter().any(|rank| !is_here(rank)) {
        let message = "not removed: some ranks ran on other hosts, where the job may run still or have left a spool; \
                       --force removes it anyway";
        complain(Severity::Error, &format!("{}: {message}", parts.display()));
        return Ok(Exit::Failed);
    }
    for rank in ranks.iter().filter(|rank| is_here(rank) && !rank.spool.is_empty()) {
        // Gone already is as good.
        let _ = fs::remove_file(&rank.spool);
    }
    fs::remove_dir_all(parts).with_context(|| parts.display().to_string())?;
    Ok(Exit::Done)
}

/// Did the rank run under this kernel?
fn is_here(rank: &RankInfo) -> bool {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    rank.boot_id == boot_id.trim()
}

/// Does the rank's process have its spool mapped still?
fn runs(rank: &RankInfo) -> bool {
    let maps = fs::read_to_string(format!("/proc/{}/maps", rank.pid)).unwrap_or_default();
    is_here(rank) && !rank.spool.is_empty() && maps.contains(&rank.spool)
}
