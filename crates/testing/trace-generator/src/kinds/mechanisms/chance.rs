//! Series of a monitor without a rhythm: traffic of many, loads that wander, levels, single events.

use super::job::memory;
use crate::generated::Truth;
use crate::kinds::program::samples;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("cascade", "no period: load split unevenly at every scale, as traffic of many users", cascade),
    Kind::new("pareto_flows", "no period: transfers that come at random, lengths with a heavy tail", flows),
    Kind::new("service_starts_up", "no period: a load that grows to its level, with noise", ramp),
    Kind::new("release_and_decay", "no period: single events whose load fades away", decays),
    Kind::new("levels_of_configurations", "no period: levels that hold for a time of any length", levels),
    Kind::new("chaotic_bursts", "no period: quiet stretches of a map at the edge of chaos", intermittent),
    Kind::new("three_states", "no period: idle, normal and busy, each for a time by chance", states),
    Kind::new("noise_with_a_memory", "no period: noise over a trend, remembered over tens of samples", trend),
    Kind::new("one_working_day", "no period: a day and a half, one slow swing", one_day),
    Kind::new("sparse_samples", "no period: nearly all samples are zero", sparse),
];

fn count(random: &mut Random) -> usize {
    random.log_between(100.0, 4000.0) as usize
}

fn none(random: &mut Random, values: Vec<f64>) -> Made {
    let step = random.pick(&[0.5, 1.0, 5.0, 10.0, 60.0, 300.0]);
    let rate = random.log_between(1e5, 1e10);
    samples(step, values.into_iter().map(|value| rate * value.max(0.0)).collect(), Truth::default())
}

fn cascade(random: &mut Random) -> Made {
    let (depth, bias) = (random.whole(7, 12), random.between(0.55, 0.75));
    let mut values = vec![1.0];
    for _ in 0..depth {
        values = values
            .iter()
            .flat_map(|value| {
                let left = if random.chance(0.5) { bias } else { 1.0 - bias };
                [value * 2.0 * left, value * 2.0 * (1.0 - left)]
            })
            .collect();
    }
    none(random, values)
}

fn flows(random: &mut Random) -> Made {
    let count = count(random);
    let (mean, tail) = (random.log_between(0.5, 30.0), random.between(1.1, 1.9));
    let mut values = vec![0.0; count];
    let mut time = 0.0;
    while time < count as f64 {
        let length = (1.0 + 3.0 * random.pareto(tail)).min(count as f64 / 3.0);
        let speed = random.factor(0.8);
        let end = ((time + length) as usize).min(count);
        values[time as usize..end].iter_mut().for_each(|value| *value += speed);
        time += random.exponential(mean);
    }
    none(random, values)
}

fn ramp(random: &mut Random) -> Made {
    let count = count(random);
    let (half, noise, over) =
        (random.between(0.1, 0.6) * count as f64, random.between(0.05, 0.4), random.log_between(1.0, 15.0));
    let rough = memory(random, count, over);
    let fall = random.chance(0.3);
    let values = (0..count).map(|i| {
        let at = if fall { count - 1 - i } else { i } as f64;
        (1.0 - (-at / half).exp()) * (noise * rough[i]).exp()
    });
    let values = values.collect();
    none(random, values)
}

fn decays(random: &mut Random) -> Made {
    let count = count(random);
    let events = random.whole(1, 7);
    let mut values = vec![0.0; count];
    for _ in 0..events {
        let (at, high) = (random.below(count), random.factor(0.8));
        let over = count as f64 * random.log_between(0.005, 0.15);
        for (i, value) in values.iter_mut().enumerate().skip(at) {
            *value += high * (-((i - at) as f64) / over).exp();
        }
    }
    let noise = random.between(0.0, 0.15);
    values.iter_mut().for_each(|value| *value += noise * random.exponential(1.0));
    none(random, values)
}

fn levels(random: &mut Random) -> Made {
    let count = count(random);
    let mean = count as f64 / random.log_between(4.0, 60.0);
    let (tail, noise) = (random.between(1.2, 3.0), random.between(0.0, 0.15));
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let level = random.gamma(1.5);
        let length = 1 + (mean * random.pareto(tail)) as usize;
        values.extend((0..length).map(|_| level * random.factor(noise)));
    }
    values.truncate(count);
    none(random, values)
}

/// The map x + x² (mod 1): long quiet stretches, lengths of all sizes.
fn intermittent(random: &mut Random) -> Made {
    let count = count(random).max(400);
    let (mut x, spread): (f64, f64) = (random.unit(), random.between(0.0, 0.4));
    let values = (0..count)
        .map(|_| {
            x = (x + random.between(0.9, 1.1) * x * x + 1e-4) % 1.0;
            if x > 0.6 { random.factor(spread) } else { 0.02 }
        })
        .collect();
    none(random, values)
}

fn states(random: &mut Random) -> Made {
    let count = count(random);
    let means = [0, 1, 2].map(|_| count as f64 / random.log_between(10.0, 150.0));
    let (noise, mut state) = (random.between(0.05, 0.5), 0);
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let length = 1 + random.exponential(means[state]) as usize;
        let level = [0.02, 0.4, 1.0][state];
        values.extend((0..length).map(|_| level * random.factor(noise)));
        state = (state + 1 + random.below(2)) % 3;
    }
    values.truncate(count);
    none(random, values)
}

fn trend(random: &mut Random) -> Made {
    let count = count(random);
    let (over, slope) = (random.log_between(2.0, 40.0), random.between(-0.9, 2.0));
    let rough = memory(random, count, over);
    let spread = random.between(0.2, 0.7);
    let values = rough
        .iter()
        .enumerate()
        .map(|(i, one)| (1.0 + slope * i as f64 / count as f64) * (spread * one).exp());
    let values = values.collect();
    none(random, values)
}

fn one_day(random: &mut Random) -> Made {
    let count = count(random).max(200);
    let (turns, shift, noise) = (random.between(0.6, 1.6), random.unit(), random.between(0.1, 0.5));
    let values = (0..count)
        .map(|i| {
            let angle = std::f64::consts::TAU * (turns * i as f64 / count as f64 + shift);
            (1.1 + angle.sin()) * random.factor(noise)
        })
        .collect();
    none(random, values)
}

fn sparse(random: &mut Random) -> Made {
    let count = count(random);
    let often = random.log_between(8.0, 60.0) / count as f64;
    let mut values: Vec<f64> =
        (0..count).map(|_| if random.chance(often) { random.exponential(1.0) } else { 0.0 }).collect();
    values[count / 3] += 0.1;
    none(random, values)
}
