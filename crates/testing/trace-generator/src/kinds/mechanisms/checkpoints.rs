//! When a simulation writes its checkpoints: by time, by steps, by what failed before.

use super::job::{Job, jitter, phases};
use crate::generated::Truth;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "wall_time_of_few_steps",
        "after the step in which the interval ends; steps are long",
        few_steps,
    ),
    Kind::new(
        "steps_of_two_lengths",
        "every n steps, of which some rebuild lists and take longer",
        two_lengths,
    ),
    Kind::new("time_step_adapts", "every n steps whose length drifts slowly with the stiffness", adapts),
    Kind::new("rotated_slots", "two slots in turn, one on slow storage; a pointer file after each", rotated),
    Kind::new("interval_by_formula", "the interval is set anew two to four times; all are wanted", formula),
    Kind::new("background_writer", "a thread writes the copy during most of the interval", background),
    Kind::new("every_third_to_disk", "small local copies, every k-th copied to the file system", to_disk),
    Kind::new("before_the_limit", "runs of a queue's time limit, a last checkpoint when it nears", limit),
    Kind::new("short_slots", "runs of a few checkpoints each, with waits of any length between", short_slots),
    Kind::new("failures_at_random", "work lost since the last checkpoint is done again", failures),
    Kind::new("only_a_few", "three to six checkpoints in all", only_a_few).within(0.07),
    Kind::new("first_ones_dense", "outputs of the spin-up close together, then regular ones", dense_first),
];

fn few_steps(random: &mut Random) -> Made {
    let count = phases(random, 10);
    let mut job = Job::even(random, count, 0.02);
    // Not near the number of steps at which one more or one less is needed by chance.
    let step = job.period / (random.whole(2, 6) as f64 - random.between(0.25, 0.75));
    let mut time = job.first(random);
    for i in 0..=count {
        let mut since = 0.0;
        while since < job.period {
            since += step * (1.0 + job.jitter * random.normal());
        }
        if i == count {
            job.next = Some(time);
            break;
        }
        time = job.usual(random, time) + since;
    }
    job.regular(random)
}

fn two_lengths(random: &mut Random) -> Made {
    let count = phases(random, 8);
    let mut job = Job::even(random, count, 0.05);
    let (steps, every) = (random.whole(3, 30), random.whole(2, 40));
    let (step, longer) = (job.period / steps as f64, random.between(1.5, 4.0));
    let (mut time, mut number) = (job.first(random), 0);
    for _ in 0..count {
        job.usual(random, time);
        for _ in 0..steps {
            number += 1;
            let slow = if number % every == 0 { longer } else { 1.0 };
            time += step * slow * (1.0 + job.jitter * random.normal()).max(0.2);
        }
        time += job.length();
    }
    job.next = Some(time);
    job.regular(random)
}

fn adapts(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let mut job = Job::even(random, count, 0.03);
    // By at most a third over the whole job, up and down again or one way.
    let (depth, turns) = (random.between(0.05, 0.3), random.pick(&[0.25, 0.5, 1.0]));
    let (mut time, shift) = (job.first(random), random.unit());
    job.busy = job.busy.min(0.3);
    for i in 0..count {
        job.usual(random, time);
        let angle = std::f64::consts::TAU * (turns * i as f64 / count as f64 + shift);
        let distance = job.distance(random, 1.5 * job.length());
        time += distance * (1.0 + depth * angle.sin());
    }
    job.next = Some(time);
    // What holds at the beginning or at the end is an answer as well.
    let (first, last) = (job.starts[1] - job.starts[0], time - job.starts[count - 1]);
    job.regular(random).also(&[first, last])
}

fn rotated(random: &mut Random) -> Made {
    let count = phases(random, 8);
    let mut job = Job::even(random, count, 0.05);
    job.busy = job.busy.min(0.25);
    let slower = random.between(1.3, 3.0);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, start) in starts.into_iter().enumerate() {
        let length = job.length() * if i % 2 == 0 { 1.0 } else { slower };
        let volume = job.volume();
        let end = job.phase(random, start, length, volume);
        job.write(0, end, 0.005 * job.period, 64.0);
    }
    job.next = Some(next);
    let pairs = 2.0 * job.mean_truth().period.unwrap_or(job.period);
    job.regular(random).also(&[pairs])
}

fn formula(random: &mut Random) -> Made {
    let parts = random.whole(2, 4);
    let mut job = Job::even(random, 15 * parts, 0.03);
    (job.clocked, job.busy) = (false, job.busy.min(0.12));
    let mut time = job.first(random);
    let (mut periods, mut changes) = (Vec::new(), Vec::new());
    let length = job.length();
    for _ in 0..parts {
        let count = random.whole(8, 20);
        let from = time;
        for _ in 0..count {
            let volume = job.volume();
            job.phase(random, time, length, volume);
            time += job.distance(random, 1.2 * length);
        }
        changes.push(from);
        periods.push((time - from) / count as f64);
        let factor = random.between(1.35, 2.6);
        job.period *= if random.chance(0.5) && job.period > 4.0 * length { 1.0 / factor } else { factor };
    }
    job.next = Some(time);
    job.made(random, Truth { periods, changes, ..Truth::default() })
}

fn background(random: &mut Random) -> Made {
    let count = phases(random, 8).min(200);
    let mut job = Job::even(random, count, 0.05);
    let (busy, chunks) = (random.between(0.5, 0.92), random.whole(8, 60));
    let first = job.first(random);
    job.busy = busy;
    let (starts, next) = job.rhythm(random, first, count);
    let slow = random.between(0.0, 0.5);
    for &start in &starts {
        let length = busy * job.period * random.between(0.9, 1.0);
        let parts: Vec<f64> = (0..chunks).map(|_| random.factor(slow)).collect();
        let (whole, mut time) = (parts.iter().sum::<f64>(), start);
        job.mark(start, start + length);
        let bytes = job.volume() / chunks as f64;
        for part in parts {
            let each = length * part / whole;
            job.write(0, time, each * 0.98, bytes);
            time += each;
        }
    }
    job.next = Some(next);
    job.regular(random)
}

fn to_disk(random: &mut Random) -> Made {
    let every = random.whole(2, 6);
    let count = every * random.whole(5, 15);
    let mut job = Job::even(random, count, 0.04);
    job.busy = job.busy.min(0.3);
    let small = random.log_between(0.02, 0.3);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, start) in starts.into_iter().enumerate() {
        let share = if i % every == every - 1 { 1.0 } else { small };
        let (length, volume) = (job.length() * share.max(0.2), job.volume() * share);
        job.phase(random, start, length, volume);
    }
    job.next = Some(next);
    let slow = every as f64 * job.mean_truth().period.unwrap_or(job.period);
    job.regular(random).also(&[slow])
}

/// Runs of `counts` phases with waits between; the distances within runs are the period.
fn runs(random: &mut Random, counts: &[usize], wait: (f64, f64), at_the_limit: bool) -> Made {
    let mut job = Job::even(random, counts.iter().sum(), 0.06);
    job.busy = job.busy.min(0.3);
    let (mut time, mut within, mut links) = (0.0, 0.0, 0);
    let reads_first = random.chance(0.7);
    for &count in counts {
        if reads_first && time > 0.0 {
            let (length, volume) = (job.length() * random.between(0.3, 1.5), job.volume());
            job.read(0, time, length, volume);
            time += length;
        }
        time += job.period * random.between(0.1, 1.0);
        let (starts, next) = job.rhythm(random, time, count);
        for &start in &starts {
            job.usual(random, start);
        }
        let last = starts[count - 1];
        within += last - starts[0];
        links += count - 1;
        job.next = Some(next);
        time = last + job.period;
        if at_the_limit {
            let early = last + job.length() + (job.period - job.length()) * random.between(0.1, 0.8);
            let (length, volume) = (job.length(), job.volume());
            job.output(random, early, length, volume);
            time = early + length;
            job.next = None;
        }
        time += job.period * random.log_between(wait.0, wait.1);
    }
    let period = within / links as f64;
    job.based(random, period)
}

fn limit(random: &mut Random) -> Made {
    let count = random.whole(6, 25);
    let counts = vec![count; random.whole(2, 5)];
    runs(random, &counts, (0.5, 60.0), true)
}

fn short_slots(random: &mut Random) -> Made {
    let counts: Vec<usize> = (0..random.whole(4, 12)).map(|_| random.whole(3, 7)).collect();
    runs(random, &counts, (1.0, 300.0), false)
}

fn failures(random: &mut Random) -> Made {
    let count = random.whole(15, 60);
    let mut job = Job::even(random, count, 0.04);
    (job.busy, job.clocked) = (job.busy.min(0.3), false);
    let fails = random.between(0.03, 0.15);
    let mut time = job.first(random);
    for _ in 0..count {
        if job.starts.len() > 4 && random.chance(fails) {
            // Some of the work is lost; reboot, read, compute it again.
            let (lost, boot) = (job.period * random.unit(), job.period * random.log_between(0.05, 3.0));
            let (length, volume) = (job.length() * random.between(0.5, 1.0), job.volume());
            job.read(0, time - job.period + job.length() + lost + boot, length, volume);
            time += lost + boot + length;
        }
        job.usual(random, time);
        time += job.distance(random, 1.2 * job.length());
    }
    job.next = Some(time);
    let period = job.undisturbed();
    job.based(random, period)
}

fn only_a_few(random: &mut Random) -> Made {
    let count = random.whole(3, 6);
    let mut job = Job::even(random, count, 0.05);
    job.play(random, count);
    job.regular(random)
}

fn dense_first(random: &mut Random) -> Made {
    let (dense, count) = (random.whole(4, 12), random.whole(9, 40));
    let mut job = Job::any(random, count + dense);
    (job.jitter, job.busy) = (jitter(random).min(0.1), job.busy.min(0.2));
    let close = job.period * random.between(0.05, 0.12);
    let (mut time, volume) = (job.first(random), job.volume() * random.between(0.1, 1.0));
    for _ in 0..dense {
        job.output(random, time, 0.3 * close, volume * 0.2);
        time += close;
    }
    time += close;
    let (starts, next) = job.rhythm(random, time, count);
    for start in starts {
        job.usual(random, start);
    }
    job.next = Some(next);
    job.regular(random).also(&[close])
}
