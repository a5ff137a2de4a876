//! `ftio stage`: move files out of a burst buffer, and into it, in the quiet between the I/O phases of a job.

mod handler;
mod lines;
mod metrics;
mod progress;
pub mod replay;
mod setup;

use crate::exit::{Exit, wrong_usage};
use crate::follow::PollArgs;
use crate::settings::{Numbers, Row, Setting, given};
use crate::signal::{ModeArgs, PeriodArgs};
use crate::values::{one_of, positive_seconds, size};
use clap::ValueHint;
use io_stage::copier::Template;
use io_stage::plan::{Settings, When};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  In a job script: trace the job, writing out what it does every second, and stage while it runs:
      ftio stage run.msgpack --from /bb/job --to /scratch/job &
      ftio trace -o run.msgpack --flush interval:1 -- srun ./app
      wait
  At most 500 MB/s, and make room in the buffer when it is more than 80 % full:
      ftio stage run.msgpack --from /bb/job --to /scratch/job --rate 500M --evict
  Bring in what earlier runs have read in the same phase:
      ftio stage run.msgpack --from /bb/job --to /scratch/job --history old/*.msgpack
  Only say what would be done, also for a job that is over:
      ftio stage run.msgpack --from /bb/job --to /scratch/job --rate 500M --dry-run
  With a program of your own that copies:
      ftio stage run.msgpack --from /bb/job --to /scratch/job --command 'cp --reflink=auto {src} {dst}'
  What would it gain, with 2 GB/s out of a buffer of 10 TB?
      ftio simulate staging --period 600 --phase-bytes 1T --rate 2G --capacity 10T --bandwidth 20G

A file gets its final name only after it was verified: its size and time of change are those of the source, \
which has not changed meanwhile; with --checksum the copy is read back as well. If this command is killed, \
start it again: it goes on.

Without a period, files leave the buffer only above its high mark, or when the job has ended.

Exit status: 0 everything was staged (also when interrupted), 1 something could not be, 2 wrong usage.";

/// Move files out of a burst buffer between the I/O phases of a job
///
/// Follows the trace of a running job, as `ftio predict` does, and copies what the job has written from DIR
/// to DIR while it computes: oldest phase first, then smallest file. A copy is suspended when the next phase
/// is near, or at the first request of one that comes early. When the job has ended, the rest is copied, and
/// the command ends. Files that a phase needs can be brought in before it (--stage-in, --history).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The trace or the stream of metrics to follow, which need not exist yet
    #[arg(value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub trace: PathBuf,

    /// The burst buffer: files leave this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub from: PathBuf,

    /// Where they go; files that are brought in come from here
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub to: PathBuf,

    #[command(flatten)]
    pub rules: RuleArgs,

    /// When files leave the buffer: quiet (between phases), at-once (when they are closed) or at-end. The
    /// last two are there to compare with
    #[arg(long, value_name = "WHEN", value_parser = one_of(WHEN), default_value = "quiet")]
    #[arg(hide_possible_values = true, help_heading = "When")]
    #[arg(hide_short_help = true)]
    pub when: When,

    /// Read copies back, and compare their checksums with those of what was read
    #[arg(long, help_heading = "Copying")]
    #[arg(hide_short_help = true)]
    pub checksum: bool,

    /// Let this program copy, with {src} and {dst} in it. {dst} is a temporary name: the copy is verified and
    /// renamed as usual. --rate then says how fast the program is
    #[arg(long = "command", value_name = "CMD", value_hint = ValueHint::CommandString)]
    #[arg(help_heading = "Copying")]
    #[arg(hide_short_help = true)]
    pub command_line: Option<Template>,

    /// Where to note what was done, so that nothing is lost when this command is killed [default: a file in
    /// the folder of --to that begins with .ftio-stage]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Copying")]
    #[arg(hide_short_help = true)]
    pub journal: Option<PathBuf>,

    /// Files that phases need: on each line a path below DIR, and after a tab the number of the phase (from
    /// 1) or "each"
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Bringing in")]
    #[arg(hide_short_help = true)]
    pub stage_in: Option<PathBuf>,

    /// Traces of earlier runs, or folders of them: what they read in a phase is brought in before that phase
    #[arg(long, value_name = "TRACE", num_args = 1.., value_hint = ValueHint::AnyPath)]
    #[arg(help_heading = "Bringing in")]
    pub history: Vec<PathBuf>,

    /// The job has ended when nothing was added to the trace for this long. Traces of tmio tell the end
    /// themselves
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub timeout: Option<f64>,

    #[command(flatten)]
    pub poll: PollArgs,

    #[command(flatten)]
    pub mode: ModeArgs,

    #[command(flatten)]
    pub periods: PeriodArgs,

    /// Read the stream as text; this file (TOML) says where in it the numbers are
    #[arg(long, help_heading = "Inputs", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub pattern: Option<PathBuf>,

    /// From a stream with several metrics, take the one whose name contains this
    #[arg(long, help_heading = "Inputs", value_name = "NAME")]
    pub metric: Option<String>,

    /// Copy nothing and remove nothing, only say what would be done (needs --rate)
    #[arg(long, requires = "rate", help_heading = "Output")]
    pub dry_run: bool,

    /// Print one JSON object per decision and line, and at last one with the sums
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Publish metrics for Prometheus: served at /metrics if this is an address such as :9797, which only
    /// this machine reaches, or 0.0.0.0:9797; otherwise written to this file, for the textfile collector
    #[arg(long, value_name = "FILE|ADDR", help_heading = "Output")]
    pub prometheus: Option<String>,
}

/// What decides when files are copied and removed.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "When")]
pub struct RuleArgs {
    /// Copy at most this many bytes per second, such as 500M [default: as fast as possible]
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "Copying")]
    pub rate: Option<f64>,

    /// How much fits into the buffer, such as 10T [default: the size of its file system]
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "The buffer")]
    pub capacity: Option<f64>,

    /// Relieve the buffer: remove the oldest files whose copies were verified and that have not been opened
    /// since
    #[arg(long, help_heading = "The buffer")]
    pub evict: bool,

    /// Set a number that decides when; may be given several times. `--set help` lists all
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = NUMBERS)]
    pub numbers: Vec<Setting>,
}

const GUARD: &str = "guard";
const MIN_CONFIDENCE: &str = "min-confidence";
const HIGH_WATER: &str = "high-water";
const LOW_WATER: &str = "low-water";

const NUMBERS: Numbers = Numbers::new(|| {
    let Settings { least_guard, confidence, high, low, .. } = Settings::default();
    let share = (f64::EPSILON, 1.0);
    vec![
        Row::new(
            GUARD,
            least_guard,
            "s",
            (0.0, 1e9),
            "the least distance from phases; 10 % of the period if that is more",
        ),
        Row::new(MIN_CONFIDENCE, confidence, "", share, "a period with less confidence is not acted upon"),
        Row::new(HIGH_WATER, high, "", share, "the share of the buffer above which it has to be relieved"),
        Row::new(LOW_WATER, low, "", share, "the share of the buffer down to which it is relieved"),
    ]
});

/// `--when`, as the simulation names its policies.
pub const WHEN: [(&str, When); 3] =
    [("at-once", When::AtOnce), ("at-end", When::AtEnd), ("quiet", When::Quiet)];

impl RuleArgs {
    /// For the planner.
    pub fn settings(&self) -> anyhow::Result<Settings> {
        let usual = Settings::default();
        let number = |name, usual| given(&self.numbers, name).unwrap_or(usual);
        let (high, low) = (number(HIGH_WATER, usual.high), number(LOW_WATER, usual.low));
        if low > high {
            return Err(wrong_usage(format!("{LOW_WATER} {low} is above {HIGH_WATER} {high}")));
        }
        Ok(Settings {
            least_guard: number(GUARD, usual.least_guard),
            confidence: number(MIN_CONFIDENCE, usual.confidence),
            rate: self.rate,
            high,
            low,
            evict: self.evict,
            ..Settings::default()
        })
    }
}

/// Stage until the job has ended.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    setup::run(args, &args.trace, &args.from, &args.to)
}
