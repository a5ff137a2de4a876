//! What a cycle looks like inside: several bursts, late ones, distances with a tail.

use super::job::{Job, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "bulk_after_half_a_period",
        "a cycle begins with little; the bulk is half a period later",
        late_bulk,
    ),
    Kind::new("bursts_all_over", "unlike bursts at places of their own over most of the period", all_over),
    Kind::new("twins", "two equal bursts a fifth to two fifths of the period apart", twins),
    Kind::new("random_delay", "by the clock, each delayed evenly by up to half of the period", random_delay),
    Kind::new("a_least_time_and_more", "distances: a least one, and a tail after it", least_time),
    Kind::new("two_lengths_of_steps", "steps are short or long, in no order", short_or_long),
    Kind::new("dips_of_a_stream", "writes all the time, a short pause in every period", dips),
    Kind::new(
        "growing_tail",
        "each output followed by a trickle that fills more and more of the quiet",
        growing_tail,
    ),
];

fn late_bulk(random: &mut Random) -> Made {
    let count = phases(random, 7).min(200);
    let mut job = Job::even(random, count, 0.04);
    job.busy = job.busy.min(0.15);
    let (late, little) = (random.between(0.4, 0.75), random.log_between(1e-4, 0.1));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let (length, volume) = (job.length(), job.volume());
        job.write(0, start, 0.2 * length, little * volume);
        let end = job.output(random, start + late * job.period, length, volume);
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn all_over(random: &mut Random) -> Made {
    let (count, number) = (phases(random, 8).min(150), random.whole(3, 8));
    let mut job = Job::even(random, count * number, 0.02);
    let mut places: Vec<f64> = (1..number).map(|_| random.between(0.05, 0.8)).collect();
    places.insert(0, 0.0);
    let spread = random.between(0.4, 1.2);
    let sizes: Vec<(f64, f64)> =
        places.iter().map(|_| (random.between(0.01, 0.05), random.factor(spread))).collect();
    job.busy = 0.85;
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let mut last = start;
        for (place, (length, size)) in places.iter().zip(&sizes) {
            let (length, volume) = (length * job.period, 0.03 * size * job.rate * job.period);
            let end = job.output(random, start + place * job.period, length, volume);
            last = f64::max(last, end);
        }
        job.mark(start, last);
    }
    job.next = Some(next);
    job.regular(random)
}

fn twins(random: &mut Random) -> Made {
    let count = phases(random, 8).min(300);
    let mut job = Job::even(random, count, 0.02);
    job.busy = job.busy.min(0.12);
    let apart = random.between(0.2, 0.4);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let (length, volume) = (job.length(), job.volume());
        job.output(random, start, length, volume);
        let end = job.output(random, start + apart * job.period, length, volume);
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn random_delay(random: &mut Random) -> Made {
    let count = phases(random, 14).min(300);
    let mut job = Job::any(random, count);
    job.busy = job.busy.min(0.2);
    let most = random.between(0.05, 0.5);
    let mut at = job.first(random);
    for _ in 0..count {
        let late = most * job.period * random.unit();
        job.usual(random, at + late);
        at += job.period;
    }
    job.next = Some(at + 0.5 * most * job.period);
    let period = job.period;
    job.based(random, period)
}

fn least_time(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let mut job = Job::any(random, count);
    job.busy = job.busy.min(0.3);
    let tail = random.between(0.03, 0.35);
    let mut time = job.first(random);
    for _ in 0..count {
        job.usual(random, time);
        time += job.period * (1.0 - tail + random.exponential(tail));
    }
    job.next = Some(time);
    job.regular(random)
}

fn short_or_long(random: &mut Random) -> Made {
    let count = phases(random, 14);
    let mut job = Job::even(random, count, 0.02);
    job.busy = job.busy.min(0.3);
    let (longer, often) = (random.between(1.1, 1.4), random.between(0.2, 0.5));
    let mut time = job.first(random);
    for _ in 0..count {
        job.usual(random, time);
        let factor = if random.chance(often) { longer } else { 1.0 };
        time += job.distance(random, 0.0) * factor;
    }
    job.next = Some(time);
    let (short, long) = (job.period, job.period * longer);
    job.regular(random).also(&[short, long])
}

fn dips(random: &mut Random) -> Made {
    let count = phases(random, 12).min(200);
    let mut job = Job::even(random, count, 0.03);
    job.busy = random.between(0.85, 0.97);
    let requests = random.whole(4, 40);
    let mut time = job.first(random);
    let spread = random.between(0.0, 0.3);
    for _ in 0..count {
        let start = time;
        let each = job.length() / requests as f64 * (1.0 + job.jitter * random.normal());
        for _ in 0..requests {
            let bytes = job.volume() / requests as f64 * random.factor(spread);
            job.write(0, time, each, bytes);
            time += each;
        }
        job.mark(start, time);
        time += job.period - job.length();
    }
    job.next = Some(time);
    job.regular(random)
}

fn growing_tail(random: &mut Random) -> Made {
    let count = random.whole(10, 60);
    let mut job = Job::even(random, count, 0.04);
    job.busy = job.busy.min(0.15);
    let (level, pieces) = (random.between(0.03, 0.25), random.whole(5, 30));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, start) in starts.into_iter().enumerate() {
        let end = job.usual(random, start);
        let quiet = (0.85 * job.period - job.length()) * (i + 1) as f64 / count as f64;
        let each = quiet / pieces as f64;
        for piece in 0..pieces {
            let bytes = level * job.rate * each;
            job.write(0, end + piece as f64 * each, 0.9 * each, bytes);
        }
    }
    job.next = Some(next);
    job.regular(random)
}
