//! What a monitor makes of a rhythm: averages, losses, counters, bins that are too wide.

use super::job::{Job, jitter, memory, phases};
use crate::generated::Truth;
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;
use std::f64::consts::TAU;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "bursts_in_wandering_load",
        "a job's bursts, no higher than the load of others wanders",
        wandering,
    ),
    Kind::new("weak_line_in_noise", "phases lower than the noise, but hundreds of them", weak_line),
    Kind::new("one_of_many_jobs", "one job among many small regular ones: the large one", one_of_many),
    Kind::new("lost_and_made_up_for", "samples are lost, the next one holds the bytes of both", made_up_for),
    Kind::new("late_samples", "samples taken late, as if they were not", late_samples),
    Kind::new("holes_of_zeros", "a collector that restarts: nothing for some periods", holes),
    Kind::new("moving_average", "every value is the mean of the last few", moving_average),
    Kind::new("load_average", "values that forget the past slowly, as a load average", load_average),
    Kind::new("spikes_of_one_sample", "phases shorter than a sample, over a background", spikes),
    Kind::new("bins_that_were_doubled", "48 to 96 bins of a job that ran longer and longer", doubled_bins)
        .within(0.05),
    Kind::new("few_phases_in_bins", "five to nine phases of a bin or three, empty bins between", few_in_bins)
        .within(0.07),
    Kind::new("counter_of_units", "bytes so far, in units larger than a sample's share", units),
    Kind::new("counter_that_restarts", "bytes so far, beginning at 0 every few phases", restarts),
    Kind::new("hours_on_days", "a job every hour or so on a load that follows the day", hours),
    Kind::new(
        "long_rebuild",
        "a copy at a steady speed that lasts a third of the log, phases on top",
        rebuild,
    ),
    Kind::new("another_level", "the same rhythm before and after more servers were added", level),
    Kind::new("begins_and_ends_within", "a log that begins and ends within a phase", cut),
    Kind::new("two_timed_jobs", "two jobs by the clock in one log; both are wanted", two_timed).within(0.04),
    Kind::new("epochs_of_unseen_steps", "steps shorter than two samples, epochs of many", unseen_steps)
        .within(0.05),
    Kind::new(
        "steps_shorter_than_samples",
        "no period: steps of 0.6 to 1.9 samples; any line is an alias",
        alias,
    ),
];

/// A job of so many phases seen in samples, `bins` a period.
fn seen(random: &mut Random, count: usize, bins: (f64, f64), busy: (f64, f64)) -> (Job, f64) {
    let mut job = Job::any(random, count);
    job.jitter = jitter(random).min(0.08);
    (job.writers, job.ranks) = (1, 1);
    let step = random.pick(&[1.0, 1.0, 5.0, 10.0, 15.0, 60.0]);
    job.period = step * random.log_between(bins.0, bins.1);
    job.busy = random.log_between(busy.0, busy.1);
    job.play(random, count);
    (job, step)
}

fn wandering(random: &mut Random) -> Made {
    let count = random.whole(15, 45);
    let (job, step) = seen(random, count, (12.0, 60.0), (0.08, 0.3));
    let bins = job.period / step;
    // The load wanders either faster or slower than the job.
    let over = bins * if random.chance(0.5) { random.between(0.02, 0.15) } else { random.between(3.0, 10.0) };
    let (rate, spread) = (job.rate, random.between(0.1, 0.35));
    let made = job.regular(random);
    let load = memory(random, (bins * (count as f64 + 4.0) * 1.6) as usize + 100, over);
    let level = rate * random.between(0.7, 1.5);
    made.logged(step, |i, value| value + level * (spread * load[i.min(load.len() - 1)]).exp())
}

fn weak_line(random: &mut Random) -> Made {
    let count = random.whole(60, 300);
    let mut job = Job::even(random, count, 0.01);
    let step = random.pick(&[1.0, 5.0, 30.0]);
    let bins = random.between(8.0, 40.0);
    (job.writers, job.ranks, job.period, job.clocked) = (1, 1, step * bins, true);
    job.busy = random.between(0.2, 0.5);
    job.play(random, count);
    // So that the bins of all phases together stand out by 8 to 20 deviations.
    let together = (count as f64 * bins * job.busy * (1.0 - job.busy)).sqrt();
    let noise = (together / random.between(8.0, 20.0)).clamp(0.3, 3.0) * job.rate;
    let made = job.regular(random);
    made.logged(step, |_, value| value + noise * random.exponential(1.0))
}

fn one_of_many(random: &mut Random) -> Made {
    let count = random.whole(12, 40);
    let (mut job, step) = seen(random, count, (15.0, 60.0), (0.06, 0.25));
    let until = job.end();
    for _ in 0..random.whole(5, 25) {
        let period = step * random.log_between(8.0, 300.0);
        let (length, rate) = (period * random.between(0.1, 0.4), job.rate * random.log_between(0.01, 0.08));
        let mut time = period * random.unit();
        while time + length < until {
            job.write(0, time, length, rate * length);
            time += period;
        }
    }
    job.regular(random).sampled(step)
}

fn made_up_for(random: &mut Random) -> Made {
    let count = phases(random, 8).min(200);
    let (job, step) = seen(random, count, (6.0, 50.0), (0.1, 0.5));
    let lost = random.between(0.03, 0.25);
    let mut kept = 0.0;
    let made = job.regular(random);
    made.logged(step, |_, value| {
        kept += value;
        if random.chance(lost) { 0.0 } else { std::mem::take(&mut kept) }
    })
}

fn late_samples(random: &mut Random) -> Made {
    let count = phases(random, 8).min(200);
    let (job, step) = seen(random, count, (6.0, 50.0), (0.1, 0.5));
    let late = random.between(0.05, 0.9);
    // The time of a sample that is taken late is missing in the next one.
    let mut before = 0.0;
    let made = job.regular(random);
    made.logged(step, |_, value| {
        let now = late * random.unit();
        let seen = value * (1.0 - before + now);
        before = now;
        seen
    })
}

fn holes(random: &mut Random) -> Made {
    let count = random.whole(15, 60);
    let (job, step) = seen(random, count, (8.0, 50.0), (0.1, 0.5));
    let (until, period) = (job.end(), job.period);
    let holes: Vec<(f64, f64)> = (0..random.whole(1, 3))
        .map(|_| {
            let from = until * random.between(0.1, 0.85);
            (from, from + period * random.between(0.5, 0.08 * count as f64))
        })
        .collect();
    let made = job.based(random, period);
    let base = made.truth.starts.clone();
    let made = made.logged(step, |i, value| {
        let time = i as f64 * step;
        if holes.iter().any(|&(from, to)| (from..to).contains(&time)) { 0.0 } else { value }
    });
    // What is asked for is the distance of those that were played, seen or not.
    let period = crate::generated::mean_distance(&base);
    Made { truth: Truth { period, ..made.truth }, ..made }
}

fn moving_average(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    let (job, step) = seen(random, count, (12.0, 60.0), (0.05, 0.4));
    let window = ((job.period / step * random.between(0.1, 0.5)) as usize).max(2);
    let (mut last, noise) = (vec![0.0; window], job.rate * random.between(0.0, 0.1));
    let made = job.regular(random);
    made.logged(step, |i, value| {
        last[i % window] = value + noise * random.normal().abs();
        last.iter().sum::<f64>() / window as f64
    })
}

fn load_average(random: &mut Random) -> Made {
    let count = phases(random, 10).min(150);
    let (job, step) = seen(random, count, (12.0, 60.0), (0.05, 0.3));
    let keep = (-step / (job.period * random.between(0.1, 0.6))).exp();
    let mut level = 0.0;
    job.regular(random).logged(step, |_, value| {
        level = keep * level + (1.0 - keep) * value;
        level
    })
}

fn spikes(random: &mut Random) -> Made {
    let count = phases(random, 15).min(300);
    let (job, step) = seen(random, count, (4.5, 40.0), (0.002, 0.02));
    let noise = job.volume() / step * random.between(0.0, 0.15);
    let spread = random.between(0.2, 0.6);
    job.regular(random).logged(step, |_, value| value + noise * random.factor(spread))
}

/// A log in bins whose width was doubled until the whole job fitted.
fn in_bins(job: Job, random: &mut Random, most: f64) -> Made {
    let end = job.end();
    let mut step = 0.1;
    while end / step > most {
        step *= 2.0;
    }
    job.regular(random).sampled(step)
}

fn doubled_bins(random: &mut Random) -> Made {
    let most = random.whole(48, 96);
    let count = random.whole(6, most / 10 + 3);
    let mut job = Job::even(random, count, 0.03);
    (job.writers, job.period) = (job.writers.min(4), random.log_between(2.0, 2000.0));
    job.busy = random.between(0.1, 0.5);
    job.play(random, count);
    in_bins(job, random, most as f64)
}

fn few_in_bins(random: &mut Random) -> Made {
    let count = random.whole(5, 9);
    let (most, mut job) = (count as f64 * random.between(8.0, 20.0), Job::even(random, count, 0.04));
    (job.writers, job.period) = (job.writers.min(4), random.log_between(2.0, 500.0));
    job.busy = random.between(0.02, 0.2);
    job.play(random, count);
    in_bins(job, random, most)
}

fn units(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    let (job, step) = seen(random, count, (8.0, 40.0), (0.1, 0.4));
    // A phase is at least some units.
    let unit = job.volume() / random.between(1.5, 20.0);
    let made = job.regular(random).sampled(step).counted();
    counter(made, |_, value| (value / unit).floor() * unit)
}

fn restarts(random: &mut Random) -> Made {
    let count = random.whole(15, 60);
    let (job, step) = seen(random, count, (8.0, 40.0), (0.1, 0.4));
    let (bins, every) = (job.period / step, random.between(4.0, 15.0));
    let mut next = (bins * every * random.factor(0.5)) as usize;
    let made = job.regular(random).sampled(step).counted();
    let mut lost = 0.0;
    let mut before = 0.0;
    counter(made, |i, value| {
        if i == next {
            next += 1 + (bins * every * random.factor(0.5)) as usize;
            lost = before;
        }
        before = value;
        value - lost
    })
}

/// The same counter with other values.
fn counter(made: Made, mut value: impl FnMut(usize, f64) -> f64) -> Made {
    let recording = match made.recording {
        Recording::Samples { step, values, counter } => {
            let values = values.into_iter().enumerate().map(|(i, one)| value(i, one)).collect();
            Recording::Samples { step, values, counter }
        }
        requests => requests,
    };
    Made { recording, ..made }
}

const DAY: f64 = 86_400.0;

fn hours(random: &mut Random) -> Made {
    let days = random.between(2.5, 7.0);
    let step = random.pick(&[60.0, 120.0, 300.0]);
    let period = random.pick(&[1800.0, 3600.0, 7200.0, 10_800.0]);
    let mut job = Job::even(random, 100, 0.01);
    (job.writers, job.ranks, job.period, job.clocked) = (1, 1, period, true);
    job.busy = random.between(0.06, 0.2).max(1.5 * step / period);
    job.play(random, (days * DAY / period) as usize);
    let (high, peak, noise) = (job.rate * random.between(0.2, 1.5), random.unit(), random.between(0.05, 0.3));
    let made = job.regular(random).also(&[DAY]);
    made.logged(step, |i, value| {
        let wave = 0.55 + 0.45 * (TAU * (i as f64 * step / DAY - peak)).cos();
        value + high * wave * random.factor(noise)
    })
}

fn rebuild(random: &mut Random) -> Made {
    let count = random.whole(12, 50);
    let (job, step) = seen(random, count, (10.0, 50.0), (0.08, 0.4));
    let until = job.end();
    let from = until * random.between(0.0, 0.6);
    let to = from + until * random.between(0.2, 0.4);
    let (high, noise) = (job.rate * random.between(0.5, 3.0), random.between(0.01, 0.08));
    job.regular(random).logged(step, |i, value| {
        let time = i as f64 * step;
        if (from..to).contains(&time) { value + high * random.factor(noise) } else { value }
    })
}

fn level(random: &mut Random) -> Made {
    let count = random.whole(14, 60);
    let (job, step) = seen(random, count, (10.0, 50.0), (0.1, 0.4));
    let (at, more) = (job.end() * random.between(0.3, 0.7), random.log_between(0.1, 10.0));
    let base = job.rate * random.between(0.0, 0.3);
    let noise = random.between(0.02, 0.2);
    job.regular(random).logged(step, |i, value| {
        let factor = if i as f64 * step > at { more } else { 1.0 };
        factor * (value + base * random.factor(noise))
    })
}

fn cut(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    let (mut job, step) = seen(random, count, (10.0, 50.0), (0.2, 0.6));
    let from = job.starts[0] + job.length() * random.between(0.2, 0.8);
    let to = job.starts[count - 1] + job.length() * random.between(0.2, 0.8);
    for one in &mut job.writes {
        let rate = one.bytes as f64 / (one.end - one.start);
        (one.start, one.end) = (one.start.max(from) - from, one.end.min(to) - from);
        one.bytes = (rate * (one.end - one.start)).max(0.0) as u64;
    }
    job.writes.retain(|one| one.end > one.start);
    let truth = job.mean_truth();
    job.starts.iter_mut().for_each(|start| *start = (*start - from).max(0.0));
    job.ends.iter_mut().for_each(|end| *end = end.min(to) - from);
    job.next = job.next.map(|next| next - from);
    job.made(random, truth).sampled(step)
}

fn two_timed(random: &mut Random) -> Made {
    let step = random.pick(&[1.0, 10.0, 60.0]);
    let count = random.whole(10, 25);
    let mut job = Job::even(random, count, 0.005);
    (job.writers, job.ranks, job.clocked) = (1, 1, true);
    job.period = step * random.between(60.0, 200.0);
    job.busy = random.between(0.03, 0.12).max(2.0 * step / job.period);
    job.play(random, count);
    // One at five minutes, the other one at the hour, or the like.
    let fast = job.period / random.pick(&[4.4, 5.3, 6.6, 7.4]);
    let (length, rate) = (fast * random.between(0.12, 0.3), job.rate * random.between(0.5, 2.0));
    let (until, mut time) = (job.end(), fast * random.unit());
    while time + length < until {
        job.write(0, time, length, rate * length);
        time += fast;
    }
    let (slow, noise) = (job.mean_truth().period.unwrap_or(job.period), rate * random.between(0.0, 0.1));
    job.both(random, slow, fast).logged(step, |_, value| value + noise * random.exponential(1.0))
}

/// Epochs of `each` steps of `period` seconds, `pause` seconds after every one.
fn unresolved(random: &mut Random, epochs: usize, each: usize, period: f64, pause: f64) -> Job {
    let mut job = Job::even(random, epochs * each, 0.03);
    (job.period, job.ranks, job.clocked) = (period, 1, false);
    job.busy = random.between(0.1, 0.7);
    let (length, volume, mut time) = (job.length(), job.volume(), 0.0);
    for _ in 0..epochs {
        let start = time;
        for _ in 0..each {
            job.read(0, time, length, volume);
            time += job.distance(random, length);
        }
        job.mark(start, time);
        time += pause * random.between(0.95, 1.05);
    }
    job.next = Some(time);
    job
}

fn unseen_steps(random: &mut Random) -> Made {
    let (epochs, each) = (random.whole(5, 14), random.log_between(30.0, 300.0) as usize);
    let period = random.between(0.3, 1.9);
    let pause = 6.0 + period * each as f64 * random.between(0.1, 0.5);
    unresolved(random, epochs, each, period, pause).regular(random).sampled(1.0)
}

fn alias(random: &mut Random) -> Made {
    let (each, period) = (random.log_between(80.0, 1500.0) as usize, random.between(0.6, 1.9));
    unresolved(random, 1, each, period, 0.0).none(random).sampled(1.0)
}
