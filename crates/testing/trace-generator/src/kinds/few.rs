//! Few phases: right is within 7 %.

use super::program::{Program, regular};
use super::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("three", "three phases, distances 3 to 6 % apart", three).within(0.07),
    Kind::new("four_to_six", "four to six phases, distances vary by up to 6 %", four_to_six).within(0.07),
    Kind::new("few_jittered", "three to five phases, distances jittered by 5 %", few_jittered).within(0.07),
    Kind::new(
        "few_in_a_long_window",
        "four to seven phases in the first quarter of a long job",
        few_in_a_long_window,
    )
    .within(0.07),
];

fn three(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let busy = random.between(0.05, 0.5);
    let later = 1.0 + random.between(0.03, 0.06) * random.pick(&[-1.0, 1.0]);
    let (first, period) = (program.first, program.period);
    let starts = vec![first, first + period, first + period * (1.0 + later)];
    program.phases(random, &starts, busy, 0.03, 0.0);
    program.made(regular(starts))
}

fn four_to_six(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.06), ..Program::any(random) };
    let (count, busy, volumes) = (random.whole(4, 6), random.between(0.05, 0.5), random.between(0.0, 0.1));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, volumes, 0.0);
    program.made(regular(starts))
}

fn few_jittered(random: &mut Random) -> Made {
    let mut program = Program { jitter: 0.05, clocked: false, ..Program::any(random) };
    let (count, busy) = (random.whole(3, 5), random.between(0.05, 0.5));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    program.made(regular(starts))
}

fn few_in_a_long_window(random: &mut Random) -> Made {
    let mut program = Program { jitter: random.between(0.0, 0.03), ..Program::any(random) };
    let (count, busy) = (random.whole(4, 7), random.between(0.1, 0.5));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.05, 0.0);
    let duration = program.end() * random.between(3.0, 6.0);
    program.made_until(duration, regular(starts))
}
