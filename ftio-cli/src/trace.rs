//! `ftio trace -- COMMAND…`: run a program with libtmio.so preloaded.

use crate::exit::Exit;
use crate::recover;
use crate::terminal::text::{Severity, complain, note, warning};
use crate::values::flush;
use anyhow::Context;
use clap::ValueHint;
use launch::{End, Launcher, Run, Tracing, attend, library};
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const EXAMPLES: &str = "\
Examples:
  On four ranks, into a file of a chosen name:
      ftio trace -o run.msgpack -- mpirun -n 4 ./app
  In a batch script, writing out every ten seconds so that ftio predict can follow:
      ftio trace --flush interval:10 -- srun ./app
  What would be run:
      ftio trace --dry-run -- mpirun -n 4 ./app

Other settings of the library are variables of the environment, such as TMIO_FILES='*.h5'.

Exit status: that of the program; 1 if it could not be run, 2 wrong usage.";

/// Run a program with libtmio.so preloaded
///
/// Where the command is a launcher (mpirun or mpiexec of Open MPI, MPICH or Intel MPI; srun), it takes the
/// place of ftio, and is asked to pass the settings to the ranks on all nodes: what they read and write by
/// MPI-IO, POSIX calls and C streams is traced. Any other command is run with all that it starts: what each
/// process does becomes one trace when the command has ended, with the processes as ranks. The exit code is
/// that of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where the trace goes [default: tmio_%j_%n.msgpack in the working directory of rank 0]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// When to write out before the end: finalize, close, or interval:SECONDS
    #[arg(long, value_name = "WHEN", value_parser = flush)]
    pub flush: Option<String>,

    /// What to trace: mpiio, posix, stdio [default: $TMIO_LAYERS, or all of them]
    #[arg(long, value_name = "LIST")]
    pub layers: Option<String>,

    /// Leave out processes that move fewer bytes (K, M or G may follow) in less than a second [default:
    /// $TMIO_MIN_BYTES, or 1M; the command itself is always traced]
    #[arg(long, value_name = "SIZE")]
    pub min_bytes: Option<String>,

    #[command(flatten)]
    pub library: LibraryArgs,

    /// Print the command instead of running it
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub program: ProgramArgs,
}

/// Which library traces.
#[derive(Clone, Debug, clap::Args)]
pub struct LibraryArgs {
    /// The library [default: $TMIO_LIBRARY, or libtmio.so in the folder of ftio, in ../lib or ../lib64]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub library: Option<PathBuf>,
}

/// What is run.
#[derive(Clone, Debug, clap::Args)]
pub struct ProgramArgs {
    /// The program and its arguments
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

impl ProgramArgs {
    /// Whether it starts ranks of MPI.
    pub fn is_launcher(&self) -> bool {
        self.command.first().is_some_and(|program| Launcher::of(program).is_some())
    }
}

/// Set up the environment and become the program. Returns only if that fails.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (output, flush) = (args.output.as_deref(), args.flush.as_deref());
    let mut variables = Vec::new();
    variables.extend(args.layers.as_ref().map(|layers| ("TMIO_LAYERS", layers.into())));
    variables.extend(args.min_bytes.as_ref().map(|bytes| ("TMIO_MIN_BYTES", bytes.into())));
    let run = match args.program.is_launcher() {
        true => None,
        false => Run::new(output, args.layers.as_deref(), &mut variables)?,
    };
    let library = library::find(args.library.library.as_deref())?;
    let tracing = Tracing { output, flush, library: &library, variables };
    let mut command = tracing.command(&args.program.command)?;
    if let Some(run) = run.filter(|_| !args.dry_run) {
        return run_to_the_end(&run, command, &library);
    }
    if args.dry_run {
        show(&command)?;
        return Ok(Exit::Done);
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))
}

/// Run a command with all its processes to its end, and end as it did.
fn run_to_the_end(run: &Run, command: Command, library: &Path) -> anyhow::Result<Exit> {
    let status = attend(command)?;
    if let Err(problem) = finish(run, library) {
        warning!("{problem:#}");
    }
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    std::process::exit(status.code().unwrap_or(1));
}

/// Make a trace of what the processes have left, and say what became of it.
pub fn finish(run: &Run, library: &Path) -> anyhow::Result<()> {
    let end = run.finish(library, |remains, place| recover::write(remains, place).map(drop))?;
    let is_watched = std::io::stderr().is_terminal();
    match end {
        End::Whole(trace) if is_watched => {
            note!("the trace is {}", trace.display());
        }
        End::Grows { trace, late } => {
            let trace = trace.display();
            note!("processes run still: {trace} may grow, and its parts stay");
            return late.map_or(Ok(()), |late| Err(late.into()));
        }
        End::Running(processes) => note!("{processes} processes run still: the trace stays in its parts"),
        End::Unanswered(trace) => {
            let trace = trace.display();
            warning!("the file system of the trace does not answer; `ftio recover {trace}` finds it later");
        }
        End::Nothing { replaced: false } if is_watched => complain(
            Severity::Note,
            "no trace: the command read and wrote no files, and no process that it started moved 1 MiB or \
             was at it for a second (--min-bytes)",
        ),
        _ => {}
    }
    Ok(())
}

/// The command as a shell would take it.
fn show(command: &Command) -> anyhow::Result<()> {
    let quoted = |text: &OsStr| {
        let text = text.to_string_lossy().into_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,%@".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    let line: Vec<String> = variables.chain(words).collect();
    writeln!(std::io::stdout(), "{}", line.join(" "))?;
    Ok(())
}
