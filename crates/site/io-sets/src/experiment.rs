//! The published experiment, and what was published about it.
//!
//! Report §5 (and §IV of *Capturing Periodic I/O Using Frequency Techniques*, IPDPS 2024, "the paper"):
//! sixteen applications of eight processes start together; one writes 16 MiB per process every 18 s, fifteen
//! write 320 MiB per process every 360 s. One application alone reaches about 110 MiB/s, so that periods are
//! 19.2 and 384 s, of which I/O takes 6.25 %. Metrics are taken from second 400 to 3200, ten times.
//!
//! What the server takes when several write at once was not published. Here it is [`CAPACITY`] times what one
//! reaches alone; `docs/set-10.md` says why, and what other values give.

use crate::metrics::{Frame, Metrics};
use crate::queue::{JobId, Patience};
use crate::simulate::{
    Application, Early, Erroneous, Known, Level, NewPredictor, Noise, Outcome, Platform, Sharing, Simulation,
};
use rayon::prelude::*;
use schemars::JsonSchema;
use seeded_random::Random;
use serde::Serialize;

const MIB: u64 = 1 << 20;

/// The bandwidth of the server compared to that of one application alone: the value for which the effect of
/// sets on mean stretch and utilisation, with periods known beforehand, is the published one.
pub const CAPACITY: f64 = 2.0;

/// How the file system is shared, and what the scheduler knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// No scheduling.
    FairShare,
    /// One application at a time, whoever began first.
    Fcfs,
    /// Sets, with the periods known beforehand.
    Clairvoyant,
    /// Sets, with the periods that a predictor finds, and until it has found one,
    /// [a guess](crate::simulate::Early).
    Predicted,
    /// The same without the guess.
    Strict,
    /// Sets, with each predicted period 50 % too large or too small.
    Error50,
}

impl Policy {
    /// All, in the order in which they are shown.
    pub const ALL: [Policy; 6] = [
        Policy::FairShare,
        Policy::Fcfs,
        Policy::Clairvoyant,
        Policy::Predicted,
        Policy::Error50,
        Policy::Strict,
    ];

    /// As results name it.
    pub fn name(self) -> &'static str {
        match self {
            Policy::FairShare => "fair_share",
            Policy::Fcfs => "fcfs",
            Policy::Clairvoyant => "set10_clairvoyant",
            Policy::Predicted => "set10_predicted",
            Policy::Error50 => "set10_error50",
            Policy::Strict => "set10_strict",
        }
    }

    /// What was published: changes against no scheduling, as parts (−0.63: 63 % less). `None` where nothing
    /// was.
    ///
    /// Those of [`Error50`](Policy::Error50) were given against [`Predicted`](Policy::Predicted): 5 % more
    /// stretch, 27 % more slowdown, 4 % less utilisation.
    pub fn published(self) -> Published {
        let [stretch_max, stretch_geomean, io_slowdown, utilisation] = match self {
            Policy::FairShare => [Some(0.0); 4],
            Policy::Fcfs | Policy::Strict => [None; 4],
            Policy::Clairvoyant => [Some(-0.16), Some(-0.22), Some(-0.63), Some(0.29)],
            Policy::Predicted => [None, Some(-0.20), Some(-0.56), Some(0.26)],
            Policy::Error50 => [
                None,
                Some((1.0 - 0.20) * 1.05 - 1.0),
                Some((1.0 - 0.56) * 1.27 - 1.0),
                Some((1.0 + 0.26) * 0.96 - 1.0),
            ],
        };
        Published { stretch_max, stretch_geomean, io_slowdown, utilisation }
    }
}

/// Changes against no scheduling, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Published {
    /// Of the largest stretch.
    pub stretch_max: Option<f64>,
    /// Of the mean stretch.
    pub stretch_geomean: Option<f64>,
    /// Of the I/O slowdown.
    pub io_slowdown: Option<f64>,
    /// Of the utilisation.
    pub utilisation: Option<f64>,
}

/// Everything that defines the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The file system.
    pub platform: Platform,
    /// Who uses it.
    pub applications: Vec<Application>,
    /// How regular they are.
    pub noise: Noise,
    /// Over which time metrics are taken.
    pub frame: Frame,
    /// How often it is repeated, each time with another seed.
    pub repetitions: u32,
    /// Of the first repetition.
    pub seed: u64,
    /// How finely to simulate.
    pub level: Level,
    /// Of the servers' queues.
    pub patience: Patience,
}

impl Experiment {
    /// As published, on one server.
    pub fn published() -> Self {
        let alone = 110.0 * MIB as f64;
        let application = |job: JobId, compute: f64, mib: u64| Application {
            job,
            processes: 8,
            compute,
            bytes: 8 * mib * MIB,
            iterations: None,
            start: 0.0,
        };
        let mut applications = vec![Application { iterations: Some(200), ..application(1, 18.0, 16) }];
        applications.extend((2..=16).map(|job| application(job, 360.0, 320)));
        Experiment {
            platform: Platform { servers: 1, stripe: 4, capacity: CAPACITY * alone, alone, request: MIB },
            applications,
            noise: Noise { start: 1.0, compute: 0.002, bandwidth: 0.05, share: 0.0 },
            frame: Frame { begin: 400.0, end: 3200.0 },
            repetitions: 10,
            seed: 1,
            level: Level::Fluid,
            patience: Patience::Endless,
        }
    }

    /// Any number of applications, as on a large machine, over one hour: periods from 10 to 1000 s, all
    /// orders of magnitude alike; each does I/O for a part of its period such that together they need `load`
    /// of what the file system can do.
    pub fn mixed(count: usize, load: f64, seed: u64) -> Self {
        let gib = (1u64 << 30) as f64;
        let platform = Platform { servers: 1, stripe: 4, capacity: 10.0 * gib, alone: gib, request: 8 * MIB };
        let mut random = Random::new(seed);
        let drawn: Vec<[f64; 3]> =
            (0..count).map(|_| [random.unit(), random.unit(), random.unit()]).collect();
        let parts: f64 = drawn.iter().map(|[_, part, _]| part).sum();
        let application = |(i, &[period, part, start]): (usize, &[f64; 3])| {
            let period = 10f64.powf(1.0 + 2.0 * period);
            let io = (load * platform.capacity / platform.alone * part / parts).min(0.9);
            Application {
                job: 1 + i as JobId,
                processes: 8,
                compute: period * (1.0 - io),
                bytes: (period * io * platform.alone).max(1.0) as u64,
                iterations: None,
                start: start * period,
            }
        };
        let applications = drawn.iter().enumerate().map(application).collect();
        let noise = Noise { start: 0.0, compute: 0.05, bandwidth: 0.05, share: 0.0 };
        // By then all have started.
        let frame = Frame { begin: 1000.0, end: 3600.0 };
        Experiment { platform, applications, noise, frame, seed, ..Experiment::published() }
    }

    /// One repetition.
    pub fn repetition(&self, policy: Policy, repetition: u32, predictor: &NewPredictor<'_>) -> Outcome {
        let seed = self.seed.wrapping_add(u64::from(repetition));
        let early: &NewPredictor<'_> = &|job, start| Box::new(Early::new(predictor(job, start), start));
        let wrong: &NewPredictor<'_> = &|job, start| {
            let own = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ u64::from(job);
            Box::new(Erroneous::new(early(job, start), 0.5, own))
        };
        let sets = Sharing::Sets(self.patience);
        let (sharing, known) = match policy {
            Policy::FairShare => (Sharing::Fair, Known::All),
            Policy::Fcfs => (Sharing::FirstCome, Known::All),
            Policy::Clairvoyant => (sets, Known::All),
            Policy::Predicted => (sets, Known::Predicted(early)),
            Policy::Error50 => (sets, Known::Predicted(wrong)),
            Policy::Strict => (sets, Known::Predicted(predictor)),
        };
        let simulation = Simulation {
            platform: self.platform,
            applications: &self.applications,
            noise: self.noise,
            sharing,
            known,
            level: self.level,
            until: self.frame.end,
            seed,
        };
        simulation.run()
    }

    /// The metrics of all repetitions, for each of these policies.
    pub fn run(&self, policies: &[Policy], predictor: &NewPredictor<'_>) -> Vec<(Policy, Vec<Metrics>)> {
        self.run_telling(policies, predictor, &|| {})
    }

    /// The same; `done` is called after each repetition, by whichever thread ran it.
    pub fn run_telling(
        &self,
        policies: &[Policy],
        predictor: &NewPredictor<'_>,
        done: &(dyn Fn() + Sync),
    ) -> Vec<(Policy, Vec<Metrics>)> {
        let tasks: Vec<(Policy, u32)> =
            policies.iter().flat_map(|&policy| (0..self.repetitions).map(move |i| (policy, i))).collect();
        let metrics: Vec<Metrics> = tasks
            .par_iter()
            .map(|&(policy, i)| {
                let outcome = self.repetition(policy, i, predictor);
                done();
                Metrics::of(&outcome, self.frame, self.platform.alone)
            })
            .collect();
        let of = |i: usize| metrics[i * self.repetitions as usize..][..self.repetitions as usize].to_vec();
        policies.iter().enumerate().map(|(i, &policy)| (policy, of(i))).collect()
    }
}
