//! `ftio run -- COMMAND…`: trace a program, predict while it runs, and say in the end what was found.

use crate::cli::{DetectArgs, OutlierChoice, TraceArgs};
use crate::exit::Exit;
use crate::predict::{self, Followed, HowArgs, OutArgs, Outputs, Program, Until};
use crate::terminal::text::complain;
use crate::{detect, trace};
use anyhow::{Context, bail};
use clap::{Args, ValueHint};
use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread::JoinHandle;

const EXAMPLES: &str = "\
Examples:
  ftio run -- mpirun -n 4 ./app
  ftio run -o run.msgpack --flush interval:0.5 --window periods:5 -- srun ./app

Exit status: that of the program; 128 and the number of the signal if one ended it; 1 if it could not be run.";

/// Trace a program, predict its I/O while it runs, and detect the period in the end
///
/// The program runs as under `ftio trace`, writing out what it did every second; predictions appear on standard error, as `ftio predict`
/// makes them. When it has ended, the period found in the whole trace is printed as `ftio TRACE` does.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// Where the trace goes [default: tmio_run_PID.msgpack, PID being ftio's]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// When to write out besides the end: interval:SECONDS, close, or finalize
    #[arg(long, value_name = "WHEN", default_value = "interval:1")]
    pub flush: String,

    /// The library [default: $TMIO_LIBRARY, or libtmio.so beside ftio or in ../lib]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub library: Option<PathBuf>,

    /// Look for additions this often, besides file events
    #[arg(long, value_name = "SECONDS", value_parser = predict::positive)]
    pub poll: Option<f64>,

    /// How frequencies that stand out are found
    #[arg(long, value_name = "METHOD", value_enum, default_value = "zscore")]
    pub outlier: OutlierChoice,

    #[command(flatten)]
    pub how: HowArgs,

    #[command(flatten)]
    pub out: OutArgs,

    /// The program and its arguments
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// Run it. The exit code is that of the program.
pub fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let output = match &args.output {
        Some(path) if path.to_string_lossy().contains('%') => {
            bail!(
                "--output {}: a name with % in it is only known to the program; name the file",
                path.display()
            )
        }
        Some(path) => std::path::absolute(path)?,
        None => std::path::absolute(format!("tmio_run_{}.msgpack", std::process::id()))?,
    };
    let tracing = TraceArgs {
        output: Some(output.clone()),
        flush: Some(args.flush.clone()),
        library: args.library.clone(),
        dry_run: false,
        command: args.command.clone(),
    };
    let mut command = trace::command(&tracing)?;
    let mut trace = Followed::new(&output, &args.how.options(args.outlier), &args.how.reading()?);
    trace.ignore_present();
    let mut outputs = Outputs::open(&args.out, false)?.beside_a_program();
    let tui = args.out.tui.then(predict::Tui::open).transpose()?;
    let child =
        command.spawn().with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    let (program, waiting) = end_of(child)?;
    let until = Until { program: Some(program), ..Until::default() };
    let followed = predict::follow(std::slice::from_mut(&mut trace), &mut outputs, tui, args.poll, &until);
    let status = waiting.join().ok().and_then(Result::ok).context("cannot tell how the program ended")?;
    if let Err(problem) = followed.and_then(|_| outputs.finish()) {
        complain("", &format!("{problem:#}"));
    }
    if let Err(problem) = report(args, output) {
        complain("", &format!("{problem:#}"));
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

/// What was found in the whole trace.
fn report(args: &RunArgs, output: PathBuf) -> anyhow::Result<Exit> {
    if !output.exists() && !tmio_trace::reader::parts_path(&output).exists() {
        complain("note", "the program made no trace: it did no MPI, or was linked statically");
        return Ok(Exit::Done);
    }
    detect::run(&DetectArgs::like(&args.how, args.outlier, output, args.out.json))
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
