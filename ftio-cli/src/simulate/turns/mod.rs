//! `ftio simulate turns`: the published experiment with Set-10, or one of any size.

mod chart;
mod table;

use crate::exit::Exit;
use crate::picture::PictureFile;
use crate::print;
use crate::terminal::progress::Progress;
use crate::terminal::style::Style;
use crate::terminal::waiting::Waiting;
use crate::terminal::width::columns;
use crate::values::{not_negative, one_of, positive};
use clap::{ValueEnum, ValueHint};
use draw::draw_sheet;
use io_sets::experiment::{Experiment, Policy, Published};
use io_sets::metrics::Metrics;
use io_sets::predictor::{Compat, Online};
use io_sets::queue::Patience;
use io_sets::simulate::{Level, NewPredictor};
use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const MIB: f64 = (1 << 20) as f64;

/// Sampling frequencies of predictions, in Hz.
const MIXED_FREQUENCY: f64 = 4.0;
const COMPAT_FREQUENCY: f64 = 1.0;

const EXAMPLES: &str = "\
Examples:
  The published experiment, compared with what was published:
      ftio simulate turns
  The same with all requests and the servers' queues, on four servers:
      ftio simulate turns --level requests --servers 4
  As a picture:
      ftio simulate turns --plot set-10.svg
  A simulated hour of a thousand applications:
      ftio simulate turns --applications 1000 --repetitions 1

Policies:
  fair_share          no scheduling
  fcfs                one application at a time
  set10_clairvoyant   Set-10 with periods known beforehand
  set10_predicted     Set-10 with periods that ftio finds while the applications run
  set10_error50       the same, but each period is 50 % too large or too small, at random
  set10_strict        the same, but without a guess before the first period (see ftio schedule --early)

Metrics: how much longer applications took than alone (stretch: the largest, and the geometric mean), how \
much longer their I/O took (I/O slowdown), and the share of the time in which they computed (utilisation).";

/// Simulate applications that share a file system, with and without Set-10
///
/// By default the published experiment: one application that writes 128 MiB every 19.2 s and fifteen that
/// write 2.5 GiB every 384 s, ten repetitions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Number of servers of the file system; each schedules on its own
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub servers: u32,

    /// Number of servers that a file is striped over
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub stripe: u32,

    /// Bandwidth of all servers together, in MiB/s [default: twice that of one application alone]
    #[arg(long, value_name = "MIB/S", value_parser = positive)]
    pub capacity: Option<f64>,

    /// Simulate flows of bytes (fluid), or each request and the servers' queues
    #[arg(long, value_name = "LEVEL", value_parser = one_of(LEVELS), default_value = "fluid")]
    pub level: Level,

    /// Number of repetitions, each with other small irregularities
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,

    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Instead of the published experiment, simulate N applications with periods from 10 to 1000 s on a file
    /// system of ten times the bandwidth of one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub applications: Option<u32>,

    /// With --applications: how much of the file system's time they need together
    #[arg(long, value_name = "SHARE", default_value_t = 0.8, value_parser = positive)]
    #[arg(requires = "applications")]
    pub load: f64,

    /// Only these policies
    #[arg(long, value_name = "NAMES", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = one_of(Policy::ALL.map(|policy| (policy.name(), policy))))]
    pub policies: Vec<Policy>,

    /// Find periods as ftio does, or as the Python FTIO 0.0.9 does
    #[arg(long, value_name = "METHOD", value_enum, default_value_t)]
    pub predictor: PredictorChoice,

    /// Sampling frequency of the predictions in Hz [default: what ftio chooses; 4 with --applications, 1 with
    /// --predictor compat]
    #[arg(short, long, value_name = "HZ", value_parser = positive)]
    pub freq: Option<f64>,

    /// With --level requests: an application that has waited for this part of its set's period without being
    /// served comes first, so that none starves; 0: wait for ever, as published
    #[arg(long, value_name = "PART", default_value_t = 0.0, value_parser = not_negative)]
    pub patience: f64,

    /// Draw the metrics and the first repetition; the format follows from the ending of the name: .svg or
    /// .png
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `--level`.
const LEVELS: [(&str, Level); 2] = [("fluid", Level::Fluid), ("requests", Level::Requests)];

/// `--predictor`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PredictorChoice {
    #[default]
    Ftio,
    Compat,
}

/// Metrics of all repetitions of a policy.
pub struct Result {
    pub policy: Policy,
    pub mean: Metrics,
    pub all: Vec<Metrics>,
}

/// One line of `--json`.
#[derive(JsonSchema, Serialize)]
pub struct Record<'a> {
    schema: &'static str,
    applications: usize,
    servers: usize,
    level: &'static str,
    /// Bytes per second.
    capacity: f64,
    alone: f64,
    frame: [f64; 2],
    repetitions: u32,
    seed: u64,
    policies: ByPolicy<'a, Metrics>,
    /// Against fair share.
    change: ByPolicy<'a, Published>,
    /// Published changes against fair share; the experiment's only.
    #[serde(skip_serializing_if = "Option::is_none")]
    paper: Option<ByPolicy<'a, Published>>,
    repetition: ByPolicy<'a, Vec<Metrics>>,
}

/// An object with a field per policy.
#[derive(JsonSchema)]
#[schemars(with = "std::collections::BTreeMap<String, T>", inline)]
struct ByPolicy<'a, T>(&'a [Result], fn(&'a [Result], &'a Result) -> T);

impl<T: Serialize> Serialize for ByPolicy<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for result in self.0 {
            map.serialize_entry(result.policy.name(), &(self.1)(self.0, result))?;
        }
        map.end()
    }
}

impl Args {
    fn predictor(&self) -> Box<NewPredictor<'static>> {
        // A thousand applications at the finest detail would take too long.
        let frequency = self.freq.or(self.applications.map(|_| MIXED_FREQUENCY));
        match self.predictor {
            PredictorChoice::Ftio => Box::new(move |job, start| Box::new(Online::new(job, start, frequency))),
            PredictorChoice::Compat => {
                let frequency = frequency.unwrap_or(COMPAT_FREQUENCY);
                Box::new(move |job, start| Box::new(Compat::new(job, start, frequency)))
            }
        }
    }

    fn experiment(&self) -> Experiment {
        let mut experiment = match self.applications {
            Some(count) => Experiment::mixed(count as usize, self.load, self.seed),
            None => Experiment::published(),
        };
        experiment.platform.servers = self.servers as usize;
        experiment.platform.stripe = self.stripe as usize;
        if let Some(capacity) = self.capacity {
            experiment.platform.capacity = capacity * MIB;
        }
        experiment.level = self.level;
        experiment.patience =
            if self.patience > 0.0 { Patience::OfPeriod(self.patience) } else { Patience::Endless };
        Experiment { repetitions: self.repetitions, seed: self.seed, ..experiment }
    }
}

/// Simulate and print.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let picture = args.plot.as_deref().map(PictureFile::open_drawing).transpose()?;
    let experiment = args.experiment();
    let predictor = args.predictor();
    let predictor = predictor.as_ref();
    let policies = if args.policies.is_empty() { Policy::ALL.to_vec() } else { args.policies.clone() };
    let begun = Instant::now();
    let runs = u64::from(experiment.repetitions) * policies.len() as u64;
    let progress = Mutex::new(Progress::new(runs, "run"));
    let told = |more| progress.lock().unwrap_or_else(PoisonError::into_inner).add(more);
    let simulated = std::thread::scope(|scope| {
        // A run of a thousand applications takes a while: the time goes on meanwhile.
        let (running, ended) = channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                told(0);
            }
        });
        let simulated = experiment.run_telling(&policies, predictor, &|| told(1));
        drop(running);
        simulated
    });
    let results: Vec<Result> = simulated
        .into_iter()
        .filter_map(|(policy, all)| Some(Result { policy, mean: Metrics::mean(&all)?, all }))
        .collect();
    progress.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    let hours = experiment.frame.end / 3600.0 * f64::from(experiment.repetitions) * results.len() as f64;
    eprintln!(
        "simulated {hours:.1} hours of {} applications in {:.2} s",
        experiment.applications.len(),
        begun.elapsed().as_secs_f64()
    );
    let published = args.applications.is_none();
    print::result(args.json, &record(&experiment, &results, published), |_| {
        table::table(&experiment, &results, published, Style::for_stdout(), columns())
    })?;
    if let Some(file) = picture {
        let waiting = Waiting::working(&format!("drawing {}", file.path().display()));
        let shown: Vec<_> = results
            .iter()
            .map(|result| (result.policy, experiment.repetition(result.policy, 0, predictor)))
            .collect();
        let sheet = draw::policies::sheet(&chart::comparison(&experiment, &results, &shown, published));
        let drawn = draw_sheet(&sheet, file.format());
        drop(waiting);
        file.write(drawn)?;
    }
    Ok(Exit::Done)
}

fn record<'a>(experiment: &Experiment, results: &'a [Result], published: bool) -> Record<'a> {
    Record {
        schema: "ftio.set10/1",
        applications: experiment.applications.len(),
        servers: experiment.platform.servers,
        level: LEVELS.iter().find(|(_, level)| *level == experiment.level).map_or("", |(name, _)| name),
        capacity: experiment.platform.capacity,
        alone: experiment.platform.alone,
        frame: [experiment.frame.begin, experiment.frame.end],
        repetitions: experiment.repetitions,
        seed: experiment.seed,
        policies: ByPolicy(results, |_, result| result.mean),
        change: ByPolicy(results, change),
        paper: published.then_some(ByPolicy(results, |_, result| result.policy.published())),
        repetition: ByPolicy(results, |_, result| result.all.clone()),
    }
}

/// Against fair share, if that was simulated.
pub fn change(results: &[Result], result: &Result) -> Published {
    let base = results.iter().find(|result| result.policy == Policy::FairShare).map(|result| result.mean);
    let of = |get: fn(&Metrics) -> f64| base.map(|base| get(&result.mean) / get(&base) - 1.0);
    Published {
        stretch_max: of(|m| m.stretch_max),
        stretch_geomean: of(|m| m.stretch_geomean),
        io_slowdown: of(|m| m.io_slowdown),
        utilisation: of(|m| m.utilisation),
    }
}
