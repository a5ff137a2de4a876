//! `ftio trace -- COMMAND…`: run a program with libtmio.so preloaded.

pub mod helper;
mod launcher;
pub mod processes;

use crate::exit::Exit;
use crate::values::flush;
use anyhow::{Context, bail};
use clap::ValueHint;
pub use launcher::Launcher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the library is called.
const LIBRARY: &str = "libtmio.so";

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

    /// When to write out besides the end: finalize, close, or interval:SECONDS
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
    /// The library [default: $TMIO_LIBRARY, or libtmio.so beside ftio, in ../lib or ../lib64]
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

/// How a program is traced.
#[derive(Clone, Debug)]
pub struct Tracing<'a> {
    /// Where the trace goes, if not where the library puts it.
    pub output: Option<&'a Path>,
    /// When to write out besides the end, if at all.
    pub flush: Option<&'a str>,
    pub library: &'a LibraryArgs,
    /// Further variables of the environment.
    pub variables: Vec<(&'static str, OsString)>,
}

/// Set up the environment and become the program. Returns only if that fails.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (output, flush) = (args.output.as_deref(), args.flush.as_deref());
    let mut variables = Vec::new();
    variables.extend(args.layers.as_ref().map(|layers| ("TMIO_LAYERS", layers.into())));
    variables.extend(args.min_bytes.as_ref().map(|bytes| ("TMIO_MIN_BYTES", bytes.into())));
    let is_launcher = args.program.command.first().is_some_and(|program| Launcher::of(program).is_some());
    let run = match is_launcher {
        true => None,
        false => Some(processes::Run::new(output, args.layers.as_deref(), &mut variables)?),
    };
    let mut command = Tracing { output, flush, library: &args.library, variables }.command(&args.program)?;
    if let Some(run) = run.flatten().filter(|_| !args.dry_run) {
        return run.run(command, &library(args.library.library.as_deref())?);
    }
    if args.dry_run {
        show(&command)?;
        return Ok(Exit::Done);
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))
}

impl Tracing<'_> {
    /// The program with its environment, or its launcher with what passes that on.
    pub fn command(&self, program: &ProgramArgs) -> anyhow::Result<Command> {
        let library = library(self.library.library.as_deref())?;
        let mut variables = vec![("LD_PRELOAD", preload(&library, env::var_os("LD_PRELOAD"))?)];
        if let Some(output) = self.output {
            variables.push(("TMIO_OUTPUT", std::path::absolute(output)?.into_os_string()));
        }
        if let Some(flush) = self.flush {
            variables.push(("TMIO_FLUSH", flush.into()));
        }
        variables.extend(self.variables.iter().cloned());
        let Some((program, rest)) = program.command.split_first() else { bail!("no command") };
        let passed_on = Launcher::of(program).and_then(|launcher| launcher.arguments(&variables, rest));
        let mut command = Command::new(program);
        match passed_on {
            Some(words) => {
                command.args(words);
                // The launcher itself needs no tracer, but may be asked to pass on its whole environment.
                command.envs(variables.iter().skip(1).map(|(name, value)| (name, value)));
            }
            None => {
                command.envs(variables.iter().map(|(name, value)| (name, value)));
                command.args(rest);
            }
        }
        Ok(command)
    }
}

/// The library asked for, or the first one found with its recorder beside it, as an absolute path.
pub fn library(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    let named = asked.map(PathBuf::from).or_else(|| env::var_os("TMIO_LIBRARY").map(PathBuf::from));
    let places = match &named {
        Some(path) => vec![path.clone()],
        None => {
            let binary = env::current_exe().context("cannot find out where ftio is")?;
            let binary = binary.canonicalize().unwrap_or(binary);
            let beside = binary.parent().unwrap_or(Path::new(".")).to_owned();
            // Debian has a folder of libraries for each processor.
            let multiarch = format!("../lib/{}-linux-gnu", env::consts::ARCH);
            ["", "../lib", "../lib64", &multiarch, "../lib/tmio"]
                .map(|place| beside.join(place).join(LIBRARY))
                .into()
        }
    };
    let found = places.iter().filter(|path| path.is_file()).map(|path| path.canonicalize());
    let found: Vec<PathBuf> =
        found.collect::<Result<_, _>>().context("cannot find out where the library is")?;
    if let Some(whole) = found.iter().find(|path| path.with_file_name(helper::RECORDER).is_file()) {
        return Ok(whole.clone());
    }
    if let Some(alone) = found.first() {
        let recorder = alone.with_file_name(helper::RECORDER);
        bail!(
            "{} is missing: without it {} traces nothing; install both",
            recorder.display(),
            alone.display()
        );
    }
    let tried: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
    bail!("cannot find {LIBRARY}: tried {} (name it with --library or TMIO_LIBRARY)", tried.join(", "))
}

/// The library in front of what is preloaded already.
fn preload(library: &Path, before: Option<OsString>) -> anyhow::Result<OsString> {
    // The loader splits LD_PRELOAD at spaces and colons and knows no quotes.
    let text = library.to_string_lossy();
    if text.contains([' ', ':', '\t', '\n']) {
        bail!(
            "{text}: a path with a space or a colon cannot be preloaded; copy or link the library elsewhere"
        );
    }
    let mut value = library.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        value.push(":");
        value.push(before);
    }
    Ok(value)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first() {
        let value =
            |before: Option<&str>| preload(Path::new("/l/libtmio.so"), before.map(OsString::from)).unwrap();
        assert_eq!(value(None), "/l/libtmio.so");
        assert_eq!(value(Some("")), "/l/libtmio.so");
        assert_eq!(value(Some("/o.so")), "/l/libtmio.so:/o.so");
        assert!(preload(Path::new("/a b/libtmio.so"), None).is_err());
    }
}
