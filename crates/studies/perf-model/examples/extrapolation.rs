//! Beyond the measured scales: made series, of which the largest scales are left out and asked for. Used by
//! `scripts/bench extrapolation`.
//!
//! Arguments: sets of each kind. Prints a row for each kind and number of scales: how many of the next runs
//! lie in the 95 % interval, how wide that is, the error of the value, and how often it is nearer to the
//! measurement than Extra-P's (whose decisions `Options::compat` reproduces). Constants were chosen by the
//! kinds without a star (seed 1), with the others in sight.

use perf_model::{Experiment, Options, input, model};
use std::fmt::Write;

/// Numbers at random, the same for the same seed.
struct Random(seeded_random::Random);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

const SCALES: [f64; 9] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// A value at a scale; what a run makes of it.
type Series = (Box<dyn Fn(f64) -> f64>, Box<dyn Fn(&mut Random) -> f64>);

/// The name of a kind, whether it was only used to judge, and its series.
type Kind = (&'static str, bool, fn(&mut Random) -> Series);

fn normal(deviation: f64) -> Box<dyn Fn(&mut Random) -> f64> {
    Box::new(move |random| (1.0 + deviation * random.normal()).max(0.1))
}

fn one_of(random: &mut Random, values: &[f64]) -> f64 {
    values[((random.unit() * values.len() as f64) as usize).min(values.len() - 1)]
}

fn plain(random: &mut Random) -> Series {
    let (a, b) = (random.between(1.0, 20.0), random.between(0.05, 2.0));
    let power = one_of(random, &[0.5, 1.0, 1.5]);
    (Box::new(move |p| a + b * p.powf(power)), normal(0.05))
}

fn outliers(random: &mut Random) -> Series {
    let noise = |random: &mut Random| {
        let outlier = if random.unit() < 0.1 { random.exponential(0.5) } else { 0.0 };
        (0.05 * random.normal()).exp() * (1.0 + outlier)
    };
    (plain(random).0, Box::new(noise))
}

fn terms(random: &mut Random) -> Series {
    let (a, b, c) = (random.between(1.0, 20.0), random.between(0.05, 2.0), random.between(0.1, 3.0));
    let power = one_of(random, &[0.4, 0.6, 0.9, 1.2]);
    (Box::new(move |p| a + b * p.powf(power) + c * p.log2() + 3.0 * a / p), normal(0.04))
}

fn step(random: &mut Random, at: f64) -> Series {
    let (a, b) = (random.between(1.0, 20.0), random.between(0.05, 2.0));
    let (factor, power) = (random.between(1.2, 2.5), one_of(random, &[0.0, 0.5, 1.0]));
    (Box::new(move |p| (a + b * p.powf(power)) * if p > at { factor } else { 1.0 }), normal(0.03))
}

fn step_seen(random: &mut Random) -> Series {
    let at = one_of(random, &[6.0, 12.0, 20.0]);
    step(random, at)
}

fn step_unseen(random: &mut Random) -> Series {
    let at = one_of(random, &[100.0, 200.0, 300.0]);
    step(random, at)
}

fn saturates(random: &mut Random) -> Series {
    let (a, full) = (random.between(1.0, 20.0), random.between(50.0, 500.0));
    (Box::new(move |p| a * p / (1.0 + p / full)), normal(0.05))
}

/// Work that is shared, and communication that grows.
fn shared_work(random: &mut Random) -> Series {
    let (work, rest) = (random.between(50.0, 500.0), random.between(0.5, 5.0));
    let (grows, power) = (random.between(0.01, 0.3), one_of(random, &[0.5, 0.75, 1.0]));
    (Box::new(move |p| work / p + rest + grows * p.powf(power)), normal(0.05))
}

/// A power that changes at a scale, as when a node is full.
fn kink(random: &mut Random) -> Series {
    let (a, at) = (random.between(1.0, 20.0), one_of(random, &[8.0, 16.0, 32.0]));
    let (first, second) = (random.between(0.0, 1.0), random.between(0.0, 1.3));
    (Box::new(move |p| a * p.min(at).powf(first) * (p / at).max(1.0).powf(second)), normal(0.04))
}

/// Bandwidth that approaches what the storage can do, in another way than by sharing.
fn approaches(random: &mut Random) -> Series {
    let (most, scale) = (random.between(1.0, 20.0), random.between(20.0, 200.0));
    (Box::new(move |p| most * (1.0 - (-p / scale).exp())), normal(0.06))
}

/// A queue that fills: the time grows faster and faster.
fn queue(random: &mut Random) -> Series {
    let (a, full) = (random.between(1.0, 20.0), random.between(700.0, 3000.0));
    (Box::new(move |p| a / (1.0 - p / full)), normal(0.04))
}

/// Logarithms and a power that is no simple fraction.
fn odd_power(random: &mut Random) -> Series {
    let (a, b) = (random.between(0.5, 5.0), random.between(0.05, 2.0));
    let (power, logarithm) = (random.between(0.2, 1.4), random.between(0.0, 1.5));
    (Box::new(move |p| a + b * p.powf(power) * p.log2().powf(logarithm)), normal(0.08))
}

const KINDS: [Kind; 11] = [
    ("one term, 5 % noise", false, plain),
    ("one term, skewed noise with outliers", false, outliers),
    ("two terms and a falling one, 4 % noise", false, terms),
    ("a step within the measured scales, 3 % noise", false, step_seen),
    ("a curve that saturates, 5 % noise", false, saturates),
    ("shared work and communication, 5 % noise", true, shared_work),
    ("a power that changes at a scale, 4 % noise", true, kink),
    ("an exponential approach to a limit, 6 % noise", true, approaches),
    ("a queue that fills, 4 % noise", true, queue),
    ("odd powers and logarithms, 8 % noise", true, odd_power),
    ("a step beyond the measured scales, 3 % noise", true, step_unseen),
];

struct Set {
    values: Vec<Vec<f64>>,
}

fn made(kind: fn(&mut Random) -> Series, count: usize, seed: u64) -> Vec<Set> {
    let random = &mut Random(seeded_random::Random::new(seed));
    (0..count)
        .map(|_| {
            let (value, noise) = kind(random);
            let runs = one_of(random, &[1.0, 3.0, 5.0]) as usize;
            let at = |p: &f64| (0..runs).map(|_| value(*p) * noise(random)).collect();
            Set { values: SCALES.iter().map(at).collect() }
        })
        .collect()
}

fn experiment(sets: &[Set], kept: usize) -> Experiment {
    let mut text = String::new();
    for (number, set) in sets.iter().enumerate() {
        for (p, values) in SCALES.iter().zip(&set.values).take(kept) {
            let _ = writeln!(
                text,
                "{{\"params\":{{\"p\":{p}}},\"callpath\":\"{number}\",\"metric\":\"m\",\"value\":{values:?}}}"
            );
        }
    }
    input::parse(&text, "made", None).expect("measurements")
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(180);
    let first: u64 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(1);
    let columns = "median width | median error | Extra-P's | nearer | farther |";
    println!("| series | scales | next run in the interval | {columns}");
    println!("|---|---|---|---|---|---|---|---|");
    for (seed, (name, judged, kind)) in KINDS.iter().enumerate() {
        let sets = made(*kind, count, 1000 * first + seed as u64);
        for kept in [6, 5] {
            let known = experiment(&sets, kept);
            let ours = model(&known, &Options::default()).expect("models").models;
            let theirs = model(&known, &Options::compat()).expect("models").models;
            let (mut inside, mut asked, mut nearer, mut farther) = (0u32, 0u32, 0u32, 0u32);
            let (mut widths, mut errors, mut others) = (Vec::new(), Vec::new(), Vec::new());
            for (own, other) in ours.iter().zip(&theirs) {
                let number: usize = own.callpath.parse().expect("a number");
                let predictor = own.predictor();
                for (p, values) in SCALES.iter().zip(&sets[number].values).skip(kept) {
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    let told = predictor.predict(&[*p], 0.95).expect("one parameter");
                    let interval = told.interval.expect("enough points");
                    let error = (told.value / mean - 1.0).abs();
                    let another = (other.evaluate(&[*p]) / mean - 1.0).abs();
                    asked += 1;
                    inside += u32::from((interval.low..=interval.high).contains(&values[0]));
                    nearer += u32::from(error < 0.99 * another);
                    farther += u32::from(error > 1.01 * another);
                    widths.push((interval.high - interval.low) / mean);
                    errors.push(error);
                    others.push(another);
                }
            }
            println!(
                "| {name}{} | {kept} of 9 | {:.1} % | {:.0} % | {:.1} % | {:.1} % | {nearer} | {farther} |",
                if *judged { " *" } else { "" },
                100.0 * f64::from(inside) / f64::from(asked),
                100.0 * middle(&mut widths),
                100.0 * middle(&mut errors),
                100.0 * middle(&mut others),
            );
        }
    }
}
