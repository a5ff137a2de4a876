//! How often is the term found that made the data?
//!
//! `cargo run --release -p perf-model --example recovery [TRIALS] [SEED]` makes series of known terms with 5
//! % noise on each run (of its own value, or of the middle one everywhere), models them in both modes, and
//! prints how often each finds the term, how often a series without any term is given one, and how often the
//! next run lies in the interval that should contain 95 %.

use std::env;

use perf_model::{ExperimentBuilder, Exponents, GROWING, Options, Shrinking, Target, model};

/// SplitMix64 (Steele et al. 2014): a few lines, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }
}

const NOISE: f64 = 0.05;

/// Scales such as people run: powers of two for few points, whole nodes of 36 for many.
fn scales(points: usize) -> Vec<f64> {
    if points <= 12 {
        (1..=points).map(|k| f64::from(1u32 << k)).collect()
    } else {
        (1..=points).map(|k| 36.0 * k as f64).collect()
    }
}

#[derive(Default)]
struct Tally {
    trials: usize,
    found: [usize; 2],
    covered: [usize; 2],
    with_interval: [usize; 2],
    sure: usize,
    sure_and_right: usize,
}

/// Terms that programs have, and terms from the whole search space.
fn shape(kind: &str, random: &mut Random) -> Option<Exponents> {
    const USUAL: [Exponents; 11] = [
        Exponents::new(1, 1, 0),
        Exponents::new(1, 1, 1),
        Exponents::new(1, 2, 0),
        Exponents::new(2, 1, 0),
        Exponents::new(0, 1, 1),
        Exponents::new(0, 1, 2),
        Exponents::new(3, 4, 1),
        Exponents::new(1, 3, 0),
        Exponents::new(3, 1, 1),
        Exponents::new(3, 2, 0),
        Exponents::new(-1, 1, 0),
    ];
    match kind {
        "usual" | "usual, same noise everywhere" => Some(USUAL[random.next() as usize % 10]),
        "any of 42" => Some(GROWING[random.next() as usize % GROWING.len()]),
        "falling 1/p" | "falling 1/p, negative exponents on" => Some(USUAL[10]),
        _ => None,
    }
}

fn main() {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let trials = arguments.next().unwrap_or(1000) as usize;
    let seed = arguments.next().unwrap_or(1);
    println!("{trials} series each, {:.0} % noise per run, seed {seed}", NOISE * 100.0);
    println!(
        "| terms | points | runs each | compat | default | next run in 95 % (c) | (d) | told apart | of \
         these right |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for kind in [
        "usual",
        "any of 42",
        "usual, same noise everywhere",
        "falling 1/p",
        "falling 1/p, negative exponents on",
        "constant",
    ] {
        for (points, repetitions) in [(5, 1), (5, 5), (8, 5), (12, 1), (20, 1), (39, 1), (39, 5)] {
            let mut random = Random(seed ^ (points as u64) << 32 ^ (repetitions as u64) << 40);
            let tally = run(kind, points, repetitions, trials, &mut random);
            let percent = |part: usize, whole: usize| {
                if whole == 0 {
                    "-".to_owned()
                } else {
                    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
                }
            };
            println!(
                "| {kind} | {points} | {repetitions} | {} | {} | {} | {} | {} | {} |",
                percent(tally.found[0], tally.trials),
                percent(tally.found[1], tally.trials),
                percent(tally.covered[0], tally.with_interval[0]),
                percent(tally.covered[1], tally.with_interval[1]),
                percent(tally.sure, tally.trials),
                percent(tally.sure_and_right, tally.sure),
            );
        }
    }
}

fn run(kind: &str, points: usize, repetitions: usize, trials: usize, random: &mut Random) -> Tally {
    let mut tally = Tally { trials, ..Tally::default() };
    let scales = scales(points);
    let next_scale = scales[points - 1] * 4.0;
    for _ in 0..trials {
        let exponents = shape(kind, random);
        // The constant is up to as large as the term in the middle of the scales, so that both matter
        // somewhere.
        let middle = exponents.map_or(0.0, |e| e.evaluate(scales[points / 2]));
        let constant = if exponents.is_some() { random.uniform() * middle } else { 1.0 };
        let truth = |p: f64| constant + exponents.map_or(0.0, |e| e.evaluate(p));
        let level = truth(scales[points / 2]);
        let scatter = |p: f64| NOISE * if kind.contains("everywhere") { level } else { truth(p) };
        let mut builder = ExperimentBuilder::new(vec!["p".to_owned()]);
        for &p in &scales {
            let values: Vec<f64> =
                (0..repetitions).map(|_| truth(p) + scatter(p) * random.normal()).collect();
            builder.add("main", "time", &[p], &values);
        }
        let experiment = builder.build();
        let next_run = truth(next_scale) + scatter(next_scale) * random.normal();
        // Extra-P offers negative exponents only when told to.
        let shrinking = kind.ends_with("exponents on").then_some(Shrinking::Always);
        let modes = [Options { shrinking, ..Options::compat() }, Options { shrinking, ..Options::default() }];
        for (mode, options) in modes.iter().enumerate() {
            let models = model(&experiment, options).expect("one parameter and complete");
            let model = &models.models[0];
            let found = model.function.leading().terms.first().map(|term| term.factors[0].exponents);
            let right = found == exponents;
            tally.found[mode] += usize::from(right);
            if let Some(interval) = model.predictor().interval(&[next_scale], 0.95, Target::Run) {
                tally.with_interval[mode] += 1;
                tally.covered[mode] += usize::from((interval.low..=interval.high).contains(&next_run));
            }
            if mode == 1 && model.runner_up.as_ref().is_some_and(|runner_up| runner_up.distinguishable) {
                tally.sure += 1;
                tally.sure_and_right += usize::from(right);
            }
        }
    }
    tally
}
