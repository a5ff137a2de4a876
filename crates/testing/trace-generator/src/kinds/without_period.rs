//! Signals without phases at all, or with one or two.

use super::program::{Program, SOLID, samples};
use super::{Kind, Made};
use crate::generated::{Truth, Write};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("constant_series", "the same bandwidth all the time", constant_series),
    Kind::new("white_series", "an independent random value in every bin", white_series),
    Kind::new("white_coarse", "the same in 40 to 250 bins", white_coarse),
    Kind::new("red_series", "values that remember the one before", red_series),
    Kind::new("pink_series", "power that falls with the frequency", pink_series),
    Kind::new("random_walk_series", "a bandwidth that goes up or down at random", random_walk_series),
    Kind::new("wandering_series", "values that remember the ones before for long", wandering_series),
    Kind::new("smooth_series", "a load that wanders, smoothed", smooth_series),
    Kind::new("single_burst", "one burst", single_burst),
    Kind::new("burst_pair", "two bursts", burst_pair),
];

/// A series with that mean.
fn series(random: &mut Random, values: Vec<f64>) -> Made {
    let step = random.log_between(0.1, 10.0);
    let mean = (values.iter().sum::<f64>() / values.len() as f64).max(1e-9);
    samples(step, values.into_iter().map(|value| 1e9 * value / mean).collect(), Truth::default())
}

/// Either from its minimum on, or cut at 0.
fn not_negative(random: &mut Random, values: &mut [f64]) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let shift = if random.chance(0.5) { least } else { 0.0 };
    values.iter_mut().for_each(|value| *value = (*value - shift).max(0.0));
}

fn constant_series(random: &mut Random) -> Made {
    let (count, spread) = (random.whole(200, 3000), random.between(0.0, 0.03));
    let values = (0..count).map(|_| 1.0 + spread * random.normal()).collect();
    series(random, values)
}

fn white(random: &mut Random, count: usize) -> Made {
    let draw: fn(&mut Random) -> f64 = random.pick(&[
        (|random| random.unit()) as fn(&mut Random) -> f64,
        |random| random.normal().abs(),
        |random| random.exponential(1.0),
        |random| random.normal().exp(),
        |random| if random.chance(0.2) { random.exponential(1.0) } else { 0.0 },
    ]);
    let values = (0..count).map(|_| draw(random)).collect();
    series(random, values)
}

fn white_series(random: &mut Random) -> Made {
    let count = random.log_between(300.0, 5000.0) as usize;
    white(random, count)
}

fn white_coarse(random: &mut Random) -> Made {
    let count = random.whole(40, 250);
    white(random, count)
}

fn red_series(random: &mut Random) -> Made {
    let (count, memory) = (random.log_between(300.0, 5000.0) as usize, random.between(0.6, 0.98));
    let mut value = 0.0;
    let mut values: Vec<f64> = (0..count)
        .map(|_| {
            value = memory * value + random.normal();
            value
        })
        .collect();
    not_negative(random, &mut values);
    series(random, values)
}

/// A sum of values that are drawn anew every 1, 2, 4, … bins: its power falls nearly as 1/f.
fn pink_series(random: &mut Random) -> Made {
    let count = random.log_between(300.0, 5000.0) as usize;
    let mut held = [0.0; 12];
    let mut values: Vec<f64> = (0..count)
        .map(|i| {
            for (octave, value) in held.iter_mut().enumerate() {
                if i % (1 << octave) == 0 {
                    *value = random.normal();
                }
            }
            held.iter().sum::<f64>() + random.normal()
        })
        .collect();
    not_negative(random, &mut values);
    series(random, values)
}

fn random_walk_series(random: &mut Random) -> Made {
    let count = random.log_between(300.0, 5000.0) as usize;
    let mut value: f64 = 10.0;
    let values = (0..count)
        .map(|_| {
            value = (value + random.normal()).abs();
            value
        })
        .collect();
    series(random, values)
}

/// Values that remember those before over a fifth to an eightieth of the series.
fn wandering(random: &mut Random, count: usize) -> Vec<f64> {
    let keep = (-random.log_between(5.0, 80.0) / count as f64).exp();
    let mut value = 0.0;
    let next = |_| {
        value = keep * value + (1.0 - keep * keep).sqrt() * random.normal();
        value
    };
    (0..count).map(next).collect()
}

fn wandering_series(random: &mut Random) -> Made {
    let count = random.log_between(100.0, 5000.0) as usize;
    let mut values = wandering(random, count);
    if random.chance(0.5) {
        values.iter_mut().for_each(|value| *value = value.exp());
    }
    not_negative(random, &mut values);
    series(random, values)
}

fn smooth_series(random: &mut Random) -> Made {
    let count = random.log_between(100.0, 5000.0) as usize;
    let rough = wandering(random, count);
    let keep = (-random.log_between(20.0, 200.0) / count as f64).exp();
    let mut smooth = rough[0];
    let next = |value: f64| {
        smooth = keep * smooth + (1.0 - keep) * value;
        smooth
    };
    let mut values: Vec<f64> = rough.into_iter().map(next).collect();
    not_negative(random, &mut values);
    series(random, values)
}

fn single_burst(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let whole = random.log_between(200.0, 2000.0);
    let (at, length, shape) =
        (whole * 0.6 * random.unit(), whole * random.between(0.01, 0.3), random.pick(&SOLID));
    program.shaped(random, shape, at, length, program.rate * length);
    if random.chance(0.5) {
        program.writes.push(Write {
            rank: 0,
            start: whole - 0.01,
            end: whole,
            bytes: (program.rate * length * 1e-6) as u64 + 1,
        });
    }
    program.made(Truth::default())
}

fn burst_pair(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let whole = random.log_between(200.0, 2000.0);
    for half in [0.0, 0.5] {
        let (at, length) = (whole * (half + 0.35 * random.unit()), whole * random.between(0.01, 0.15));
        let volume = program.rate * length * random.factor(0.2);
        program.phase(random, at, length, volume);
    }
    program.made(Truth::default())
}
