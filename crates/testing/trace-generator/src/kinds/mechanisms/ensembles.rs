//! Many runs of the same program in one trace: members, pools, arrays, coupled models.

use super::job::{Job, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("members_in_step", "members that write at the same time, each a little late", in_step),
    Kind::new("members_by_thirds", "members about a third or a quarter of the period apart", by_thirds),
    Kind::new("members_that_come_and_go", "members of one period that begin and end one by one", come_and_go),
    Kind::new("waves_of_a_pool", "equal tasks on the workers of a pool: wave after wave", waves),
    Kind::new("array_with_a_limit", "jobs of an array, a few at a time, all of one length", array),
    Kind::new(
        "ensemble_then_analysis",
        "all members write in turn, then one reads it all, at a fixed cycle",
        analysis,
    ),
    Kind::new("coupled_models", "a fast and a slow model write at intervals of 1 to k", coupled).within(0.04),
    Kind::new("members_of_unlike_size", "members of one period, sizes over decades", unlike_size),
    Kind::new("replicas_exchange", "replicas meet at every exchange, which the slowest begins", exchange),
    Kind::new("sweep_of_parameters", "runs one after another; each has an interval of its own", sweep)
        .within(0.04),
    Kind::new("last_member_late", "one member is slower than the others and falls behind", last_late),
];

/// One request of a member that begins at `at`, in a few pieces.
fn piece(job: &mut Job, rank: u32, at: f64, bytes: f64) {
    let length = job.length();
    job.write(rank, at, 0.55 * length, 0.6 * bytes);
    job.write(rank, at + 0.55 * length, 0.45 * length, 0.4 * bytes);
}

/// Members that write in every phase at these offsets, in periods, with these shares of the volume.
fn members(job: &mut Job, random: &mut Random, count: usize, offsets: &[f64], shares: &[f64], shake: f64) {
    job.ranks = offsets.len() as u32;
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let mut last = start;
        for (rank, (offset, share)) in offsets.iter().zip(shares).enumerate() {
            let late = if rank == 0 { 0.0 } else { shake * random.normal() };
            let at = start + (offset + late).max(0.0) * job.period;
            let bytes = share * job.volume();
            piece(job, rank as u32, at, bytes);
            last = f64::max(last, at);
        }
        let end = last + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
}

fn in_step(random: &mut Random) -> Made {
    let (count, number) = (phases(random, 7).min(100), random.whole(2, 60));
    let mut job = Job::even(random, count * number, 0.05);
    job.busy = job.busy.min(0.3);
    let late = random.between(0.0, 0.15);
    let offsets: Vec<f64> = (0..number).map(|i| if i == 0 { 0.0 } else { late * random.unit() }).collect();
    let shares = vec![1.0 / number as f64; number];
    members(&mut job, random, count, &offsets, &shares, 0.01);
    job.regular(random)
}

fn by_thirds(random: &mut Random) -> Made {
    let (count, number) = (phases(random, 9).min(150), random.whole(2, 5));
    let mut job = Job::even(random, count * number, 0.02);
    job.busy = job.busy.min(0.4 / number as f64);
    // Never exactly: then a third of the period would be right as well.
    let off = random.between(0.12, 0.3) / number as f64;
    let apart = |i: usize| i as f64 / number as f64;
    let offsets: Vec<f64> =
        (0..number)
            .map(|i| {
                if i == 0 {
                    0.0
                } else {
                    apart(i) + off * random.pick(&[-1.0, 1.0]) * random.between(0.7, 1.0)
                }
            })
            .collect();
    let spread = random.between(0.1, 0.8);
    let shares: Vec<f64> = (0..number).map(|_| random.factor(spread) / number as f64).collect();
    members(&mut job, random, count, &offsets, &shares, 0.005);
    job.regular(random)
}

fn come_and_go(random: &mut Random) -> Made {
    let (count, number) = (random.whole(15, 60), random.whole(3, 8));
    let mut job = Job::even(random, count * number, 0.02);
    (job.ranks, job.busy, job.clocked) = (number as u32, job.busy.min(0.05), true);
    let spans: Vec<(usize, usize)> = (0..number)
        .map(|i| if i == 0 { (0, count) } else { (random.below(count / 2), random.whole(count / 2, count)) })
        .collect();
    // All within a part of the period, at places of their own.
    let offsets: Vec<f64> =
        (0..number).map(|i| if i == 0 { 0.0 } else { random.between(0.07, 0.6) }).collect();
    let share = job.volume() / number as f64;
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, &start) in starts.iter().enumerate() {
        let mut last = start;
        for (rank, (offset, span)) in offsets.iter().zip(&spans).enumerate() {
            if (span.0..span.1).contains(&i) {
                let at = start + offset * job.period;
                piece(&mut job, rank as u32, at, share);
                last = f64::max(last, at);
            }
        }
        let end = last + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn waves(random: &mut Random) -> Made {
    let (count, number) = (random.whole(5, 20), random.whole(4, 48));
    let mut job = Job::even(random, count * number, 0.03);
    (job.ranks, job.busy) = (number as u32, random.between(0.02, 0.15));
    // Workers fall out of step, but stay together over these few waves.
    let spread = random.between(0.002, 0.02);
    let mut free: Vec<f64> = (0..number).map(|_| 0.03 * job.period * random.unit()).collect();
    let share = job.volume() / number as f64;
    for _ in 0..count {
        let (mut start, mut end) = (f64::INFINITY, 0.0f64);
        for (rank, free) in free.iter_mut().enumerate() {
            let done = *free + job.period * (1.0 + spread * random.normal());
            start = start.min(done);
            end = end.max(done + job.length());
            piece(&mut job, rank as u32, done, share);
            *free = done;
        }
        job.mark(start, end);
    }
    job.regular(random)
}

fn array(random: &mut Random) -> Made {
    let (count, number) = (random.whole(8, 40), random.whole(1, 4));
    let mut job = Job::even(random, count * number, 0.04);
    (job.ranks, job.busy, job.clocked) = (number as u32, job.busy.min(0.2), false);
    // Every job reads its input, computes, and writes; the scheduler looks for the next one now and then.
    let (input, look) = (random.between(0.1, 1.0), job.period * random.between(0.0, 0.1));
    let mut time = job.first(random);
    for _ in 0..count {
        let (length, share) = (job.length(), job.volume() / number as f64);
        let mut last = time;
        for rank in 0..number {
            let from = time + 0.02 * job.period * rank as f64 / number as f64;
            job.read(rank as u32, from, 0.5 * length, input * share);
            let done = from + job.distance(random, 2.0 * length) - length;
            piece(&mut job, rank as u32, done, share);
            last = f64::max(last, done + length);
        }
        job.mark(time, last);
        time = last + look * random.unit();
    }
    job.next = Some(time);
    job.regular(random)
}

fn analysis(random: &mut Random) -> Made {
    let (count, number) = (random.whole(6, 30), random.whole(5, 40));
    let mut job = Job::even(random, count * number, 0.02);
    (job.ranks, job.busy, job.clocked) = (number as u32 + 1, random.between(0.1, 0.3), true);
    let (wait, shake) = (random.between(0.05, 0.25), random.between(0.0, 0.03));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let (each, bytes) = (job.length() / number as f64, job.volume() / number as f64);
    for &start in &starts {
        for member in 0..number {
            let at =
                start + each * (member as f64 + if member == 0 { 0.0 } else { random.between(0.0, 0.3) });
            job.write(member as u32, at, 0.7 * each, bytes);
        }
        let then = start + job.length() + job.period * (wait + shake * random.unit());
        let (length, volume) = (job.length(), job.volume());
        job.read(number as u32, then, 0.5 * length, volume);
        let end = then + 0.7 * length;
        job.write(number as u32, end, 0.2 * length, 0.2 * volume);
        job.mark(start, end + 0.2 * length);
    }
    job.next = Some(next);
    job.regular(random)
}

fn coupled(random: &mut Random) -> Made {
    let (count, each) = (random.whole(7, 18), random.whole(3, 9));
    let mut job = Job::even(random, count * each, 0.015);
    (job.ranks, job.clocked, job.busy) = (2, true, random.between(0.03, 0.12));
    let share = random.between(0.3, 2.0);
    // The slow model's output does not begin at the same moment.
    let after = random.between(0.25, 0.7);
    let (fast, slow) = (job.period, job.period * each as f64);
    let (starts, next) = job.rhythm(random, 0.1 * fast, count * each);
    for (i, &start) in starts.iter().enumerate() {
        let volume = job.volume();
        piece(&mut job, 0, start, volume / share / each as f64);
        if i % each == 0 {
            let length = 1.5 * job.length();
            let at = start + after * fast;
            job.write(1, at, length, 1.5 * volume);
            job.mark(at, at + length);
        }
    }
    job.next = Some(next + after * fast);
    if share >= 0.7 {
        return job.both(random, slow, fast);
    }
    let mut made = job.both(random, fast, slow);
    (made.truth.starts, made.truth.ends, made.truth.next) = (Vec::new(), Vec::new(), None);
    made
}

fn unlike_size(random: &mut Random) -> Made {
    let (count, number) = (phases(random, 8).min(80), random.whole(3, 12));
    let mut job = Job::even(random, count * number, 0.03);
    job.busy = job.busy.min(0.1);
    let mut offsets: Vec<f64> = (0..number).map(|_| random.between(0.05, 0.8)).collect();
    let spread = random.between(1.0, 2.2);
    let mut shares: Vec<f64> = (0..number).map(|_| (spread * random.normal()).exp().min(3.0)).collect();
    // A phase begins with the largest.
    (offsets[0], shares[0]) = (0.0, 6.0);
    members(&mut job, random, count, &offsets, &shares, 0.01);
    job.regular(random)
}

fn exchange(random: &mut Random) -> Made {
    let (count, number) = (phases(random, 12).min(100), random.whole(3, 30));
    let mut job = Job::even(random, count * number, 0.02);
    (job.ranks, job.busy) = (number as u32, job.busy.min(0.15));
    let spread = random.between(0.02, 0.2);
    let share = job.volume() / number as f64;
    let mut time = job.first(random);
    for _ in 0..count {
        for rank in 0..number {
            let at = if rank == 0 { time } else { time + 0.3 * job.length() * random.unit() };
            piece(&mut job, rank as u32, at, share);
        }
        let end = time + 1.3 * job.length();
        job.mark(time, end);
        let slowest = (0..number).map(|_| random.factor(spread)).fold(0.0, f64::max);
        time += (job.period * slowest).max(1.5 * job.length());
    }
    job.next = Some(time);
    job.regular(random)
}

fn sweep(random: &mut Random) -> Made {
    let runs = random.whole(2, 3);
    let mut job = Job::even(random, 40, 0.02);
    (job.busy, job.clocked) = (job.busy.min(0.1), false);
    let (mut time, mut periods, mut changes) = (0.0, Vec::new(), Vec::new());
    let (length, volume) = (job.length(), job.volume());
    for _ in 0..runs {
        let count = random.whole(8, 25);
        job.read(0, time, length, 0.5 * volume);
        time += job.period * random.between(0.3, 1.5);
        let from = time;
        for _ in 0..count {
            job.phase(random, time, length, volume);
            time += job.distance(random, 1.2 * length);
        }
        periods.push((time - from) / count as f64);
        changes.push(from);
        time += job.period * random.between(0.0, 8.0);
        job.period *= random.between(1.3, 2.0);
    }
    job.made(random, crate::generated::Truth { periods, changes, ..Default::default() })
}

fn last_late(random: &mut Random) -> Made {
    let (count, number) = (random.whole(10, 40), random.whole(3, 12));
    let mut job = Job::even(random, count * number, 0.015);
    (job.ranks, job.busy, job.clocked) = (number as u32, job.busy.min(0.08), true);
    // The slow one falls behind by up to half a period in all.
    let behind = random.between(0.1, 0.5) / count as f64;
    let share = job.volume() / number as f64;
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, &start) in starts.iter().enumerate() {
        for rank in 0..number {
            let late = if rank + 1 == number { behind * i as f64 } else { 0.0 };
            let at = start + job.period * (late + if rank == 0 { 0.0 } else { 0.02 * random.unit() });
            piece(&mut job, rank as u32, at, share);
        }
        let end = start + behind * i as f64 * job.period + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}
