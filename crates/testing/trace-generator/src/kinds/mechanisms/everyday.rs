//! Plain jobs with one odd thing.

use super::job::{Job, phases};
use crate::generated::Truth;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("three_settings", "the interval is set anew twice, outputs stay as they are", three_settings),
    Kind::new("interval_doubles", "every so many outputs the interval is doubled", interval_doubles),
    Kind::new(
        "steps_after_refinement",
        "a finer grid: every phase takes longer, and so does every step",
        refinement,
    ),
    Kind::new(
        "spread_over_the_period",
        "pieces of an output over most of the interval, then a short quiet",
        spread,
    ),
    Kind::new("work_and_a_break", "some even outputs, a break of many intervals, even ones again", breaks),
    Kind::new("one_file_after_another", "files of an output one after the other, each closed", files),
    Kind::new(
        "late_rest",
        "most of an output at once, its rest when half of the interval is over",
        late_rest,
    ),
    Kind::new("few_samples_a_period", "a monitor with three to seven samples a period", few_samples)
        .within(0.04),
    Kind::new("plain_and_sampled", "a plain job as a monitor sees it", plain_and_sampled),
    Kind::new("few_cycles_sampled", "four to seven phases in a monitor's samples", few_cycles).within(0.04),
    Kind::new("torn_but_even", "late ranks tear every output apart, the interval is kept", torn),
    Kind::new("some_late_for_good", "some outputs are late, and all that follow as well", some_late),
    Kind::new("first_much_longer", "the first output takes as long as several others", first_longer),
    Kind::new("first_part_of_a_log", "a job in the first part of a log, then nothing", first_part)
        .within(0.04),
];

/// Even phases at several periods one after the other: how many at which, and how large.
fn settings(random: &mut Random, list: &[(usize, f64, f64)]) -> Made {
    let count = list.iter().map(|(count, ..)| count).sum();
    let mut job = Job::even(random, count, 0.03);
    let least = list.iter().map(|(_, factor, size)| factor / size.max(1.0)).fold(1.0, f64::min);
    job.busy = job.busy.min(0.3 * least);
    let (mut time, mut periods, mut changes) = (job.first(random), Vec::new(), Vec::new());
    for &(count, factor, size) in list {
        let (from, period) = (time, factor * job.period);
        let (length, volume) = (job.length() * size, job.volume() * size);
        for _ in 0..count {
            job.phase(random, time, length, volume);
            time += (period * (1.0 + job.jitter * random.normal())).max(1.2 * length);
        }
        periods.push((time - from) / count as f64);
        changes.push(from);
    }
    job.next = Some(time);
    job.made(random, Truth { periods, changes, ..Truth::default() })
}

fn three_settings(random: &mut Random) -> Made {
    let factors = [1.0, random.between(1.5, 4.0), random.between(0.3, 0.7)];
    let list = factors.map(|factor| (random.whole(8, 30), factor, 1.0));
    settings(random, &list)
}

fn interval_doubles(random: &mut Random) -> Made {
    let (steps, each) = (random.whole(3, 5), random.whole(7, 14));
    let list: Vec<_> = (0..steps).map(|step| (each, f64::from(1 << step), 1.0)).collect();
    settings(random, &list)
}

fn refinement(random: &mut Random) -> Made {
    let (mut list, mut factor) = (Vec::new(), 1.0);
    for _ in 0..random.whole(2, 4) {
        list.push((random.whole(8, 25), factor, factor));
        factor *= random.between(1.4, 2.2);
    }
    settings(random, &list)
}

fn spread(random: &mut Random) -> Made {
    let count = phases(random, 8).min(100);
    let mut job = Job::even(random, count, 0.03);
    job.busy = random.between(0.5, 0.8);
    let (pieces, first) = (random.whole(6, 20), job.first(random));
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let (each, bytes) = (job.length() / pieces as f64, job.volume() / pieces as f64);
        for piece in 0..pieces {
            let late = if piece == 0 { 0.0 } else { 0.2 * random.unit() };
            job.write(0, start + (piece as f64 + late) * each, random.between(0.2, 0.7) * each, bytes);
        }
        job.mark(start, start + job.length());
    }
    job.next = Some(next);
    job.regular(random)
}

fn breaks(random: &mut Random) -> Made {
    let parts = random.whole(2, 5);
    let mut job = Job::even(random, 15 * parts, 0.03);
    let mut time = job.first(random);
    for _ in 0..parts {
        let count = random.whole(6, 25);
        let (starts, next) = job.rhythm(random, time, count);
        for start in starts {
            job.usual(random, start);
        }
        time = next + job.period * random.log_between(3.0, 60.0);
        job.next = Some(next);
    }
    let period = job.undisturbed();
    job.based(random, period)
}

fn files(random: &mut Random) -> Made {
    let count = phases(random, 6).min(150);
    let mut job = Job::even(random, count, 0.04);
    job.busy = random.between(0.05, 0.4);
    let (files, first) = (random.whole(2, 7), job.first(random));
    let sizes: Vec<f64> = (0..files).map(|_| random.factor(0.8)).collect();
    let (all, open) = (sizes.iter().sum::<f64>(), random.between(0.1, 0.6));
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let mut from = start;
        for size in &sizes {
            let length = job.length() * size / all;
            job.write(0, from, (1.0 - open) * length, job.volume() * size / all);
            from += length;
        }
        job.mark(start, from);
    }
    job.next = Some(next);
    job.regular(random)
}

fn late_rest(random: &mut Random) -> Made {
    let count = phases(random, 8).min(100);
    let mut job = Job::even(random, count, 0.03);
    job.busy = random.between(0.02, 0.2);
    let (share, late, first) = (random.between(0.1, 0.45), random.between(0.45, 0.65), job.first(random));
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let (length, volume) = (job.length(), job.volume());
        job.output(random, start, length, (1.0 - share) * volume);
        let from = start + late * job.period;
        job.write(0, from, share * length, share * volume);
        job.mark(start, from + share * length);
    }
    job.next = Some(next);
    job.regular(random)
}

/// Even phases as a monitor sees them, in so many samples a period.
fn in_samples(random: &mut Random, count: usize, samples: (f64, f64)) -> Made {
    let mut job = Job::even(random, count, 0.04);
    let step = random.pick(&[1.0, 1.0, 5.0, 10.0, 30.0, 60.0]);
    (job.period, job.busy) = (step * random.log_between(samples.0, samples.1), random.between(0.1, 0.5));
    job.play(random, count);
    job.regular(random).sampled(step)
}

fn few_samples(random: &mut Random) -> Made {
    let count = random.whole(15, 120);
    in_samples(random, count, (3.0, 7.0))
}

fn plain_and_sampled(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    in_samples(random, count, (7.0, 60.0))
}

fn few_cycles(random: &mut Random) -> Made {
    let count = random.whole(4, 7);
    in_samples(random, count, (8.0, 60.0))
}

fn first_part(random: &mut Random) -> Made {
    let count = random.whole(8, 40);
    let step = random.pick(&[1.0, 10.0, 60.0]);
    let mut job = Job::even(random, count, 0.04);
    (job.period, job.busy) = (step * random.log_between(5.0, 40.0), random.between(0.1, 0.5));
    job.play(random, count);
    let silence = job.end() * random.log_between(1.0, 12.0);
    // What keeps the log going: a byte at its end.
    let until = job.end() + silence;
    job.write(0, until - step, 0.5 * step, 1.0);
    job.regular(random).sampled(step)
}

fn torn(random: &mut Random) -> Made {
    let count = phases(random, 8).min(60);
    let mut job = Job::even(random, count, 0.04);
    let (ranks, late) = (random.whole(4, 16) as u32, random.between(1.0, 4.0));
    (job.ranks, job.clocked, job.busy) = (ranks, true, random.between(0.01, 0.04));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let mut last: f64 = 0.0;
        for rank in 0..ranks {
            let delay = if rank == 0 { 0.0 } else { late * job.length() * random.exponential(1.0) };
            let delay = delay.min(0.7 * job.period);
            job.write(rank, start + delay, job.length(), job.volume() / f64::from(ranks));
            last = last.max(delay);
        }
        job.mark(start, start + last + job.length());
    }
    job.next = Some(next);
    job.regular(random)
}

fn some_late(random: &mut Random) -> Made {
    let count = phases(random, 10).min(100);
    let mut job = Job::even(random, count, 0.03);
    job.busy = job.busy.min(0.3);
    let (often, late) = (random.between(0.03, 0.15), random.between(0.15, 0.9));
    let mut time = job.first(random);
    for _ in 0..count {
        job.usual(random, time);
        time += job.distance(random, 1.1 * job.length());
        if random.chance(often) {
            time += late * job.period * random.factor(0.3);
        }
    }
    job.next = Some(time);
    job.regular(random)
}

fn first_longer(random: &mut Random) -> Made {
    let count = phases(random, 7).min(60);
    let mut job = Job::even(random, count, 0.03);
    job.busy = job.busy.min(0.3);
    let longer = random.between(2.0, 6.0);
    let larger = random.between(1.0, longer);
    let (length, volume, first) = (job.length(), job.volume(), job.first(random));
    job.phase(random, first, longer * length, larger * volume);
    let (starts, next) = job.rhythm(random, first + (longer - 1.0) * length + job.period, count);
    for start in starts {
        job.usual(random, start);
    }
    job.next = Some(next);
    let period = job.undisturbed();
    job.based(random, period)
}
