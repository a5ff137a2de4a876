//! The arguments of `ftio TRACE…`.

use crate::inputs::InputArgs;
use crate::signal::{SupportArgs, WindowArgs};
use crate::values::{Sampling, outlier, share};
use clap::{ArgAction, ValueEnum, ValueHint};
use ftio_core::detect::per_group::Group;
use ftio_core::detect::{Method, Options, Outlier};
use ftio_core::spectral::spectrum::Measure;
use std::path::{Path, PathBuf};

/// Where a picture goes that is asked for without a name.
const DEFAULT_PICTURE: &str = "ftio.html";

/// What changes nothing where phases are counted.
const SPECTRUM: &str = "Of the spectrum, for --paper and --compat";

/// Find the period.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces of tmio (finished, or the .parts of a job that is still running or was killed), of TMIO,
    /// Darshan, Recorder, dftracer, GekkoFS or the metric proxy, Chrome's events, or tables; gzip-compressed
    /// or not; - for standard input; or folders of them
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub window: WindowArgs,

    /// How outstanding frequencies are found; if two methods are given, as in zscore,dbscan, both must agree
    #[arg(long, value_name = "METHOD", value_parser = outlier(), value_delimiter = ',', num_args = 1)]
    #[arg(default_value = "zscore")]
    #[arg(help_heading = SPECTRUM)]
    pub outlier: Vec<Outlier>,

    /// How strong another frequency must be to count as a candidate, as a share of the strongest (0 to 1)
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.8")]
    #[arg(help_heading = SPECTRUM)]
    pub tol: f64,

    /// Use the amplitude spectrum instead of the power spectrum
    #[arg(long)]
    #[arg(help_heading = SPECTRUM)]
    pub no_psd: bool,

    #[command(flatten)]
    pub support: SupportArgs,

    /// Also list the N strongest frequencies
    #[arg(short = 'n', long, value_name = "N", default_value_t = 0)]
    #[arg(help_heading = "Results")]
    pub top: usize,

    /// Rebuild the signal from its mean and its N strongest waves, for --json, --csv=signal and --plot
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Results")]
    pub reconstruct: Option<usize>,

    /// Also show which period holds when, and where the behaviour changes
    #[arg(long)]
    #[arg(help_heading = "Results")]
    pub over_time: bool,

    /// One result for each rank
    #[arg(long, conflicts_with = "per_file")]
    #[arg(help_heading = "Results")]
    pub per_rank: bool,

    /// One result for each file
    #[arg(long)]
    #[arg(help_heading = "Results")]
    pub per_file: bool,

    /// Analyse exactly as the Python FTIO 0.0.9 does: write_sync at 10 Hz by default
    #[arg(long, conflicts_with_all = ["over_time", "skip_first_phase"])]
    #[arg(help_heading = "Method")]
    pub compat: bool,

    /// Analyse as the method was printed (IPDPS 2024): the spectrum alone, sampled at 10 Hz from the first
    /// event to the last
    #[arg(long, conflicts_with_all = ["compat", "over_time", "skip_first_phase"])]
    #[arg(help_heading = "Method")]
    pub paper: bool,

    /// Draw bandwidth, spectrum, autocorrelation and ranks; the format follows from the ending of the name:
    /// .html (zoom and hover; needs no network), .svg or .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "Output")]
    pub plot: Option<PathBuf>,

    /// Draw as with --plot, to ftio.html: what -e plotly of the Python FTIO asks for
    #[arg(long, hide = true)]
    pub engine: bool,

    /// Print one JSON object per trace and line
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub json: bool,

    /// Print comma-separated values: one row per result, sample, frequency, segment
    /// or phase
    #[arg(long, value_name = "WHAT", value_enum, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "results", conflicts_with = "json")]
    #[arg(help_heading = "Output")]
    pub csv: Option<CsvChoice>,

    /// Exit with status 3 if a trace is not periodic
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub exit_status: bool,

    /// Explain how the answer was found
    #[arg(short, long, action = ArgAction::Count)]
    #[arg(help_heading = "Output")]
    pub verbose: u8,

    /// One line per trace, no warnings
    #[arg(short, long, conflicts_with_all = ["verbose", "json"])]
    #[arg(help_heading = "Output")]
    pub quiet: bool,
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
    /// The I/O phases, one row each
    Phases,
}

impl Args {
    /// For the analysis.
    pub fn options(&self) -> Options {
        Options {
            outlier: self.outlier.first().copied().unwrap_or_default(),
            second_outlier: self.outlier.get(1).copied(),
            top: self.top,
            keep_requests: self.picture().is_some(),
            reconstruct: self.reconstruct,
            over_time: self.over_time || self.csv == Some(CsvChoice::Segments),
            method: self.method(),
            automatic_frequency: self.window.signal.freq == Some(Sampling::Auto),
            tolerance: self.tol,
            measure: if self.no_psd { Measure::Amplitude } else { Measure::Power },
            ..self.support.add_to(self.window.options())
        }
    }

    /// By which method the period is found.
    pub fn method(&self) -> Method {
        match (self.compat, self.paper) {
            (true, _) => Method::Compat,
            (_, true) => Method::Paper,
            _ => Method::Ours,
        }
    }

    /// The picture that is asked for.
    pub fn picture(&self) -> Option<&Path> {
        self.plot.as_deref().or(self.engine.then_some(Path::new(DEFAULT_PICTURE)))
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
