//! Series of few bins a period.

use super::program::{Program, base, regular, samples};
use super::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("coarse", "2.5 to 8 bins a period", coarse),
    Kind::new(
        "coarse_noisy",
        "3.5 to 8 bins a period, missing phases, foreign bursts, a background",
        coarse_noisy,
    ),
    Kind::new("coarse_short", "3 to 8 bins a period, short phases of varying volume", coarse_short),
    Kind::new("heatmap", "a whole job in 100 to 200 bins, as Darshan's heatmap has it", heatmap),
];

fn coarse(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.03), ..Program::any(random) };
    let step = program.period / random.between(2.5, 8.0);
    let (busy, count, volumes) = (random.between(0.3, 0.7), random.whole(10, 59), random.between(0.0, 0.15));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, volumes, 0.0);
    let until = starts[count - 1] + program.period;
    samples(step, program.sampled(step, until), regular(starts))
}

fn coarse_noisy(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.06), clocked: true, ..Program::any(random) };
    let (period, rate) = (program.period, program.rate);
    let step = period / random.between(3.5, 8.0);
    let (busy, count, missing) = (random.between(0.15, 0.5), random.whole(15, 39), random.between(0.0, 0.15));
    let mut starts = program.starts(random, count);
    let last = starts[count - 1];
    let mut index = 0;
    starts.retain(|_| {
        index += 1;
        index == 1 || index == count || !random.chance(missing)
    });
    let volumes = random.between(0.2, 0.6);
    program.phases(random, &starts, busy, volumes, 0.0);
    let mean = period * random.between(2.0, 6.0);
    program.foreign(random, last + period, mean, 0.2 * period, 0.5 * rate);
    let (level, noise) = (rate * random.between(0.02, 0.15), random.between(0.2, 0.6));
    let mut values = program.sampled(step, last + period);
    values.iter_mut().for_each(|value| *value += level * (noise * random.normal()).exp());
    samples(step, values, base(period, starts))
}

fn coarse_short(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.02), ..Program::any(random) };
    let step = program.period / random.between(3.0, 8.0);
    let (busy, count, volumes) = (random.between(0.02, 0.2), random.whole(12, 59), random.between(0.0, 0.3));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, volumes, 0.0);
    let until = starts[count - 1] + program.period;
    samples(step, program.sampled(step, until), regular(starts))
}

fn heatmap(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.02), ..Program::any(random) };
    let (busy, count) = (random.between(0.05, 0.4), random.whole(8, 30));
    program.first = program.period * random.between(0.0, 3.0);
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.05, 0.0);
    let until = starts[count - 1] + program.period * random.between(0.5, 3.0);
    let bins = random.whole(100, 200).max((4.0 * until / program.period) as usize);
    let step = until / bins as f64;
    samples(step, program.sampled(step, until), regular(starts))
}
