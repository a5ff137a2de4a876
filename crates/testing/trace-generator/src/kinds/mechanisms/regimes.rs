//! Rhythms that change: other resolutions, other programs, day and night, limits for a while.

use super::job::Job;
use crate::generated::Truth;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("another_resolution", "a coarse run, then a fine one: interval and volume change", resolution),
    Kind::new("programs_one_after_another", "two or three programs with nothing in common", programs),
    Kind::new(
        "day_and_night",
        "two intervals in turn, each for a dozen outputs; both are wanted",
        day_and_night,
    ),
    Kind::new("slowed_for_a_while", "all is slower in the middle: before, then and after", slowed),
    Kind::new("test_before_production", "a few quick outputs of a test, then production", test_first),
    Kind::new("nodes_are_lost", "the interval becomes longer by a tenth to a third, once", nodes_lost)
        .within(0.04),
];

/// Phases at `period`, `size` times as large as usual, from `time` on; when the next one would be.
fn part(job: &mut Job, random: &mut Random, from: f64, count: usize, period: f64, size: (f64, f64)) -> f64 {
    let (length, volume) = (job.length() * size.0, job.volume() * size.1);
    let mut time = from;
    for _ in 0..count {
        job.phase(random, time, length, volume);
        time += (period * (1.0 + job.jitter * random.normal())).max(1.2 * length);
    }
    time
}

/// Parts of these periods and sizes, pauses between them of up to `pause` periods; all periods are wanted.
fn parts(random: &mut Random, parts: &[(usize, f64, (f64, f64))], pause: f64) -> Made {
    let count = parts.iter().map(|(count, ..)| count).sum();
    let mut job = Job::even(random, count, 0.025);
    let least = parts.iter().map(|(_, factor, _)| *factor).fold(1.0, f64::min);
    job.busy = job.busy.min(0.2 * least);
    let (mut time, mut periods, mut changes) = (job.first(random), Vec::new(), Vec::new());
    for &(count, factor, size) in parts {
        let from = time;
        let period = factor * job.period;
        time = part(&mut job, random, from, count, period, size);
        periods.push((time - from) / count as f64);
        changes.push(from);
        job.next = Some(time);
        time += pause * period * random.unit();
    }
    job.made(random, Truth { periods, changes, ..Truth::default() })
}

fn resolution(random: &mut Random) -> Made {
    let (slower, larger) = (random.between(1.6, 6.0), random.between(2.0, 16.0));
    let counts = [random.whole(8, 30), random.whole(8, 30)];
    parts(random, &[(counts[0], 1.0, (1.0, 1.0)), (counts[1], slower, (larger.min(slower), larger))], 4.0)
}

fn programs(random: &mut Random) -> Made {
    let (mut list, mut factor) = (Vec::new(), 1.0);
    for _ in 0..random.whole(2, 3) {
        let size = random.log_between(0.2, 5.0);
        list.push((random.whole(8, 30), factor, (random.between(0.3, 1.5), size)));
        factor *= random.pick(&[0.35, 0.6, 1.7, 3.1]) * random.between(0.9, 1.1);
    }
    parts(random, &list, 10.0)
}

fn day_and_night(random: &mut Random) -> Made {
    let other = random.between(1.8, 4.0);
    let list: Vec<_> = (0..random.whole(3, 5))
        .map(|i| (random.whole(8, 16), if i % 2 == 0 { 1.0 } else { other }, (1.0, 1.0)))
        .collect();
    parts(random, &list, 0.0)
}

fn slowed(random: &mut Random) -> Made {
    let slower = random.between(1.4, 2.5);
    let counts = [random.whole(8, 25), random.whole(8, 25), random.whole(8, 25)];
    let stretched = random.between(1.0, slower);
    parts(
        random,
        &[(counts[0], 1.0, (1.0, 1.0)), (counts[1], slower, (stretched, 1.0)), (counts[2], 1.0, (1.0, 1.0))],
        0.0,
    )
}

fn test_first(random: &mut Random) -> Made {
    let (few, count) = (random.whole(3, 6), random.whole(14, 60));
    let mut job = Job::even(random, count, 0.04);
    job.busy = job.busy.min(0.15);
    let (quick, first) = (job.period * random.between(0.12, 0.3), job.first(random));
    let length = 0.3 * quick;
    let mut time = first;
    for _ in 0..few {
        let volume = job.volume() * random.between(0.05, 0.5);
        job.output(random, time, length, volume);
        time += quick * (1.0 + 0.03 * random.normal());
    }
    time += job.period * random.between(0.5, 5.0);
    let (starts, next) = job.rhythm(random, time, count);
    for start in starts {
        job.usual(random, start);
    }
    job.next = Some(next);
    job.regular(random).also(&[quick])
}

fn nodes_lost(random: &mut Random) -> Made {
    let longer = random.between(1.12, 1.35);
    let counts = [random.whole(12, 40), random.whole(12, 40)];
    // One answer for all of it, between the two, is as good as both.
    let mut made = parts(random, &[(counts[0], 1.0, (1.0, 1.0)), (counts[1], longer, (1.0, 1.0))], 0.0);
    let mean = crate::generated::mean_distance(&made.truth.starts);
    let both = std::mem::take(&mut made.truth.periods);
    made.truth.changes.clear();
    (made.truth.period, made.truth.also) = (mean, both);
    made
}
