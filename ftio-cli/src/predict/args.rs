//! The arguments of `ftio predict`, most of which `ftio run` has as well.

use crate::follow::PollArgs;
use crate::inputs::QuantityArgs;
use crate::signal::{SignalArgs, SupportArgs};
use crate::values::{outlier, positive_seconds, share};
use clap::ValueHint;
use ftio_core::detect::Outlier;
use ftio_core::predict::{PredictOptions, WindowRule};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Run the job in one terminal, writing out its trace every second; predict in another, until it ends:
      ftio trace -o run.msgpack --flush interval:1 -- mpirun -n 4 ./app
      ftio predict --until-complete run.msgpack
  Both at once:
      ftio run -- mpirun -n 4 ./app
  When does the next phase begin? For a script:
      ftio predict --json run.msgpack | jq .next_phase.start
  Run a command for every prediction (JSON on its standard input; FTIO_PERIOD, FTIO_NEXT_START, ... set):
      ftio predict --exec 'logger \"period $FTIO_PERIOD\"' run.msgpack
  All jobs of a folder for Prometheus, at http://localhost:9797/metrics:
      ftio predict --prometheus :9797 jobs/*.msgpack
  The load of a machine, which another program appends to a table:
      ftio predict --metric load --tui metrics.csv

Exit status: 0 done (also when interrupted), 1 failed, 2 wrong usage.";

/// Predict the next I/O phase while the job runs
///
/// Follows traces as they grow: of tmio (give the name that the trace will have), JSON Lines or MessagePack
/// of the C++ TMIO, metrics of GekkoFS or the metric proxy, tables (CSV). A trace need not exist yet; one
/// that is replaced is followed from its beginning. Each flush gives one prediction. Also called as
/// `predictor`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Traces to follow, which need not exist yet
    #[arg(required = true, value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub traces: Vec<PathBuf>,

    /// Stop when the job has ended. Only traces of tmio record that; for others see --timeout
    #[arg(long)]
    pub until_complete: bool,

    /// Stop when nothing has been added for this long
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,

    #[command(flatten)]
    pub poll: PollArgs,

    #[command(flatten)]
    pub prediction: PredictionArgs,

    #[command(flatten)]
    pub out: OutArgs,
}

/// How to predict.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Prediction")]
pub struct PredictionArgs {
    /// How far back to look: "hits:K" shortens the window to K periods each time a period was found K times
    /// in a row; "periods:K" is always the last K periods; "seconds:S" always the last S seconds; "change"
    /// everything since the behaviour changed; "all" everything
    #[arg(short, long, value_name = "RULE", value_parser = str::parse::<WindowRule>, default_value = "hits:3")]
    #[arg(alias = "window_adaptation")]
    pub window: WindowRule,

    #[command(flatten)]
    pub signal: SignalArgs,

    #[command(flatten)]
    pub support: SupportArgs,

    #[command(flatten)]
    pub former: FormerArgs,

    #[command(flatten)]
    pub quantity: QuantityArgs,
}

/// Options of the Python FTIO, and of ftio 0.2, that change no prediction: they are taken, and do nothing.
#[derive(Clone, Debug, clap::Args)]
pub struct FormerArgs {
    #[arg(long, hide = true, value_name = "METHOD", value_parser = outlier())]
    pub outlier: Option<Outlier>,
    #[arg(long, hide = true, value_name = "SHARE", value_parser = share)]
    pub tol: Option<f64>,
    #[arg(long, hide = true)]
    pub no_psd: bool,
}

/// Where predictions go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutArgs {
    /// Print one JSON object per prediction and line
    #[arg(long)]
    pub json: bool,

    /// Show the bandwidth, the period and a countdown to the next phase, live; q quits
    #[arg(long, conflicts_with = "json")]
    pub tui: bool,

    /// Run this command (with sh -c) for every prediction, with the JSON object on its standard input and the
    /// main values in FTIO_* variables
    #[arg(long, value_name = "CMD", value_hint = ValueHint::CommandString)]
    pub exec: Option<String>,

    /// Publish metrics for Prometheus: served at /metrics if this is an address such as :9797, which only
    /// this machine reaches, or 0.0.0.0:9797; otherwise written to this file, for the textfile collector
    #[arg(long, value_name = "FILE|ADDR")]
    pub prometheus: Option<String>,

    /// Send JSON lines over a socket, an address such as 127.0.0.1:9999 or a path: to the program that
    /// listens there, or, if none does, to every program that connects
    #[arg(long, value_name = "PATH|ADDR")]
    #[arg(hide_short_help = true)]
    pub socket: Option<String>,
}

impl PredictionArgs {
    /// For the predictor.
    pub fn options(&self) -> PredictOptions {
        PredictOptions { window: self.window, detect: self.support.add_to(self.signal.options()) }
    }
}
