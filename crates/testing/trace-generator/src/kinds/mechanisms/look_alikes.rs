//! What looks like a rhythm for a while and is none.

use super::job::Job;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "gaps_grow_evenly",
        "no period: the second gap is twice the first, the third three times",
        evenly,
    ),
    Kind::new("four_unlike_distances", "no period: four to six outputs, distances unlike each other", unlike),
    Kind::new("sessions_and_breaks", "no period: short gaps within sessions, long ones between", sessions),
    Kind::new("one_of_many_intervals", "no period: each time one of several intervals", intervals),
    Kind::new("single_pass", "no period: one pass over unequal pieces of work", single_pass),
    Kind::new("bursts_at_the_edges", "no period: much at the begin, much at the end, little between", edges),
    Kind::new("halving_search", "no period: each probe reads half as much and takes half as long", halving),
    Kind::new(
        "steps_that_slow_down",
        "no period: steps of a growing problem, each longer by a third",
        slow_down,
    ),
];

fn job(random: &mut Random, count: usize) -> Job {
    let mut job = Job::any(random, count);
    job.busy = random.log_between(0.02, 0.3);
    job
}

fn evenly(random: &mut Random) -> Made {
    let count = random.whole(5, 25);
    let (mut job, shake) = (job(random, count), random.between(0.0, 0.1));
    let mut time = 0.0;
    for i in 1..=count {
        job.usual(random, time);
        time += job.period * i as f64 * (1.0 + shake * random.normal()).max(0.5);
    }
    job.none(random)
}

fn unlike(random: &mut Random) -> Made {
    let count = random.whole(3, 5);
    let mut job = job(random, count);
    // No two of the distances are within a third of each other, nor one a multiple of another.
    let mut gaps: Vec<f64> =
        (0..count).map(|i| job.period * 1.43f64.powi(i as i32) * random.between(0.95, 1.05)).collect();
    for i in (1..count).rev() {
        gaps.swap(i, random.below(i + 1));
    }
    let spread = random.between(0.0, 0.5);
    let mut time = 0.0;
    for gap in gaps.into_iter().chain([0.0]) {
        let size = random.factor(spread);
        let (length, volume) = (job.length(), job.volume() * size);
        job.output(random, time, length, volume);
        time += gap;
    }
    job.none(random)
}

fn sessions(random: &mut Random) -> Made {
    let count = random.whole(20, 120);
    let mut job = job(random, count);
    let (often, short) = (random.between(0.08, 0.3), random.between(0.05, 0.2));
    let mut time = 0.0;
    for _ in 0..count {
        let length = 0.3 * short * job.period * random.factor(0.5).min(2.0);
        let volume = job.rate * length * random.factor(0.5);
        job.output(random, time, length, volume);
        let mean = if random.chance(often) { 3.0 } else { short };
        time += length + job.period * random.exponential(mean);
    }
    job.none(random)
}

fn intervals(random: &mut Random) -> Made {
    let count = random.whole(12, 60);
    let mut job = job(random, count);
    let factors = [0.5, 0.73, 1.0, 1.61, 2.37, 3.29];
    let mut time = 0.0;
    for _ in 0..count {
        job.usual(random, time);
        time += job.length() + job.period * random.pick(&factors) * random.between(0.97, 1.03);
    }
    job.at_random(random)
}

fn single_pass(random: &mut Random) -> Made {
    let count = random.whole(15, 200);
    let (mut job, spread) = (job(random, count), random.between(0.8, 1.5));
    let mut time = 0.0;
    for _ in 0..count {
        let size = random.factor(spread);
        let length = 0.1 * job.period * size;
        job.read(0, time, length, job.rate * length);
        time += length + job.period * size * random.factor(0.3);
    }
    let length = job.period * random.between(0.1, 2.0);
    job.write(0, time, length, job.rate * length);
    job.none(random)
}

fn edges(random: &mut Random) -> Made {
    let mut job = job(random, 50);
    let whole = job.period * random.between(10.0, 100.0);
    for (at, count) in [(0.0, random.whole(3, 20)), (whole, random.whole(3, 20))] {
        let mut time: f64 = at;
        for _ in 0..count {
            let length = job.period * 0.2 * random.factor(0.6);
            let volume = job.rate * length * random.factor(0.6);
            job.output(random, time, length, volume);
            time += length + job.period * random.exponential(0.1);
        }
    }
    for _ in 0..random.below(4) {
        let (at, length) = (whole * random.between(0.1, 0.9), 0.02 * job.period);
        job.write(0, at, length, 1e-3 * job.rate * length);
    }
    job.none(random)
}

fn halving(random: &mut Random) -> Made {
    let count = random.whole(6, 14);
    let mut job = job(random, count);
    let (mut time, mut size, order) = (0.0, 1.0, random.chance(0.5));
    let shrink = random.between(0.45, 0.7);
    for i in 0..count {
        let size_now = if order { size } else { shrink.powi((count - i) as i32) };
        let length = 0.3 * job.period * size_now;
        job.read(0, time, length, job.rate * length);
        time += job.period * size_now * random.between(0.95, 1.05);
        size *= shrink;
    }
    job.none(random)
}

fn slow_down(random: &mut Random) -> Made {
    let count = random.whole(6, 16);
    let (mut job, factor) = (job(random, count), random.between(1.25, 1.5));
    let (mut time, mut gap) = (0.0, job.period);
    for _ in 0..count {
        let (length, volume) = (0.2 * gap, job.rate * 0.2 * gap);
        job.output(random, time, length, volume);
        time += gap * random.factor(0.05);
        gap *= factor;
    }
    job.none(random)
}
