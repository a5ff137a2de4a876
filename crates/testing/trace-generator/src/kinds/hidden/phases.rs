//! Regular phases of awkward forms.

use super::Job;
use crate::kinds::program::regular;
use crate::kinds::{Kind, Made};
use crate::random::Random;
use crate::shape::Shape;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("as_fast_as_it_goes", "compute, then write as fast as the storage allows now", as_fast),
    Kind::new("headers_before_bulk", "two to twelve small headers in each phase, then the bulk", headers),
    Kind::new("many_small_then_bulk", "many small files, then the bulk", small_first),
    Kind::new(
        "throttled_a_while",
        "for a while phases take 2 to 6 times as long, on the same clock",
        throttled,
    ),
    Kind::new("mostly_writing", "writes 50 to 92 % of the time, computes shortly", mostly),
    Kind::new("unlike_bursts", "two to five unlike bursts in each cycle", unlike),
];

fn as_fast(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (spread, memory) = (random.between(0.05, 0.6), random.between(0.0, 0.9));
    let (varies, is_uneven) = (random.between(0.01, 0.06), random.chance(0.3));
    let loads = super::remembering(random, job.count, memory);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for load in loads {
        let length = job.length() * (spread * load).exp();
        let volume = if is_uneven { random.factor(0.4) } else { 1.0 };
        job.phase(random, time, length, volume);
        starts.push(time);
        let compute = job.period() * (1.0 - job.busy);
        time += length + compute * (1.0 + varies * random.normal()).max(0.1);
    }
    job.program.made(regular(starts))
}

fn headers(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let varies = random.between(0.01, 0.06);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    let (period, rate) = (job.period(), job.rate());
    for _ in 0..job.count {
        for header in 0..random.whole(2, 11) {
            let at = if header == 0 { time } else { time + 0.15 * period * random.unit() };
            job.program.all_ranks(at, at + 0.002 * period, rate * 4e-5 * period);
        }
        let length = 0.6 * job.length() * random.factor(0.1);
        let (at, bytes) = (time + 0.17 * period * random.between(0.9, 1.1), job.volume());
        job.program.shaped(random, Shape::Ior, at, length, bytes);
        starts.push(time);
        let compute = period * (1.0 - job.busy);
        time += length + 0.17 * period + compute * (1.0 + varies * random.normal()).max(0.1);
    }
    job.program.made(regular(starts))
}

fn small_first(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.program.jitter = random.between(0.0, 0.05);
    let (files, while_) = (random.whole(5, 39), random.between(0.05, 0.3) * job.period());
    let bytes = job.volume() * random.log_between(1e-4, 0.05) / files as f64;
    let length = 0.2 * while_ / files as f64;
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..job.count {
        for file in 0..=files {
            let at = if file == 0 { time } else { time + random.between(0.0, while_) };
            job.burst(at, length, bytes);
        }
        job.usual(random, time + while_, 1.0);
        starts.push(time);
        time += job.distance(random);
    }
    job.program.made(regular(starts))
}

fn throttled(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.program.jitter = random.between(0.0, 0.04);
    let (one, other, slow) = (random.unit(), random.unit(), random.between(2.0, 6.0));
    let slowed = one.min(other)..one.max(other);
    job.busy = job.busy.min(0.9 / slow);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for i in 0..job.count {
        let slow = if slowed.contains(&(i as f64 / job.count as f64)) { slow } else { 1.0 };
        let length = job.length() * slow * random.factor(0.1);
        job.phase(random, time, length, 1.0);
        starts.push(time);
        time += job.distance(random);
    }
    job.program.made(regular(starts))
}

fn mostly(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.busy = random.between(0.5, 0.92);
    let spread = random.between(0.0, 0.06);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..job.count {
        let length = job.length() * random.factor(spread);
        job.phase(random, time, length, 1.0);
        starts.push(time);
        time += length + (1.0 - job.busy) * job.period() * (1.0 + 0.1 * random.normal()).max(0.2);
    }
    job.program.made(regular(starts))
}

fn unlike(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.program.jitter = random.between(0.0, 0.04);
    let count = random.whole(2, 5);
    let period = job.period();
    // Place in the cycle, length, and volume of each; one is larger.
    let larger = random.below(count);
    let bursts: Vec<(f64, f64, f64)> = (0..count)
        .map(|i| {
            let place = if i == 0 { 0.0 } else { random.between(0.08, 0.85) };
            let volume = (0.8 * random.normal()).exp() * if i == larger { 3.0 } else { 1.0 };
            (place * period, random.between(0.02, 0.07) * period, volume)
        })
        .collect();
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..job.count {
        for &(place, length, volume) in &bursts {
            let late = 1.0 + 0.3 * job.program.jitter * random.normal();
            if random.chance(0.5) {
                job.phase(random, time + place * late, length, volume);
            } else {
                let bytes = volume * job.volume();
                job.burst(time + place * late, length, bytes);
            }
        }
        starts.push(time);
        time += job.distance(random);
    }
    job.program.made(regular(starts))
}
