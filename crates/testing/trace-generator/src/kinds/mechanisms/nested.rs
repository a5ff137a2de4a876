//! Rhythms inside of rhythms, and beside them.

use super::job::Job;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("rows_of_bursts", "every output is a row of equal bursts; both are wanted", rows).within(0.04),
    Kind::new("heartbeat", "a few bytes every few seconds to say that the job lives, and outputs", heartbeat),
    Kind::new("three_intervals_at_once", "fast, slower and slowest output: any of them", three).within(0.04),
    Kind::new("diagnostics_and_forcing", "little is written every step, much is read every n", diagnostics)
        .within(0.04),
    Kind::new(
        "history_and_restart_in_samples",
        "history files, and restart files, as a monitor sees them",
        in_samples,
    )
    .within(0.04),
    Kind::new(
        "epochs_in_samples",
        "batches of some samples each, a pause after each epoch",
        epochs_in_samples,
    )
    .within(0.05),
    Kind::new(
        "two_servers_added_up",
        "two jobs whose periods are near to each other; both are wanted",
        near_periods,
    )
    .within(0.03),
];

/// Rows of `each` bursts, a pause after each row of at least that share of the row.
fn row(random: &mut Random, count: usize, each: usize, pause: (f64, f64)) -> (Job, f64) {
    let mut job = Job::even(random, count * each, 0.02);
    let busy = random.between(0.2, 0.7);
    let pause = random.between(pause.0, pause.1);
    job.busy = 1.0 / (1.0 + pause);
    let distance = job.length() / each as f64;
    let first = job.first(random);
    job.clocked = false;
    let (starts, next) = job.rhythm(random, first, count);
    let bytes = job.volume() / each as f64;
    let shake = random.between(0.0, 0.03);
    for &start in &starts {
        for i in 0..each {
            let late = if i == 0 { 0.0 } else { shake * random.normal() };
            job.write(0, start + (i as f64 + late) * distance, busy * distance, bytes);
        }
        let end = start + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    (job, distance)
}

fn rows(random: &mut Random) -> Made {
    let (count, each) = (random.whole(6, 25), random.whole(6, 40));
    let (job, distance) = row(random, count, each, (0.5, 3.0));
    let period = job.mean_truth().period.unwrap_or(job.period);
    job.both(random, period, distance)
}

fn heartbeat(random: &mut Random) -> Made {
    let count = random.whole(7, 40);
    let mut job = Job::even(random, count, 0.05);
    job.busy = job.busy.min(0.3);
    job.play(random, count);
    let each = job.period / random.log_between(5.0, 100.0);
    let (until, bytes) = (job.end(), (1e-4 * job.volume()).min(4096.0));
    let mut time = each * random.unit();
    while time < until {
        job.write(0, time, 1e-3 * each, bytes);
        time += each;
    }
    job.regular(random).also(&[each])
}

fn three(random: &mut Random) -> Made {
    let (a, b, count) = (random.whole(3, 6), random.whole(3, 5), random.whole(6, 10));
    let mut job = Job::even(random, a * b * count, 0.015);
    (job.clocked, job.busy) = (true, random.between(0.03, 0.1));
    let (starts, next) = job.rhythm(random, 0.0, a * b * count);
    let grows = random.between(1.5, 5.0);
    for (i, start) in starts.into_iter().enumerate() {
        let level = usize::from(i % a == 0) + usize::from(i % (a * b) == 0);
        let (length, volume) = (job.length() * (1.0 + level as f64), job.volume() * grows.powi(level as i32));
        job.phase(random, start, length, volume);
    }
    job.next = Some(next);
    let fast = job.mean_truth().period.unwrap_or(job.period);
    job.regular(random).also(&[a as f64 * fast, (a * b) as f64 * fast])
}

fn diagnostics(random: &mut Random) -> Made {
    let (count, each) = (random.whole(7, 20), random.log_between(4.0, 60.0));
    let mut job = Job::even(random, count, 0.02);
    job.busy = random.between(0.03, 0.3);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let (length, volume) = (job.length(), job.volume());
    for &start in &starts {
        job.read(0, start, length, volume);
        job.mark(start, start + length);
    }
    let (step, until) = (job.period / each, job.end());
    let (bytes, shake) = (volume / each * random.log_between(0.01, 0.5), random.between(0.0, 0.05));
    let mut time = step * random.unit();
    while time < until {
        job.write(0, time, 0.2 * step, bytes);
        time += step * (1.0 + shake * random.normal());
    }
    job.next = Some(next);
    let period = job.mean_truth().period.unwrap_or(job.period);
    job.both(random, period, step)
}

fn in_samples(random: &mut Random) -> Made {
    let (count, each) = (random.whole(8, 16), random.whole(3, 7));
    let mut job = Job::even(random, count * each, 0.01);
    let step = random.pick(&[1.0, 5.0, 60.0]);
    (job.ranks, job.writers, job.clocked) = (1, 1, true);
    job.period = step * random.between(8.0, 30.0);
    job.busy = random.between(0.1, 0.25);
    let first = job.first(random);
    let (starts, _) = job.rhythm(random, first, count * each);
    let larger = random.between(1.2, 2.0) * each as f64;
    for (i, start) in starts.into_iter().enumerate() {
        let (length, volume) = (job.length(), job.volume());
        if i % each == 0 {
            job.phase(random, start, 2.0 * length, larger * volume);
        } else {
            job.output(random, start, length, volume);
        }
    }
    let noise = job.rate * random.between(0.0, 0.15);
    let (fast, slow) = (job.period, job.period * each as f64);
    job.both(random, slow, fast).logged(step, |_, value| value + noise * random.exponential(1.0))
}

fn epochs_in_samples(random: &mut Random) -> Made {
    let (count, each) = (random.whole(6, 14), random.whole(6, 30));
    let (job, distance) = row(random, count, each, (0.4, 1.5));
    let (step, period) =
        (distance / random.between(4.0, 12.0), job.mean_truth().period.unwrap_or(job.period));
    let noise = job.rate * random.between(0.0, 0.1);
    job.both(random, period, distance).logged(step, |_, value| value + noise * random.exponential(1.0))
}

fn near_periods(random: &mut Random) -> Made {
    let count = random.whole(20, 50);
    let mut job = Job::even(random, count, 0.008);
    (job.ranks, job.writers, job.clocked) = (2, 1, true);
    job.busy = random.between(0.04, 0.12);
    job.play(random, count);
    let other = job.period * random.pick(&[1.27, 1.38, 1.61, 1.73]);
    let (until, length) = (job.end(), other * random.between(0.04, 0.12));
    let bytes = job.volume() * random.between(0.7, 1.4);
    let (mut time, mut moved) = (other * random.unit(), 0.0);
    while time + length < until {
        job.write(1, time, length, bytes);
        moved += bytes;
        time += other;
    }
    let period = job.mean_truth().period.unwrap_or(job.period);
    if job.volume() * count as f64 >= moved {
        return job.both(random, period, other);
    }
    let mut made = job.both(random, other, period);
    (made.truth.starts, made.truth.ends, made.truth.next) = (Vec::new(), Vec::new(), None);
    made
}
