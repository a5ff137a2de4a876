//! What must hold in a simulation, whatever is simulated: nothing appears, nothing is lost, nobody is faster
//! than the file system.

use io_sets::experiment::{Experiment, Policy};
use io_sets::metrics::{Frame, Metrics, bandwidth_alone};
use io_sets::queue::{JobId, Nanoseconds, Patience};
use io_sets::simulate::{
    Application, Known, Level, Noise, Platform, Predictor, Sharing, Simulation, Transfer,
};
use seeded_random::Random;
use std::sync::{Arc, Mutex};

const MIB: f64 = (1 << 20) as f64;

/// Notes all that was transferred, and tells the mean time between the phases' ends once there are two.
#[derive(Debug)]
struct Notes {
    job: JobId,
    all: Arc<Mutex<Vec<(JobId, Transfer)>>>,
    flushes: Vec<Nanoseconds>,
}

impl Predictor for Notes {
    fn flush(&mut self, transfers: &[Transfer], now: Nanoseconds) -> Option<f64> {
        self.all.lock().unwrap().extend(transfers.iter().map(|&transfer| (self.job, transfer)));
        self.flushes.push(now);
        let (first, last) = (self.flushes.first()?, self.flushes.last()?);
        (self.flushes.len() > 1).then(|| (last - first) as f64 * 1e-9 / (self.flushes.len() - 1) as f64)
    }
}

fn applications(seed: u64, count: usize) -> Vec<Application> {
    let mut random = Random::new(seed);
    let one = |i: usize| {
        let period = 10f64.powf(1.0 + 1.5 * random.unit());
        let io = 0.02 + 0.2 * random.unit();
        Application {
            job: 100 + i as JobId,
            processes: 1 + random.below(4) as u32,
            compute: period * (1.0 - io),
            bytes: (period * io * 100.0 * MIB) as u64,
            iterations: Some(3),
            start: 30.0 * random.unit(),
        }
    };
    (0..count).map(one).collect()
}

fn platform(servers: usize) -> Platform {
    Platform { servers, stripe: 2, capacity: 150.0 * MIB, alone: 100.0 * MIB, request: 1 << 20 }
}

const SHARINGS: [Sharing; 4] = [
    Sharing::Fair,
    Sharing::FirstCome,
    Sharing::Sets(Patience::Endless),
    Sharing::Sets(Patience::OfPeriod(0.01)),
];

#[test]
fn bytes_in_are_bytes_out_and_no_bandwidth_is_exceeded() {
    for (level, servers) in [(Level::Fluid, 1), (Level::Fluid, 5), (Level::Requests, 1), (Level::Requests, 5)]
    {
        for sharing in SHARINGS {
            let applications = applications(servers as u64, 6);
            let all = Arc::new(Mutex::new(Vec::new()));
            let notes = |job, _| -> Box<dyn Predictor> {
                Box::new(Notes { job, all: Arc::clone(&all), flushes: Vec::new() })
            };
            let platform = platform(servers);
            let outcome = Simulation {
                platform,
                applications: &applications,
                noise: Noise { start: 1.0, compute: 0.1, bandwidth: 0.1, share: 0.2 },
                sharing,
                known: Known::Predicted(&notes),
                level,
                until: 1e6,
                seed: 3,
            }
            .run();
            let what = format!("{level:?}, {servers} servers, {sharing:?}");
            let all = all.lock().unwrap();
            for (application, course) in applications.iter().zip(&outcome.courses) {
                assert_eq!(course.phases.len(), 3, "{what}");
                assert_eq!(course.predictions, [3, 2], "{what}");
                let own =
                    || all.iter().filter(|(job, _)| *job == application.job).map(|(_, transfer)| transfer);
                let moved: f64 = own().map(|transfer| transfer.bytes).sum();
                assert!((moved / (3.0 * application.bytes as f64) - 1.0).abs() < 1e-6, "{what}: {moved}");
                for transfer in own() {
                    let (start, end) = (transfer.start as f64 * 1e-9, transfer.end as f64 * 1e-9);
                    let inside = course
                        .phases
                        .iter()
                        .any(|phase| phase.start <= start + 1e-6 && end <= phase.end + 1e-6);
                    assert!(inside && start <= end, "{what}: {transfer:?} is in no phase");
                }
                for phase in &course.phases {
                    let fastest = 1.1 * platform.alone * (phase.end - phase.start);
                    // A few requests more or less at the edges.
                    assert!(phase.bytes <= fastest + 4.0 * MIB, "{what}: {phase:?}");
                }
            }
            if level == Level::Fluid {
                assert_below(&all, platform.capacity, &what);
            } else {
                // What was handled by any time fits into the time before.
                let mut ends: Vec<(Nanoseconds, f64)> = all.iter().map(|(_, t)| (t.end, t.bytes)).collect();
                ends.sort_by_key(|(end, _)| *end);
                for (i, window) in ends.windows(400).enumerate() {
                    let bytes: f64 = window[1..].iter().map(|(_, bytes)| bytes).sum();
                    let time = (window[399].0 - window[0].0) as f64 * 1e-9;
                    let slack = servers as f64 * MIB;
                    assert!(bytes <= platform.capacity * time + slack, "{what}: {bytes} in {time} s at {i}");
                }
            }
        }
    }
}

/// The rates of all transfers together, at any time.
fn assert_below(all: &[(JobId, Transfer)], capacity: f64, what: &str) {
    let mut changes = Vec::new();
    for (_, Transfer { start, end, bytes }) in all {
        let rate = bytes / ((end - start) as f64 * 1e-9);
        changes.push((*start, rate));
        changes.push((*end, -rate));
    }
    changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut sum = 0.0;
    for (time, change) in changes {
        sum += change;
        // Stretches of nearly equal rate are one.
        assert!(sum <= 1.06 * capacity, "{what}: {} MiB/s at {time}", sum / MIB);
    }
}

#[test]
fn alone_every_policy_is_the_same() {
    let one = [Application { start: 5.0, iterations: None, ..applications(1, 1)[0].clone() }];
    for level in [Level::Fluid, Level::Requests] {
        for sharing in SHARINGS {
            let outcome = Simulation {
                platform: platform(1),
                applications: &one,
                noise: Noise::default(),
                sharing,
                known: Known::All,
                level,
                until: 2000.0,
                seed: 1,
            }
            .run();
            let metrics = Metrics::of(&outcome, Frame { begin: 100.0, end: 2000.0 }, platform(1).alone);
            for value in [metrics.stretch_max, metrics.stretch_geomean, metrics.io_slowdown] {
                assert!((value - 1.0).abs() < 0.03, "{level:?}, {sharing:?}: {metrics:?}");
            }
            let alone = bandwidth_alone(&[outcome]).unwrap();
            assert!(
                (alone / platform(1).alone - 1.0).abs() < 0.03,
                "{level:?}, {sharing:?}: {}",
                alone / MIB
            );
        }
    }
}

#[test]
fn one_set_takes_turns_by_id() {
    // Three applications in step, each with 10 s of I/O: alone, they end one after the other.
    let three: Vec<Application> = [9, 7, 8]
        .map(|job| Application {
            job,
            processes: 4,
            compute: 90.0,
            bytes: (1000.0 * MIB) as u64,
            iterations: Some(1),
            start: 0.0,
        })
        .into();
    for level in [Level::Fluid, Level::Requests] {
        let outcome = Simulation {
            platform: Platform { capacity: 100.0 * MIB, ..platform(1) },
            applications: &three,
            noise: Noise::default(),
            sharing: Sharing::Sets(Patience::Endless),
            known: Known::All,
            level,
            until: 1000.0,
            seed: 1,
        }
        .run();
        let ends: Vec<f64> = outcome.courses.iter().map(|course| course.phases[0].end.round()).collect();
        assert_eq!(ends, [120.0, 100.0, 110.0], "{level:?}");
    }
}

fn clairvoyant(_: JobId, _: Nanoseconds) -> Box<dyn Predictor> {
    unreachable!("nobody asks for predictions")
}

#[test]
fn rates_and_requests_agree() {
    for factor in [1.0, 2.0] {
        let mut fluid = Experiment::published();
        fluid.platform.capacity = factor * fluid.platform.alone;
        // Half the experiment, and large requests, for the sake of time.
        fluid.frame = Frame { begin: 400.0, end: 1600.0 };
        fluid.platform.request = 2 << 20;
        let requests = Experiment { level: Level::Requests, ..fluid.clone() };
        for policy in [Policy::FairShare, Policy::Fcfs, Policy::Clairvoyant] {
            let of = |experiment: &Experiment| {
                let outcome = experiment.repetition(policy, 0, &clairvoyant);
                Metrics::of(&outcome, experiment.frame, experiment.platform.alone)
            };
            let (a, b) = (of(&fluid), of(&requests));
            let close = |a: f64, b: f64, part: f64| (a / b - 1.0).abs() < part;
            assert!(
                close(a.stretch_max, b.stretch_max, 0.05)
                    && close(a.stretch_geomean, b.stretch_geomean, 0.03)
                    && close(a.io_slowdown, b.io_slowdown, 0.07)
                    && close(a.utilisation, b.utilisation, 0.03),
                "{policy:?}, {factor}: {a:?}, {b:?}"
            );
        }
    }
}

#[test]
fn sets_help_where_they_should() {
    let experiment = Experiment::published();
    let of = |policy| {
        let outcome = experiment.repetition(policy, 0, &clairvoyant);
        Metrics::of(&outcome, experiment.frame, experiment.platform.alone)
    };
    let (fair, sets) = (of(Policy::FairShare), of(Policy::Clairvoyant));
    assert!(sets.stretch_geomean < 0.85 * fair.stretch_geomean, "{fair:?}, {sets:?}");
    assert!(sets.io_slowdown < 0.5 * fair.io_slowdown);
    assert!(sets.utilisation > 1.2 * fair.utilisation);
    assert!(sets.stretch_max < fair.stretch_max);
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let experiment = Experiment::published();
    let run = |repetition| experiment.repetition(Policy::Clairvoyant, repetition, &clairvoyant);
    assert_eq!(run(0), run(0));
    assert_ne!(run(0), run(1));
}
