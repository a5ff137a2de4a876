//! Long jobs: 10³ to 10⁶ phases.

use super::program::{Program, base, regular};
use super::{Kind, Made};
use crate::random::Random;
use crate::shape::Shape;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("thousands", "300 to 3000 phases, some missing", thousands),
    Kind::new("two_days", "16 to 70 thousand phases", two_days).at_most(20),
    Kind::new("two_days_missing", "16 to 70 thousand phases, 5 to 20 % of them missing", two_days_missing)
        .at_most(20),
    Kind::new("two_days_pauses", "16 to 70 thousand phases, pauses and a long first phase", two_days_pauses)
        .at_most(20),
    Kind::new("two_days_sub_bursts", "5 to 20 thousand phases of 3 to 5 bursts each", two_days_sub_bursts)
        .at_most(20),
    Kind::new("million", "a million phases, in half of the traces 10 % missing", million).at_most(2),
];

fn simple(random: &mut Random) -> Program {
    let shape = random.pick(&[Shape::Rectangle, Shape::Cached]);
    Program { ranks: 1, shape, ..Program::any(random) }
}

/// `count` phases, those at `missing` left out; a phase is one request.
fn rows(random: &mut Random, count: usize, missing: f64, jitter: f64, busy: f64) -> Made {
    let mut program = Program { jitter, ..simple(random) };
    let starts = program.starts(random, count);
    let period = (starts[count - 1] - starts[0]) / (count - 1) as f64;
    let length = busy * program.period;
    let mut there = Vec::with_capacity(count);
    for (i, start) in starts.into_iter().enumerate() {
        if i == 0 || !random.chance(missing) {
            program.all_ranks(start, start + length, program.rate * length * random.factor(0.1));
            there.push(start);
        }
    }
    program.made(base(period, there))
}

fn thousands(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.1), ..simple(random) };
    let (count, busy) = (random.log_between(300.0, 3000.0) as usize, random.between(0.05, 0.4));
    let missing = if random.chance(0.5) { random.between(0.0, 0.2) } else { 0.0 };
    let starts = program.starts(random, count);
    let period = (starts[count - 1] - starts[0]) / (count - 1) as f64;
    let mut first = true;
    let there: Vec<f64> =
        starts.into_iter().filter(|_| std::mem::take(&mut first) || !random.chance(missing)).collect();
    let volumes = random.between(0.0, 0.2);
    program.phases(random, &there, busy, volumes, 0.0);
    program.made(base(period, there))
}

fn two_days(random: &mut Random) -> Made {
    let count = random.log_between(16_000.0, 70_000.0) as usize;
    let (jitter, busy) = (random.between(0.0, 0.1), random.between(0.05, 0.4));
    rows(random, count, 0.0, jitter, busy)
}

fn two_days_missing(random: &mut Random) -> Made {
    let count = random.log_between(16_000.0, 70_000.0) as usize;
    let (missing, jitter, busy) =
        (random.between(0.05, 0.2), random.between(0.0, 0.05), random.between(0.05, 0.4));
    rows(random, count, missing, jitter, busy)
}

fn two_days_pauses(random: &mut Random) -> Made {
    let mut program = simple(random);
    let count = random.log_between(16_000.0, 70_000.0) as usize;
    let (busy, spread, probability) =
        (random.between(0.05, 0.4), random.between(0.0, 0.04), random.between(0.02, 0.12));
    let longer = random.between(1.0, 4.0);
    let (mut time, mut starts) = (program.first, Vec::with_capacity(count));
    for i in 0..count {
        let length = busy * program.period * if i == 0 { longer } else { 1.0 };
        program.all_ranks(time, time + length, program.rate * length);
        starts.push(time);
        let pause = if random.chance(probability) { random.log_between(0.25, 4.0) } else { 0.0 };
        let distance = (1.0 + spread * random.normal()).max(1.02 * busy) + pause;
        time += program.period * distance + if i == 0 { length } else { 0.0 };
    }
    let period = program.period;
    program.made(base(period, starts))
}

fn two_days_sub_bursts(random: &mut Random) -> Made {
    let mut program = simple(random);
    let (count, bursts) = (random.log_between(5000.0, 20_000.0) as usize, random.whole(3, 5));
    let (length, busy) = (random.between(0.2, 0.5) * program.period, random.between(0.35, 0.65));
    let starts = program.starts(random, count);
    for &start in &starts {
        program.bursts(start, length, program.rate * length, bursts, busy);
    }
    program.made(regular(starts))
}

fn million(random: &mut Random) -> Made {
    let missing = if random.chance(0.5) { 0.1 } else { 0.0 };
    let (jitter, busy) = (random.between(0.0, 0.05), random.between(0.05, 0.4));
    rows(random, 1_000_000, missing, jitter, busy)
}
