//! Loads that wander: much power at low frequencies, always some strongest one, and no period.

use super::simulation::{Script, Step, run};
use crate::generated::{Truth, Write};
use crate::kinds::program::{binned, samples};
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;
use std::f64::consts::TAU;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("u_slow_load", "a server's load that returns slowly to its mean, log-normal", slow_load),
    Kind::new("u_bounded_walk", "a random walk between two limits", bounded_walk),
    Kind::new("u_smoothed_walk", "a random walk, averaged by the monitor", smoothed_walk),
    Kind::new("u_power_law", "noise whose power falls with a power of 1 to 2.5 of the frequency", power_law),
    Kind::new("u_active_transfers", "how many transfers are active, lengths with a tail", active_transfers),
    Kind::new("u_clipped_walk", "a wandering load on a server at its limit", clipped_walk),
    Kind::new("u_wandering_requests", "requests whose rate wanders slowly", wandering_requests),
    Kind::new("u_queue", "a queue for one storage: busy and idle for times of any length", queue),
];

fn none(step: f64, values: Vec<f64>) -> Made {
    samples(step, values, Truth::default())
}

fn step(random: &mut Random) -> f64 {
    random.pick(&[1.0, 5.0, 10.0, 60.0, 300.0])
}

fn bins(random: &mut Random) -> usize {
    random.log_between(80.0, 4000.0) as usize
}

/// Values of deviation 1 that remember each other over so many samples.
fn returning(random: &mut Random, count: usize, memory: f64) -> Vec<f64> {
    let keep = (-1.0 / memory).exp();
    let mut value = random.normal();
    let next = |_| {
        value = keep * value + (1.0 - keep * keep).sqrt() * random.normal();
        value
    };
    (0..count).map(next).collect()
}

fn slow_load(random: &mut Random) -> Made {
    let count = bins(random);
    let memory = count as f64 / random.log_between(5.0, 100.0);
    let spread = random.between(0.2, 1.2);
    let values = returning(random, count, memory).iter().map(|x| 1e9 * (spread * x).exp()).collect();
    none(step(random), values)
}

/// A walk that turns back at 0 and 1.
fn between_limits(random: &mut Random, count: usize, stride: f64) -> Vec<f64> {
    let mut value = random.unit();
    let next = |_| {
        value = (value + stride * random.normal()).abs();
        value = if value > 1.0 { (2.0 - value).max(0.0) } else { value };
        value
    };
    (0..count).map(next).collect()
}

fn bounded_walk(random: &mut Random) -> Made {
    let count = bins(random);
    let stride = random.log_between(0.5, 5.0) / (count as f64).sqrt();
    let values = between_limits(random, count, stride).iter().map(|x| 1e9 * x).collect();
    none(step(random), values)
}

fn smoothed_walk(random: &mut Random) -> Made {
    let (count, each) = (bins(random), random.whole(3, 20));
    let stride = random.log_between(0.5, 5.0) / ((count * each) as f64).sqrt();
    let fine = between_limits(random, count * each, stride);
    let values = fine.chunks(each).map(|part| 1e9 * part.iter().sum::<f64>() / part.len() as f64).collect();
    none(step(random), values)
}

fn power_law(random: &mut Random) -> Made {
    let count = bins(random).min(1500);
    let slope = random.between(1.0, 2.5);
    let waves: Vec<(f64, f64, f64)> = (1..count / 2)
        .map(|k| {
            let height =
                (k as f64).powf(-slope / 2.0) * (random.normal().powi(2) + random.normal().powi(2)).sqrt();
            // Not whole numbers of waves: the series does not close.
            (0.7 * k as f64 * TAU / count as f64, TAU * random.unit(), height)
        })
        .collect();
    let value = |i: usize| {
        waves.iter().map(|(turn, phase, height)| height * (turn * i as f64 + phase).cos()).sum::<f64>()
    };
    let mut values: Vec<f64> = (0..count).map(value).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    values.iter_mut().for_each(|x| *x = 1e8 * (*x - least));
    none(step(random), values)
}

fn active_transfers(random: &mut Random) -> Made {
    let (count, step) = (bins(random), step(random));
    let until = count as f64 * step;
    let mean = until / random.log_between(30.0, 400.0);
    let (length, tail) = (mean * random.between(1.0, 6.0), random.between(1.3, 3.0));
    let (mut time, mut writes) = (0.0, Vec::new());
    while time < until {
        time += random.exponential(mean);
        let length = length * random.pareto(tail).clamp(0.05, 40.0);
        writes.push(Write { rank: 0, start: time, end: time + length, bytes: (1e8 * length) as u64 });
    }
    none(step, binned(&writes, step, until))
}

fn clipped_walk(random: &mut Random) -> Made {
    let count = bins(random);
    let memory = count as f64 / random.log_between(8.0, 120.0);
    let (limit, noise) = (random.between(0.0, 1.0), random.between(0.0, 0.1));
    let values = returning(random, count, memory);
    let values = values.iter().map(|x| 1e9 * (3.0 + x.min(limit)).max(0.0) * random.factor(noise)).collect();
    none(step(random), values)
}

fn wandering_requests(random: &mut Random) -> Made {
    let until = random.log_between(200.0, 5000.0);
    let count = 500;
    let memory = count as f64 / random.log_between(8.0, 60.0);
    let spread = random.between(0.4, 1.2);
    let load: Vec<f64> = returning(random, count, memory).iter().map(|x| (spread * x).exp()).collect();
    let usual = until / random.log_between(500.0, 5000.0);
    let (mut time, mut writes) = (0.0, Vec::new());
    while time < until {
        let at = ((time / until * count as f64) as usize).min(count - 1);
        time += random.exponential(usual / load[at]);
        writes.push(Write { rank: 0, start: time, end: time + 0.3 * usual, bytes: 1 << 20 });
    }
    let duration = time + usual;
    let recording = Recording::Requests { ranks: 1, duration, writes, reads: Vec::new() };
    Made { recording, truth: Truth::default() }
}

fn queue(random: &mut Random) -> Made {
    let (link, mean, step) = (1e9, random.log_between(10.0, 200.0), step(random));
    let load = random.between(0.5, 0.95);
    let (mut time, mut scripts) = (0.0, Vec::new());
    for _ in 0..random.whole(30, 300) {
        time += random.exponential(mean);
        let bytes = link * mean * load * random.exponential(1.0);
        scripts.push(Script { steps: vec![Step::Until(time), Step::Transfer(bytes)], link });
    }
    let writes: Vec<Write> = run(&scripts, link).into_iter().flat_map(|done| done.writes).collect();
    let end = writes.iter().map(|write| write.end).fold(0.0, f64::max);
    let step = step.min(end / 80.0);
    none(step, binned(&writes, step, end))
}
