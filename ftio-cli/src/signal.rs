//! Options of several commands: which bandwidth is analysed, in which window, and how its spectrum is judged.

use crate::exit::wrong_usage;
use crate::values::{Sampling, frequency, positive_seconds, seconds};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ftio_core::detect::Options;
use sources::request::Mode;

/// Which requests count.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What to analyse")]
pub struct ModeArgs {
    /// What to analyse: write_sync, read_sync, write_async, read_async, write, read or all;
    /// write_async_required or read_async_required for the bandwidth that would have hidden the I/O [default:
    /// write, or read if less than a tenth of the bytes was written]
    #[arg(short, long, value_name = "MODE", value_parser = modes(), hide_possible_values = true)]
    pub mode: Option<Mode>,
}

/// Which bandwidth is sampled, and how finely.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What to analyse")]
pub struct SignalArgs {
    #[command(flatten)]
    pub mode: ModeArgs,

    /// Sampling frequency in Hz, or "auto" [default: auto, from the number of phases]
    #[arg(short, long, value_name = "HZ", value_parser = frequency, allow_hyphen_values = true)]
    pub freq: Option<Sampling>,

    #[command(flatten)]
    pub periods: PeriodArgs,

    /// Start of the window, in seconds of job time [default: start of the job]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub ts: Option<f64>,
}

/// Which periods are of interest.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What to analyse")]
pub struct PeriodArgs {
    /// Ignore periods shorter than this: faster bursts are then parts of phases
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, allow_negative_numbers = true)]
    pub min_period: Option<f64>,

    /// Ignore periods longer than this
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, allow_negative_numbers = true)]
    pub max_period: Option<f64>,
}

/// The same, for a job that is over.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What to analyse")]
pub struct WindowArgs {
    #[command(flatten)]
    pub signal: SignalArgs,

    /// End of the window, in seconds of job time [default: end of the job]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub te: Option<f64>,
}

/// What supports the answer.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Method")]
pub struct SupportArgs {
    /// Refine the confidence by the autocorrelation of the signal
    #[arg(short = 'c', long)]
    pub autocorrelation: bool,

    /// Leave out the first I/O phase of the window, which often includes initialisation
    #[arg(long)]
    #[arg(hide_short_help = true)]
    pub skip_first_phase: bool,
}

/// Shells complete the names of modes.
fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name)).try_map(|name| name.parse::<Mode>())
}

impl SignalArgs {
    /// For the analysis.
    pub fn options(&self) -> Options {
        Options {
            mode: self.mode.mode,
            frequency: self.freq.and_then(Sampling::hertz),
            from: self.ts,
            min_period: self.periods.min_period,
            max_period: self.periods.max_period,
            ..Options::default()
        }
    }
}

impl WindowArgs {
    /// For the analysis.
    pub fn options(&self) -> Options {
        Options { to: self.te, ..self.signal.options() }
    }

    /// The window must end after it starts.
    pub fn check(&self) -> anyhow::Result<()> {
        match (self.signal.ts, self.te) {
            (Some(from), Some(to)) if from >= to => Err(wrong_usage(format!(
                "the window must end after it starts: --ts {from} is not before --te {to}"
            ))),
            _ => self.signal.periods.check(),
        }
    }
}

impl PeriodArgs {
    /// The shortest period must be below the longest.
    pub fn check(&self) -> anyhow::Result<()> {
        match (self.min_period, self.max_period) {
            (Some(least), Some(most)) if least >= most => {
                Err(wrong_usage(format!("--min-period {least} is not below --max-period {most}")))
            }
            _ => Ok(()),
        }
    }
}

impl SupportArgs {
    /// Add to the options of the analysis.
    pub fn add_to(&self, options: Options) -> Options {
        Options { autocorrelation: self.autocorrelation, skip_first_phase: self.skip_first_phase, ..options }
    }
}
