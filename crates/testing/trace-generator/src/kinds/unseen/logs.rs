//! What monitors of a storage record: sums over jobs, counters, samples that are late or lost.

use super::simulation::{Script, Step, run};
use crate::generated::Truth;
use crate::kinds::program::{binned, samples};
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("u_busy_server", "one regular job among irregular ones, the server's total", busy_server),
    Kind::new("u_backup", "a nightly job seen in a log of days, users at random by day", backup),
    Kind::new("u_wrapping_counter", "a counter of 32 bits that wraps", wrapping_counter),
    Kind::new("u_lost_samples", "one sample in ten is lost and repeats the one before", lost_samples),
    Kind::new("u_rounded", "a monitor that rounds to few steps", rounded),
    Kind::new("u_two_jobs", "two regular jobs in the server's total; both are wanted", two_jobs).within(0.04),
    Kind::new("u_busy_server_none", "irregular jobs only", busy_server_none),
];

/// A job that repeats; `loose` is the deviation of the logarithm of its computing times.
fn job(random: &mut Random, until: f64, compute: f64, bytes: f64, loose: f64, link: f64) -> Script {
    let mut steps = vec![Step::Compute(compute * random.unit())];
    let mut time = 0.0;
    while time < until {
        let length = compute * random.factor(loose);
        steps.extend([
            Step::Mark,
            Step::Transfer(bytes * random.factor(loose.min(0.5))),
            Step::Compute(length),
        ]);
        time += length + bytes / link;
    }
    Script { steps, link }
}

fn total(random: &mut Random, with_job: bool) -> Made {
    let (step, link) = (random.pick(&[1.0, 5.0, 10.0, 60.0]), random.log_between(1e8, 5e9));
    let interval = step * random.log_between(12.0, 70.0);
    let until = interval * random.between(14.0, 40.0);
    let busy = random.between(0.08, 0.3);
    let mut scripts = Vec::new();
    if with_job {
        scripts.push(job(random, until, interval * (1.0 - busy), link * interval * busy, 0.01, link));
    }
    for _ in 0..random.whole(1, 3) {
        let compute = interval * random.log_between(1.5, 8.0);
        let bytes = link * interval * random.between(0.02, 0.15);
        scripts.push(job(random, until, compute, bytes, 0.9, link));
    }
    let done = run(&scripts, link * random.between(1.5, 3.0));
    let writes: Vec<_> = done.iter().flat_map(|done| done.writes.iter().copied()).collect();
    let (level, noise) = (link * random.between(0.0, 0.1), random.between(0.0, 0.5));
    let mut values = binned(&writes, step, until);
    values.iter_mut().for_each(|value| *value += level * random.factor(noise));
    let mut truth = Truth::default();
    if with_job {
        let marks: Vec<f64> = done[0].marks.iter().copied().filter(|&mark| mark < until).collect();
        truth.period = Some((marks[marks.len() - 1] - marks[0]) / (marks.len() - 1) as f64);
        truth.starts = marks;
    }
    samples(step, values, truth)
}

fn busy_server(random: &mut Random) -> Made {
    total(random, true)
}

fn busy_server_none(random: &mut Random) -> Made {
    total(random, false)
}

fn backup(random: &mut Random) -> Made {
    let days = random.whole(8, 30);
    let (day, step) = (86_400.0, random.pick(&[300.0, 600.0, 1800.0]));
    let (mut steps, link) = (Vec::new(), 1e9);
    let at = day * random.between(0.0, 0.3);
    for i in 0..days {
        let time = at + day * i as f64 + 600.0 * random.unit();
        steps.extend([
            Step::Until(time),
            Step::Mark,
            Step::Transfer(link * day * 0.08 * random.factor(0.15)),
        ]);
    }
    let until = day * days as f64;
    let users = job(random, until, 9000.0, link * 1500.0, 1.0, link);
    let done = run(&[Script { steps, link }, users], 3e9);
    let writes: Vec<_> = done.iter().flat_map(|done| done.writes.iter().copied()).collect();
    let starts = done[0].marks.clone();
    samples(step, binned(&writes, step, until), Truth { period: Some(day), starts, ..Truth::default() })
}

/// A job alone, in bins of `step`.
fn alone(random: &mut Random, step: f64) -> (Vec<f64>, Truth) {
    let link = random.log_between(1e7, 1e9);
    let interval = step * random.log_between(8.0, 60.0);
    let busy = random.between(0.1, 0.4);
    let until = interval * random.between(10.0, 35.0);
    let script = job(random, until, interval * (1.0 - busy), link * interval * busy, 0.02, link);
    let done = run(&[script], link).swap_remove(0);
    let marks: Vec<f64> = done.marks.iter().copied().filter(|&mark| mark < until).collect();
    let period = (marks[marks.len() - 1] - marks[0]) / (marks.len() - 1) as f64;
    (binned(&done.writes, step, until), Truth { period: Some(period), starts: marks, ..Truth::default() })
}

fn wrapping_counter(random: &mut Random) -> Made {
    let step = random.pick(&[1.0, 2.0, 10.0]);
    let (values, truth) = alone(random, step);
    let whole = values.iter().sum::<f64>() * step;
    // It wraps once or a few times in all.
    let wrap = whole / random.between(1.2, 4.5);
    let mut sum = 0.0;
    let count = |value: &f64| {
        sum = (sum + value * step) % wrap;
        sum.round()
    };
    let values = values.iter().map(count).collect();
    Made { recording: Recording::Samples { step, values, counter: true }, truth }
}

fn lost_samples(random: &mut Random) -> Made {
    let step = random.pick(&[1.0, 5.0]);
    let (mut values, truth) = alone(random, step);
    for i in 1..values.len() {
        if random.chance(0.1) {
            values[i] = values[i - 1];
        }
    }
    samples(step, values, truth)
}

fn rounded(random: &mut Random) -> Made {
    let step = random.pick(&[1.0, 5.0]);
    let (mut values, truth) = alone(random, step);
    let unit = values.iter().copied().fold(0.0, f64::max) / random.whole(2, 8) as f64;
    values.iter_mut().for_each(|value| *value = (*value / unit).round() * unit);
    samples(step, values, truth)
}

fn two_jobs(random: &mut Random) -> Made {
    let (step, link) = (random.pick(&[1.0, 5.0]), random.log_between(1e8, 5e9));
    let fast = step * random.log_between(15.0, 40.0);
    let slow = fast * random.pick(&[3.3, 4.6, 5.4, 7.3]) * random.between(0.97, 1.03);
    let until = slow * random.between(10.0, 20.0);
    let (a, b) = (random.between(0.06, 0.15), random.between(0.06, 0.15));
    let scripts = [
        job(random, until, fast * (1.0 - a), link * fast * a, 0.01, link),
        job(random, until, slow * (1.0 - b), link * slow * b, 0.01, link),
    ];
    let done = run(&scripts, 2.5 * link);
    let writes: Vec<_> = done.iter().flat_map(|done| done.writes.iter().copied()).collect();
    let period = |marks: &[f64]| (marks[marks.len() - 1] - marks[0]) / (marks.len() - 1) as f64;
    let periods = vec![period(&done[1].marks), period(&done[0].marks)];
    let starts = done[1].marks.clone();
    let truth = Truth { period: Some(periods[0]), periods, starts, ..Truth::default() };
    samples(step, binned(&writes, step, until), truth)
}
