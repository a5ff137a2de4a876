//! The arguments.

use crate::inputs::InputArgs;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use ftio_core::detect::{Options, Outlier};
use ftio_core::request::Mode;
use ftio_core::spectrum::Measure;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Trace a program, then find the period of its I/O:
      ftio trace --output run.msgpack -- mpirun -n 4 ./app
      ftio run.msgpack
  Read only, from second 100 to 400, with a second opinion from the autocorrelation:
      ftio -m read --ts 100 --te 400 -c run.msgpack
  The period alone, for a script (null if there is none):
      ftio --json run.msgpack | jq .period
  A picture of the bandwidth, its period and its spectrum, to open in a browser:
      ftio --plot run.html run.msgpack
  What is in the trace, without any analysis:
      ftio info run.msgpack

Exit status: 0 done, 1 failed, 2 wrong usage, 3 not periodic (only with --exit-status).";

/// Find the period of an application's I/O phases from its trace
///
/// The bandwidth of all ranks over time is taken as a signal. If one frequency stands out of its spectrum, the I/O is
/// periodic; the confidence tells how far it stands out.
#[derive(Debug, Parser)]
#[command(name = "ftio", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub detect: DetectArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Info(InfoArgs),
    Trace(TraceArgs),
}

/// Find the period.
#[derive(Debug, Args)]
pub struct DetectArgs {
    /// Traces of tmio (finished, or the .parts of a job that runs still or was killed), of TMIO, Darshan, GekkoFS or the
    /// metric proxy, or tables; gzip-compressed or not; - for standard input; or folders of them
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// What to analyse: write_sync, read_sync, write_async, read_async, write, read or all; write_async_required or
    /// read_async_required for the bandwidth that would have hidden the I/O [default: write, or read if nothing was
    /// written]
    #[arg(short, long, value_name = "MODE", hide_possible_values = true)]
    pub mode: Option<Mode>,

    /// Sampling frequency in Hz, or "auto" [default: auto, from the number of phases]
    #[arg(short, long, value_name = "HZ", value_parser = frequency, allow_hyphen_values = true)]
    pub freq: Option<Sampling>,

    /// Start of the window, in seconds of job time [default: start of the job]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub ts: Option<f64>,

    /// End of the window, in seconds of job time [default: end of the job]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub te: Option<f64>,

    /// How frequencies that stand out are found
    #[arg(short, long, value_name = "METHOD", value_enum, default_value_t)]
    pub outlier: OutlierChoice,

    /// How close to the strongest frequency another one must come to be a candidate as well, 0 to 1
    #[arg(short, long, value_name = "SHARE", value_parser = share, default_value = "0.8")]
    pub tol: f64,

    /// Use the amplitude spectrum instead of the power spectrum
    #[arg(long)]
    pub no_psd: bool,

    /// Refine the confidence by the autocorrelation of the signal
    #[arg(short = 'c', long)]
    pub autocorrelation: bool,

    /// Leave out the first I/O phase, which initialisation often prolongs
    #[arg(long)]
    pub skip_first_phase: bool,

    /// Also list the N strongest frequencies
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0)]
    pub top: usize,

    /// Draw signal and spectrum; the ending of the name decides: .html (zoom and hover) or .svg
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print one JSON object per trace and line
    #[arg(long)]
    pub json: bool,

    /// End with 3 if a trace is not periodic
    #[arg(long)]
    pub exit_status: bool,

    /// Say more about how the answer was found
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
}

/// Show what a trace holds: operations and bytes by class, files, cost of tracing
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Traces, of any format that ftio reads, or folders of them
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// Print one JSON object per trace and line
    #[arg(long)]
    pub json: bool,
}

/// Run a program with libtmio.so preloaded
///
/// The environment is set up and the program takes the place of ftio. Where the command is a launcher (mpirun or mpiexec of
/// Open MPI, MPICH or Intel MPI; srun), the launcher is told to pass the settings to the ranks on all nodes.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Where the trace goes [default: tmio_%j_%n.msgpack in the working directory of rank 0]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// When to write out besides the end: finalize, close, or interval:SECONDS
    #[arg(long, value_name = "WHEN")]
    pub flush: Option<String>,

    /// The library [default: $TMIO_LIBRARY, or libtmio.so beside ftio or in ../lib]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub library: Option<PathBuf>,

    /// Show the command instead of running it
    #[arg(long)]
    pub dry_run: bool,

    /// The program and its arguments
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<std::ffi::OsString>,
}

/// `--outlier`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum OutlierChoice {
    /// Standard deviations above the mean, as in the paper
    #[default]
    Zscore,
}

/// `--freq`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    Auto,
    Hertz(f64),
}

impl DetectArgs {
    /// For the analysis.
    pub fn options(&self) -> Options {
        Options {
            mode: self.mode,
            frequency: match self.freq {
                Some(Sampling::Hertz(hz)) => Some(hz),
                Some(Sampling::Auto) | None => None,
            },
            from: self.ts,
            to: self.te,
            outlier: match self.outlier {
                OutlierChoice::Zscore => Outlier::ZScore,
            },
            tolerance: self.tol,
            measure: if self.no_psd { Measure::Amplitude } else { Measure::Power },
            autocorrelation: self.autocorrelation,
            skip_first_phase: self.skip_first_phase,
            top: self.top,
            keep_requests: self.plot.is_some(),
        }
    }
}

/// A sampling frequency; the Python FTIO's −1 means automatic as well.
fn frequency(text: &str) -> Result<Sampling, String> {
    match text.parse::<f64>() {
        Ok(-1.0) => Ok(Sampling::Auto),
        Ok(hz) if (1e-9..=1e9).contains(&hz) => Ok(Sampling::Hertz(hz)),
        _ if text == "auto" => Ok(Sampling::Auto),
        _ => Err("expected a number of Hz between 1e-9 and 1e9, or \"auto\"".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.abs() <= 1e9 => Ok(seconds),
        _ => Err("expected a number of seconds".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0 and up to 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn traces_and_subcommands() {
        let cli = Cli::try_parse_from(["ftio", "a", "b", "--json", "-f", "-1"]).unwrap();
        assert!(cli.command.is_none() && cli.detect.traces.len() == 2);
        assert_eq!(cli.detect.freq, Some(Sampling::Auto));
        let cli =
            Cli::try_parse_from(["ftio", "trace", "-o", "x", "--", "mpirun", "-n", "2", "./a"]).unwrap();
        let Some(Command::Trace(trace)) = cli.command else { panic!("not trace") };
        assert_eq!(trace.command, ["mpirun", "-n", "2", "./a"]);
        for wrong in
            [&["ftio"][..], &["ftio", "a", "-t", "2"], &["ftio", "a", "-f", "0"], &["ftio", "a", "-m", "x"]]
        {
            assert!(Cli::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
