//! Several rhythms: at once, one after the other, or one that drifts.

use super::program::{Program, SOLID, regular};
use super::{Kind, Made, Recording};
use crate::generated::Truth;
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("two_rhythms", "two at once, 5 to 13 times apart; both are wanted", two_rhythms).within(0.04),
    Kind::new("two_programs", "two at once, 1.3 to 4 times apart; both are wanted", two_programs)
        .within(0.04),
    Kind::new(
        "reads_and_writes",
        "reads in one rhythm, writes in another; the larger by volume is asked for",
        reads_and_writes,
    ),
    Kind::new("switch", "one period, then another; both are wanted", switch),
    Kind::new("chirp", "distances grow or shrink steadily by 30 to 150 %: the mean distance", chirp),
    Kind::new("drift", "distances grow by 0.2 to 1 % each: the mean distance", drift),
];

fn two_rhythms(random: &mut Random) -> Made {
    let mut program = Program { period: random.log_between(30.0, 150.0), ..Program::any(random) };
    let (slow, ratio, count) = (program.period, random.between(5.0, 13.0), random.whole(7, 20));
    let (fast, until) = (slow / ratio, slow * (count as f64 + 0.3));
    let (busy, fast_busy) = (random.between(0.05, 0.2), random.between(0.05, 0.3));
    program.first = slow * random.between(0.05, 0.9);
    program.clocked = true;
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    let rate = program.rate * random.between(0.2, 1.2);
    let (shape, spread) = (random.pick(&SOLID), random.between(0.0, 0.02));
    let mut other = Program { ranks: 1, shape, period: fast, ..program.clone() };
    other.writes.clear();
    let mut fasts = Vec::new();
    let length = fast_busy * fast;
    let checkpoint = busy * slow;
    // The fast one goes on through the slow one, skips it, or is delayed by it.
    match random.below(3) {
        delayed @ 0..2 => {
            let mut time = fast * random.unit();
            while time < until {
                let inside = starts.iter().any(|&start| start <= time && time < start + checkpoint);
                if !(inside && delayed == 1) {
                    other.phase(random, time, length, rate * length);
                    fasts.push(time);
                }
                time += fast * (1.0 + spread * random.normal());
            }
        }
        _ => {
            for i in 0..=count {
                let from =
                    if i == 0 { fast * random.unit() } else { starts[i - 1] + checkpoint + fast - length };
                let to = if i == count { until } else { starts[i] };
                let mut time = from;
                while time + length < to {
                    other.phase(random, time, length, rate * length);
                    fasts.push(time);
                    time += fast * (1.0 + spread * random.normal());
                }
            }
        }
    }
    let slow_is_larger = program.rate * checkpoint * count as f64 >= rate * length * fasts.len() as f64;
    program.writes.extend(other.writes);
    let (period, starts) = if slow_is_larger { (slow, starts) } else { (fast, fasts) };
    program.made(Truth { period: Some(period), periods: vec![slow, fast], starts, ..Truth::default() })
}

fn two_programs(random: &mut Random) -> Made {
    let mut program = Program { clocked: true, jitter: random.between(0.0, 0.01), ..Program::any(random) };
    // Not near a ratio of small numbers, where phases of both would meet again and again.
    let ratio = random.pick(&[1.37, 1.62, 2.41, 2.72, 3.3, 3.7]) * random.between(0.98, 1.02);
    let mut other = Program { period: program.period * ratio, clocked: true, ..Program::any(random) };
    other.rate = program.rate * random.between(0.8, 1.6);
    let until = other.period * random.between(12.0, 25.0);
    let mut all = Vec::new();
    for one in [&mut program, &mut other] {
        one.first = one.period * random.unit();
        let count = ((until - one.first) / one.period) as usize;
        let busy = random.between(0.05, 0.15);
        let starts = one.starts(random, count);
        one.phases(random, &starts, busy, 0.0, 0.0);
        all.push((one.period, starts));
    }
    program.ranks = program.ranks.max(other.ranks);
    program.writes.extend(other.writes);
    let periods = all.iter().map(|(period, _)| *period).collect();
    let (period, starts) = all.swap_remove(0);
    program.made(Truth { period: Some(period), periods, starts, ..Truth::default() })
}

fn reads_and_writes(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let ratio = random.log_between(1.4, 8.0);
    let mut reader = Program { period: program.period / ratio, ..Program::any(random) };
    let (busy, count) = (random.between(0.05, 0.4), random.whole(8, 30));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    let share = random.between(0.05, 0.6);
    let reads = ((starts[count - 1] - reader.first.min(starts[0])) / reader.period).max(8.0) as usize;
    let read_starts = reader.starts(random, reads);
    // Reads of a tenth to half of the volume.
    reader.rate =
        program.rate * busy * count as f64 * program.period * share / (0.3 * reads as f64 * reader.period);
    reader.phases(random, &read_starts, 0.3, 0.0, 0.0);
    program.ranks = program.ranks.max(reader.ranks);
    let truth = regular(starts);
    let mut made = program.made(Truth { also: vec![], ..truth });
    if let Recording::Requests { duration, reads, .. } = &mut made.recording {
        *duration = duration.max(reader.end());
        *reads = reader.writes;
    }
    made
}

fn switch(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let ratio = random.between(1.4, 3.0);
    let (one, two) = (program.period, program.period * random.pick(&[ratio, 1.0 / ratio]));
    let length = random.between(0.08, 0.3) * one.min(two);
    let (mut time, mut starts, mut changes) = (program.first, Vec::new(), Vec::new());
    for period in [one, two] {
        changes.push(time);
        for _ in 0..random.whole(8, 15) {
            program.phase(random, time, length, program.rate * length);
            starts.push(time);
            time += period * (1.0 + 0.015 * random.normal());
        }
    }
    program.made(Truth { periods: vec![one, two], changes, starts, ..Truth::default() })
}

/// Distances that change from phase to phase.
fn growing(random: &mut Random, count: usize, each: f64) -> Made {
    let mut program = Program::any(random);
    let middle = (count - 2) as f64 / 2.0;
    let shortest = program.period * (-each.abs() * middle).exp();
    let length = random.between(0.08, 0.3) * shortest;
    let (mut time, mut starts) = (program.first, Vec::new());
    for i in 0..count {
        program.phase(random, time, length, program.rate * length);
        starts.push(time);
        time += program.period * (each * (i as f64 - middle)).exp() * (1.0 + 0.01 * random.normal());
    }
    let (first, last) = (starts[1] - starts[0], starts[count - 1] - starts[count - 2]);
    // Its mean, or one answer for the beginning and one for the end.
    let truth = regular(starts);
    program.made(Truth { also: vec![first, last], ..truth })
}

fn chirp(random: &mut Random) -> Made {
    let (count, ratio) = (random.whole(15, 40), random.between(1.3, 2.5));
    let sign = random.pick(&[-1.0, 1.0]);
    growing(random, count, sign * ratio.ln() / (count - 2) as f64)
}

fn drift(random: &mut Random) -> Made {
    let count = random.whole(12, 40);
    let each = random.between(0.002, 0.01) * random.pick(&[-1.0, 1.0]);
    growing(random, count, each)
}
