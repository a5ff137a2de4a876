//! What a server or a monitor sees: samples, other jobs, counters, saturation.

use super::program::{Program, base, binned, regular, samples};
use super::{Kind, Made, Recording};
use crate::generated::{Truth, Write};
use crate::random::Random;
use crate::shape::Shape;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("server", "a job's bursts in a server's log under foreign bursts and a background", server),
    Kind::new("background", "a job whose small writes go on all the time", background),
    Kind::new("counter", "bytes so far, sampled 6 to 60 times a period", counter),
    Kind::new("counter_each_second", "bytes so far, sampled every second, with resets", counter_each_second),
    Kind::new("saturated", "a server at its limit: phases stretch while others write", saturated),
    Kind::new("server_none", "foreign bursts and a background only", server_none),
    Kind::new("counter_none", "bytes so far of bursts at random", counter_none),
];

fn server_log(random: &mut Random, with_job: bool) -> Made {
    let step = random.pick(&[1.0, 2.0, 5.0, 10.0]);
    let mut program = Program { rate: 1e9, ..Program::any(random) };
    program.period = step * random.log_between(15.0, 80.0);
    let (count, period) = (random.whole(10, 39), program.period);
    let (until, busy) = (period * count as f64, random.between(0.05, 0.3));
    let mut truth = Truth::default();
    if with_job {
        program.first = period * random.between(0.02, 0.8);
        (program.jitter, program.clocked) = (random.between(0.0, 0.02), true);
        let mut starts = program.starts(random, count);
        starts.retain(|start| start + busy * period < until);
        program.phases(random, &starts, busy, 0.1, 0.0);
        truth = base(period, starts);
    }
    let (mean, length) = (period * random.log_between(1.2, 5.0), period * random.between(0.03, 0.2));
    let rate = program.rate * random.between(0.3, 1.2);
    program.foreign(random, until, mean, length, rate);
    let (level, noise) = (program.rate * random.between(0.02, 0.2), random.between(0.1, 0.5));
    let mut values = program.sampled(step, until);
    values.iter_mut().for_each(|value| *value += level * (noise * random.normal()).exp());
    samples(step, values, truth)
}

fn server(random: &mut Random) -> Made {
    server_log(random, true)
}

fn server_none(random: &mut Random) -> Made {
    server_log(random, false)
}

fn background(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(8, 40), random.between(0.06, 0.5));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    let until = starts[count - 1] + program.period;
    let (distance, share) = (program.period * random.log_between(0.01, 0.2), random.between(0.3, 1.0));
    let level = program.rate * random.between(0.05, 0.35);
    let mut time = 0.0;
    while time < until {
        let bytes = (level * distance * share * random.factor(0.2)).max(1.0) as u64;
        program.writes.push(Write { rank: 0, start: time, end: time + distance * share, bytes });
        time += distance * random.factor(0.1);
    }
    let truth = regular(starts);
    program.made(Truth { also: vec![distance], ..truth })
}

/// The bytes so far of a series of bandwidths.
fn so_far(values: &[f64], step: f64, from: f64) -> Vec<f64> {
    let mut sum = from;
    values
        .iter()
        .map(|value| {
            let before = sum;
            sum += value * step;
            before.round()
        })
        .collect()
}

fn counting(random: &mut Random, with_job: bool) -> Made {
    let mut program = Program { period: random.log_between(10.0, 100.0), ..Program::any(random) };
    let (count, period) = (random.whole(10, 39), program.period);
    let step = period / random.log_between(6.0, 60.0);
    let (busy, until) = (random.between(0.05, 0.5), period * (count as f64 + 0.5));
    let mut truth = Truth::default();
    if with_job {
        program.first = period * random.between(0.02, 0.8);
        let starts = program.starts(random, count);
        for &start in &starts {
            program.phase(random, start, (busy * period).max(0.5 * step), program.rate * busy * period);
        }
        truth = regular(starts);
    } else {
        let rate = program.rate;
        program.foreign(random, until, period, 0.5 * busy * period, rate);
    }
    let before = if random.chance(0.3) { program.rate * period * random.between(0.0, 100.0) } else { 0.0 };
    let values = so_far(&program.sampled(step, until), step, before);
    Made { recording: Recording::Samples { step, values, counter: true }, truth }
}

fn counter(random: &mut Random) -> Made {
    counting(random, true)
}

fn counter_none(random: &mut Random) -> Made {
    counting(random, false)
}

fn counter_each_second(random: &mut Random) -> Made {
    let mut program = Program { period: random.log_between(8.0, 90.0), ..Program::any(random) };
    let (count, busy) = (random.whole(10, 40), random.between(0.05, 0.5));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.05, 0.0);
    let until = starts[count - 1] + program.period;
    let mut values = so_far(&program.sampled(1.0, until), 1.0, 0.0);
    // The node restarts, or its counter wraps.
    let mut resets: Vec<usize> = (0..random.below(3)).map(|_| random.below(values.len())).collect();
    resets.sort_unstable();
    for at in resets {
        let lost = values[at];
        values[at..].iter_mut().for_each(|value| *value -= lost);
    }
    Made { recording: Recording::Samples { step: 1.0, values, counter: true }, truth: regular(starts) }
}

fn saturated(random: &mut Random) -> Made {
    let mut program = Program { ranks: 1, shape: Shape::Rectangle, ..Program::any(random) };
    let (count, busy) = (random.whole(10, 35), random.between(0.05, 0.25));
    let (period, rate) = (program.period, program.rate);
    let until = program.first + period * (count as f64 + 1.0);
    // Others take a share of the server for a while; a phase then takes longer, and what follows it is later.
    let mut taken = vec![0.0; (until * 3.0 / (0.05 * period)) as usize + 1];
    let mut at = 0;
    while at < taken.len() {
        let (quiet, loaded) = (random.exponential(60.0) as usize, random.exponential(30.0) as usize);
        let share = random.between(0.2, 0.7);
        taken.iter_mut().skip(at + quiet).take(loaded).for_each(|taken| *taken = share);
        at += quiet + loaded + 1;
    }
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        starts.push(time);
        let mut left = rate * busy * period;
        let mut now = time;
        while left > 0.0 {
            let slice = 0.05 * period;
            let share = taken.get((now / slice) as usize).copied().unwrap_or(0.0);
            let length = (left / (rate * (1.0 - share))).min(slice);
            let bytes = (rate * (1.0 - share) * length).max(1.0);
            program.writes.push(Write { rank: 0, start: now, end: now + length, bytes: bytes as u64 });
            left -= bytes;
            now += length;
        }
        time = now + (1.0 - busy) * period * (1.0 + program.jitter * random.normal());
    }
    // Between two phases that nobody slowed down lies the period itself.
    let truth = Truth { also: vec![period], ..regular(starts) };
    let end = program.end();
    if random.chance(0.5) {
        return program.made(truth);
    }
    // As the server sees it: with the others.
    let step = period / random.between(15.0, 60.0);
    let mut values = binned(&program.writes, step, end);
    for (i, value) in values.iter_mut().enumerate() {
        let share = taken.get((i as f64 * step / (0.05 * period)) as usize).copied().unwrap_or(0.0);
        *value += rate * share * random.between(0.3, 0.5);
    }
    samples(step, values, truth)
}
