//! What a monitor makes of a rhythm.

use super::Job;
use crate::generated::Truth;
use crate::kinds::program::{binned, regular};
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("late_readings", "a counter read 6 to 30 times a period, readings late or missing", late),
    Kind::new("rarely_read_counter", "a counter read 3 to 12 times a period, with a reset or gaps", rarely),
];

/// The bytes so far at each time.
fn bytes_at(job: &Job, times: &[f64], end: f64) -> Vec<f64> {
    const FINE: usize = 1 << 14;
    let step = end / FINE as f64;
    let mut total = vec![0.0];
    for rate in binned(&job.program.writes, step, end) {
        total.push(total[total.len() - 1] + rate * step);
    }
    let at = |time: &f64| {
        let place = (time / step).clamp(0.0, (total.len() - 2) as f64);
        let bin = place as usize;
        total[bin] + (place - bin as f64) * (total[bin + 1] - total[bin])
    };
    times.iter().map(at).collect()
}

fn of_counter(times: Vec<f64>, values: Vec<f64>, starts: Vec<f64>) -> Made {
    let truth = Truth { starts: Vec::new(), ..regular(starts) };
    Made { recording: Recording::Readings { times, values, counter: true }, truth }
}

fn late(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let step = job.period() / random.between(6.0, 30.0);
    let (first, count) = (job.program.first, job.count.max(10));
    let (starts, end) = job.rhythm(random, first, count, 0.0);
    let (late, missing) = (random.between(0.0, 0.3), random.between(0.0, 0.25));
    let mut times = vec![0.0];
    for i in 1..(end / step) as usize {
        let time = step * (i as f64 + late * random.unit());
        if !random.chance(missing) {
            times.push(time);
        }
    }
    let values = bytes_at(&job, &times, end);
    of_counter(times, values, starts)
}

fn rarely(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.busy = random.between(0.1, 0.6);
    job.program.jitter = random.between(0.0, 0.04);
    let step = job.period() / random.between(3.0, 12.0);
    let (first, count) = (job.program.first, random.whole(12, 59));
    let (starts, end) = job.rhythm(random, first, count, 0.1);
    let missing = random.between(0.0, 0.12);
    let times: Vec<f64> = (0..(end / step) as usize)
        .map(|i| i as f64 * step)
        .filter(|time| *time == 0.0 || !random.chance(missing))
        .collect();
    let mut values = bytes_at(&job, &times, end);
    if random.chance(0.5) {
        let before = job.rate() * job.period() * random.between(0.0, 10.0);
        values.iter_mut().for_each(|value| *value += before);
    }
    if random.chance(0.3) {
        let reset = random.whole(values.len() / 4, 3 * values.len() / 4);
        let before = values[reset];
        values[reset..].iter_mut().for_each(|value| *value -= before);
    }
    of_counter(times, values, starts)
}
