//! A rhythm in the traffic of others, as the server's log has it.

use super::job::{Job, memory, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "among_heavy_tails",
        "a job's bursts among transfers whose lengths have a heavy tail",
        heavy_tails,
    ),
    Kind::new(
        "counted_requests",
        "requests per sample, small whole numbers, more of them in phases",
        counted,
    ),
    Kind::new("upon_a_growing_load", "phases upon a load that grows to several times their height", growing),
    Kind::new("half_on_half_off", "a load that is high for half of the time, low for the other", square),
    Kind::new("among_spikes", "regular phases, single samples of others that are far higher", spikes),
    Kind::new("after_a_neighbour_came", "another irregular job begins in the middle of the log", neighbour),
    Kind::new("dips_in_a_busy_log", "a busy server that pauses for a snapshot every so often", dips),
];

/// A job of so many phases in samples, `bins` a period.
fn seen(random: &mut Random, count: usize, bins: (f64, f64), busy: (f64, f64)) -> (Job, f64) {
    let mut job = Job::even(random, count, 0.03);
    let step = random.pick(&[1.0, 5.0, 10.0, 60.0]);
    (job.ranks, job.writers) = (1, 1);
    job.period = step * random.log_between(bins.0, bins.1);
    job.busy = random.between(busy.0, busy.1);
    job.play(random, count);
    (job, step)
}

fn heavy_tails(random: &mut Random) -> Made {
    let count = random.whole(14, 50);
    let (mut job, step) = seen(random, count, (10.0, 50.0), (0.08, 0.25));
    let (until, tail) = (job.end(), random.between(1.2, 2.0));
    let (mean, speed) = (job.period * random.between(0.8, 4.0), random.between(0.1, 0.6));
    let mut time = random.exponential(mean);
    while time < until {
        let length =
            (job.length() * 0.5 * (0.2 + random.pareto(tail))).min(4.0 * job.period).min(until - time);
        let rate = speed * job.rate * random.factor(0.5);
        job.write(0, time, length, rate * length);
        time += random.exponential(mean);
    }
    job.regular(random).sampled(step)
}

fn counted(random: &mut Random) -> Made {
    let count = phases(random, 15).min(150);
    let (job, step) = seen(random, count, (8.0, 40.0), (0.1, 0.4));
    let (rate, often) = (job.rate, random.between(2.5, 10.0));
    let idle = often * random.between(0.0, 0.25);
    let made = job.regular(random);
    made.logged(step, |_, value| {
        // Poisson: how many exponential waits fit.
        let mut left = idle + often * value / rate;
        let mut seen = 0.0;
        loop {
            left -= random.exponential(1.0);
            if left < 0.0 {
                return seen;
            }
            seen += 1.0;
        }
    })
}

fn growing(random: &mut Random) -> Made {
    let count = random.whole(14, 50);
    let (job, step) = seen(random, count, (10.0, 50.0), (0.08, 0.35));
    let (until, most, power) = (job.end() / step, random.between(0.5, 5.0), random.between(0.5, 2.0));
    let noise = random.between(0.01, 0.06);
    let high = most * job.rate;
    let made = job.regular(random);
    made.logged(step, |i, value| value + high * (i as f64 / until).powf(power) * random.factor(noise))
}

fn square(random: &mut Random) -> Made {
    let count = phases(random, 8).min(100);
    let (job, step) = seen(random, count, (8.0, 60.0), (0.4, 0.6));
    let (low, noise) = (job.rate * random.between(0.0, 0.6), random.between(0.02, 0.25));
    let made = job.regular(random);
    made.logged(step, |_, value| (value + low) * random.factor(noise))
}

fn spikes(random: &mut Random) -> Made {
    let count = random.whole(14, 60);
    let (job, step) = seen(random, count, (10.0, 50.0), (0.1, 0.35));
    let (often, high) = (random.between(0.003, 0.03), job.rate * random.log_between(2.0, 50.0));
    let made = job.regular(random);
    made.logged(step, |_, value| {
        let spike = if random.chance(often) { high * random.exponential(1.0) } else { 0.0 };
        value + spike
    })
}

fn neighbour(random: &mut Random) -> Made {
    let count = random.whole(16, 50);
    let (mut job, step) = seen(random, count, (12.0, 50.0), (0.08, 0.25));
    let (until, mean) = (job.end(), job.period * random.between(0.3, 1.5));
    let mut time = until * random.between(0.3, 0.6);
    while time < until {
        let length = (0.4 * job.length() * random.factor(0.7)).min(until - time);
        let rate = job.rate * random.between(0.2, 0.8);
        job.write(0, time, length, rate * length);
        time += length + random.exponential(mean);
    }
    job.regular(random).sampled(step)
}

fn dips(random: &mut Random) -> Made {
    let count = random.whole(10, 50);
    let (job, step) = seen(random, count, (12.0, 60.0), (0.06, 0.2));
    let (rate, spread) = (job.rate, random.between(0.05, 0.3));
    let over = job.period / step * random.between(0.02, 0.1);
    let load = memory(random, (job.end() / step) as usize * 2 + 200, over);
    let left = random.between(0.0, 0.4);
    let mut made = job.regular(random);
    // What the phases say is when the server rests.
    made.truth.ends.clear();
    made.logged(step, |i, value| {
        let share = 1.0 - (1.0 - left) * (value / rate).min(1.0);
        rate * share * (spread * load[i.min(load.len() - 1)]).exp()
    })
}
