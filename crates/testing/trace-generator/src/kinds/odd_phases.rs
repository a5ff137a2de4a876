//! One rhythm, and phases that are unlike the others.

use super::program::{Program, SOLID, base, regular};
use super::{Kind, Made};
use crate::random::Random;
use crate::shape::Shape;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("long_first", "the first phase 2.5 to 4 times as long and as large", long_first),
    Kind::new("long_last", "the last phase 2 to 6 times as long and as large", long_last),
    Kind::new("startup", "some I/O at the beginning, one output at the end", startup),
    Kind::new("huge_start", "one huge transfer of many periods, then small regular phases", huge_start),
    Kind::new(
        "on_a_plateau",
        "one huge transfer that thins out slowly under the first regular phases",
        on_a_plateau,
    ),
    Kind::new("stray_before", "one phase 5 to 30 periods before the others", stray_before),
    Kind::new("stray_after", "one phase 5 to 30 periods after the others", stray_after),
    Kind::new("half_way", "half-sized phases half-way in between, one to three of them", half_way),
    Kind::new("cut_edges", "the record begins and ends within a phase", cut_edges),
    Kind::new("every_tenth_large", "every fifth to tenth phase 3 to 8 times as large", every_tenth_large),
];

/// A loose plain rhythm whose phase at `index` (from the end if negative) is `factor` times as long and as
/// large.
fn with_one(random: &mut Random, first: bool, factor: f64) -> Made {
    let mut program = Program::any(random);
    let (count, moves) = (random.whole(6, 25), random.chance(0.66));
    let busy =
        if moves { random.between(0.06, 0.3) } else { random.between(0.06, 0.3f64.min(0.75 / factor)) };
    let bursts = random.chance(0.4).then(|| random.whole(2, 5));
    let mut starts = program.starts(random, count);
    let usual = busy * program.period;
    if first && moves {
        starts.iter_mut().skip(1).for_each(|start| *start += (factor - 1.0) * usual);
    }
    for (i, &start) in starts.iter().enumerate() {
        let odd = if first { i == 0 } else { i == count - 1 };
        let length = usual * if odd { factor } else { 1.0 };
        match bursts {
            Some(bursts) => program.bursts(start, length, program.rate * length, bursts, 0.5),
            None => program.phase(random, start, length, program.rate * length),
        }
    }
    let rest = if first { &starts[1..] } else { &starts[..] };
    let truth = regular(rest.to_vec());
    program.made(truth)
}

fn long_first(random: &mut Random) -> Made {
    let factor = random.between(2.5, 4.0);
    with_one(random, true, factor)
}

fn long_last(random: &mut Random) -> Made {
    let factor = random.between(2.0, 6.0);
    with_one(random, false, factor)
}

fn startup(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (before, period, rate) = (program.first, program.period, program.rate);
    for _ in 0..random.whole(1, 4) {
        let (at, length) = (before * random.unit(), before * random.between(0.02, 0.3) + 0.01 * period);
        let volume = rate * period * random.between(0.02, 1.0);
        program.shaped(random, Shape::Rectangle, at, length, volume);
    }
    program.first = before + period * random.between(0.1, 1.3);
    let (count, busy) = (random.whole(8, 34), random.between(0.05, 0.4));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    if random.chance(0.6) {
        let (at, length) = (period * random.between(0.4, 1.2), period * random.between(0.3, 2.0));
        program.shaped(random, Shape::Ior, starts[count - 1] + at, length, rate * length);
    }
    program.made(regular(starts))
}

fn huge_start(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(7, 30), random.between(0.04, 0.3));
    let long = program.period * random.between(1.0, 8.0);
    let rate = program.rate * random.log_between(1.0, 20.0);
    let at = program.first;
    let shape = random.pick(&SOLID);
    program.shaped(random, shape, at, long, rate * long);
    program.first += long + program.period * random.between(0.3, 2.0);
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.05, 0.0);
    program.made(regular(starts))
}

fn on_a_plateau(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(10, 30), random.between(0.04, 0.25));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.1, 0.0);
    // A large read whose bandwidth falls in steps over a tenth to a third of the job.
    let (from, span) =
        (program.first * random.unit(), program.period * count as f64 * random.between(0.1, 0.33));
    let high = program.rate * random.between(0.5, 4.0);
    for i in 0..12 {
        let step = span / 12.0;
        let start = from + i as f64 * step;
        program.all_ranks(start, start + step, high * step * (1.0 - i as f64 / 12.0).powi(2));
    }
    program.made(regular(starts))
}

/// A plain rhythm with one phase far before (negative) or after it.
fn stray(random: &mut Random, sign: f64) -> Made {
    let mut program = Program::any(random);
    let far = random.between(5.0, 30.0) * program.period;
    let (count, busy) = (random.whole(8, 30), random.between(0.04, 0.4));
    program.first += if sign < 0.0 { far } else { 0.0 };
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    let at = if sign < 0.0 { starts[0] - far } else { starts[count - 1] + far };
    let size = random.pick(&[0.5, 1.0, 1.0, 3.0]);
    program.phase(random, at, busy * program.period, program.rate * busy * program.period * size);
    program.made(regular(starts))
}

fn stray_before(random: &mut Random) -> Made {
    stray(random, -1.0)
}

fn stray_after(random: &mut Random) -> Made {
    stray(random, 1.0)
}

fn half_way(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(8, 30), random.between(0.04, 0.25));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    for _ in 0..random.whole(1, 3) {
        let at = starts[random.below(count - 1)] + 0.5 * program.period;
        program.phase(random, at, 0.5 * busy * program.period, 0.5 * program.rate * busy * program.period);
    }
    program.made(regular(starts))
}

fn cut_edges(random: &mut Random) -> Made {
    let mut program = Program { first: 0.0, ..Program::any(random) };
    let (count, busy) = (random.whole(8, 30), random.between(0.2, 0.7));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.0, 0.0);
    let phase = busy * program.period;
    let (from, to) =
        (starts[0] + phase * random.between(0.1, 0.9), starts[count - 1] + phase * random.between(0.1, 0.9));
    for write in &mut program.writes {
        let rate = write.bytes as f64 / (write.end - write.start);
        (write.start, write.end) = (write.start.max(from) - from, write.end.min(to) - from);
        write.bytes = (rate * (write.end - write.start)).max(0.0) as u64;
    }
    program.writes.retain(|write| write.end > write.start && write.bytes > 0);
    let truth = regular(starts);
    let starts = truth.starts.iter().map(|start| (start - from).max(0.0)).collect();
    program.made(crate::generated::Truth { starts, ..truth })
}

fn every_tenth_large(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (every, busy) = (random.whole(5, 10), random.between(0.04, 0.1));
    let count = every * random.whole(3, 6);
    let factor = random.between(3.0, 8.0);
    let (starts, period) = (program.starts(random, count), program.period);
    for (i, &start) in starts.iter().enumerate() {
        let length = busy * period * if i % every == every - 1 { factor } else { 1.0 };
        program.phase(random, start, length, program.rate * length);
    }
    // The distance of the large ones is a rhythm as well.
    let truth = base(regular(starts.clone()).period.unwrap_or(period), starts);
    let also = vec![every as f64 * period];
    program.made(crate::generated::Truth { also, ..truth })
}
