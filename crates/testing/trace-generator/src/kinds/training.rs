//! Training loops: epochs that read a data set in batches, evaluate, and write checkpoints.

use super::program::{Program, regular};
use super::{Kind, Made, Recording};
use crate::generated::{Truth, Write};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("epochs", "epochs of many batches, a pause after each", epochs),
    Kind::new(
        "train_and_evaluate",
        "training and evaluation reads alternate: their common cycle",
        train_and_evaluate,
    ),
    Kind::new(
        "cold_first_epoch",
        "the first epoch reads from disk and is 2 to 8 times as slow",
        cold_first_epoch,
    ),
    Kind::new("batches", "a batch every few seconds, equal in size; no epochs to be seen", batches),
    Kind::new(
        "checkpoints_of_training",
        "few large writes beside many small reads: the writes are asked for",
        checkpoints,
    ),
];

/// Batches from `time` on: reads of `volume` bytes each, `distance` apart, busy for a share.
fn batches_at(
    program: &mut Program,
    random: &mut Random,
    mut time: f64,
    count: usize,
    distance: f64,
    busy: f64,
) -> f64 {
    for _ in 0..count {
        program.all_ranks(time, time + busy * distance, program.rate * busy * distance);
        time += distance * (1.0 + 0.05 * random.normal()).max(busy * 1.02);
    }
    time
}

fn epochs(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, batches) = (random.whole(5, 20), random.whole(8, 60));
    let distance = program.period / batches as f64;
    let (busy, pause) = (random.between(0.1, 0.7), program.period * random.between(0.15, 0.6));
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        starts.push(time);
        time = batches_at(&mut program, random, time, batches, distance, busy) + pause;
    }
    let truth = regular(starts);
    program.made(Truth { also: vec![distance], ..truth }).reading()
}

fn train_and_evaluate(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, batches) = (random.whole(5, 16), random.whole(1, 30));
    let distance = 0.5 * program.period / batches as f64;
    let busy = random.between(0.3, 0.8);
    // Evaluation reads a tenth to all of the volume, after a computing time of its own.
    let share = random.between(0.1, 1.0);
    let (pause, after) =
        (program.period * random.between(0.1, 0.35), program.period * random.between(0.35, 0.8));
    let rate = program.rate;
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        starts.push(time);
        time = batches_at(&mut program, random, time, batches, distance, busy) + pause;
        let length = distance * batches as f64 * share * random.between(0.97, 1.03);
        program.all_ranks(time, time + length, rate * busy * length * 0.8);
        time += length + after * random.between(0.97, 1.03);
    }
    // So are the batches, where there are enough of them.
    let also = if batches > 3 { vec![distance] } else { Vec::new() };
    let truth = Truth { also, ..regular(starts) };
    program.made(truth).reading()
}

fn cold_first_epoch(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, batches) = (random.whole(6, 20), random.whole(4, 30));
    let distance = 0.6 * program.period / batches as f64;
    let (busy, pause) = (random.between(0.2, 0.7), program.period * random.between(0.3, 0.5));
    let slower = random.between(2.0, 8.0);
    let rate = program.rate;
    program.rate = rate / slower.sqrt();
    let first = program.first;
    let mut time = batches_at(&mut program, random, first, batches, distance * slower, busy) + pause;
    program.rate = rate;
    let mut starts = Vec::new();
    for _ in 1..count {
        starts.push(time);
        time = batches_at(&mut program, random, time, batches, distance, busy) + pause;
    }
    let truth = regular(starts);
    program.made(Truth { also: vec![distance], ..truth }).reading()
}

fn batches(random: &mut Random) -> Made {
    let mut program = Program { period: random.log_between(0.2, 5.0), ..Program::any(random) };
    let (count, busy, spread) = (random.whole(100, 800), random.between(0.1, 0.6), random.between(0.0, 0.15));
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        starts.push(time);
        program.all_ranks(
            time,
            time + busy * program.period,
            program.rate * busy * program.period * random.factor(0.1),
        );
        time += program.period * (1.0 + spread * random.normal()).max(1.02 * busy);
    }
    program.made(regular(starts)).reading()
}

fn checkpoints(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(7, 25), random.between(0.03, 0.15));
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.02, 0.0);
    let distance = program.period / random.between(20.0, 100.0);
    let bytes = (program.rate * busy * distance * random.between(0.05, 0.5)) as u64;
    let read = |i: usize| Write {
        rank: 0,
        start: i as f64 * distance,
        end: (i as f64 + 0.5) * distance,
        bytes: bytes.max(1),
    };
    let batches: Vec<Write> = (0..(program.end() / distance) as usize).map(read).collect();
    let mut made = program.made(regular(starts));
    if let Recording::Requests { reads, .. } = &mut made.recording {
        *reads = batches;
    }
    made
}

impl Made {
    /// The same with its writes as reads.
    fn reading(mut self) -> Self {
        if let Recording::Requests { writes, reads, .. } = &mut self.recording {
            std::mem::swap(writes, reads);
        }
        self
    }
}
