//! The arguments of `ftio categorize`.

use crate::settings::{Numbers, Row, Setting};
use crate::values::one_of;
use clap::{Subcommand, ValueHint, value_parser};
use mosaic::Thresholds;
use mosaic::archive::{Identity, Settings, Shard};
use mosaic::log::Reading;
use mosaic::thresholds::{TABLE, Threshold};
use sources::Layer;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  What do the applications of a site do?
      ftio categorize /logs/darshan/2019 --html archive.html
  One JSON object per log, and a list of those that could not be used:
      ftio categorize /logs --json --bad-logs bad.txt > logs.jsonl
  A long run; repeat the command to resume it, or to add new logs:
      ftio categorize /logs -o logs.part
  Jobs that were traced by tmio:
      ftio categorize --all-files /traces
  On four machines, and then combined:
      ftio categorize /logs --shard 0/4 -o part-0     (… 1/4, 2/4, 3/4)
      ftio categorize merge part-*

Categories (Table I of the paper):
  read_ and write_ with on_start, on_end, after_start, before_end, after_start_before_end, steady, \
insignificant
  read_periodic and write_periodic, also with _second, _minute, _hour, _day_or_more, _low_busy_time, \
_high_busy_time
  metadata_ with high_spike, high_density, multiple_spikes, insignificant_load

Exit status: 0 done (also if some logs could not be used), 1 if none could be used, 2 wrong usage.";

/// Sort an archive of Darshan logs, or other inputs, by behaviour
///
/// The method is that of MOSAIC (Jolivel et al., PDSW 2024): operations are merged, cut into segments and
/// grouped; periodicity, time of the accesses and load on the metadata server give the categories. Runs of
/// the same application by the same user count by their heaviest. All cores are used; memory does not grow
/// with the archive.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<CategorizeCommand>,

    /// Darshan logs, traces, anything that ftio reads; or folders, in which all files with ".darshan" in
    /// their name are taken, at any depth
    #[arg(required_unless_present = "from", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// Also take paths from this file, one per line; - for standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub from: Option<PathBuf>,

    /// In folders, take every file, whatever its name: traces of tmio, tables, Recorder's folders
    #[arg(long)]
    pub all_files: bool,

    /// Keep the records of the logs in this file; if it exists, resume where it stopped
    #[arg(short, long, value_name = "PART", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Take only the logs of one of N shards, to be merged later; I from 0 to N − 1, or from 1 to N
    #[arg(long, value_name = "I/N", requires = "output")]
    #[arg(conflicts_with_all = ["json", "html", "summary", "bad_logs"])]
    pub shard: Option<Shard>,

    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub results: ResultArgs,

    /// Layer to take [default: the one that moved the most bytes; if equal, mpiio before posix before stdio]
    #[arg(long, value_name = "LAYER", value_parser = crate::inputs::layer, help_heading = "Logs")]
    pub layer: Option<Layer>,

    /// Take operations from the counters even where a log has them one by one (DXT)
    #[arg(long, help_heading = "Logs")]
    pub no_dxt: bool,

    /// What makes two runs of a user the same application: the file name of the executable, its path, or the
    /// whole command line
    #[arg(long, value_name = "BY", value_parser = one_of(IDENTITIES), default_value = "name")]
    #[arg(help_heading = "Logs")]
    pub application: Identity,

    /// Do not check the periods against those that ftio finds
    #[arg(long, help_heading = "Logs")]
    pub no_witness: bool,

    /// Set a threshold; may be given several times. `--set help` lists all
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = THRESHOLDS, help_heading = "Logs")]
    pub thresholds: Vec<Setting>,
}

const THRESHOLDS: Numbers = Numbers::new(|| {
    let row = |row: &'static Threshold| Row {
        name: row.name,
        default: row.default,
        unit: String::new(),
        range: row.range,
        meaning: row.meaning,
        source: row.source,
    };
    TABLE.iter().map(row).collect()
});

#[derive(Debug, Subcommand)]
pub enum CategorizeCommand {
    Merge(MergeArgs),
    Accuracy(super::judge::AccuracyArgs),
}

const MERGE_EXAMPLES: &str = "\
Examples:
  Four machines that see the same logs have each done a quarter of them:
      ftio categorize /logs --shard 0/4 -o part-0     (… 1/4, 2/4, 3/4)
      ftio categorize merge part-* --html archive.html";

/// Merge the parts that several machines made into the result that one machine would give
#[derive(Debug, clap::Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// The parts: each shard once
    #[arg(required = true, value_name = "PART", value_hint = ValueHint::FilePath)]
    pub parts: Vec<PathBuf>,

    /// Merge what there is, even if shards are missing or unfinished
    #[arg(long)]
    pub partial: bool,

    #[command(flatten)]
    pub results: ResultArgs,
}

/// Where results go.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct ResultArgs {
    /// Print one JSON object per log and line, in the order of paths
    #[arg(long)]
    pub json: bool,

    /// Write the summary as JSON: both views, tables II and III, Jaccard indices, agreement with FTIO
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub summary: Option<PathBuf>,

    /// Write a report with the heat map of categories and examples; one file that needs no network
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,

    /// Write a page with a sample of the applications, on which people judge whether the categories are
    /// right; ftio categorize accuracy reads what they say
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub judge: Option<PathBuf>,

    /// With --judge: how many applications
    #[arg(long, value_name = "N", default_value_t = 50, requires = "judge")]
    pub sample: usize,

    /// With --judge: another seed draws another sample
    #[arg(long, value_name = "N", default_value_t = 1, requires = "judge")]
    pub seed: u64,

    /// List the logs that could not be used, and why, one per line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub bad_logs: Option<PathBuf>,
}

/// `--application`.
const IDENTITIES: [(&str, Identity); 3] =
    [("name", Identity::Name), ("path", Identity::Path), ("command", Identity::Command)];

impl Args {
    fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        for (name, value) in &self.thresholds {
            if let Some(threshold) = thresholds.get_mut(name) {
                *threshold = *value;
            }
        }
        thresholds
    }

    /// Everything that the results depend on.
    pub fn settings(&self) -> Settings {
        Settings {
            reading: Reading { layer: self.layer, dxt: !self.no_dxt, witness: !self.no_witness },
            identity: self.application,
            thresholds: self.thresholds(),
        }
    }
}
