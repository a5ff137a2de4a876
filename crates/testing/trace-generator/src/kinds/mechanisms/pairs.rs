//! Two rhythms at once; both are wanted.

use super::job::{Job, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "reads_fast_writes_slow",
        "batches are read every step, the state is written every n",
        reads_writes,
    )
    .within(0.04),
    Kind::new(
        "checkpoint_by_the_clock",
        "steps read, checkpoints by minutes: no whole number of steps",
        by_minutes,
    )
    .within(0.04),
    Kind::new("history_and_restart", "history files, and restart files every 3 to 12 of them", history)
        .within(0.04),
    Kind::new("pauses_between_epochs", "batches close together, a pause after each epoch", epochs)
        .within(0.04),
    Kind::new("tiles_and_sweeps", "a file worked through tile by tile, again and again", tiles).within(0.04),
    Kind::new("unlike_intervals", "two outputs whose intervals have nothing to do with each other", unlike)
        .within(0.04),
    Kind::new("second_begins_later", "a second rhythm that begins after a third of the job or later", later)
        .within(0.04),
    Kind::new("second_ends_early", "a second rhythm that ends after half of the job", early).within(0.04),
    Kind::new("input_and_output", "forcing is read at one interval, results are written at another", forcing)
        .within(0.04),
    Kind::new(
        "two_groups_of_ranks",
        "compute ranks and I/O ranks write at intervals of their own",
        two_groups,
    )
    .within(0.04),
    Kind::new(
        "outputs_after_each_checkpoint",
        "small outputs that begin anew after every checkpoint",
        after_checkpoints,
    )
    .within(0.04),
    Kind::new("index_after_data", "every large output is followed by some small files at once", index),
];

/// Add a second rhythm of single requests of the last rank; its mean distance, and the bytes of it.
struct Second {
    period: f64,
    bytes: f64,
}

/// Requests of `bytes` each from `from` to `until`, as writes or as reads.
fn second(
    job: &mut Job,
    random: &mut Random,
    (from, until): (f64, f64),
    period: f64,
    (busy, bytes): (f64, f64),
    reads: bool,
) -> Second {
    let (rank, shake) = (job.ranks - 1, random.between(0.0, 0.03));
    let (mut time, mut count, mut last) = (from, 0, from);
    while time + period < until {
        if reads {
            job.read(rank, time, busy * period, bytes);
        } else {
            job.write(rank, time, busy * period, bytes);
        }
        last = time;
        count += 1;
        time += period * (1.0 + shake * random.normal()).max(0.5);
    }
    let links = f64::from((count - 1).max(1));
    Second { period: (last - from) / links, bytes: f64::from(count) * bytes }
}

/// Even checkpoints, and outputs at a distance of their own from the end of each to the next.
fn after_checkpoints(random: &mut Random) -> Made {
    let (count, each) = (random.whole(7, 25), random.log_between(3.5, 16.0));
    let mut job = Job::even(random, count, 0.015);
    job.busy = random.between(0.02, 0.2);
    let (first, shake) = (job.first(random), random.between(0.0, 0.03));
    let (starts, next) = job.rhythm(random, first, count);
    let (length, volume) = (job.length(), job.volume());
    let period = (job.period - length) / each;
    let (wait, busy) = (period * random.between(0.6, 1.2), random.between(0.03, 0.2));
    let bytes = volume / each * random.log_between(0.02, 0.5);
    let (mut number, mut sum) = (0, 0.0);
    for (i, &start) in starts.iter().enumerate() {
        job.phase(random, start, length, volume);
        let until = starts.get(i + 1).copied().unwrap_or(start + job.period);
        let mut time = start + length + wait;
        while time + (busy + 0.1) * period < until {
            job.write(0, time, busy * period, bytes);
            let step = period * (1.0 + shake * random.normal()).max(0.5);
            (time, number, sum) = (time + step, number + 1, sum + step);
        }
    }
    job.next = Some(next);
    let second = Second { period: sum / f64::from(number.max(1)), bytes: f64::from(number) * bytes };
    finish(job, random, &second)
}

/// What comes soon after every phase is no rhythm of its own.
fn index(random: &mut Random) -> Made {
    let count = phases(random, 6);
    let mut job = Job::even(random, count, 0.08);
    job.busy = random.between(0.02, 0.15);
    job.play(random, count);
    let (files, volume) = (random.whole(2, 6), job.volume());
    let room = job.period * random.between(0.05, 0.25);
    let bytes = volume * random.log_between(0.005, 0.2);
    let shake = random.between(0.0, 0.3);
    for end in job.ends.clone() {
        for file in 0..files {
            let late = (file as f64 + 0.5 + shake * (random.unit() - 0.5)) / files as f64;
            job.write(0, end + late * room, 0.2 * room / files as f64, bytes);
        }
    }
    job.regular(random)
}

/// The one that moves more first; phases are those of the job's own rhythm.
fn finish(job: Job, random: &mut Random, second: &Second) -> Made {
    let own = job.volume() * job.starts.len() as f64;
    let period = job.mean_truth().period.unwrap_or(job.period);
    if own >= second.bytes {
        return job.both(random, period, second.period);
    }
    let mut made = job.both(random, second.period, period);
    // The phases are not those of the first.
    (made.truth.starts, made.truth.ends, made.truth.next) = (Vec::new(), Vec::new(), None);
    made
}

/// A job of `count` phases, not looser than a few per cent, of phases not longer than that share.
fn own(random: &mut Random, count: usize, busy: f64) -> Job {
    let mut job = Job::even(random, count, 0.03);
    job.busy = random.log_between(0.02, busy);
    job.play(random, count);
    job
}

fn reads_writes(random: &mut Random) -> Made {
    let (count, steps) = (random.whole(7, 25), random.log_between(3.0, 400.0));
    let mut job = own(random, count, 0.3);
    let (period, until) = (job.period / steps, job.end());
    let bytes = job.volume() / steps * random.log_between(0.05, 5.0);
    let (busy, from) = (random.between(0.1, 0.6), period * random.unit());
    let reads = second(&mut job, random, (from, until), period, (busy, bytes), true);
    finish(job, random, &reads)
}

fn by_minutes(random: &mut Random) -> Made {
    // Training stands still while the state is written.
    let (count, steps) = (random.whole(7, 20), random.log_between(4.0, 200.0));
    let mut job = Job::even(random, count, 0.01);
    (job.busy, job.clocked) = (random.between(0.02, 0.2), false);
    let step = (job.period - job.length()) / steps;
    let bytes = job.volume() / steps * random.log_between(0.05, 2.0);
    let busy = random.between(0.1, 0.6);
    let (mut time, mut number) = (0.0, 0.0);
    for _ in 0..count {
        let from = time;
        while time - from < job.period - job.length() {
            job.read(0, time, busy * step, bytes);
            time += step * (1.0 + 0.03 * random.normal());
            number += 1.0;
        }
        time = job.usual(random, time);
    }
    finish(job, random, &Second { period: step, bytes: bytes * number })
}

fn history(random: &mut Random) -> Made {
    let (count, each) = (random.whole(7, 16), random.whole(3, 12));
    let mut job = Job::even(random, count * each, 0.02);
    job.clocked = true;
    // Restart files follow the history files of the same instant, or are written in their stead.
    let (small, instead) = (random.between(0.1, 0.8), random.chance(0.4));
    job.busy = random.log_between(0.02, 0.25);
    let first = job.period * random.unit();
    let (starts, _) = job.rhythm(random, first, count * each);
    let (fast, slow) = (job.period, job.period * each as f64);
    let (length, volume) = (job.length(), job.volume());
    for (i, &start) in starts.iter().enumerate() {
        let restart = i % each == 0;
        if !(restart && instead) {
            job.output(random, start, length, small * volume);
        }
        if restart {
            let from = if instead { start } else { start + 1.1 * length };
            let longer = random.between(1.0, 2.0);
            let end = job.output(random, from, longer * length, 2.0 * each as f64 * small * volume);
            job.mark(start, end);
        }
    }
    job.next = Some(first + slow * count as f64);
    job.both(random, slow, fast)
}

fn epochs(random: &mut Random) -> Made {
    let (count, each) = (random.whole(6, 16), random.log_between(6.0, 300.0) as usize);
    let mut job = Job::even(random, count * each, 0.04);
    (job.busy, job.clocked) = (random.between(0.15, 0.7), false);
    job.period = random.log_between(0.02, 60.0);
    let pause = job.period * (3.0 + each as f64 * random.between(0.1, 0.6));
    let (batch, mut time) = (job.period, job.period * random.unit());
    let (length, volume) = (job.length(), job.volume());
    for _ in 0..count {
        let start = time;
        for _ in 0..each {
            job.read(0, time, length, volume);
            time += job.distance(random, 1.1 * length);
        }
        job.mark(start, time - job.period + length);
        time += pause * random.between(0.95, 1.05);
    }
    job.next = Some(time);
    let period = job.mean_truth().period.unwrap_or(batch);
    job.both(random, period, batch)
}

fn tiles(random: &mut Random) -> Made {
    let (sweeps, tiles) = (random.whole(6, 15), random.whole(5, 60));
    let mut job = Job::even(random, sweeps * tiles, 0.04);
    job.period = random.log_between(0.05, 60.0);
    let (read, write) = (random.between(0.1, 0.3), random.between(0.1, 0.3));
    let bytes = job.rate * job.period * 0.2;
    let between = job.period * tiles as f64 * random.between(0.2, 0.8);
    let (tile, mut time) = (job.period, 0.0);
    for _ in 0..sweeps {
        let start = time;
        for _ in 0..tiles {
            job.read(0, time, read * tile, bytes);
            job.write(0, time + 0.65 * tile, write * tile, bytes);
            time += tile * (1.0 + job.jitter * random.normal()).max(0.7);
        }
        job.mark(start, time);
        time += between * random.between(0.97, 1.03);
    }
    job.next = Some(time);
    let period = job.mean_truth().period.unwrap_or(tile);
    job.both(random, period, tile)
}

/// How much shorter a second interval is. No small whole numbers: rhythms that meet again and again have a
/// third one.
const RATIOS: [f64; 4] = [0.137, 0.191, 0.282, 0.381];

/// Two outputs of which the second is there from the share `from` to the share `until` of the time.
fn two_outputs(random: &mut Random, (from, until): (f64, f64)) -> Made {
    let count = random.whole(12, 40);
    let ratio = random.pick(&RATIOS) * random.between(0.98, 1.02);
    let mut job = own(random, count, 0.12);
    let ends = job.end();
    let period = job.period * ratio;
    let busy = random.log_between(0.02, 0.12);
    let bytes = job.volume() * ratio * random.log_between(0.4, 2.5);
    let start = from * ends + period * random.between(0.0, 0.5);
    job.ranks += 1;
    let other = second(&mut job, random, (start, until * ends), period, (busy, bytes), false);
    finish(job, random, &other)
}

fn unlike(random: &mut Random) -> Made {
    two_outputs(random, (0.0, 1.0))
}

fn later(random: &mut Random) -> Made {
    let from = random.between(0.3, 0.5);
    two_outputs(random, (from, 1.0))
}

fn early(random: &mut Random) -> Made {
    let until = random.between(0.5, 0.7);
    two_outputs(random, (0.0, until))
}

fn forcing(random: &mut Random) -> Made {
    let (count, ratio) = (random.whole(8, 30), random.log_between(0.08, 0.7));
    let mut job = own(random, count, 0.25);
    let (period, until) = (job.period * ratio, job.end());
    let bytes = job.volume() * ratio * random.log_between(0.1, 3.0);
    let (busy, from) = (random.between(0.03, 0.3), period * random.unit());
    let reads = second(&mut job, random, (from, until), period, (busy, bytes), true);
    finish(job, random, &reads)
}

fn two_groups(random: &mut Random) -> Made {
    let ratio = random.log_between(0.03, 0.2);
    let count = random.whole(8, 25);
    let mut job = own(random, count, 0.15);
    let (period, until) = (job.period * ratio, job.end());
    let bytes = job.volume() * ratio * random.log_between(0.3, 2.0);
    let from = period * random.unit();
    let busy = random.between(0.05, 0.3);
    job.ranks += 1;
    let other = second(&mut job, random, (from, until), period, (busy, bytes), false);
    finish(job, random, &other)
}
