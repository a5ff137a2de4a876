//! A rhythm in or upon other traffic, and traffic alone.

use super::{Job, deviation, pulses, remembering, series};
use crate::generated::{Truth, Write};
use crate::kinds::program::regular;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("upon_traffic", "regular phases upon traffic of as many bytes that goes on all the time", upon),
    Kind::new(
        "many_clients",
        "a regular job among the requests of many clients, of every size",
        many_clients,
    ),
    Kind::new("weak_in_noise", "a weak even rhythm in noisy samples", weak_in_noise),
    Kind::new("weak_in_memory", "a weak even rhythm upon traffic that remembers", weak_in_memory),
    Kind::new(
        "server_with_strangers",
        "a server's samples: an even job, several at random, some huge",
        strangers,
    ),
    Kind::new("cron_in_metric", "a job of one to three samples at fixed times upon a noisy metric", cron),
    Kind::new("small_gauge", "a gauge of small whole numbers that is higher now and then", small_gauge),
    Kind::new("diurnal", "a load that follows the day, with noise that remembers", diurnal),
    Kind::new("traffic_alone", "phases at random upon traffic that goes on all the time", alone),
    Kind::new("clients_alone", "requests of many clients, of every size", clients_alone),
];

/// Traffic that goes on until then.
fn flow(job: &mut Job, random: &mut Random, until: f64) {
    let level = job.rate() * random.between(0.1, 0.7);
    let usual = job.period() * random.log_between(0.005, 0.1);
    let spread = 0.5 * random.between(0.2, 0.8);
    let mut time = 0.0;
    while time < until {
        let length = usual * (random.exponential(1.0) + 1e-3);
        let bytes = level * length * (spread * random.normal()).exp();
        job.program.writes.push(Write {
            rank: 0,
            start: time,
            end: time + length,
            bytes: bytes.max(1.0) as u64,
        });
        let pause = if random.chance(0.3) { random.exponential(1.0) } else { 0.0 };
        time += length * (1.0 + pause);
    }
}

fn upon(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (first, count) = (job.program.first, job.count);
    let (starts, end) = job.rhythm(random, first, count, 0.0);
    flow(&mut job, random, end);
    job.program.made(regular(starts))
}

fn alone(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let until = job.period() * job.count as f64;
    for _ in 0..job.count {
        let (at, volume) = (random.between(0.0, until), random.factor(0.5));
        job.usual(random, at, volume);
    }
    flow(&mut job, random, until);
    job.program.made(Truth::default())
}

/// Requests at random until then; volumes and lengths vary together.
fn clients(job: &mut Job, random: &mut Random, until: f64) {
    let count = random.log_between(150.0, 1500.0) as usize;
    let (spread, length) = (random.between(0.5, 1.5), random.between(0.3, 2.0));
    let bytes = random.between(0.2, 1.5) * job.volume() * until / job.period() / count as f64;
    for _ in 0..count {
        let (start, size) = (random.between(0.0, until), random.factor(spread));
        let end = start + until / count as f64 * size * length;
        let bytes = bytes * size * (0.5 * random.normal()).exp();
        job.program.writes.push(Write { rank: 0, start, end, bytes: bytes.max(1.0) as u64 });
    }
}

fn many_clients(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.busy = random.between(0.06, 0.4);
    job.program.jitter = random.between(0.0, 0.03);
    let (first, count) = (job.program.first, job.count.max(12));
    let (starts, end) = job.rhythm(random, first, count, 0.1);
    clients(&mut job, random, end);
    job.program.made(regular(starts))
}

fn clients_alone(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let until = job.period() * job.count as f64;
    clients(&mut job, random, until);
    job.program.made(Truth::default())
}

fn weak_in_noise(random: &mut Random) -> Made {
    let count = random.whole(300, 3000);
    let period = random.between(8.0, count as f64 / 10.0);
    let share = random.between(0.15, 0.6);
    let wide = random.pick(&[1, 1, 3, 8]);
    let is_gamma = random.chance(0.5);
    let spread = random.between(0.2, 0.6);
    let noise: Vec<f64> = (0..count + wide)
        .map(|_| if is_gamma { random.gamma(2.0) } else { (1.0 + spread * random.normal()).abs() })
        .collect();
    let smooth: Vec<f64> = (0..count).map(|i| noise[i..i + wide].iter().sum::<f64>() / wide as f64).collect();
    let height = random.between(0.3, 1.2) * deviation(&smooth) * (wide as f64).powf(0.25);
    let pulses = pulses(random, count, period, share);
    let values: Vec<f64> = smooth.iter().zip(pulses).map(|(noise, pulse)| noise + height * pulse).collect();
    series(random, &values, Some(period))
}

fn weak_in_memory(random: &mut Random) -> Made {
    let count = random.whole(400, 4000);
    let (period, memory) = (random.between(8.0, count as f64 / 12.0), random.between(0.3, 0.95));
    let spread = random.between(0.2, 0.7);
    let load: Vec<f64> = remembering(random, count, memory).iter().map(|x| (spread * x).exp()).collect();
    let (height, share) = (random.between(0.5, 1.6) * deviation(&load), random.between(0.1, 0.5));
    let pulses = pulses(random, count, period, share);
    let values: Vec<f64> = load.iter().zip(pulses).map(|(load, pulse)| load + height * pulse).collect();
    series(random, &values, Some(period))
}

fn strangers(random: &mut Random) -> Made {
    let step = random.log_between(0.5, 30.0);
    let mut job = Job::any(random);
    job.program.period = step * random.between(10.0, 80.0);
    (job.busy, job.program.jitter, job.program.rate) = (random.between(0.06, 0.4), 0.015, 1e9);
    let (period, count) = (job.period(), random.whole(12, 45));
    let first = period * random.unit();
    let (starts, end) = job.rhythm(random, first, count, 0.15);
    for _ in 0..random.whole(3, 25) {
        let length = period * random.log_between(0.03, 2.0);
        let (at, bytes) = (random.between(0.0, end - length), 1e9 * length * random.log_between(0.2, 4.0));
        job.burst(at, length, bytes);
    }
    let noise = random.between(0.0, 0.3);
    job.monitored(random, step, end, noise, regular(starts))
}

fn cron(random: &mut Random) -> Made {
    let period = random.between(6.0, 60.0);
    let count = (period * random.between(15.0, 80.0)) as usize;
    let (spread, memory) = (random.between(0.1, 0.5), random.between(0.0, 0.8));
    let mut values: Vec<f64> =
        remembering(random, count, memory).iter().map(|x| (spread * x).exp()).collect();
    let height = random.between(1.5, 8.0) * deviation(&values) + 0.3;
    let mut time = period * random.unit();
    while time < (count - 1) as f64 {
        let (at, long, height) = (time.round() as usize, random.whole(1, 2), height * random.factor(0.2));
        values.iter_mut().skip(at).take(long).for_each(|value| *value += height);
        time += period;
    }
    for _ in 0..random.below(12) {
        let at = random.below(count);
        values[at] += height * random.log_between(0.5, 10.0);
    }
    series(random, &values, Some(period))
}

/// How often in a time of 1, at that rate (Poisson).
fn arrivals(random: &mut Random, rate: f64) -> f64 {
    let (mut time, mut count) = (random.exponential(1.0), 0.0);
    while time < rate {
        count += 1.0;
        time += random.exponential(1.0);
    }
    count
}

fn small_gauge(random: &mut Random) -> Made {
    let period = random.between(8.0, 80.0);
    let count = (period * random.between(12.0, 50.0)) as usize;
    let (low, high) = (random.between(0.05, 1.0), random.between(1.0, 6.0));
    let share = random.between(0.1, 0.5);
    let pulses = pulses(random, count, period, share);
    let values: Vec<f64> =
        pulses.iter().map(|pulse| arrivals(random, low) + pulse * arrivals(random, high)).collect();
    series(random, &values, Some(period))
}

fn diurnal(random: &mut Random) -> Made {
    let period = random.between(24.0, 300.0);
    let count = (period * random.between(5.0, 20.0)) as usize;
    let (swing, second) = (random.between(0.3, 0.9), random.between(0.0, 0.3));
    let (phase, other) = (6.0 * random.unit(), 6.0 * random.unit());
    let (spread, memory) = (random.between(0.05, 0.4), random.between(0.0, 0.9));
    let noise = remembering(random, count, memory);
    let value = |i: usize| {
        let turn = std::f64::consts::TAU * i as f64 / period;
        let day = 1.0 + swing * (turn + phase).cos() + second * (2.0 * turn + other).cos();
        day * (spread * noise[i]).exp()
    };
    let values: Vec<f64> = (0..count).map(value).map(|day| day + 0.1 * random.normal().abs()).collect();
    series(random, &values, Some(period))
}
