//! Long jobs and long logs: hundreds and thousands of phases.

use super::job::Job;
use crate::kinds::{Kind, Made};
use crate::random::Random;
use std::f64::consts::TAU;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("weeks_with_failures", "hundreds of outputs, failures and waits between", failures),
    Kind::new("pace_of_the_day", "hundreds of outputs whose distances follow the load of the day", by_day),
    Kind::new("two_sizes_by_chance", "hundreds of outputs, large or small in no order", two_sizes),
    Kind::new("hundreds_of_rows", "hundreds of outputs of a few bursts each", rows),
    Kind::new("timer_in_a_long_log", "tens of thousands of samples, a timed job among noise", timer),
    Kind::new(
        "thousands_of_steps_drift",
        "thousands of steps that become slower by a tenth to a third",
        drifting,
    ),
];

/// A job of 300 to 2000 phases, written by one rank.
fn long(random: &mut Random, most: f64, jitter: f64) -> (Job, usize) {
    let count = random.log_between(300.0, most) as usize;
    let mut job = Job::even(random, count, jitter);
    (job.ranks, job.writers) = (1, 1);
    job.busy = random.log_between(0.01, 0.3);
    (job, count)
}

fn failures(random: &mut Random) -> Made {
    let (mut job, count) = long(random, 2000.0, 0.06);
    job.clocked = false;
    let (often, mut time) = (random.log_between(2.0, 40.0) / count as f64, 0.0);
    for _ in 0..count {
        job.usual(random, time);
        time += job.distance(random, 1.1 * job.length());
        if random.chance(often) {
            time += job.period * random.log_between(0.3, 200.0);
        }
    }
    job.next = Some(time);
    let period = job.undisturbed();
    job.based(random, period)
}

fn by_day(random: &mut Random) -> Made {
    let (mut job, count) = long(random, 1500.0, 0.03);
    let (day, depth) = (random.between(80.0, 300.0), random.between(0.03, 0.2));
    let mut time = 0.0;
    for i in 0..count {
        job.usual(random, time);
        time += job.distance(random, 1.3 * job.length()) * (1.0 + depth * (TAU * i as f64 / day).sin());
    }
    job.next = Some(time);
    job.regular(random)
}

fn two_sizes(random: &mut Random) -> Made {
    let (mut job, count) = long(random, 2000.0, 0.06);
    let (share, small) = (random.between(0.1, 0.7), random.log_between(0.01, 0.6));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let size = if random.chance(share) { small } else { 1.0 };
        let (length, volume) = (job.length() * size.max(0.1), job.volume() * size);
        job.phase(random, start, length, volume);
    }
    job.next = Some(next);
    job.regular(random)
}

fn rows(random: &mut Random) -> Made {
    let (mut job, count) = long(random, 1000.0, 0.03);
    let number = random.whole(2, 6);
    job.busy = random.between(0.15, 0.45);
    let (busy, shake) = (random.between(0.2, 0.6), random.between(0.0, 0.2));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let (distance, bytes) = (job.length() / number as f64, job.volume() / number as f64);
    for &start in &starts {
        for i in 0..number {
            let late = if i == 0 { 0.0 } else { shake * random.unit() };
            job.write(0, start + (i as f64 + late) * distance, busy * distance, bytes);
        }
        let end = start + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    let made = job.regular(random);
    if number > 3 { made.also(&[distance]) } else { made }
}

fn timer(random: &mut Random) -> Made {
    let (mut job, count) = long(random, 800.0, 0.005);
    let step = random.pick(&[1.0, 10.0, 60.0]);
    (job.clocked, job.period) = (true, step * random.between(20.0, 60.0));
    job.busy = random.between(0.05, 0.3);
    job.play(random, count);
    let noise = job.rate * random.between(0.05, 0.8);
    job.regular(random).logged(step, |_, value| value + noise * random.exponential(1.0))
}

fn drifting(random: &mut Random) -> Made {
    let (mut job, count) = long(random, 2000.0, 0.04);
    let slower = random.between(0.1, 0.3);
    let mut time = 0.0;
    for i in 0..count {
        job.usual(random, time);
        let now = 1.0 + slower * (i as f64 / count as f64 - 0.5);
        time += job.distance(random, 1.5 * job.length()) * now;
    }
    job.next = Some(time);
    job.regular(random)
}
