//! What storage and queues do to programs: buffers that drain, limits that bite, outputs that are repeated.

use super::simulation::{Done, Script, Step, run};
use crate::generated::{Truth, Write};
use crate::kinds::program::{binned, samples};
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;
use std::f64::consts::TAU;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "u_drained",
        "a buffer takes every output at once and drains it slowly until the next",
        drained,
    ),
    Kind::new(
        "u_token_bucket",
        "outputs at full speed until the credit is used up, then slowly",
        token_bucket,
    ),
    Kind::new("u_written_twice", "one output in eight fails its check and is written again at once", twice),
    Kind::new(
        "u_wandering",
        "computing times that wander slowly by up to a fifth: the mean distance",
        wandering,
    ),
    Kind::new("u_faster_after_restart", "restarted on more nodes: a silence, then a shorter period", faster),
    Kind::new("u_by_day", "a regular job whose volume follows the time of day, in a server's log", by_day),
    Kind::new(
        "u_pipeline",
        "two stages in turn, a short and a long computation: their common cycle",
        pipeline,
    ),
    Kind::new("u_backoff", "no period: retries after twice the time each, from time to time", backoff),
    Kind::new("u_telegraph", "no period: one source, on and off for exponential times", telegraph),
    Kind::new("u_compiler", "no period: small files as they are done, a large one at the end", compiler),
];

fn made(done: Done, truth: Truth) -> Made {
    let duration = done.end();
    let ranks = done.writes.iter().map(|write| write.rank + 1).max().unwrap_or(1);
    Made { recording: Recording::Requests { ranks, duration, writes: done.writes, reads: Vec::new() }, truth }
}

fn alone(steps: Vec<Step>, link: f64) -> Done {
    run(&[Script { steps, link }], link).swap_remove(0)
}

/// The mean distance of what was marked.
fn regular(done: Done) -> Made {
    let marks = done.marks.clone();
    let period = (marks[marks.len() - 1] - marks[0]) / (marks.len() - 1) as f64;
    made(done, Truth { period: Some(period), starts: marks, ..Truth::default() })
}

fn drained(random: &mut Random) -> Made {
    let (link, compute) = (random.log_between(1e8, 1e10), random.log_between(4.0, 150.0));
    let bytes = link * compute * random.between(0.02, 0.1);
    let drain = random.between(0.6, 1.1);
    let mut writes = Vec::new();
    let (mut time, mut starts) = (compute * random.unit(), Vec::new());
    for _ in 0..random.whole(8, 35) {
        let length = bytes / link;
        starts.push(time);
        writes.push(Write { rank: 0, start: time, end: time + length, bytes: bytes as u64 });
        let until = time + length + drain * compute;
        writes.push(Write { rank: 1, start: time + length, end: until, bytes: bytes as u64 });
        time += length + compute * random.factor(0.02);
    }
    regular(Done { writes, marks: starts })
}

fn token_bucket(random: &mut Random) -> Made {
    let (link, compute) = (random.log_between(1e8, 1e10), random.log_between(4.0, 150.0));
    let bytes = link * compute * random.between(0.05, 0.3);
    let (credit, slow) = (bytes * random.between(0.3, 0.8), random.between(0.1, 0.4));
    let mut writes = Vec::new();
    let (mut time, mut starts) = (compute * random.unit(), Vec::new());
    for _ in 0..random.whole(8, 35) {
        starts.push(time);
        // What the bucket holds differs from output to output.
        let fast = (credit * random.between(0.6, 1.2)).min(bytes);
        let (first, second) = (fast / link, (bytes - fast) / (slow * link));
        writes.push(Write { rank: 0, start: time, end: time + first, bytes: fast as u64 });
        if second > 0.0 {
            let end = time + first + second;
            writes.push(Write { rank: 0, start: time + first, end, bytes: (bytes - fast) as u64 });
        }
        time += first + second + compute * random.factor(0.02);
    }
    regular(Done { writes, marks: starts })
}

fn twice(random: &mut Random) -> Made {
    let (link, compute) = (random.log_between(1e8, 1e10), random.log_between(4.0, 150.0));
    let bytes = link * compute * random.between(0.03, 0.15);
    let check = bytes / link * random.between(0.2, 1.0);
    let interval = compute + bytes / link;
    let mut steps = Vec::new();
    let first = compute * random.unit();
    for i in 0..random.whole(12, 40) {
        let time = first + interval * (i as f64 + 0.01 * random.normal());
        steps.extend([Step::Until(time), Step::Mark, Step::Transfer(bytes)]);
        if random.chance(0.125) {
            steps.extend([Step::Compute(check), Step::Transfer(bytes)]);
        }
    }
    regular(alone(steps, link))
}

fn wandering(random: &mut Random) -> Made {
    let (link, compute) = (random.log_between(1e8, 1e10), random.log_between(4.0, 150.0));
    let bytes = link * compute * random.between(0.03, 0.4);
    let (mut pace, mut steps): (f64, Vec<Step>) = (0.0, Vec::new());
    for _ in 0..random.whole(14, 45) {
        pace = 0.95 * pace + 0.04 * random.normal();
        let length = compute * (1.0 + pace).clamp(0.8, 1.2);
        steps.extend([Step::Compute(length), Step::Mark, Step::Transfer(bytes)]);
    }
    regular(alone(steps, link))
}

fn faster(random: &mut Random) -> Made {
    let (link, compute) = (random.log_between(1e8, 1e10), random.log_between(8.0, 150.0));
    let bytes = link * compute * random.between(0.03, 0.15);
    let after = compute / random.between(1.5, 2.5);
    let mut steps = vec![Step::Compute(compute * random.unit())];
    let counts = [random.whole(8, 16), random.whole(8, 16)];
    for (count, length) in counts.into_iter().zip([compute, after]) {
        for _ in 0..count {
            let computed = length * random.factor(0.01);
            steps.extend([Step::Mark, Step::Transfer(bytes), Step::Compute(computed)]);
        }
        steps.push(Step::Compute(compute * random.between(0.5, 4.0)));
    }
    let done = alone(steps, link);
    let mean = |marks: &[f64]| (marks[marks.len() - 1] - marks[0]) / (marks.len() - 1) as f64;
    let (first, second) = done.marks.split_at(counts[0]);
    let truth = Truth {
        periods: vec![mean(first), mean(second)],
        changes: vec![first[0], second[0]],
        starts: done.marks.clone(),
        ..Truth::default()
    };
    made(done, truth)
}

fn by_day(random: &mut Random) -> Made {
    let step = random.pick(&[10.0, 60.0, 300.0]);
    let (period, day) = (step * random.between(9.0, 30.0), step * random.between(200.0, 400.0));
    let (until, busy) = (day * random.between(2.0, 4.0), random.between(0.1, 0.4));
    let (rate, depth, shift) = (1e9, random.between(0.4, 0.9), random.unit());
    let (mut writes, mut starts, mut time) = (Vec::new(), Vec::new(), period * random.unit());
    while time < until {
        let high = 1.0 + depth * (TAU * (time / day + shift)).cos();
        let bytes = (rate * busy * period * high) as u64;
        writes.push(Write { rank: 0, start: time, end: time + busy * period, bytes });
        starts.push(time);
        time += period * (1.0 + 0.01 * random.normal());
    }
    let level = rate * random.between(0.0, 0.05);
    let mut values = binned(&writes, step, until);
    values.iter_mut().for_each(|value| *value += level * random.factor(0.3));
    let mean = (starts[starts.len() - 1] - starts[0]) / (starts.len() - 1) as f64;
    samples(step, values, Truth { period: Some(mean), starts, also: vec![day], ..Truth::default() })
}

fn pipeline(random: &mut Random) -> Made {
    let (link, compute) = (random.log_between(1e8, 1e10), random.log_between(4.0, 150.0));
    let (short, size) = (compute * random.between(0.15, 0.5), random.between(0.3, 1.0));
    let bytes = link * compute * random.between(0.03, 0.12);
    let mut steps = Vec::new();
    for _ in 0..random.whole(8, 25) {
        steps.extend([
            Step::Compute(compute * random.factor(0.02)),
            Step::Mark,
            Step::Transfer(bytes),
            Step::Compute(short * random.factor(0.02)),
            Step::Transfer(bytes * size),
        ]);
    }
    regular(alone(steps, link))
}

fn backoff(random: &mut Random) -> Made {
    let (link, first) = (1e9, random.log_between(0.5, 5.0));
    let bytes = link * first * random.between(0.1, 0.5);
    let mut steps = Vec::new();
    for _ in 0..random.whole(4, 12) {
        steps.push(Step::Compute(first * random.exponential(60.0)));
        let mut wait = first;
        for _ in 0..random.whole(2, 6) {
            steps.extend([Step::Transfer(bytes), Step::Compute(wait * random.between(0.9, 1.1))]);
            wait *= 2.0;
        }
    }
    made(alone(steps, link), Truth::default())
}

fn telegraph(random: &mut Random) -> Made {
    let (link, mean) = (1e9, random.log_between(3.0, 60.0));
    let on = mean * random.log_between(0.1, 2.0);
    let mut steps = Vec::new();
    for _ in 0..random.whole(10, 60) {
        steps
            .extend([Step::Compute(random.exponential(mean)), Step::Transfer(link * random.exponential(on))]);
    }
    made(alone(steps, link), Truth::default())
}

fn compiler(random: &mut Random) -> Made {
    let (link, mean) = (1e9, random.log_between(0.5, 10.0));
    let (count, at_once) = (random.whole(30, 200), random.whole(1, 8));
    let scripts: Vec<Script> = (0..at_once)
        .map(|_| {
            let file = |_: usize| {
                [
                    Step::Compute(mean * random.factor(0.9)),
                    Step::Transfer(link * mean * 0.02 * random.factor(1.0)),
                ]
            };
            Script { steps: (0..count / at_once).flat_map(file).collect(), link }
        })
        .collect();
    let mut writes: Vec<Write> = run(&scripts, 2.0 * link).into_iter().flat_map(|done| done.writes).collect();
    let end = writes.iter().map(|write| write.end).fold(0.0, f64::max);
    let length = mean * random.between(1.0, 8.0);
    writes.push(Write { rank: 0, start: end, end: end + length, bytes: (link * length) as u64 });
    made(Done { writes, marks: Vec::new() }, Truth::default())
}
