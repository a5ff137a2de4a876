//! The arguments.

pub mod manual;
pub mod names;
pub mod spelling;

use crate::inputs::InputArgs;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use ftio_core::detect::per_group::Group;
use ftio_core::detect::{Options, Outlier};
use ftio_core::request::Mode;
use ftio_core::spectral::spectrum::Measure;
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
  Several runs side by side:
      ftio plot -o runs.html run-1.msgpack run-2.msgpack
  What is in the trace, without any analysis:
      ftio info run.msgpack
  While the job runs: when will the next phase come? Beside it, or all in one:
      ftio predict run.msgpack
      ftio run -- mpirun -n 4 ./app
  After a job was killed: what it had done until then, as an ordinary trace:
      ftio recover run.msgpack
  How bytes, times and bandwidths grow with the number of processes, from runs at several scales:
      ftio scale runs/*.msgpack | ftio model -
  What the applications of a site do, from an archive of Darshan logs:
      ftio categorize /logs/darshan --html report.html
  I/O priorities for running jobs by their periods, and what that would do:
      ftio schedule --configfs DIR run.msgpack
      ftio schedule simulate

Exit status: 0 done, 1 failed, 2 wrong usage, 3 not periodic (only with --exit-status).";

/// Find the period of an application's I/O phases from its trace
///
/// The bandwidth of all ranks over time is taken as a signal. Its I/O phases are counted at every time scale; if they come more regularly than
/// chance would have it, the I/O is periodic, and the period is the mean distance of their starts. The spectrum is a second witness, and the
/// confidence is the probability that the period is right.
#[derive(Debug, Parser)]
#[command(name = "ftio", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub detect: DetectArgs,
    /// Colours in text for people; "auto": on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true
    )]
    pub color: Colour,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Info(InfoArgs),
    Plot(PlotArgs),
    Convert(ConvertArgs),
    Recover(RecoverArgs),
    Predict(crate::predict::PredictArgs),
    Run(crate::run::RunArgs),
    Trace(TraceArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Scale(crate::scale::Args),
    Model(crate::model::Args),
    Schedule(crate::schedule::Args),
    Categorize(Box<crate::categorize::CategorizeArgs>),
}

/// Find the period.
#[derive(Debug, Args)]
pub struct DetectArgs {
    /// Traces of tmio (finished, or the .parts of a job that runs still or was killed), of TMIO, Darshan, Recorder,
    /// dftracer, GekkoFS or the metric proxy, Chrome's events, or tables; gzip-compressed or not; - for standard input; or folders of them
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

    /// How frequencies that stand out are found; two methods, as in zscore,dbscan, must agree
    #[arg(short, long, value_name = "METHOD", value_enum, value_delimiter = ',', num_args = 1)]
    #[arg(default_value = "zscore")]
    pub outlier: Vec<OutlierChoice>,

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

    /// Add up the mean and the N strongest waves, for --json, --csv=signal and --plot
    #[arg(long, value_name = "N")]
    pub reconstruct: Option<usize>,

    /// Also say when which period holds, and where the behaviour changes
    #[arg(long)]
    pub over_time: bool,

    /// One result for each rank
    #[arg(long, conflicts_with = "per_file")]
    pub per_rank: bool,

    /// One result for each file
    #[arg(long)]
    pub per_file: bool,

    /// Analyse exactly as the Python FTIO 0.0.9 does: write_sync at 10 Hz unless told otherwise
    #[arg(long, conflicts_with_all = ["over_time", "skip_first_phase"])]
    pub compat: bool,

    /// Draw bandwidth, spectrum, autocorrelation and ranks; the ending of the name decides: .html (zoom and hover; needs no
    /// network), .svg or .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print one JSON object per trace and line
    #[arg(long)]
    pub json: bool,

    /// Print comma-separated values: one row per result, sample, frequency or segment
    #[arg(long, value_name = "WHAT", value_enum, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "results", conflicts_with = "json")]
    pub csv: Option<CsvChoice>,

    /// End with 3 if a trace is not periodic
    #[arg(long)]
    pub exit_status: bool,

    /// Say more about how the answer was found
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,

    /// One line per trace, no warnings
    #[arg(short, long, conflicts_with_all = ["verbose", "json"])]
    pub quiet: bool,
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

/// Draw several traces side by side in one picture
///
/// Each trace gets its charts: bandwidth with phases and dominant wave, spectrum, autocorrelation, ranks over time, and for
/// nonblocking operations the bandwidth they needed and got. Also called as `ioplot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// Traces, of any format that ftio reads, or folders of them
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// The picture; the ending decides: .html (zoom and hover; needs no network), .svg or .png
    #[arg(short, long, value_name = "FILE", default_value = "ftio.html", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// What to draw: write_sync, read_sync, write_async, read_async, write, read or all [default: write, or read if
    /// nothing was written]
    #[arg(short, long, value_name = "MODE", hide_possible_values = true)]
    pub mode: Option<Mode>,

    /// Sampling frequency in Hz, or "auto" [default: auto]
    #[arg(short, long, value_name = "HZ", value_parser = frequency, allow_hyphen_values = true)]
    pub freq: Option<Sampling>,

    /// Start of the window, in seconds of job time
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub ts: Option<f64>,

    /// End of the window, in seconds of job time
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub te: Option<f64>,
}

/// Write a trace in another format
///
/// Formats: csv (one line per operation: rank,start,end,bytes,kind,file,offset); chrome (JSON that Perfetto and chrome://tracing
/// open: a process per rank); tmio-json, tmio-jsonl and tmio-msgpack (what the C++ TMIO writes and the Python FTIO reads);
/// msgpack (ours, written anew).
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// A trace of tmio
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    pub input: PathBuf,

    /// Where it goes; "-" is stdout
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// The format: csv, chrome, tmio-json, tmio-jsonl, tmio-msgpack or msgpack [default: by the ending of OUT, if it is .csv or
    /// .jsonl]
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub to: Option<Target>,
}

/// `--to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    Csv,
    Chrome,
    TmioJson,
    TmioJsonl,
    TmioMsgpack,
    Msgpack,
}

/// Make one trace of what a killed job has left
///
/// A job that was killed leaves OUT.parts/ and, on its hosts, a spool per rank. All other subcommands read these as well; this
/// one makes an ordinary file of them, to be kept or taken elsewhere. Run it where the job ran: a spool can only be read
/// there.
#[derive(Debug, Args)]
pub struct RecoverArgs {
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

/// Print a completion script: bash, elvish, fish, powershell or zsh
///
/// For example: ftio completions bash > ~/.local/share/bash-completion/completions/ftio
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    pub shell: clap_complete::Shell,
}

/// Print the manual page, or that of a subcommand: ftio man | man -l -
#[derive(Debug, Args)]
pub struct ManArgs {
    /// A subcommand
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    #[default]
    Auto,
    Always,
    Never,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutlierChoice {
    /// Standard deviations above the mean, as in the paper
    #[value(alias = "z-score")]
    Zscore,
    /// What belongs to no cluster
    #[value(alias = "db-scan")]
    Dbscan,
    /// What random cuts separate early
    #[value(alias = "forest")]
    IsolationForest,
    /// What lies in emptier surroundings than its neighbours: the local outlier factor
    Lof,
    /// Local maxima near the highest
    #[value(alias = "peak")]
    Peaks,
}

impl From<OutlierChoice> for Outlier {
    fn from(choice: OutlierChoice) -> Self {
        match choice {
            OutlierChoice::Zscore => Outlier::ZScore,
            OutlierChoice::Dbscan => Outlier::Dbscan,
            OutlierChoice::IsolationForest => Outlier::IsolationForest,
            OutlierChoice::Lof => Outlier::LocalOutlierFactor,
            OutlierChoice::Peaks => Outlier::Peaks,
        }
    }
}

/// `--csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CsvChoice {
    /// One row per trace, rank or file
    Results,
    /// The sampled bandwidth, one row per sample
    Signal,
    /// The share of the power, one row per frequency
    Spectrum,
    /// When which period holds, one row per segment
    Segments,
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
            frequency: self.freq.and_then(Sampling::hertz),
            from: self.ts,
            to: self.te,
            outlier: self.outlier.first().map_or(Outlier::ZScore, |&choice| choice.into()),
            second_outlier: self.outlier.get(1).map(|&choice| choice.into()),
            tolerance: self.tol,
            measure: if self.no_psd { Measure::Amplitude } else { Measure::Power },
            autocorrelation: self.autocorrelation,
            skip_first_phase: self.skip_first_phase,
            top: self.top,
            keep_requests: self.plot.is_some(),
            reconstruct: self.reconstruct,
            over_time: self.over_time || self.csv == Some(CsvChoice::Segments),
            compat: self.compat,
            automatic_frequency: self.freq == Some(Sampling::Auto),
        }
    }

    /// The detection that goes with predictions.
    pub fn like(how: &crate::predict::HowArgs, outlier: OutlierChoice, trace: PathBuf, json: bool) -> Self {
        DetectArgs {
            traces: vec![trace],
            input: InputArgs { pattern: None, layer: None, metric: None, merge: false },
            mode: how.mode,
            freq: how.freq,
            ts: how.ts,
            te: None,
            outlier: vec![outlier],
            tol: how.tol,
            no_psd: how.no_psd,
            autocorrelation: how.autocorrelation,
            skip_first_phase: how.skip_first_phase,
            top: 0,
            reconstruct: None,
            over_time: false,
            per_rank: false,
            per_file: false,
            compat: false,
            plot: None,
            json,
            csv: None,
            exit_status: false,
            verbose: 0,
            quiet: false,
        }
    }

    /// What is analysed one by one, if anything is.
    pub fn group(&self) -> Option<Group> {
        match (self.per_rank, self.per_file) {
            (true, _) => Some(Group::Rank),
            (_, true) => Some(Group::File),
            _ => None,
        }
    }
}

impl PlotArgs {
    /// For the analysis.
    pub fn options(&self) -> Options {
        Options {
            mode: self.mode,
            frequency: self.freq.and_then(Sampling::hertz),
            from: self.ts,
            to: self.te,
            keep_requests: true,
            ..Options::default()
        }
    }
}

impl Sampling {
    pub fn hertz(self) -> Option<f64> {
        match self {
            Sampling::Hertz(hz) => Some(hz),
            Sampling::Auto => None,
        }
    }
}

/// A sampling frequency; the Python FTIO's −1 means automatic as well.
pub fn frequency(text: &str) -> Result<Sampling, String> {
    match text.parse::<f64>() {
        Ok(-1.0) => Ok(Sampling::Auto),
        Ok(hz) if (1e-9..=1e9).contains(&hz) => Ok(Sampling::Hertz(hz)),
        _ if text == "auto" => Ok(Sampling::Auto),
        _ => Err("expected a number of Hz between 1e-9 and 1e9, or \"auto\"".into()),
    }
}

pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.abs() <= 1e9 => Ok(seconds),
        _ => Err("expected a number of seconds".into()),
    }
}

pub fn share(text: &str) -> Result<f64, String> {
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
        for wrong in [
            &["ftio"][..],
            &["ftio", "a", "-t", "2"],
            &["ftio", "a", "-o", "sigma"],
            &["ftio", "a", "-f", "0"],
            &["ftio", "a", "-m", "x"],
        ] {
            assert!(Cli::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
