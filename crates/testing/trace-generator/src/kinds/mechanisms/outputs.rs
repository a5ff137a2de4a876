//! What a simulation writes at an output: files, sizes, order, ranks.

use super::job::{Job, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("refined_mesh", "a mesh that is refined and coarsened: volume and computing follow", refined),
    Kind::new("console_between", "lines on the console every step, of any length, and outputs", console),
    Kind::new(
        "files_with_gaps",
        "an output is several files with a gap after each, not always as many",
        files,
    ),
    Kind::new("compressed", "sizes over decades: compression, sparse fields, thresholds", compressed),
    Kind::new(
        "initial_and_final",
        "a large read before, a large state after regular outputs",
        first_and_last,
    ),
    Kind::new("full_buffers", "a buffer is written when it is full; how fast it fills wanders", full_buffers),
    Kind::new(
        "imbalance_grows",
        "ranks drift apart until the next balancing: phases grow and shrink",
        imbalance,
    ),
    Kind::new(
        "create_storm",
        "a file of every rank, created one after another by a slow server",
        create_storm,
    ),
    Kind::new("locked_file", "ranks write a shared file in turn, each for a time of its own", locked_file),
    Kind::new(
        "groups_of_files",
        "groups write at times of their own, over half of the period and more",
        groups,
    ),
    Kind::new("metadata_before_data", "small files and headers, a while later the bulk", small_first),
    Kind::new("index_at_the_end", "the bulk, and long after it the index of what was written", index_last),
    Kind::new("writes_most_of_the_time", "a short step between long outputs", mostly_writing),
    Kind::new("halo_of_small_requests", "every output thousands of tiny requests of one rank", tiny_requests),
];

fn refined(random: &mut Random) -> Made {
    let count = phases(random, 12).min(150);
    let mut job = Job::even(random, count, 0.03);
    job.busy = job.busy.min(0.2);
    let (most, turns, shift) = (random.log_between(1.5, 30.0), random.between(0.3, 2.5), random.unit());
    // Work per cell is part of the step, the rest of it is not.
    let share = random.between(0.0, 0.25);
    let mut time = job.first(random);
    for i in 0..count {
        let wave = 0.5 - 0.5 * (std::f64::consts::TAU * (turns * i as f64 / count as f64 + shift)).cos();
        let cells = most.powf(wave);
        let length = job.length() * (cells / most.sqrt()).clamp(0.3, 2.0);
        let volume = job.volume() * cells;
        job.phase(random, time, length, volume);
        let distance = job.distance(random, 1.1 * length);
        time += (distance * (1.0 + share * (wave - 0.5))).max(1.1 * length);
    }
    job.next = Some(time);
    job.regular(random)
}

fn console(random: &mut Random) -> Made {
    let (count, steps) = (random.whole(7, 40), random.whole(10, 120));
    let mut job = Job::even(random, count, 0.04);
    (job.busy, job.clocked) = (job.busy.min(0.3), false);
    let step = (job.period - job.length()) / steps as f64;
    let line = random.log_between(40.0, 4000.0).min(0.01 * job.volume() / steps as f64);
    let mut time = job.first(random);
    for _ in 0..count {
        for _ in 0..steps {
            let bytes = line * random.factor(0.5);
            job.write(0, time, 1e-4 * step, bytes);
            time += step * (1.0 + 2.0 * job.jitter * random.normal()).max(0.1);
        }
        time = job.usual(random, time);
    }
    job.next = Some(time + steps as f64 * step);
    let made = job.regular(random);
    made.also(&[step])
}

fn files(random: &mut Random) -> Made {
    let count = phases(random, 7).min(200);
    let mut job = Job::even(random, count, 0.06);
    let usual = random.whole(2, 9);
    let (span, gap) = (random.between(0.1, 0.7) * job.period, random.between(0.1, 0.7));
    let first = job.first(random);
    job.busy = 0.8;
    let (starts, next) = job.rhythm(random, first, count);
    let each = span / usual as f64;
    let bytes = job.volume() / usual as f64;
    for &start in &starts {
        let number = (usual + random.below(3)).saturating_sub(1).max(1);
        let mut time = start;
        let mut end = start;
        for _ in 0..number {
            let size = random.factor(0.4).min(1.3);
            end = job.output(random, time, each * (1.0 - gap) * size, bytes * size);
            time += each * random.between(0.9, 1.1);
        }
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn compressed(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let mut job = Job::even(random, count, 0.15);
    job.busy = job.busy.min(0.15);
    let (spread, stretched) = (random.between(0.8, 2.5), random.chance(0.5));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let size = (spread * random.normal()).exp();
        // Larger ones take longer, or the compression is what takes the time.
        let length = job.length() * if stretched { size.clamp(0.01, 3.0) } else { 1.0 };
        let volume = job.volume() * size;
        job.phase(random, start, length, volume);
    }
    job.next = Some(next);
    job.regular(random)
}

fn first_and_last(random: &mut Random) -> Made {
    let count = phases(random, 7);
    let mut job = Job::even(random, count, 0.08);
    let (length, volume) =
        (job.period * random.log_between(0.2, 6.0), job.volume() * random.log_between(0.5, 30.0));
    let same = random.chance(0.5);
    if same {
        job.output(random, 0.0, length, volume);
    } else {
        job.read(0, 0.0, length, volume);
    }
    let (starts, next) = job.rhythm(random, length + 0.6 * job.period, count);
    for start in starts {
        job.usual(random, start);
    }
    let (length, volume) =
        (job.period * random.log_between(0.2, 4.0), job.volume() * random.log_between(0.5, 20.0));
    let at = next + job.period * random.between(0.0, 1.5);
    job.output(random, at, length, volume);
    job.regular(random)
}

fn full_buffers(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let mut job = Job::even(random, count, 0.02);
    job.busy = job.busy.min(0.2);
    let (spread, over) = (random.between(0.03, 0.12), random.log_between(3.0, 40.0));
    let pace = super::job::memory(random, count + 1, over);
    let mut time = job.first(random);
    for one in &pace[..count] {
        job.usual(random, time);
        time += (job.distance(random, 0.0) * (spread * one).exp()).max(1.2 * job.length());
    }
    job.next = Some(time);
    job.regular(random)
}

fn imbalance(random: &mut Random) -> Made {
    let count = phases(random, 12).min(100);
    let mut job = Job::even(random, count, 0.03);
    job.ranks = random.pick(&[4, 16, 64]);
    (job.busy, job.clocked) = (random.between(0.02, 0.1), false);
    let (every, most) = (random.whole(3, 15), random.between(0.05, 0.35) * job.period);
    let own: Vec<f64> = (0..job.ranks).map(|rank| if rank == 0 { 0.0 } else { random.unit() }).collect();
    let bytes = job.volume() / f64::from(job.ranks);
    let mut time = job.first(random);
    for i in 0..count {
        let apart = most * (i % every) as f64 / every as f64;
        for (rank, own) in own.iter().enumerate() {
            let (at, length) = (time + apart * own, job.length());
            job.write(rank as u32, at, length, bytes);
        }
        let end = time + apart + job.length();
        job.mark(time, end);
        // All wait for the last one at the next exchange: the step is as long as the slowest.
        time += job.distance(random, 0.5 * job.period);
    }
    job.next = Some(time);
    // From one balancing to the next is a rhythm as well.
    let balanced = every as f64 * job.mean_truth().period.unwrap_or(job.period);
    let made = job.regular(random);
    if count >= 3 * every { made.also(&[balanced]) } else { made }
}

fn create_storm(random: &mut Random) -> Made {
    let count = random.whole(6, 30);
    let mut job = Job::even(random, count, 0.06);
    job.ranks = random.pick(&[32, 128, 512]);
    job.busy = random.between(0.1, 0.5);
    let create = job.length() * random.between(0.2, 0.9) / f64::from(job.ranks);
    let bytes = job.volume() / f64::from(job.ranks);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let (mut time, mut end) = (start, start);
        for rank in 0..job.ranks {
            let length = 0.1 * job.length() * random.factor(0.4);
            job.write(rank, time, length, bytes);
            end = f64::max(end, time + length);
            time += create * random.exponential(1.0);
        }
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn locked_file(random: &mut Random) -> Made {
    let count = random.whole(6, 40);
    let mut job = Job::even(random, count, 0.06);
    job.ranks = random.pick(&[3, 8, 24, 64]);
    job.busy = random.between(0.1, 0.6);
    let (mean, shape) = (job.length() / f64::from(job.ranks), random.between(0.7, 6.0));
    let bytes = job.volume() / f64::from(job.ranks);
    let mut time = job.first(random);
    for _ in 0..count {
        let start = time;
        for rank in 0..job.ranks {
            let length = (mean * random.gamma(shape)).max(0.01 * mean);
            job.write(rank, time, 0.9 * length, bytes);
            time += length;
        }
        job.mark(start, time);
        time += (job.period - job.length()) * (1.0 + job.jitter * random.normal()).max(0.3);
    }
    job.next = Some(time);
    job.regular(random)
}

fn groups(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    let mut job = Job::even(random, count, 0.04);
    let number = random.whole(4, 10);
    // Not evenly, or the distance of the groups were a period as well.
    let mut offsets: Vec<f64> = (1..number).map(|_| random.between(0.02, 0.75)).collect();
    offsets.push(0.0);
    offsets.sort_by(f64::total_cmp);
    let sizes: Vec<f64> = offsets.iter().map(|_| random.factor(0.4)).collect();
    let (length, shake) = (job.period * random.between(0.01, 0.06), random.between(0.0, 0.01));
    job.busy = 0.8;
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let bytes = job.rate * length;
    for &start in &starts {
        let mut end = start;
        for (offset, size) in offsets.iter().zip(&sizes) {
            let late = if *offset > 0.0 { shake * random.normal().abs() } else { 0.0 };
            let at = start + (offset + late) * job.period;
            end = f64::max(end, job.output(random, at, length, bytes * size));
        }
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn small_first(random: &mut Random) -> Made {
    let count = phases(random, 6).min(200);
    let mut job = Job::even(random, count, 0.06);
    job.busy = job.busy.min(0.3);
    let (lead, number) = (job.period * random.between(0.05, 0.4), random.whole(2, 20));
    let bytes = job.volume() * random.log_between(1e-6, 1e-2);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        for i in 0..number {
            let at = if i == 0 { 0.0 } else { 0.8 * lead * random.unit() };
            let size = random.factor(0.6);
            job.write(0, start + at, 1e-3 * job.period, bytes * size);
        }
        let (length, volume) = (job.length(), job.volume());
        let at = start + lead * random.between(0.9, 1.1);
        let end = job.output(random, at, length, volume);
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn index_last(random: &mut Random) -> Made {
    let count = phases(random, 7);
    let mut job = Job::even(random, count, 0.05);
    job.busy = job.busy.min(0.2);
    let (after, size) = (random.between(0.25, 0.65), random.log_between(1e-5, 0.05));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        job.usual(random, start);
        let at = start + after * job.period * random.between(0.97, 1.03);
        let (length, bytes) = (0.1 * job.length(), size * job.volume());
        job.write(0, at, length, bytes);
    }
    job.next = Some(next);
    job.regular(random)
}

fn mostly_writing(random: &mut Random) -> Made {
    let count = phases(random, 8);
    let mut job = Job::any(random, count);
    job.busy = random.between(0.6, 0.93);
    let (looseness, shake) = (random.between(0.0, 0.08), random.between(0.0, 0.2));
    let mut time = job.first(random);
    for _ in 0..count {
        let (length, volume) = (job.length() * random.factor(looseness), job.volume());
        let end = job.phase(random, time, length, volume);
        time = end + (1.0 - job.busy) * job.period * (1.0 + shake * random.normal()).max(0.3);
    }
    job.next = Some(time);
    job.regular(random)
}

fn tiny_requests(random: &mut Random) -> Made {
    let count = random.whole(6, 25);
    let mut job = Job::even(random, count, 0.06);
    job.busy = random.between(0.05, 0.6);
    let (requests, pause) = (random.whole(100, 800), random.between(0.0, 0.8));
    let bytes = random.log_between(8.0, 65536.0);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let each = job.length() / requests as f64;
        for i in 0..requests {
            job.write(0, start + i as f64 * each, each * (1.0 - pause * random.unit()), bytes);
        }
        let end = start + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}
