//! Trainings: steps that read, epochs, validation, checkpoints, and the loaders that hide them.

use super::job::{Job, phases};
use crate::generated::Truth;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "validation_after_every_epoch",
        "training reads, a faster pass over a smaller set, again",
        validation,
    ),
    Kind::new(
        "second_epoch_cached",
        "the first epoch reads everything, the others what the cache lost",
        cached,
    ),
    Kind::new("filled_then_blocked", "a queue is filled at full speed, then as fast as steps take", filled),
    Kind::new("shuffle_buffer", "a shard is read at once into a buffer, then a trickle", shuffle_buffer),
    Kind::new("workers_in_turn", "each of several workers reads every n-th batch", workers),
    Kind::new("every_step_is_read", "steps of one batch; no epochs to be seen", steps),
    Kind::new("micro_batches", "a few reads close together, then the update, again", micro_batches),
    Kind::new("shards_of_the_state", "every rank writes its shard; rank 0 then the list of them", shards),
    Kind::new("snapshot_and_flush", "a fast local copy, then a slow one to the file system", snapshot),
    Kind::new("longer_sequences", "steps become longer in stages; every stage is wanted", longer),
    Kind::new("rollouts", "games of unequal lengths, then an update that is stored", rollouts),
    Kind::new("clients_and_server", "rounds: clients send at any time, the server stores the model", clients),
    Kind::new("now_and_then_a_slow_step", "steps, one in some tens waits for its data for long", stalls),
    Kind::new(
        "checkpoint_by_epoch_of_unlike_length",
        "epochs of as many steps as there is data this time",
        unlike,
    ),
];

/// Batches from `time` on; when the last one is computed.
fn batches(
    job: &mut Job,
    random: &mut Random,
    from: f64,
    count: usize,
    distance: f64,
    busy: f64,
    bytes: f64,
) -> f64 {
    let mut time = from;
    for i in 0..count {
        let size = random.factor(0.1);
        let rank = (i as u32) % job.ranks;
        job.read(rank, time, distance * busy * size.min(1.2), bytes * size);
        time += distance * (1.0 + job.jitter * random.normal()).max(0.3);
    }
    time
}

/// A training whose epochs have so many batches.
fn training(random: &mut Random, epochs: usize) -> (Job, usize, f64) {
    let count = random.log_between(6.0, (8000.0 / epochs as f64).min(400.0)) as usize;
    let mut job = Job::even(random, epochs * count, 0.08);
    job.ranks = random.pick(&[1, 1, 4, 8]);
    job.busy = random.between(0.1, 0.7);
    let distance = job.period / count as f64;
    (job, count, distance)
}

fn validation(random: &mut Random) -> Made {
    let epochs = random.whole(5, 14);
    let (mut job, count, distance) = training(random, epochs);
    let (less, faster) = (random.between(0.05, 0.4), random.between(1.5, 5.0));
    let checks = ((count as f64 * less) as usize).max(2);
    let (pause, bytes) = (distance * random.between(0.5, 6.0), job.rate * distance * job.busy);
    let (busy, mut time) = (job.busy, distance * random.unit());
    for _ in 0..epochs {
        let start = time;
        time = batches(&mut job, random, time, count, distance, busy, bytes) + pause;
        time = batches(&mut job, random, time, checks, distance / faster, busy, bytes);
        job.mark(start, time);
        time += pause;
    }
    job.next = Some(time);
    job.regular(random).also(&[distance])
}

fn cached(random: &mut Random) -> Made {
    let epochs = random.whole(6, 20);
    let (mut job, count, distance) = training(random, epochs);
    let (slower, kept) = (random.between(1.0, 4.0), random.between(0.5, 0.95));
    let bytes = job.rate * distance * job.busy;
    let busy = job.busy;
    let mut time = batches(&mut job, random, 0.0, count, slower * distance, busy, bytes);
    for _ in 1..epochs {
        let start = time;
        let missing = ((1.0 - kept) * count as f64).ceil() as usize;
        let end = batches(&mut job, random, time, missing, distance, busy, bytes);
        job.mark(start, end.min(start + distance * count as f64));
        time = start + distance * count as f64 * (1.0 + 0.01 * random.normal());
    }
    job.next = Some(time);
    job.regular(random).also(&[distance])
}

fn filled(random: &mut Random) -> Made {
    let epochs = random.whole(5, 20);
    let (mut job, count, distance) = training(random, epochs);
    let ahead = random.whole(2, 16).min(count / 2);
    let pause = distance * random.between(2.0, 0.3 * count as f64 + 3.0);
    let (busy, bytes) = (random.between(0.05, 0.4), job.rate * distance * job.busy);
    let mut time = distance * random.unit();
    for _ in 0..epochs {
        let start = time;
        time = batches(&mut job, random, time, ahead, distance * busy, 0.95, bytes);
        time = batches(&mut job, random, time, count - ahead, distance, busy, bytes);
        job.mark(start, time);
        // The queue is emptied and validated; nothing is read.
        time += ahead as f64 * distance + pause;
    }
    job.next = Some(time);
    job.regular(random).also(&[distance])
}

fn shuffle_buffer(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    let mut job = Job::even(random, count, 0.05);
    job.busy = random.between(0.03, 0.2);
    let (drops, rest) = (random.whole(10, 60), random.between(0.05, 0.4));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let volume = job.volume();
        let end = job.phase(random, start, job.length(), volume);
        let distance = (job.period * 0.95 - job.length()) / drops as f64;
        for i in 0..drops {
            let at = end + distance * (i as f64 + 0.3 * random.unit());
            job.write(0, at, 0.3 * distance, rest * volume / drops as f64);
        }
    }
    job.next = Some(next);
    job.regular(random).turned()
}

fn workers(random: &mut Random) -> Made {
    let (count, number) = (random.whole(40, 600), random.whole(2, 8));
    let mut job = Job::even(random, count, 0.1);
    job.ranks = number as u32;
    let longer = random.between(0.3, 0.9) * number as f64;
    let bytes = job.volume();
    let mut time = job.first(random);
    for i in 0..count {
        // A worker needs longer than a step, but there are several.
        let length = longer * job.period * random.between(0.85, 1.0);
        job.mark(time, time + 0.3 * job.period);
        job.read((i % number) as u32, time, length, bytes);
        // Opening and the first page are faster than the rest.
        job.read((i % number) as u32, time, 0.2 * job.period, bytes);
        time += job.distance(random, 0.3 * job.period);
    }
    job.next = Some(time);
    job.regular(random)
}

fn steps(random: &mut Random) -> Made {
    let count = random.log_between(60.0, 2000.0) as usize;
    let mut job = Job::even(random, count, 0.15);
    job.period = random.log_between(0.02, 20.0);
    let (busy, spread) = (random.between(0.05, 0.8), random.between(0.0, 0.3));
    job.busy = busy;
    let mut time = job.first(random);
    for _ in 0..count {
        let size = random.factor(spread);
        let (length, volume) = (job.length() * size.min(1.1), job.volume() * size);
        job.read(0, time, length, volume);
        job.mark(time, time + length);
        time += job.distance(random, 1.02 * length);
    }
    job.next = Some(time);
    job.regular(random)
}

fn micro_batches(random: &mut Random) -> Made {
    let (count, parts) = (phases(random, 10).min(500), random.whole(2, 12));
    let mut job = Job::even(random, count, 0.05);
    let (span, busy) = (random.between(0.2, 0.65), random.between(0.2, 0.7));
    job.busy = span;
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let distance = span * job.period / parts as f64;
    for &start in &starts {
        let bytes = job.volume() / parts as f64;
        let end = batches(&mut job, random, start, parts, distance, busy, bytes);
        job.mark(start, end.min(start + 0.95 * job.period));
    }
    job.next = Some(next);
    let made = job.regular(random);
    if parts > 3 { made.also(&[distance]) } else { made }
}

fn shards(random: &mut Random) -> Made {
    let count = phases(random, 6).min(60);
    let mut job = Job::even(random, count, 0.05);
    job.ranks = random.pick(&[4, 8, 32, 128]);
    job.busy = random.between(0.02, 0.3);
    let (uneven, wait) = (random.between(0.0, 0.4), random.between(0.05, 0.5));
    let sizes: Vec<f64> = (0..job.ranks).map(|_| random.factor(uneven).min(3.0)).collect();
    let share = job.volume() / f64::from(job.ranks);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let mut end = start;
        for (rank, size) in sizes.iter().enumerate() {
            let late = if rank == 0 { 0.0 } else { 0.1 * job.length() * random.unit() };
            let length = 0.4 * job.length() * size * random.between(0.9, 1.1);
            job.write(rank as u32, start + late, length, share * size);
            end = f64::max(end, start + late + length);
        }
        let list = end + wait * job.length();
        job.write(0, list, 0.01 * job.length(), 0.001 * share);
        job.mark(start, list + 0.01 * job.length());
    }
    job.next = Some(next);
    job.regular(random)
}

fn snapshot(random: &mut Random) -> Made {
    let count = phases(random, 7);
    let mut job = Job::even(random, count, 0.05);
    job.busy = random.between(0.01, 0.08);
    let (wait, length) = (random.between(0.0, 0.3), random.between(0.2, 0.6));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let last = job.ranks;
    job.ranks += 1;
    for start in starts {
        let end = job.usual(random, start) + wait * job.period;
        let volume = job.volume();
        job.write(last, end, length * job.period * random.between(0.9, 1.0), volume);
    }
    job.next = Some(next);
    job.regular(random)
}

fn longer(random: &mut Random) -> Made {
    let stages = random.whole(2, 4);
    let mut job = Job::even(random, 100, 0.06);
    (job.period, job.clocked) = (random.log_between(0.05, 30.0), false);
    job.busy = job.busy.min(0.4);
    let bytes = job.volume();
    let (mut time, mut periods, mut changes) = (0.0, Vec::new(), Vec::new());
    for _ in 0..stages {
        let (from, count) = (time, random.whole(15, 80));
        for _ in 0..count {
            let length = job.length();
            job.read(0, time, length, bytes);
            job.mark(time, time + length);
            time += job.distance(random, 1.1 * length);
        }
        periods.push((time - from) / count as f64);
        changes.push(from);
        time += job.period * random.between(0.0, 5.0);
        job.period *= random.between(1.4, 2.5);
    }
    job.made(random, Truth { periods, changes, ..Truth::default() })
}

fn rollouts(random: &mut Random) -> Made {
    let count = phases(random, 12);
    let mut job = Job::even(random, count, 0.02);
    job.busy = job.busy.min(0.15);
    let (games, spread) = (random.whole(4, 30), random.between(0.2, 0.8));
    let mut time = job.first(random);
    for _ in 0..count {
        job.usual(random, time);
        // All games of a round are played one after the other, or the longest of them counts.
        let played: f64 = (0..games).map(|_| random.factor(spread)).sum();
        time += job.length() + (job.period - job.length()) * (played / games as f64).max(0.05);
    }
    job.next = Some(time);
    job.regular(random)
}

fn clients(random: &mut Random) -> Made {
    let (count, number) = (random.whole(7, 40), random.whole(5, 40));
    let mut job = Job::even(random, count, 0.05);
    job.ranks = number as u32 + 1;
    job.busy = random.between(0.02, 0.1);
    let (size, until) = (random.between(0.01, 0.5) / number as f64, random.between(0.4, 0.9));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let (length, volume) = (job.length(), job.volume());
        job.write(0, start, length, volume);
        job.mark(start, start + length);
        for client in 1..=number {
            let at = start + length + until * (job.period - length) * random.unit();
            let own = length * random.between(0.02, 0.2);
            job.write(client as u32, at, own, size * volume);
        }
    }
    job.next = Some(next);
    job.regular(random)
}

fn stalls(random: &mut Random) -> Made {
    let count = random.whole(40, 600);
    let mut job = Job::even(random, count, 0.08);
    job.period = random.log_between(0.05, 30.0);
    (job.busy, job.clocked) = (job.busy.min(0.4), false);
    let (rare, longer) = (random.between(0.01, 0.06), random.log_between(1.0, 20.0));
    let mut time = job.first(random);
    for _ in 0..count {
        let slow = if random.chance(rare) { longer * job.period * random.between(0.3, 1.5) } else { 0.0 };
        let length = job.length();
        let bytes = job.volume();
        job.read(0, time, length + slow, bytes);
        job.mark(time, time + length + slow);
        time += job.distance(random, 1.1 * length) + slow;
    }
    job.next = Some(time);
    let (period, mean) = (job.undisturbed(), job.mean_truth().period);
    let made = job.based(random, period);
    made.also(mean.as_slice())
}

fn unlike(random: &mut Random) -> Made {
    let count = phases(random, 10).min(200);
    let mut job = Job::even(random, count, 0.02);
    (job.busy, job.clocked) = (job.busy.min(0.2), false);
    let (spread, steps) = (random.between(0.05, 0.3), random.whole(10, 40));
    let little = random.log_between(0.001, 0.05);
    let mut time = job.first(random);
    for _ in 0..count {
        let length = (job.period - job.length()) * random.gamma(1.0 / (spread * spread)).max(0.1);
        let distance = job.period / steps as f64;
        for i in 0..(length / distance) as usize {
            let bytes = little * job.volume() / steps as f64;
            job.read(0, time + i as f64 * distance, 0.3 * distance, bytes);
        }
        time = job.usual(random, time + length);
    }
    job.regular(random)
}
