//! Loads of a server without a period: they wander, ring, step, dip, or come and go.

use super::{deviation, series};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("ramp", "a load that grows or shrinks, with noise", ramp),
    Kind::new("resonance", "a load that rings: a period for a few turns, then another phase", resonance),
    Kind::new("levels_at_random", "levels that hold for random times", levels),
    Kind::new("dips_at_random", "full speed, interrupted at random", dips),
    Kind::new("sources_on_and_off", "sources that are on and off for times without a scale", on_and_off),
    Kind::new("jobs_come_and_go", "jobs of any length and size that come and go", jobs),
    Kind::new("fading_arrivals", "arrivals at random, each fading", arrivals),
];

fn ramp(random: &mut Random) -> Made {
    let count = random.whole(200, 3000);
    let (bend, height, noise) =
        (random.between(0.5, 3.0), random.between(0.5, 3.0), random.between(0.05, 0.4));
    let mut values: Vec<f64> = (0..count)
        .map(|i| height * (i as f64 / count as f64).powf(bend) + 0.2 + noise * random.unit())
        .collect();
    if random.chance(0.4) {
        values.reverse();
    }
    series(random, &values, None)
}

fn resonance(random: &mut Random) -> Made {
    let count = random.whole(200, 3500);
    let (keep, period) = (random.between(0.8, 0.975), random.between(5.0, 80.0));
    let back = 2.0 * keep * (std::f64::consts::TAU / period).cos();
    let (mut one, mut two) = (0.0, 0.0);
    let mut values: Vec<f64> = (0..count)
        .map(|_| {
            let next = back * one - keep * keep * two + random.normal();
            (two, one) = (one, next);
            next
        })
        .collect();
    let scale = deviation(&values);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let shift = if random.chance(0.6) { 0.0 } else { least };
    values.iter_mut().for_each(|value| *value = (*value - shift) / scale);
    series(random, &values, None)
}

fn levels(random: &mut Random) -> Made {
    let (count, steps) = (random.whole(200, 3500), random.whole(8, 149));
    let (times, heights) = (random.below(4), random.below(3));
    let long: Vec<f64> = (0..steps)
        .map(|_| match times {
            0 => random.exponential(1.0),
            1 => random.between(0.1, 1.0),
            2 => random.pareto(1.5) + 0.1,
            _ => 1.0,
        })
        .collect();
    let all: f64 = long.iter().sum();
    let mut values = Vec::new();
    for long in long {
        let height = match heights {
            0 => random.exponential(1.0),
            1 => random.unit(),
            _ => 3.0 * random.gamma(3.0),
        };
        let samples = ((long / all * count as f64) as usize).max(1);
        values.extend(std::iter::repeat_n(height, samples));
    }
    let noise = random.between(0.0, 0.1);
    values.iter_mut().for_each(|value| *value += noise * random.unit());
    series(random, &values, None)
}

fn dips(random: &mut Random) -> Made {
    let count = random.whole(200, 3500);
    let noise = random.between(0.01, 0.1);
    let mut values: Vec<f64> = (0..count).map(|_| 1.0 + noise * random.normal()).collect();
    for _ in 0..random.log_between(3.0, 60.0) as usize {
        let (at, long, low) =
            (random.below(count), random.whole(1, (count / 80).max(2)), random.between(0.0, 0.5));
        values.iter_mut().skip(at).take(long).for_each(|value| *value *= low);
    }
    series(random, &values, None)
}

fn on_and_off(random: &mut Random) -> Made {
    let count = random.whole(300, 3000);
    let (tail, noise) = (random.between(1.1, 1.9), random.between(0.0, 0.1));
    let mut values: Vec<f64> = (0..count).map(|_| noise * random.unit()).collect();
    for _ in 0..random.whole(1, 5) {
        let (mut at, mut is_on, height) = (0, random.chance(0.5), random.factor(0.4));
        while at < count {
            let long = 1 + (random.pareto(tail) * random.between(3.0, 30.0)) as usize;
            if is_on {
                values.iter_mut().skip(at).take(long).for_each(|value| *value += height);
            }
            (at, is_on) = (at + long, !is_on);
        }
    }
    series(random, &values, None)
}

fn jobs(random: &mut Random) -> Made {
    let count = random.whole(200, 3500);
    let noise = random.between(0.02, 0.2);
    let mut values: Vec<f64> = (0..count).map(|_| noise * random.normal().abs()).collect();
    for _ in 0..random.log_between(4.0, 80.0) as usize {
        let (at, height) = (random.below(count), random.log_between(0.2, 3.0));
        let long = random.log_between(1.0, count as f64 / 8.0) as usize;
        values.iter_mut().skip(at).take(long).for_each(|value| *value += height);
    }
    series(random, &values, None)
}

fn arrivals(random: &mut Random) -> Made {
    let count = random.whole(200, 3500);
    let (fading, noise) = (random.log_between(1.0, 40.0), random.between(0.0, 0.05));
    let mut values: Vec<f64> = (0..count).map(|_| noise * random.unit()).collect();
    let often = count as f64 / fading * random.log_between(0.05, 1.5);
    for _ in 0..often as usize + 4 {
        let (at, height) = (random.below(count), random.exponential(1.0));
        let long = (6.0 * fading) as usize + 1;
        for (i, value) in values.iter_mut().skip(at).take(long).enumerate() {
            *value += height * (-(i as f64) / fading).exp();
        }
    }
    series(random, &values, None)
}
