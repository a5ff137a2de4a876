//! Programs and users without a rhythm.

use super::job::{Job, memory};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("gaps_that_grow", "no period: each distance longer than the one before", gaps_grow),
    Kind::new("at_powers_of_two", "no period: outputs after 1, 2, 4, 8, … steps", powers),
    Kind::new("aftershocks", "no period: many requests at first, rarer and rarer", aftershocks),
    Kind::new("commands_of_a_user", "no period: sessions of a few commands, thinking in between", user),
    Kind::new("parallel_make", "no period: files as they are done by several workers, then linking", make),
    Kind::new("one_burst_of_many", "no period: one burst of many unequal requests", one_burst),
    Kind::new("two_bursts_apart", "no period: two bursts of unequal requests", two_bursts),
    Kind::new("at_convergence", "no period: outputs when a solver converges", convergence),
    Kind::new("events_cause_events", "no period: every burst may cause others soon after", hawkes),
    Kind::new("tree_walk", "no period: files of sizes over decades, one after another", tree_walk),
    Kind::new("steady_copy", "no period: a copy in chunks whose speed wanders", steady_copy),
    Kind::new("chance_groups", "no period: three or four groups of requests, unequal and anywhere", groups),
    Kind::new("independent_tasks", "no period: tasks of many lengths on a few workers", tasks),
    Kind::new(
        "random_reads_of_queries",
        "no period: queries that come at random and read at random",
        queries,
    ),
];

/// A job with nothing but ranks, a scale of time and a bandwidth.
fn job(random: &mut Random) -> Job {
    Job::any(random, 100)
}

fn gaps_grow(random: &mut Random) -> Made {
    let mut job = job(random);
    let (count, factor) = (random.whole(5, 14), random.between(1.25, 2.2));
    job.busy = random.between(0.05, 0.4);
    let (mut time, mut gap) = (0.0, job.period);
    let order = random.chance(0.7);
    let mut gaps: Vec<f64> = (0..count)
        .map(|_| {
            gap *= factor;
            gap * random.factor(0.1)
        })
        .collect();
    if !order {
        gaps.reverse();
    }
    for gap in gaps {
        let size = random.factor(0.2);
        let (length, volume) = (job.length() * size, job.volume() * size);
        job.output(random, time, length, volume);
        time += gap;
    }
    job.none(random)
}

fn powers(random: &mut Random) -> Made {
    let mut job = job(random);
    let count = random.whole(5, 12);
    let (step, busy) = (job.period, random.between(0.05, 0.5));
    for i in 0..count {
        let at = step * f64::from(1u32 << i) * random.between(0.99, 1.01);
        let volume = job.rate * busy * step;
        job.output(random, at, busy * step, volume);
    }
    job.none(random)
}

fn aftershocks(random: &mut Random) -> Made {
    let mut job = job(random);
    let (count, power) = (random.whole(15, 120), random.between(1.3, 3.0));
    let mut time = 0.0;
    for i in 0..count {
        let length = 0.2 * job.period * random.factor(0.5);
        let volume = job.rate * length * random.factor(0.6);
        job.output(random, time, length, volume);
        time += length + job.period * ((i + 1) as f64).powf(power - 1.0) * random.exponential(0.3);
    }
    job.none(random)
}

fn user(random: &mut Random) -> Made {
    let mut job = job(random);
    (job.ranks, job.writers) = (1, 1);
    let mut time = 0.0;
    for _ in 0..random.whole(3, 15) {
        for _ in 0..random.whole(2, 15) {
            let length = job.period * random.log_between(0.001, 0.3);
            let bytes = job.rate * length * random.factor(1.0);
            if random.chance(0.6) {
                job.read(0, time, length, bytes);
            } else {
                job.write(0, time, length, bytes);
            }
            time += length + job.period * random.factor(1.2);
        }
        time += job.period * random.log_between(3.0, 100.0);
    }
    job.none(random)
}

fn make(random: &mut Random) -> Made {
    let mut job = job(random);
    job.ranks = random.whole(2, 16) as u32;
    let (files, spread) = (random.whole(20, 100), random.between(0.7, 1.4));
    let mut last = 0.0f64;
    for rank in 0..job.ranks {
        let mut time = 0.0;
        for _ in 0..files / job.ranks as usize + 1 {
            let source = job.period * 0.02 * random.factor(0.7);
            job.read(rank, time, source, 0.1 * job.rate * source);
            time += source + job.period * random.factor(spread);
            let object = job.period * 0.01 * random.factor(0.7);
            job.write(rank, time, object, job.rate * object);
            time += object;
        }
        last = last.max(time);
    }
    let length = job.period * random.between(0.5, 5.0);
    let bytes = job.rate * length;
    job.write(0, last, length, bytes);
    job.none(random)
}

/// A burst of requests of unequal lengths.
fn burst(job: &mut Job, random: &mut Random, at: f64, length: f64) -> f64 {
    let writers = job.ranks.min(32);
    let count = random.whole(3, 60);
    for rank in 0..writers {
        let mut time = at + if rank == 0 { 0.0 } else { 0.1 * length * random.unit() };
        for _ in 0..count {
            let each = length / count as f64 * random.factor(0.8);
            let bytes = job.rate / f64::from(writers) * each * random.factor(0.5);
            job.write(rank, time, each, bytes);
            time += each;
        }
    }
    at + 1.5 * length
}

fn one_burst(random: &mut Random) -> Made {
    let mut job = job(random);
    let at = job.period * random.pick(&[0.0, 1.0, 20.0]) * random.unit();
    let length = job.period;
    burst(&mut job, random, at, length);
    job.none(random)
}

fn two_bursts(random: &mut Random) -> Made {
    let mut job = job(random);
    let at = job.period * random.between(0.0, 2.0);
    let length = job.period;
    let then = burst(&mut job, random, at, length) + length * random.log_between(0.3, 30.0);
    let second = length * random.log_between(0.3, 3.0);
    burst(&mut job, random, then, second);
    job.none(random)
}

fn convergence(random: &mut Random) -> Made {
    let mut job = job(random);
    job.busy = random.log_between(0.01, 0.2);
    let (count, shape) = (random.whole(8, 60), random.between(0.5, 2.2));
    let mut time = 0.0;
    for _ in 0..count {
        job.usual(random, time);
        time += job.length() + job.period * random.gamma(shape);
    }
    job.at_random(random)
}

fn hawkes(random: &mut Random) -> Made {
    let mut job = job(random);
    let (seeds, children) = (random.whole(6, 25), random.between(0.5, 0.9));
    let span = job.period * seeds as f64;
    let mut times: Vec<f64> = (0..seeds).map(|_| span * random.unit()).collect();
    let mut next = 0;
    while let Some(&time) = times.get(next) {
        next += 1;
        if times.len() < 400 {
            while random.chance(children / (1.0 + children)) {
                times.push(time + job.period * random.exponential(0.15));
            }
        }
    }
    for time in times {
        let length = 0.03 * job.period * random.factor(0.5);
        let volume = job.rate * length * random.factor(0.5);
        job.output(random, time, length, volume);
    }
    job.none(random)
}

fn tree_walk(random: &mut Random) -> Made {
    let mut job = job(random);
    let (count, tail) = (random.whole(100, 3000), random.between(0.8, 1.6));
    let (open, writes) = (job.period * random.log_between(0.001, 0.1), random.chance(0.5));
    let mut time = 0.0;
    for _ in 0..count {
        let length = job.period * 0.01 * random.pareto(tail).clamp(0.01, 300.0);
        let bytes = job.rate * length;
        job.read(0, time, length, bytes);
        if writes {
            job.write(0, time + length, 0.7 * length, bytes);
        }
        time += 1.8 * length + open * random.exponential(1.0);
    }
    job.none(random)
}

fn steady_copy(random: &mut Random) -> Made {
    let mut job = job(random);
    let count = random.whole(200, 3000);
    let (spread, over) = (random.between(0.1, 0.6), random.log_between(3.0, 300.0));
    let pace = memory(random, count, over);
    let bytes = job.rate * job.period * 0.01;
    let mut time = 0.0;
    for one in pace {
        let length = 0.01 * job.period * (spread * one).exp() * random.factor(0.05);
        job.read(0, time, 0.4 * length, bytes);
        job.write(0, time + 0.45 * length, 0.5 * length, bytes);
        time += length;
    }
    job.none(random)
}

fn groups(random: &mut Random) -> Made {
    let mut job = job(random);
    let whole = 40.0 * job.period;
    for _ in 0..random.whole(3, 4) {
        let at = whole * random.unit();
        let mut time = at;
        for _ in 0..random.whole(2, 12) {
            let length = job.period * 0.1 * random.factor(0.7);
            let volume = job.rate * length * random.factor(0.5);
            job.output(random, time, length, volume);
            time += length + job.period * random.exponential(0.15);
        }
    }
    job.none(random)
}

fn tasks(random: &mut Random) -> Made {
    let mut job = job(random);
    let (count, spread) = (random.whole(20, 150), random.between(0.8, 1.6));
    job.ranks = random.whole(2, 12) as u32;
    let mut free = vec![0.0f64; job.ranks as usize];
    for _ in 0..count {
        let rank = (0..free.len()).min_by(|&a, &b| free[a].total_cmp(&free[b])).unwrap_or(0);
        let length = job.period * random.factor(spread);
        let (input, output) =
            (0.05 * job.period * random.factor(0.8), 0.05 * job.period * random.factor(0.8));
        job.read(rank as u32, free[rank], input, job.rate * input);
        free[rank] += input + length;
        job.write(rank as u32, free[rank], output, job.rate * output);
        free[rank] += output;
    }
    job.none(random)
}

fn queries(random: &mut Random) -> Made {
    let mut job = job(random);
    let mut time = 0.0;
    for _ in 0..random.whole(30, 300) {
        time += job.period * random.exponential(0.3);
        let mut at = time;
        for _ in 0..random.whole(1, 12) {
            let length = job.period * 0.01 * random.exponential(1.0);
            let bytes = job.rate * length;
            job.read(0, at, length, bytes);
            at += length + job.period * random.exponential(0.02);
        }
    }
    job.none(random)
}
