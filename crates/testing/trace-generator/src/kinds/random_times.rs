//! Phases at random instants: there is no period, however equal the phases are.

use super::program::Program;
use super::{Kind, Made};
use crate::generated::Truth;
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("poisson", "exponential distances", poisson),
    Kind::new(
        "lognormal_equal",
        "equal phases, log-normal distances, deviation 50 to 100 % of the mean",
        lognormal_equal,
    ),
    Kind::new("lognormal_volumes", "phases of different volumes, log-normal distances", lognormal_volumes),
    Kind::new("gamma_equal", "equal phases, gamma distances, deviation 50 to 120 % of the mean", gamma_equal),
    Kind::new("pareto_equal", "equal phases, distances with a Pareto tail", pareto_equal),
    Kind::new("pareto", "phases that vary, distances with a Pareto tail", pareto),
    Kind::new(
        "weibull_equal",
        "equal phases, distances clustered (Weibull, shape 0.5 to 0.9)",
        weibull_equal,
    ),
    Kind::new("few_at_random", "three to seven phases anywhere", few_at_random),
    Kind::new("clustered", "clusters of bursts at random", clustered),
    Kind::new("two_groups", "two groups of equal bursts: within a group they are even", two_groups),
];

/// Phases whose distances are drawn one by one.
fn renewal(random: &mut Random, volumes: f64, longest: f64, distance: impl Fn(&mut Random) -> f64) -> Made {
    let mut program = Program::any(random);
    let count = random.whole(8, 60);
    let length = program.period * random.between(0.01, longest);
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        let this = length * random.factor(volumes);
        program.phase(random, time, this, program.rate * this);
        starts.push(time);
        time += program.period * distance(random);
    }
    program.made(if volumes == 0.0 { Truth::at_random(starts) } else { Truth { starts, ..Truth::default() } })
}

fn poisson(random: &mut Random) -> Made {
    let volumes = random.pick(&[0.0, 0.3, 0.8]);
    renewal(random, volumes, 0.3, |random| random.exponential(1.0))
}

fn lognormal_equal(random: &mut Random) -> Made {
    let deviation: f64 = random.between(0.5, 1.0);
    renewal(random, 0.0, 0.2, move |random| random.factor((1.0 + deviation * deviation).ln().sqrt()))
}

fn lognormal_volumes(random: &mut Random) -> Made {
    let deviation: f64 = random.between(0.5, 1.0);
    let volumes = random.between(0.2, 0.8);
    renewal(random, volumes, 0.2, move |random| random.factor((1.0 + deviation * deviation).ln().sqrt()))
}

fn gamma_equal(random: &mut Random) -> Made {
    let deviation: f64 = random.between(0.5, 1.2);
    renewal(random, 0.0, 0.2, move |random| random.gamma(1.0 / (deviation * deviation)))
}

fn pareto_equal(random: &mut Random) -> Made {
    let exponent = random.between(1.2, 2.5);
    renewal(random, 0.0, 0.1, move |random| 0.1 + random.pareto(exponent))
}

fn pareto(random: &mut Random) -> Made {
    let exponent = random.between(1.2, 2.5);
    renewal(random, 0.4, 0.1, move |random| 0.1 + random.pareto(exponent))
}

fn weibull_equal(random: &mut Random) -> Made {
    let shape: f64 = random.between(0.5, 0.9);
    renewal(random, 0.0, 0.1, move |random| random.exponential(1.0).powf(1.0 / shape))
}

fn few_at_random(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, whole) = (random.whole(3, 7), random.log_between(200.0, 2000.0));
    let length = whole / count as f64 * random.between(0.02, 0.2);
    let volumes = random.pick(&[0.0, 0.3]);
    for _ in 0..count {
        let at = whole * random.unit();
        let volume = program.rate * length * random.factor(volumes);
        program.phase(random, at, length, volume);
    }
    program.made(Truth::default())
}

fn clustered(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (clusters, whole) = (random.whole(4, 13), random.log_between(200.0, 2000.0));
    let mean = whole / clusters as f64;
    let mut time = 0.0;
    for _ in 0..clusters {
        time += random.exponential(mean);
        let (mut at, length) = (time, mean * random.between(0.005, 0.03));
        loop {
            let this = length * random.factor(0.3);
            program.all_ranks(at, at + this, program.rate * this * random.factor(0.5));
            at += this + random.exponential(2.5 * length);
            if random.chance(0.25) {
                break;
            }
        }
    }
    program.made(Truth::default())
}

/// Two groups of bursts with a long silence between: at most the bursts' distance is a rhythm, for a small
/// part of the time.
fn two_groups(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let bursts = random.whole(3, 6);
    let length = program.period * random.between(0.1, 0.3);
    let apart = program.period * random.between(1.5, 6.0);
    let (first, rate) = (program.first, program.rate);
    for group in 0..2 {
        let at = first + f64::from(group) * (length + apart) * random.between(0.9, 1.1);
        program.bursts(at, length, rate * length, bursts, 0.5);
    }
    let distance = length / (bursts as f64 - 0.5);
    program.made(Truth { also: vec![distance], ..Truth::default() })
}
