//! One rhythm with gaps: missing phases, pauses, restarts.

use super::program::{Program, base};
use super::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("missing", "phases left out with probability 0.1 to 0.2, their time stays", missing),
    Kind::new("missing_skip", "outputs left out together with their time", missing_skip),
    Kind::new("often_missing", "phases left out with probability 0.2 to 0.35", often_missing),
    Kind::new("pauses", "a few distances longer by a quarter of the period to four periods", pauses),
    Kind::new("restart", "the job stops for 2 to 12 periods and goes on", restart),
    Kind::new("two_restarts", "two silences, as after failures; the rhythm begins anew", two_restarts),
    Kind::new(
        "mixture",
        "several troubles at once: missing, long first phase, foreign bursts, a fast log",
        mixture,
    ),
];

/// A phase at each start that is kept.
fn kept(random: &mut Random, program: &mut Program, starts: &[f64], probability: f64, busy: f64) -> Vec<f64> {
    let last = starts.len() - 1;
    let mut keep: Vec<bool> =
        (0..starts.len()).map(|i| i == 0 || i == last || !random.chance(probability)).collect();
    if keep.iter().all(|&keep| keep) {
        keep[random.whole(1, last - 1)] = false;
    }
    let there: Vec<f64> =
        starts.iter().zip(keep).filter(|(_, keep)| *keep).map(|(&start, _)| start).collect();
    program.phases(random, &there, busy, 0.0, 0.0);
    there
}

fn missing(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.05), ..Program::any(random) };
    let (count, probability) = (random.whole(14, 44), random.between(0.1, 0.2));
    let busy = random.between(0.05, 0.4);
    let starts = program.starts(random, count);
    let period = (starts[count - 1] - starts[0]) / (count - 1) as f64;
    let there = kept(random, &mut program, &starts, probability, busy);
    program.made(base(period, there))
}

fn often_missing(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.03), ..Program::any(random) };
    let (count, probability) = (random.whole(25, 60), random.between(0.2, 0.35));
    let busy = random.between(0.05, 0.3);
    let starts = program.starts(random, count);
    let period = (starts[count - 1] - starts[0]) / (count - 1) as f64;
    let there = kept(random, &mut program, &starts, probability, busy);
    program.made(base(period, there))
}

fn missing_skip(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, probability) = (random.whole(14, 44), random.between(0.1, 0.2));
    let (busy, spread) = (random.between(0.05, 0.4), random.between(0.0, 0.05));
    let (mut time, mut starts) = (program.first, Vec::new());
    for i in 0..count {
        if i == 0 || i == count - 1 || !random.chance(probability) {
            program.phase(random, time, busy * program.period, program.rate * busy * program.period);
            starts.push(time);
            time += busy * program.period;
        }
        time += program.period * (1.0 - busy) * (1.0 + spread * random.normal()).max(0.1);
    }
    let period = program.period;
    program.made(base(period, starts))
}

fn pauses(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(12, 40), random.between(0.05, 0.4));
    let (spread, probability) = (random.between(0.0, 0.04), random.between(0.06, 0.18));
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        program.phase(random, time, busy * program.period, program.rate * busy * program.period);
        starts.push(time);
        let pause = if random.chance(probability) { random.log_between(0.25, 4.0) } else { 0.0 };
        time += program.period * ((1.0 + spread * random.normal()).max(1.02 * busy) + pause);
    }
    let period = program.period;
    program.made(base(period, starts))
}

/// Runs of phases with silences in between.
fn runs(random: &mut Random, counts: &[usize]) -> Made {
    let mut program = Program::any(random);
    let busy = random.between(0.05, 0.4);
    let mut all = Vec::new();
    for &count in counts {
        let starts = program.starts(random, count);
        program.phases(random, &starts, busy, 0.0, 0.0);
        program.first = starts[count - 1] + program.period * random.between(2.0, 12.0);
        all.extend(starts);
    }
    let period = program.period;
    program.made(base(period, all))
}

fn restart(random: &mut Random) -> Made {
    let counts = [random.whole(5, 20), random.whole(5, 20)];
    runs(random, &counts)
}

fn two_restarts(random: &mut Random) -> Made {
    let counts = [random.whole(5, 15), random.whole(4, 15), random.whole(5, 15)];
    runs(random, &counts)
}

fn mixture(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.06), ..Program::any(random) };
    let (count, busy) = (random.whole(12, 44), random.between(0.05, 0.3));
    let period = program.period;
    let mut starts = program.starts(random, count);
    if random.chance(0.5) {
        let probability = random.between(0.03, 0.18);
        let mut first = true;
        starts.retain(|_| std::mem::take(&mut first) || !random.chance(probability));
    }
    if random.chance(0.5) {
        let longer = random.between(1.5, 4.0);
        let length = busy * period * longer;
        program.phase(random, starts[0], length, program.rate * length);
        let shift = length - busy * period;
        starts.iter_mut().skip(1).for_each(|start| *start += shift);
    } else {
        program.phases(random, &starts[..1], busy, 0.0, 0.0);
    }
    let volumes = if random.chance(0.5) { random.between(0.0, 0.3) } else { 0.0 };
    let lengths = if random.chance(0.5) { random.between(0.0, 0.2) } else { 0.0 };
    program.phases(random, &starts[1..], busy, volumes, lengths);
    let until = starts[starts.len() - 1] + period;
    if random.chance(0.4) {
        let (mean, rate) = (period * random.between(3.0, 8.0), program.rate * random.between(0.1, 0.8));
        program.foreign(random, until, mean, 0.5 * busy * period, rate);
    }
    let mut truth = base(period, starts);
    if random.chance(0.4) {
        let distance = period * random.log_between(0.02, 0.2);
        let bytes = program.rate * random.between(0.02, 0.1) * distance;
        program.log(until, distance, 0.8, bytes);
        truth.also.push(distance);
    }
    program.made(truth)
}
