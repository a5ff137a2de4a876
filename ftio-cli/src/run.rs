//! `ftio run -- COMMAND…`: trace a program, predict while it runs, and print the period at the end.

use crate::detect;
use crate::exit::Exit;
use crate::follow::{PollArgs, Program, Trace, Until, follow};
use crate::predict::{OutArgs, Place, Predicting, PredictionArgs, Sinks, Tui};
use crate::terminal::text::{Severity, complain, error, warning};
use crate::trace::{self, LibraryArgs, ProgramArgs};
use crate::values::flush;
use anyhow::{Context, bail};
use clap::ValueHint;
use ftio_core::detect::Options;
use launch::{Run, Tracing, library};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::thread::JoinHandle;

const EXAMPLES: &str = "\
Examples:
  A program with MPI, or without:
      ftio run -- mpirun -n 4 ./app
      ftio run -- python train.py
  Into a file of a chosen name, with a prediction every half a second from the last five periods:
      ftio run -o run.msgpack --flush interval:0.5 --window periods:5 -- srun ./app

Exit status: that of the program; 128 plus the signal number if a signal ended it; 1 if it could not be run.";

/// Trace a program, predict its I/O meanwhile, and find its period
///
/// The program runs as under `ftio trace`, writing out what it did every second; predictions appear on
/// standard error, as `ftio predict` makes them. When it has ended, the period found in the whole trace is
/// printed as `ftio TRACE` does. With --json, standard output has nothing but JSON, and what the program
/// prints there goes to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub program: ProgramArgs,

    /// Where the trace goes [default: tmio_run_PID.msgpack, PID being ftio's]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// When to write out before the end: interval:SECONDS, close, or finalize
    #[arg(long, value_name = "WHEN", value_parser = flush, default_value = "interval:1")]
    pub flush: String,

    #[command(flatten)]
    pub library: LibraryArgs,

    #[command(flatten)]
    pub poll: PollArgs,

    #[command(flatten)]
    pub prediction: PredictionArgs,

    #[command(flatten)]
    pub out: OutArgs,
}

/// Run it. The exit code is that of the program.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let output = match &args.output {
        Some(path) if path.to_string_lossy().contains('%') => {
            bail!(
                "--output {}: only the traced program can expand a name with % in it; give the full name",
                path.display()
            )
        }
        Some(path) => std::path::absolute(path)?,
        None => std::path::absolute(format!("tmio_run_{}.msgpack", std::process::id()))?,
    };
    let mut variables = Vec::new();
    let processes = match args.program.is_launcher() {
        true => None,
        false => Run::new(Some(&output), None, &mut variables)?,
    };
    let library = library::find(args.library.library.as_deref())?;
    let tracing = Tracing { output: Some(&output), flush: Some(&args.flush), library: &library, variables };
    let mut command = tracing.command(&args.program.command)?;
    if args.out.json {
        // Standard output is for those who read JSON.
        command.stdout(std::io::stderr().as_fd().try_clone_to_owned()?);
    }
    let options = args.prediction.options();
    let mut trace = Trace::new(&output, options.detect.mode, &args.prediction.quantity.options()?);
    trace.ignore_present();
    let sinks = Sinks::open(&args.out, false, Place::Stderr)?;
    let tui = args.out.tui.then(Tui::open).transpose()?;
    let mut predicting = Predicting::new([output.as_path()], &options, sinks, tui);
    let child =
        command.spawn().with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    let (program, waiting) = end_of(child)?;
    let until = Until { program: Some(program), ..Until::default() };
    let followed = follow(std::slice::from_mut(&mut trace), &mut predicting, args.poll, &until);
    // Give the terminal back before waiting: the user may have left the picture while the program still runs.
    let predicted = followed.and_then(|_| predicting.finish());
    let status = waiting.join().ok().and_then(Result::ok).context("cannot find out how the program ended")?;
    if let Err(problem) = predicted {
        error!("{problem:#}");
    }
    if let Some(Err(problem)) = processes.map(|processes| trace::finish(&processes, &library)) {
        warning!("{problem:#}");
        // What there is not, and why, has been said.
        if !is_there(&output) {
            return Ok(code(status));
        }
    }
    if let Err(problem) = report(output, &options.detect, args.out.json) {
        error!("{problem:#}");
    }
    Ok(code(status))
}

/// The program, and how it ended when it has.
fn end_of(mut child: Child) -> anyhow::Result<(Program, JoinHandle<std::io::Result<ExitStatus>>)> {
    let (end, sender) = UnixStream::pair()?;
    let id = rustix::process::Pid::from_child(&child);
    end.set_nonblocking(true)?;
    let waiting = std::thread::Builder::new().name("program".into()).spawn(move || {
        let status = child.wait();
        drop(sender);
        status
    })?;
    Ok((Program { end, id }, waiting))
}

/// Whether there is a trace, whole or in parts.
fn is_there(output: &Path) -> bool {
    output.exists() || tmio_trace::reader::parts_path(output).exists()
}

/// What was found in the whole trace.
fn report(output: PathBuf, options: &Options, json: bool) -> anyhow::Result<Exit> {
    if !is_there(&output) {
        complain(
            Severity::Note,
            "the program left no trace: it read and wrote next to nothing, or is linked statically",
        );
        return Ok(Exit::Done);
    }
    detect::whole_trace(output, options, json)
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
