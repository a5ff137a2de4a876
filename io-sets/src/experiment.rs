//! The published experiment, and what was published about it.
//!
//! Report §5 (and §IV of *Capturing Periodic I/O Using Frequency Techniques*, IPDPS 2024, "the paper"): sixteen applications of
//! eight processes start together; one writes 16 MiB per process every 18 s, fifteen write 320 MiB per process every 360 s. One
//! application alone reaches about 110 MiB/s, so that periods are 19.2 and 384 s, of which I/O takes 6.25 %. Metrics are taken from
//! second 400 to 3200, ten times.

use crate::metrics::{Frame, Metrics};
use crate::queue::{JobId, Turns};
use crate::simulate::{
    Application, Erroneous, Known, Level, NewPredictor, Noise, Outcome, Platform, Sharing, Simulation,
};
use rayon::prelude::*;
use serde::Serialize;

const MIB: u64 = 1 << 20;

/// How the file system is shared, and what the scheduler knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// No scheduling.
    FairShare,
    /// One application at a time, whoever began first.
    Fcfs,
    /// Sets, with the periods known beforehand.
    Clairvoyant,
    /// Sets, with the periods that a predictor finds.
    Predicted,
    /// Sets, with each predicted period 50 % too large or too small.
    Error50,
}

impl Policy {
    /// All, in the order in which they are shown.
    pub const ALL: [Policy; 5] =
        [Policy::FairShare, Policy::Fcfs, Policy::Clairvoyant, Policy::Predicted, Policy::Error50];

    /// As results name it.
    pub fn name(self) -> &'static str {
        match self {
            Policy::FairShare => "fair_share",
            Policy::Fcfs => "fcfs",
            Policy::Clairvoyant => "set10_clairvoyant",
            Policy::Predicted => "set10_predicted",
            Policy::Error50 => "set10_error50",
        }
    }

    /// What was published: changes against no scheduling, as parts (−0.63: 63 % less). `None` where nothing was.
    ///
    /// Those of [`Error50`](Policy::Error50) were given against [`Predicted`](Policy::Predicted): 5 % more stretch, 27 % more
    /// slowdown, 4 % less utilisation.
    pub fn published(self) -> Published {
        let [stretch_max, stretch_geomean, io_slowdown, utilisation] = match self {
            Policy::FairShare => [Some(0.0); 4],
            Policy::Fcfs => [None; 4],
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    pub turns: Turns,
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
            platform: Platform { servers: 1, stripe: 4, capacity: alone, alone, request: MIB },
            applications,
            noise: Noise { start: 1.0, compute: 0.002, bandwidth: 0.05, share: 0.0 },
            frame: Frame { begin: 400.0, end: 3200.0 },
            repetitions: 10,
            seed: 1,
            level: Level::Fluid,
            turns: Turns::Unlimited,
        }
    }

    /// One repetition.
    pub fn repetition(&self, policy: Policy, repetition: u32, predictor: &NewPredictor<'_>) -> Outcome {
        let seed = self.seed.wrapping_add(u64::from(repetition));
        let wrong: &NewPredictor<'_> = &|job, start| {
            let own = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ u64::from(job);
            Box::new(Erroneous::new(predictor(job, start), 0.5, own))
        };
        let sets = Sharing::Sets(self.turns);
        let (sharing, known) = match policy {
            Policy::FairShare => (Sharing::Fair, Known::All),
            Policy::Fcfs => (Sharing::FirstCome, Known::All),
            Policy::Clairvoyant => (sets, Known::All),
            Policy::Predicted => (sets, Known::Predicted(predictor)),
            Policy::Error50 => (sets, Known::Predicted(wrong)),
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

    /// The metrics of all repetitions, for each policy in the order of [`Policy::ALL`].
    pub fn run(&self, predictor: &NewPredictor<'_>) -> Vec<(Policy, Vec<Metrics>)> {
        let tasks: Vec<(Policy, u32)> =
            Policy::ALL.iter().flat_map(|&policy| (0..self.repetitions).map(move |i| (policy, i))).collect();
        let metrics: Vec<Metrics> = tasks
            .par_iter()
            .map(|&(policy, i)| {
                Metrics::of(&self.repetition(policy, i, predictor), self.frame, self.platform.alone)
            })
            .collect();
        let of = |i: usize| metrics[i * self.repetitions as usize..][..self.repetitions as usize].to_vec();
        Policy::ALL.iter().enumerate().map(|(i, &policy)| (policy, of(i))).collect()
    }
}
