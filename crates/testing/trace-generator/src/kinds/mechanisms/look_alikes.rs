//! What looks like a rhythm for a while and is none.

use super::job::{Job, memory};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new(
        "gaps_grow_evenly",
        "no period: the second gap is twice the first, the third three times",
        evenly,
    ),
    Kind::new("four_unlike_distances", "no period: four to six outputs, distances unlike each other", unlike),
    Kind::new("sessions_and_breaks", "no period: short gaps within sessions, long ones between", sessions),
    Kind::new("one_of_many_intervals", "no period: each time one of several intervals", intervals),
    Kind::new("single_pass", "no period: one pass over unequal pieces of work", single_pass),
    Kind::new("bursts_at_the_edges", "no period: much at the begin, much at the end, little between", edges),
    Kind::new("halving_search", "no period: each probe reads half as much and takes half as long", halving),
    Kind::new(
        "steps_that_slow_down",
        "no period: steps of a growing problem, each longer by a third",
        slow_down,
    ),
    Kind::new(
        "late_ranks_at_random",
        "no period: equal outputs at random, torn apart as ranks are late",
        late_ranks,
    ),
    Kind::new(
        "equal_files_of_users",
        "no period: files of one size whenever somebody saves one",
        equal_files,
    ),
    Kind::new("blocks_of_any_speed", "no period: blocks back to back, each at another speed", blocks),
    Kind::new("blocks_that_remember", "no period: blocks back to back, the speed wanders", wandering_blocks),
    Kind::new("tasks_of_a_queue", "no period: equal tasks as they come, for two to six workers", queue),
];

fn job(random: &mut Random, count: usize) -> Job {
    let mut job = Job::any(random, count);
    job.busy = random.log_between(0.02, 0.3);
    job
}

fn evenly(random: &mut Random) -> Made {
    let count = random.whole(5, 25);
    let (mut job, shake) = (job(random, count), random.between(0.0, 0.1));
    let mut time = 0.0;
    for i in 1..=count {
        job.usual(random, time);
        time += job.period * i as f64 * (1.0 + shake * random.normal()).max(0.5);
    }
    job.none(random)
}

fn unlike(random: &mut Random) -> Made {
    let count = random.whole(3, 5);
    let mut job = job(random, count);
    // No two of the distances are within a third of each other, nor one a multiple of another.
    let mut gaps: Vec<f64> =
        (0..count).map(|i| job.period * 1.43f64.powi(i as i32) * random.between(0.95, 1.05)).collect();
    for i in (1..count).rev() {
        gaps.swap(i, random.below(i + 1));
    }
    let spread = random.between(0.0, 0.5);
    let mut time = 0.0;
    for gap in gaps.into_iter().chain([0.0]) {
        let size = random.factor(spread);
        let (length, volume) = (job.length(), job.volume() * size);
        job.output(random, time, length, volume);
        time += gap;
    }
    job.none(random)
}

fn sessions(random: &mut Random) -> Made {
    let count = random.whole(20, 120);
    let mut job = job(random, count);
    let (often, short) = (random.between(0.08, 0.3), random.between(0.05, 0.2));
    let mut time = 0.0;
    for _ in 0..count {
        let length = 0.3 * short * job.period * random.factor(0.5).min(2.0);
        let volume = job.rate * length * random.factor(0.5);
        job.output(random, time, length, volume);
        let mean = if random.chance(often) { 3.0 } else { short };
        time += length + job.period * random.exponential(mean);
    }
    job.none(random)
}

fn intervals(random: &mut Random) -> Made {
    let count = random.whole(12, 60);
    let mut job = job(random, count);
    let factors = [0.5, 0.73, 1.0, 1.61, 2.37, 3.29];
    let mut time = 0.0;
    for _ in 0..count {
        job.usual(random, time);
        time += job.length() + job.period * random.pick(&factors) * random.between(0.97, 1.03);
    }
    job.at_random(random)
}

fn single_pass(random: &mut Random) -> Made {
    let count = random.whole(15, 200);
    let (mut job, spread) = (job(random, count), random.between(0.8, 1.5));
    let mut time = 0.0;
    for _ in 0..count {
        let size = random.factor(spread);
        let length = 0.1 * job.period * size;
        job.read(0, time, length, job.rate * length);
        time += length + job.period * size * random.factor(0.3);
    }
    let length = job.period * random.between(0.1, 2.0);
    job.write(0, time, length, job.rate * length);
    job.none(random)
}

fn edges(random: &mut Random) -> Made {
    let mut job = job(random, 50);
    let whole = job.period * random.between(10.0, 100.0);
    for (at, count) in [(0.0, random.whole(3, 20)), (whole, random.whole(3, 20))] {
        let mut time: f64 = at;
        for _ in 0..count {
            let length = job.period * 0.2 * random.factor(0.6);
            let volume = job.rate * length * random.factor(0.6);
            job.output(random, time, length, volume);
            time += length + job.period * random.exponential(0.1);
        }
    }
    for _ in 0..random.below(4) {
        let (at, length) = (whole * random.between(0.1, 0.9), 0.02 * job.period);
        job.write(0, at, length, 1e-3 * job.rate * length);
    }
    job.none(random)
}

fn halving(random: &mut Random) -> Made {
    let count = random.whole(6, 14);
    let mut job = job(random, count);
    let (mut time, mut size, order) = (0.0, 1.0, random.chance(0.5));
    let shrink = random.between(0.45, 0.7);
    for i in 0..count {
        let size_now = if order { size } else { shrink.powi((count - i) as i32) };
        let length = 0.3 * job.period * size_now;
        job.read(0, time, length, job.rate * length);
        time += job.period * size_now * random.between(0.95, 1.05);
        size *= shrink;
    }
    job.none(random)
}

fn slow_down(random: &mut Random) -> Made {
    let count = random.whole(6, 16);
    let (mut job, factor) = (job(random, count), random.between(1.25, 1.5));
    let (mut time, mut gap) = (0.0, job.period);
    for _ in 0..count {
        let (length, volume) = (0.2 * gap, job.rate * 0.2 * gap);
        job.output(random, time, length, volume);
        time += gap * random.factor(0.05);
        gap *= factor;
    }
    job.none(random)
}

fn late_ranks(random: &mut Random) -> Made {
    let count = random.whole(10, 40);
    let mut job = job(random, count);
    let (ranks, late) = (random.whole(4, 16) as u32, random.between(1.0, 4.0));
    (job.ranks, job.busy) = (ranks, random.between(0.01, 0.04));
    let (length, mut time) = (job.length(), 0.0);
    for _ in 0..count {
        let mut last: f64 = 0.0;
        for rank in 0..ranks {
            let delay = late * length * random.exponential(1.0);
            job.write(rank, time + delay, length, job.volume() / f64::from(ranks));
            last = last.max(delay);
        }
        time += last + length + job.period * random.exponential(1.0);
    }
    job.none(random)
}

fn equal_files(random: &mut Random) -> Made {
    let count = random.whole(10, 80);
    let (mut job, spread) = (job(random, count), random.between(0.7, 1.6));
    let (pieces, volume) = (random.whole(1, 12), job.volume());
    let mut time = 0.0;
    for _ in 0..count {
        let length = 0.1 * job.length() * random.factor(0.3);
        job.mark(time, time + length);
        for piece in 0..pieces {
            let each = length / pieces as f64;
            job.write(0, time + piece as f64 * each, 0.6 * each, volume / pieces as f64);
        }
        time += length + job.period * random.factor(spread);
    }
    job.at_random(random)
}

/// Blocks of one length back to back, with these speeds.
fn back_to_back(random: &mut Random, speeds: &[f64]) -> Made {
    let mut job = job(random, speeds.len());
    let step = random.pick(&[0.1, 0.5, 1.0, 2.0]);
    for (i, speed) in speeds.iter().enumerate() {
        job.write(0, i as f64 * step, step, job.rate * step * speed);
    }
    job.none(random)
}

fn blocks(random: &mut Random) -> Made {
    let (count, form) = (random.whole(150, 4000), random.below(3));
    let speed = |random: &mut Random| match form {
        0 => random.unit(),
        1 => random.normal().abs(),
        _ => random.exponential(1.0),
    };
    let speeds: Vec<f64> = (0..count).map(|_| speed(random)).collect();
    back_to_back(random, &speeds)
}

fn wandering_blocks(random: &mut Random) -> Made {
    let (count, over) = (random.whole(150, 3000), random.log_between(2.0, 30.0));
    let spread = random.between(0.3, 1.0);
    let speeds: Vec<f64> =
        memory(random, count, over).into_iter().map(|value| (spread * value).exp()).collect();
    back_to_back(random, &speeds)
}

fn queue(random: &mut Random) -> Made {
    let (count, workers) = (random.whole(20, 150), random.whole(2, 6));
    let mut job = job(random, count);
    let (length, volume) = (job.length(), job.volume());
    let work = job.period * random.between(0.5, 3.0);
    let mut free = vec![0.0; workers];
    let mut time = 0.0;
    for _ in 0..count {
        time += job.period * random.exponential(1.0);
        let (worker, begin) = (0..workers)
            .map(|i| (i, f64::max(free[i], time)))
            .fold((0, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a });
        free[worker] = begin + work;
        job.write(worker as u32, begin + work - length, length, volume);
    }
    job.ranks = job.ranks.max(workers as u32);
    job.none(random)
}
