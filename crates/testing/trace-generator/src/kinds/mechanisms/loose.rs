//! Rhythms that are kept loosely, and patterns of distances.

use super::job::{Job, memory, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("work_of_any_amount", "equal outputs after steps whose lengths vary by 10 to 40 %", any_amount),
    Kind::new(
        "output_as_large_as_the_work",
        "what is written grows with the time since the last output",
        as_large,
    ),
    Kind::new("late_and_caught_up", "by the clock, but late for several in a row", caught_up),
    Kind::new("wait_in_a_queue", "a fixed time, then a wait in a queue that others fill", wait),
    Kind::new(
        "evenly_spread_distances",
        "distances anywhere between half and one and a half of the mean",
        spread,
    ),
    Kind::new("short_and_long_in_turn", "a shorter distance, then a longer one, again and again", in_turn),
    Kind::new("pattern_of_distances", "equal outputs at distances that repeat after three to five", pattern),
    Kind::new(
        "least_of_several_clocks",
        "step count or time limit, as one of them is reached",
        first_reached,
    ),
];

/// A loose job of `count` phases of at most that share of the period.
fn loose(random: &mut Random, count: usize, busy: f64) -> Job {
    let mut job = Job::any(random, count);
    job.busy = random.log_between(0.01, busy);
    job
}

fn any_amount(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let (mut job, deviation) = (loose(random, count, 0.25), random.between(0.1, 0.4));
    let mut time = job.first(random);
    for _ in 0..count {
        let end = job.usual(random, time);
        let work = random.gamma(1.0 / (deviation * deviation));
        time = end + (job.period - job.length()) * work.max(0.05);
    }
    job.next = Some(time);
    job.regular(random)
}

fn as_large(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let (mut job, deviation) = (loose(random, count, 0.2), random.between(0.1, 0.4));
    let mut time = job.first(random);
    for _ in 0..count {
        let work = random.gamma(1.0 / (deviation * deviation)).clamp(0.1, 3.0);
        time += (job.period - job.length()) * work;
        let (length, volume) = (job.length() * work, job.volume() * work);
        time = job.phase(random, time, length, volume);
    }
    job.regular(random)
}

fn caught_up(random: &mut Random) -> Made {
    let count = phases(random, 14).min(400);
    let mut job = loose(random, count, 0.2);
    let over = random.log_between(1.0, 8.0);
    let late = memory(random, count + 1, over);
    let most = random.between(0.05, 0.25);
    let mut at = job.first(random);
    let mut last = 0.0;
    for one in &late[..count] {
        let start = f64::max(at + most * job.period * one.abs(), last + 0.05 * job.period);
        last = job.usual(random, start);
        at += job.period;
    }
    job.next = Some(f64::max(at + most * job.period * late[count].abs(), last));
    let period = job.period;
    job.based(random, period)
}

fn wait(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let (mut job, share) = (loose(random, count, 0.25), random.between(0.03, 0.4));
    // Others come in crowds: some waits are long, most are none.
    let crowded = random.between(0.2, 1.0);
    let mut time = job.first(random);
    for _ in 0..count {
        let end = job.usual(random, time);
        let wait = if random.chance(crowded) { random.exponential(share / crowded) } else { 0.0 };
        time = end + (job.period - job.length()) * (1.0 - share + wait);
    }
    job.next = Some(time);
    job.regular(random)
}

fn spread(random: &mut Random) -> Made {
    let count = phases(random, 14);
    let (mut job, half) = (loose(random, count, 0.2), random.between(0.1, 0.5));
    let mut time = job.first(random);
    for _ in 0..count {
        job.usual(random, time);
        time += job.period * random.between(1.0 - half, 1.0 + half);
    }
    job.next = Some(time);
    job.regular(random)
}

/// Equal phases at distances that repeat.
fn repeated(random: &mut Random, distances: &[f64]) -> (Job, f64) {
    let count = distances.len() * random.whole(6, 30);
    let mut job = Job::even(random, count, 0.015);
    let least = distances.iter().copied().fold(1.0, f64::min);
    (job.busy, job.clocked) = (job.busy.min(0.3 * least), false);
    let mut time = job.first(random);
    for i in 0..count {
        job.usual(random, time);
        time += job.distance(random, 0.0) * distances[i % distances.len()];
    }
    job.next = Some(time);
    let cycle = (time - job.starts[0]) / count as f64 * distances.len() as f64;
    (job, cycle)
}

fn in_turn(random: &mut Random) -> Made {
    let by = random.between(0.05, 0.3);
    let (job, cycle) = repeated(random, &[1.0 - by, 1.0 + by]);
    // So near to each other that the outputs are the rhythm; their pairs are one as well.
    let mean = 0.5 * cycle;
    job.based(random, mean).also(&[cycle])
}

fn pattern(random: &mut Random) -> Made {
    let number = random.whole(3, 5);
    let mut distances: Vec<f64> = (0..number).map(|_| random.between(0.8, 1.2)).collect();
    distances[0] = random.between(1.8, 3.0);
    let (job, cycle) = repeated(random, &distances);
    // A phase of the cycle begins after the longest distance.
    let mut job = job;
    let from = 1..job.starts.len();
    let starts: Vec<f64> = from.clone().step_by(number).map(|i| job.starts[i]).collect();
    let ends = from.step_by(number).map(|i| job.ends[(i + number - 1).min(job.ends.len() - 1)]).collect();
    let mean = cycle / number as f64;
    (job.starts, job.ends, job.next) = (starts, ends, None);
    job.based(random, cycle).also(&[mean])
}

fn first_reached(random: &mut Random) -> Made {
    let count = phases(random, 14).min(300);
    let mut job = Job::even(random, count, 0.02);
    (job.busy, job.clocked) = (job.busy.min(0.25), false);
    // Most often the limit ends it; now and then the steps are done earlier.
    let (often, least) = (random.between(0.05, 0.25), random.between(0.5, 0.9));
    let mut time = job.first(random);
    for _ in 0..count {
        job.usual(random, time);
        let early = if random.chance(often) { random.between(least, 1.0) } else { 1.0 };
        time += job.distance(random, 0.0) * early;
    }
    job.next = Some(time);
    let period = job.undisturbed();
    job.regular(random).also(&[period])
}
