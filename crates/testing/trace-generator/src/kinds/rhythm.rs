//! One plain rhythm, all phases there.

use super::program::{Program, base, regular, samples};
use super::{Kind, Made};
use crate::random::Random;
use std::f64::consts::TAU;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("clean", "equal phases, distances vary by up to 3 %", clean),
    Kind::new("idle_edges", "equal phases, long idle time before and after", idle_edges),
    Kind::new("jitter", "distances vary by 5 to 30 %", jitter),
    Kind::new("loose", "computing times vary by 40 to 200 %, phases of a fifth of the time and more", loose),
    Kind::new("volumes", "volumes or lengths spread log-normally by 0.3 to 1", volumes),
    Kind::new("wide_volumes", "volumes spread log-normally by 1.0", wide_volumes),
    Kind::new("filled", "phases fill 88 to 97 % of the period", filled),
    Kind::new("short_bursts", "phases of 0.1 to 2 % of the period", short_bursts),
    Kind::new("sub_bursts", "three to eight bursts in every phase", sub_bursts),
    Kind::new("loose_sub_bursts", "bursts in every phase, their number and distance vary", loose_sub_bursts),
    Kind::new(
        "two_sizes",
        "large and small phases in turn: the distance of phases, or of the large ones",
        two_sizes,
    ),
    Kind::new(
        "heavy_tail",
        "computing times: a fixed part and a tail, one in ten twice as long or more",
        heavy_tail,
    ),
    Kind::new("wave", "a bandwidth that swells and ebbs, with noise", wave),
];

fn clean(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let count = random.whole(7, 40);
    let busy = random.between(0.04, 0.6);
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    program.made(regular(starts))
}

fn idle_edges(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    program.first = program.period * random.between(0.0, 12.0);
    let count = random.whole(6, 30);
    let busy = random.between(0.04, 0.5);
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    let duration = program.end() + program.period * random.between(0.0, 12.0);
    program.made_until(duration, regular(starts))
}

fn jitter(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, spread, busy) = (random.whole(10, 40), random.between(0.05, 0.3), random.between(0.05, 0.4));
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        program.phase(random, time, busy * program.period, program.rate * busy * program.period);
        starts.push(time);
        let compute = (1.0 + spread / (1.0 - busy) * random.normal()).max(0.02);
        time += program.period * (busy + (1.0 - busy) * compute);
    }
    program.made(regular(starts))
}

fn loose(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy, spread) = (random.whole(12, 30), random.between(0.2, 0.6), random.between(0.4, 2.0));
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        let length = busy * program.period * random.between(0.98, 1.05);
        program.phase(random, time, length, program.rate * busy * program.period);
        starts.push(time);
        let compute = (1.0 - busy) * program.period;
        time += busy * program.period * 1.05 + random.positive_normal(compute, spread * compute);
    }
    program.made(regular(starts).loose())
}

fn volumes(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy, spread) = (random.whole(10, 40), random.between(0.04, 0.2), random.between(0.3, 1.0));
    let volumes = if random.chance(0.5) { spread } else { 0.0 };
    let lengths = if random.chance(0.7) { spread.min(0.6) } else { 0.0 };
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, volumes, lengths);
    program.made(regular(starts))
}

fn wide_volumes(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(10, 40), random.between(0.04, 0.2));
    let starts = program.starts(random, count);
    // Either the bandwidth varies, or the length at the same bandwidth.
    if random.chance(0.5) {
        program.phases(random, &starts, busy, 1.0, 0.0);
    } else {
        for &start in &starts {
            let length = (busy * program.period * random.factor(1.0)).min(0.9 * program.period);
            program.phase(random, start, length, program.rate * length);
        }
    }
    program.made(regular(starts))
}

fn filled(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.01), ..Program::any(random) };
    let (count, busy) = (random.whole(8, 40), random.between(0.88, 0.97));
    let starts = program.starts(random, count);
    let requests = random.whole(1, 8);
    for &start in &starts {
        // Back to back requests of all ranks, as a program without computing would do.
        let length = busy * program.period / requests as f64;
        for i in 0..requests {
            let from = start + i as f64 * length;
            program.all_ranks(from, from + length, program.rate * length);
        }
    }
    program.made(regular(starts))
}

fn short_bursts(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(7, 60), random.log_between(0.001, 0.02));
    let starts = program.starts(random, count);
    let spread = random.between(0.0, 0.2);
    program.phases(random, &starts, busy, spread, 0.0);
    program.made(regular(starts))
}

fn sub_bursts(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, bursts) = (random.whole(6, 25), random.whole(3, 8));
    let (length, busy) = (random.between(0.2, 0.65) * program.period, random.between(0.35, 0.65));
    let starts = program.starts(random, count);
    for &start in &starts {
        program.bursts(start, length, program.rate * length, bursts, busy);
    }
    program.made(regular(starts))
}

fn loose_sub_bursts(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, usual) = (random.whole(8, 25), random.whole(4, 12));
    let length = random.between(0.15, 0.5) * program.period;
    let starts = program.starts(random, count);
    for &start in &starts {
        let bursts = (usual + random.below(3)).max(3) - 1;
        let distance = length / bursts as f64;
        let mut time = start;
        for _ in 0..bursts {
            let busy = distance * random.between(0.3, 0.7);
            program.all_ranks(time, time + busy, program.rate * busy);
            time += (distance * random.factor(0.2)).max(1.05 * busy);
        }
    }
    program.made(regular(starts))
}

fn two_sizes(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(12, 40), random.between(0.04, 0.3));
    let ratio = random.between(1.5, 4.0);
    let starts = program.starts(random, count);
    for (i, &start) in starts.iter().enumerate() {
        let size = if i % 2 == 0 { ratio } else { 1.0 };
        let length = busy * program.period * size / ratio;
        program.phase(random, start, length, program.rate * length);
    }
    let truth = regular(starts);
    let also = truth.period.map(|period| 2.0 * period).into_iter().collect();
    program.made(crate::generated::Truth { also, ..truth })
}

fn heavy_tail(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(15, 50), random.between(0.05, 0.3));
    let exponent = random.between(1.5, 3.0);
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        program.phase(random, time, busy * program.period, program.rate * busy * program.period);
        starts.push(time);
        let late = if random.chance(0.1) { random.pareto(exponent) + 0.5 } else { 0.0 };
        time += program.period * (1.0 + program.jitter * random.normal() + late);
    }
    let period = program.period;
    program.made(base(period, starts))
}

fn wave(random: &mut Random) -> Made {
    let count = random.whole(400, 4000);
    let period = random.between(12.0, count as f64 / 8.0);
    let (phase, step) = (random.unit(), random.log_between(0.1, 10.0));
    let (depth, noise, power) =
        (random.between(0.4, 0.95), random.between(0.0, 0.4), random.pick(&[1, 1, 3]));
    let values = (0..count)
        .map(|i| {
            let crest = (TAU * (i as f64 / period + phase)).cos().powi(power);
            1e9 * (1.0 + depth * crest + noise * random.normal()).max(0.0)
        })
        .collect();
    samples(step, values, base(period * step, Vec::new()))
}
