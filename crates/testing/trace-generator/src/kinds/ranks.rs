//! Ranks that do not write at the same time.

use super::program::{Program, regular};
use super::{Kind, Made};
use crate::generated::Write;
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("late_ranks", "ranks begin late (exponential); the next iteration waits for all", late_ranks),
    Kind::new(
        "out_of_step",
        "ranks drift apart from phase to phase, by up to a fifth of the period",
        out_of_step,
    ),
    Kind::new(
        "one_after_the_other",
        "ranks write in turn, so that a phase is a row of equal bursts",
        one_after_the_other,
    ),
];

fn late_ranks(random: &mut Random) -> Made {
    let mut program = Program { ranks: random.pick(&[8, 16, 32]), ..Program::any(random) };
    let (count, period) = (random.whole(10, 25), program.period);
    let length = period * random.between(0.15, 0.4);
    let (late, compute) = (length * random.between(0.2, 2.5), period * random.between(0.3, 0.7));
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        starts.push(time);
        let requests = random.pick(&[1, 3, 6]);
        let mut last = 0.0f64;
        for rank in 0..program.ranks {
            let delay = if rank == 0 { 0.0 } else { random.exponential(late) };
            last = last.max(delay);
            let each = length / f64::from(requests);
            let bytes = (program.rate * each / f64::from(program.ranks)) as u64;
            for i in 0..requests {
                let start = time + delay + f64::from(i) * each;
                program.writes.push(Write { rank, start, end: start + each, bytes });
            }
        }
        time += last + length + compute;
    }
    program.made(regular(starts).loose())
}

fn out_of_step(random: &mut Random) -> Made {
    let mut program = Program { ranks: random.pick(&[4, 8, 16]), ..Program::any(random) };
    let (count, busy) = (random.whole(10, 30), random.between(0.08, 0.3));
    let starts = program.starts(random, count);
    let widest = program.period * random.between(0.05, 0.2);
    let own: Vec<f64> = (0..program.ranks).map(|_| random.unit()).collect();
    let bytes = (program.rate * busy * program.period / f64::from(program.ranks)) as u64;
    let mut first = Vec::new();
    for (i, &start) in starts.iter().enumerate() {
        let apart = widest * i as f64 / count as f64;
        let least = own.iter().copied().fold(1.0, f64::min);
        first.push(start + apart * least);
        for (rank, own) in own.iter().enumerate() {
            let from = start + apart * own;
            let end = from + busy * program.period;
            program.writes.push(Write { rank: rank as u32, start: from, end, bytes });
        }
    }
    program.made(regular(first))
}

fn one_after_the_other(random: &mut Random) -> Made {
    let mut program = Program { ranks: random.pick(&[4, 8, 16]), ..Program::any(random) };
    let (count, share, busy) = (random.whole(7, 25), random.between(0.1, 0.6), random.between(0.5, 0.95));
    let starts = program.starts(random, count);
    let turn = share * program.period / f64::from(program.ranks);
    let bytes = (program.rate * turn) as u64;
    for &start in &starts {
        for rank in 0..program.ranks {
            let from = start + turn * f64::from(rank);
            program.writes.push(Write { rank, start: from, end: from + busy * turn, bytes });
        }
    }
    program.made(regular(starts))
}
