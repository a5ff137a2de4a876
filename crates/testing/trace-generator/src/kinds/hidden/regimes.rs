//! Periods that follow one another, or wander.

use super::Job;
use crate::generated::Truth;
use crate::kinds::program::regular;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("two_or_three_periods", "two or three periods, one after another: all are wanted", periods),
    Kind::new(
        "new_interval",
        "the interval is changed, and often the volume with it: all are wanted",
        intervals,
    ),
    Kind::new(
        "slowly_changing_steps",
        "output at equal simulated times, time steps that change slowly",
        steps,
    ),
];

/// Periods and the volumes of their phases; each holds for `least` to `most` phases.
fn following(random: &mut Random, stages: &[(f64, f64)], least: usize, most: usize, jitter: f64) -> Made {
    let mut job = Job::any(random);
    let (usual, first) = (job.period(), job.program.first);
    let shortest = usual * stages.iter().map(|stage| stage.0).fold(f64::INFINITY, f64::min);
    let (mut time, mut starts, mut changes, mut periods) = (first, Vec::new(), Vec::new(), Vec::new());
    for &(factor, volume) in stages {
        let period = usual * factor;
        let length = (0.8 * job.busy * shortest * f64::sqrt(volume)).min(0.4 * period);
        changes.push(time);
        let from = time;
        let count = random.whole(least, most);
        for _ in 0..count {
            job.phase(random, time, length, volume * length / job.length());
            starts.push(time);
            time += period * (1.0 + jitter * random.normal());
        }
        periods.push((time - from) / count as f64);
    }
    job.program.made(Truth { periods, changes, starts, ..Truth::default() })
}

/// A factor by which a period changes.
fn change(random: &mut Random, least: f64, most: f64) -> f64 {
    (random.pick(&[-1.0, 1.0]) * random.between(least, most)).exp()
}

fn periods(random: &mut Random) -> Made {
    let mut stages = vec![(1.0, 1.0)];
    for _ in 0..random.whole(1, 2) {
        let last = stages[stages.len() - 1].0;
        stages.push((last * change(random, 0.25, 1.0), 1.0));
    }
    following(random, &stages, 7, 17, 0.02)
}

fn intervals(random: &mut Random) -> Made {
    let is_same = random.chance(0.4);
    let mut stages = vec![(1.0, 1.0)];
    for _ in 0..random.whole(1, 2) {
        let last = stages[stages.len() - 1].0;
        let volume = if is_same { 1.0 } else { random.log_between(0.15, 6.0) };
        stages.push((last * change(random, 0.22, 1.1), volume));
    }
    let jitter = random.between(0.0, 0.04);
    following(random, &stages, 6, 19, jitter)
}

fn steps(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (swing, turns) = (random.between(0.05, 0.3), random.between(0.3, 2.5));
    let (phase, count) = (6.0 * random.unit(), random.whole(12, 49));
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for i in 0..count {
        job.usual(random, time, 1.0);
        starts.push(time);
        let turn = phase + std::f64::consts::TAU * turns * i as f64 / count as f64;
        time += job.period() * (1.0 + swing * turn.sin() + 0.02 * random.normal());
    }
    job.program.made(regular(starts))
}
