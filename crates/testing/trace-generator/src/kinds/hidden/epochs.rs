//! Training: epochs of batches, cold caches, and steps that a monitor is too slow for.

use super::Job;
use crate::generated::{Truth, Write, mean_distance};
use crate::kinds::program::regular;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new(
        "epochs_of_short_steps",
        "steps of 1 to 2 samples of the monitor: only the epochs can be seen",
        aliased,
    ),
    Kind::new(
        "read_ahead",
        "epochs of batches, each read ahead in one burst, validation between",
        read_ahead,
    ),
    Kind::new("read_ahead_sampled", "the same as samples of a monitor", read_ahead_sampled),
    Kind::new("epochs_of_any_length", "epochs of different numbers of batches: the batch", any_length),
    Kind::new("cold_start", "the first cycle or two are slow, then all is even", cold_start),
    Kind::new("epochs_with_input", "epochs of batches, the first of each larger", with_input),
    Kind::new(
        "short_steps_alone",
        "no period to be seen: steps of 1 to 2 samples of the monitor",
        steps_alone,
    ),
    Kind::new("random_batches", "no period: groups of a random number of requests", random_batches),
];

/// Epochs of steps of 1.05 to 1.95 samples of a second.
fn short_steps(random: &mut Random, epochs: usize, steps: usize) -> Made {
    let mut job = Job::any(random);
    (job.program.rate, job.program.ranks) = (1e9, 1);
    let step = random.between(1.05, 1.95);
    let (busy, jitter) = (random.between(0.1, 0.6), random.between(0.0, 0.01));
    let pause = step * steps as f64 * random.between(0.03, 0.5);
    let cold = if random.chance(0.3) { random.between(1.3, 3.0) } else { 1.0 };
    let low = if random.chance(0.4) { random.between(0.0, 0.3) } else { 0.0 };
    let (mut time, mut starts) = (pause * random.unit(), Vec::new());
    for epoch in 0..epochs {
        starts.push(time);
        for i in 0..steps {
            let bytes = 1e9 * busy * step * random.factor(0.05);
            job.burst(time, busy * step, bytes);
            let slow = if epoch == 0 && i < steps / 2 { cold } else { 1.0 };
            time += step * slow * (1.0 + jitter * random.normal());
        }
        if low > 0.0 {
            job.burst(time, pause, low * 1e9 * pause * busy);
        }
        time += pause * (1.0 + 0.05 * random.normal());
    }
    let from = usize::from(cold > 1.0 && starts.len() > 3);
    let truth = Truth { period: mean_distance(&starts[from..]), ..Truth::default() };
    let noise = random.between(0.0, 0.1);
    job.monitored(random, 1.0, time, noise, truth)
}

fn aliased(random: &mut Random) -> Made {
    let (epochs, steps) = (random.whole(3, 8), random.log_between(25.0, 300.0) as usize);
    short_steps(random, epochs, steps)
}

fn steps_alone(random: &mut Random) -> Made {
    let steps = random.log_between(60.0, 1500.0) as usize;
    short_steps(random, 1, steps)
}

/// Epochs of batches, and what is known of them.
struct Epochs {
    job: Job,
    starts: Vec<f64>,
    batch: f64,
    /// The first epoch is slower, and not counted.
    is_cold: bool,
    end: f64,
}

/// `spread`: how much the number of batches of an epoch varies.
fn epochs(random: &mut Random, spread: f64) -> Epochs {
    let mut job = Job::any(random);
    job.program.ranks = 1;
    let (count, batches) = (random.whole(3, 10), random.log_between(6.0, 250.0));
    let batch = job.period() / batches;
    let pause = batch * random.log_between(1.5, 0.6 * batches + 2.0);
    let cold = if random.chance(0.5) { random.between(1.3, 5.0) } else { 1.0 };
    let (jitter, busy) = (random.between(0.0, 0.15), random.between(0.1, 0.7));
    let (is_validated, is_buffered) = (random.chance(0.4), random.chance(0.3));
    let usual = job.rate() * batch * busy;
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for epoch in 0..count {
        starts.push(time);
        let slow = if epoch == 0 { cold } else { 1.0 };
        let here = (batches * (1.0 + spread * random.normal())).round().max(3.0) as usize;
        if is_buffered {
            let (length, bytes) = (batch * random.between(0.5, 3.0), usual * random.between(2.0, 8.0));
            job.burst(time, length, bytes);
            time += 3.2 * batch;
        }
        for _ in 0..here {
            let length = (batch * busy * slow.sqrt() * random.factor(0.1)).min(0.95 * batch * slow);
            let bytes = usual * random.factor(0.1);
            job.burst(time, length, bytes);
            time += batch * slow * (1.0 + jitter * random.normal()).max(0.3);
        }
        if is_validated {
            for i in 0..((pause / batch / 2.0) as usize).max(1) {
                job.burst(time + batch * (i as f64 + 0.5), 0.1 * batch, 0.1 * job.program.rate * batch);
            }
        }
        time += pause * (1.0 + 0.05 * random.normal()).max(0.3);
    }
    Epochs { job, starts, batch, is_cold: cold > 1.0 && count > 3, end: time }
}

impl Epochs {
    fn warm(&self) -> &[f64] {
        &self.starts[usize::from(self.is_cold)..]
    }
}

fn read_ahead(random: &mut Random) -> Made {
    let spread = random.pick(&[0.0, 0.0, 0.02]);
    let epochs = epochs(random, spread);
    let truth = Truth { also: vec![epochs.batch], ..regular(epochs.warm().to_vec()) };
    epochs.job.program.made(truth)
}

fn read_ahead_sampled(random: &mut Random) -> Made {
    let spread = random.pick(&[0.0, 0.0, 0.02]);
    let epochs = epochs(random, spread);
    let truth = regular(epochs.warm().to_vec());
    let period = truth.period.unwrap_or(epochs.end);
    let by_batch = random.chance(0.4);
    let step = if by_batch {
        epochs.batch * random.log_between(0.2, 1.0)
    } else {
        period / random.between(8.0, 60.0)
    };
    let also = if step < 0.45 * epochs.batch { vec![epochs.batch] } else { Vec::new() };
    let noise = random.between(0.0, 0.2);
    epochs.job.monitored(random, step, epochs.end, noise, Truth { also, ..truth })
}

fn any_length(random: &mut Random) -> Made {
    let spread = random.between(0.15, 0.6);
    let epochs = epochs(random, spread);
    let distances: Vec<f64> = epochs.warm().windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    // Now and then the epochs are even all the same.
    let also = if super::deviation(&distances) < 0.12 * mean { vec![mean] } else { Vec::new() };
    let truth = Truth { period: Some(epochs.batch), also, ..Truth::default() };
    epochs.job.program.made(truth)
}

fn with_input(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (count, batches) = (random.whole(4, 11), random.whole(5, 39));
    let batch = job.period() / (batches as f64 + random.between(1.0, 8.0));
    let cold = if random.chance(0.4) { random.between(1.5, 5.0) } else { 1.0 };
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for epoch in 0..count {
        starts.push(time);
        let slow = if epoch == 0 { cold } else { 1.0 };
        let mut at = time;
        for i in 0..batches {
            let length = batch * slow * random.between(0.2, 0.7);
            let bytes = job.program.rate * batch * if i == 0 { 3.0 } else { 1.0 };
            job.program.writes.push(Write { rank: 0, start: at, end: at + length, bytes: bytes as u64 });
            let jitter = if i == 0 { 0.0 } else { 0.1 * random.normal() };
            at += batch * slow * (1.0 + jitter);
        }
        let pause = job.period() - batches as f64 * batch;
        time += (job.period() * (1.0 + 0.03 * random.normal())).max(at - time + pause);
    }
    let truth = regular(starts[1..].to_vec());
    job.program.made(Truth { also: vec![batch], ..truth })
}

fn cold_start(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.program.jitter = random.between(0.0, 0.05);
    let (slow, cold) = (random.between(1.4, 6.0), random.pick(&[1, 1, 1, 2]));
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for i in 0..random.whole(cold + 3, 13) {
        let slow = if i < cold { slow } else { 1.0 };
        let length = job.length() * if random.chance(0.7) { slow } else { 1.0 };
        job.phase(random, time, length, 1.0);
        if i >= cold {
            starts.push(time);
        }
        time += slow * job.distance(random);
    }
    job.program.made(regular(starts))
}

fn random_batches(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let varies = random.between(0.6, 1.1);
    let mut time = job.program.first;
    for _ in 0..random.whole(3, 11) {
        for _ in 0..random.whole(2, 39) {
            let length = 0.03 * job.period() * random.factor(0.4);
            let bytes = job.rate() * length * random.factor(0.3);
            job.burst(time, length, bytes);
            time += length + 0.1 * job.period() * random.gamma(1.0 / (varies * varies));
        }
        time += 2.6 * job.period() * random.gamma(1.3);
    }
    job.program.made(Truth::default())
}
