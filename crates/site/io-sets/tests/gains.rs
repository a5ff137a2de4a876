//! What the rules do for jobs that share a file system, against no scheduling at all: simulated, with the
//! numbers of the published experiment and of mixes where it does not pay.

use io_sets::arbiter::{Leases, Settings};
use io_sets::metrics::{Frame, Metrics};
use seeded_random::Random;
use turns::{FileSystem, SimulatedJob, run};

#[path = "support/turns.rs"]
mod turns;

const MIB: f64 = 1048576.0;

/// 1 × (0.9 s, 1.75 MiB) and 15 × (18 s, 35 MiB) at 30 MiB/s: the published experiment, twenty times faster.
fn published() -> Vec<SimulatedJob> {
    let job = |compute, bytes| SimulatedJob { start: 0.0, compute, bytes, takes_part: true };
    let mut jobs = vec![job(0.9, 1.75 * MIB)];
    jobs.extend((0..15).map(|i| job(18.0 + 0.001 * f64::from(i), 35.0 * MIB)));
    jobs
}

fn metrics(jobs: &[SimulatedJob], system: FileSystem, settings: Option<&Settings>) -> Metrics {
    let outcome = run(jobs, system, 110.0, settings);
    Metrics::of(&outcome, Frame { begin: 20.0, end: 100.0 }, system.alone)
}

fn scaled(leases: Leases) -> Settings {
    Settings { leases, time_scale: 20.0, ..Settings::default() }
}

const ALONE_FILLS: FileSystem = FileSystem { capacity: 30.0 * MIB, alone: 30.0 * MIB, varies: (0.0, 1.0) };

#[test]
fn the_published_experiment_gains_what_a_queue_in_the_server_gains() {
    let fair = metrics(&published(), ALONE_FILLS, None);
    for leases in [Leases::Fixed(1), Leases::Auto] {
        let with = metrics(&published(), ALONE_FILLS, Some(&scaled(leases)));
        println!("{leases}: {fair:?} {with:?}");
        assert!(with.stretch_geomean < 0.62 * fair.stretch_geomean, "{leases}: {fair:?} {with:?}");
        assert!(with.io_slowdown < 0.25 * fair.io_slowdown, "{leases}: {fair:?} {with:?}");
        assert!(with.utilisation > 1.55 * fair.utilisation, "{leases}: {fair:?} {with:?}");
    }
}

#[test]
fn where_one_job_cannot_fill_the_file_system_more_than_one_goes() {
    for times in [2.0, 4.0, 16.0] {
        let system = FileSystem { capacity: 30.0 * MIB, alone: 30.0 * MIB / times, varies: (0.0, 1.0) };
        // The same load: phases take longer, and there is as much time between them.
        let fair = metrics(&published(), system, None);
        let with = metrics(&published(), system, Some(&scaled(Leases::Auto)));
        println!("{times}: {fair:?} {with:?}");
        assert!(with.stretch_geomean <= 1.01 * fair.stretch_geomean, "{times}: {fair:?} {with:?}");
        assert!(with.utilisation >= 0.99 * fair.utilisation, "{times}: {fair:?} {with:?}");
    }
}

/// Sixteen jobs that begin at random times and would use this share of the file system.
fn like(load: f64, seed: u64) -> Vec<SimulatedJob> {
    let mut random = Random::new(seed);
    let job = |i: usize| {
        let period = if i == 0 { 0.96 } else { 19.2 };
        let io = period * load / 16.0;
        let start = random.unit() * period;
        SimulatedJob { start, compute: period - io, bytes: io * ALONE_FILLS.alone, takes_part: true }
    };
    (0..16).map(job).collect()
}

#[test]
fn random_starts_and_mixed_periods_are_never_worse_than_no_scheduling() {
    let mut random = Random::new(7);
    for (mix, load) in [("like", 0.97), ("like", 0.8), ("mixed", 0.8)] {
        let (mut stretch, mut slowdown) = (1.0, 1.0);
        for draw in 0..3 {
            let mut jobs = Vec::new();
            for i in 0..16 {
                let period = match mix {
                    "like" if i == 0 => 0.96,
                    "like" => 19.2,
                    // 10 to 1000 s, twenty times faster.
                    _ => 10f64.powf(random.unit() * 2.0 + 1.0) / 20.0,
                };
                let io = period * load / 16.0;
                let start = random.unit() * period;
                let bytes = io * ALONE_FILLS.alone;
                jobs.push(SimulatedJob { start, compute: period - io, bytes, takes_part: true });
            }
            let fair = metrics(&jobs, ALONE_FILLS, None);
            let with = metrics(&jobs, ALONE_FILLS, Some(&scaled(Leases::Auto)));
            println!("{mix} {load} {draw}: {fair:?} {with:?}");
            stretch *= with.stretch_geomean / fair.stretch_geomean;
            slowdown *= with.io_slowdown / fair.io_slowdown;
            assert!(with.stretch_geomean <= 1.01 * fair.stretch_geomean, "{mix} {load}: {fair:?} {with:?}");
        }
        println!("{mix} {load}: {stretch:.3} {slowdown:.3}");
        assert!(stretch <= 1.0 && slowdown <= 1.0, "{mix} {load}: {stretch} {slowdown}");
    }
}

#[test]
fn jobs_that_nearly_fill_the_file_system_do_not_waste_the_rest_of_it() {
    // One at a time would lose what such a job leaves, and at 97 % load nothing can be spared.
    for times in [1.15, 1.43, 2.5, 8.0] {
        let system = FileSystem { alone: ALONE_FILLS.capacity / times, ..ALONE_FILLS };
        for load in [0.97, 0.8] {
            let (mut stretch, mut most, draws) = (1.0, 1.0, 3);
            for seed in 0..draws {
                let jobs = like(load, seed);
                let fair = metrics(&jobs, system, None);
                let with = metrics(&jobs, system, Some(&scaled(Leases::Auto)));
                stretch *= with.stretch_geomean / fair.stretch_geomean;
                most *= with.stretch_max / fair.stretch_max;
            }
            let mean = |product: f64| product.powf(1.0 / draws as f64);
            println!("{times} {load}: {:.3} {:.3}", mean(stretch), mean(most));
            assert!(mean(stretch) <= 1.01, "{times} {load}: {}", mean(stretch));
            assert!(mean(most) <= 1.3, "{times} {load}: {}", mean(most));
        }
    }
}

#[test]
fn half_of_the_jobs_outside_leave_a_part_of_the_gain() {
    let mut jobs = published();
    jobs.iter_mut().skip(1).step_by(2).for_each(|job| job.takes_part = false);
    let fair = metrics(&jobs, ALONE_FILLS, None);
    let with = metrics(&jobs, ALONE_FILLS, Some(&scaled(Leases::Auto)));
    println!("{fair:?} {with:?}");
    assert!(with.stretch_geomean < 0.9 * fair.stretch_geomean, "{fair:?} {with:?}");
}

#[test]
fn a_file_system_whose_bandwidth_varies_gains_as_well() {
    let mixes =
        [("published", published(), 0.7), ("80 %", like(0.8, 11), 1.0), ("97 %", like(0.97, 13), 1.0)];
    for varies in [(0.2, 0.4), (0.5, 0.4), (0.8, 0.4), (0.5, 2.0), (0.8, 2.0), (0.5, 7.0), (0.8, 7.0)] {
        let system = FileSystem { varies, ..ALONE_FILLS };
        for (name, jobs, most) in &mixes {
            let fair = metrics(jobs, system, None);
            let with = metrics(jobs, system, Some(&scaled(Leases::Auto)));
            println!("{name} {varies:?}: {fair:?} {with:?}");
            assert!(
                with.stretch_geomean < most * fair.stretch_geomean,
                "{name} {varies:?}: {fair:?} {with:?}"
            );
            assert!(with.io_slowdown < 0.8 * fair.io_slowdown, "{name} {varies:?}: {fair:?} {with:?}");
        }
    }
}

#[test]
fn jobs_that_cannot_fill_a_file_system_that_varies_go_together() {
    for varies in [(0.5, 0.4), (0.8, 2.0), (0.5, 7.0)] {
        let system = FileSystem { capacity: 30.0 * MIB, alone: 5.0 * MIB, varies };
        let fair = metrics(&published(), system, None);
        let with = metrics(&published(), system, Some(&scaled(Leases::Auto)));
        println!("{varies:?}: {fair:?} {with:?}");
        assert!(with.stretch_geomean <= 1.02 * fair.stretch_geomean, "{varies:?}: {fair:?} {with:?}");
    }
}
