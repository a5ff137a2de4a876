//! What caches, queues and servers make of the outputs of a program.

use super::job::{Job, memory, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("flushed_every_n_seconds", "small writes at random, flushed every 5 or 30 s", flushed),
    Kind::new("flushed_after_expiry", "outputs that the kernel writes 30 s later, at its next tick", expiry),
    Kind::new(
        "drained_at_a_mark",
        "a buffer drained when it is filled to a mark: every few outputs",
        drained,
    ),
    Kind::new(
        "slow_server_now_and_then",
        "one phase in ten takes many times as long; all that follows is late",
        slow,
    ),
    Kind::new("slices_of_a_quota", "a bandwidth limit that hands out a tenth of a second at once", slices),
    Kind::new("contention_by_hours", "phases stretch and shrink as the load of others wanders", contention),
    Kind::new("data_on_tape", "reads that wait for a mount, each time for another time", tape),
    Kind::new("retried_outputs", "an output fails half-way and is written again from its start", retried),
    Kind::new("ranks_that_vanish", "ranks die or are not traced from some time on", vanish),
    Kind::new("clocks_of_nodes", "nodes whose clocks differ by up to a fifth of the period", clocks),
    Kind::new("closed_late", "data that was buffered comes at the close, half a period later", closed_late),
    Kind::new("one_byte_far_away", "a log line long before or after all phases", far_away),
];

fn flushed(random: &mut Random) -> Made {
    let interval = random.pick(&[1.0, 5.0, 5.0, 30.0, 30.0, 60.0]);
    let count = phases(random, 12).min(300);
    let mut job = Job::even(random, count, 0.004);
    (job.period, job.clocked) = (interval, true);
    job.busy = random.between(0.02, 0.3);
    let spread = random.between(0.2, 1.0);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        // Whatever was written since the last one.
        let size = random.factor(spread);
        let (length, volume) = (job.length() * size.clamp(0.05, 2.0), job.volume() * size);
        job.phase(random, start, length, volume);
    }
    job.next = Some(next);
    job.regular(random)
}

fn expiry(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    let mut job = Job::even(random, count, 0.03);
    job.period = random.log_between(40.0, 900.0);
    job.busy = random.between(0.02, 0.15);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    // A thread of the kernel looks every 5 s for pages older than 30 s.
    let ticks = 5.0 * random.unit();
    let tick = |time: f64| ((time + 30.0 - ticks) / 5.0).ceil() * 5.0 + ticks;
    for start in starts {
        job.usual(random, tick(start));
    }
    job.next = Some(tick(next));
    job.regular(random)
}

fn drained(random: &mut Random) -> Made {
    let (count, each) = (random.whole(7, 40), random.whole(2, 6));
    let mut job = Job::even(random, count, 0.03);
    job.busy = random.between(0.1, 0.6);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let wave = random.between(0.05, 0.3);
    for (i, &start) in starts.iter().enumerate() {
        // How fast it drains depends on what else the servers do.
        let length = job.length() * (1.0 + wave * (i as f64 * 0.7).sin());
        let volume = job.volume();
        let parts = (each * 4) as f64;
        job.mark(start, start + length);
        for part in 0..each * 4 {
            let at = start + length * part as f64 / parts;
            job.write(0, at, length / parts * random.between(0.7, 1.0), volume / parts);
        }
    }
    job.next = Some(next);
    job.regular(random)
}

fn slow(random: &mut Random) -> Made {
    let count = phases(random, 14).min(300);
    let mut job = Job::even(random, count, 0.04);
    (job.busy, job.clocked) = (job.busy.min(0.15), false);
    let (rare, most) = (random.between(0.03, 0.12), random.between(3.0, 12.0));
    let mut time = job.first(random);
    for _ in 0..count {
        let factor = if random.chance(rare) { random.between(2.0, most) } else { 1.0 };
        let (length, volume) = (job.length() * factor, job.volume());
        job.phase(random, time, length, volume);
        time += job.distance(random, 1.1 * job.length()) + length - job.length();
    }
    job.next = Some(time);
    let (period, mean) = (job.undisturbed(), job.mean_truth().period);
    let made = job.based(random, period);
    made.also(mean.as_slice())
}

fn slices(random: &mut Random) -> Made {
    let count = random.whole(6, 40);
    let mut job = Job::even(random, count, 0.05);
    job.period = random.log_between(5.0, 200.0);
    let slices = random.whole(5, 80);
    let slice = 0.1;
    job.busy = (slices as f64 * slice / job.period).min(0.6);
    let slices = (job.length() / slice).max(2.0) as usize;
    let share = random.between(0.05, 0.7);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let volume = job.volume() / slices as f64;
        for i in 0..slices {
            job.write(0, start + i as f64 * slice, share * slice, volume);
        }
        job.mark(start, start + slices as f64 * slice);
    }
    job.next = Some(next);
    job.regular(random)
}

fn contention(random: &mut Random) -> Made {
    let count = phases(random, 12).min(300);
    let mut job = Job::even(random, count, 0.03);
    job.busy = job.busy.clamp(0.05, 0.3);
    let (over, spread) = (random.log_between(2.0, 25.0), random.between(0.2, 0.7));
    let load = memory(random, count, over);
    let clocked = job.clocked;
    let mut time = job.first(random);
    for one in load {
        let (length, volume) = ((job.length() * (spread * one).exp()).min(0.8 * job.period), job.volume());
        job.phase(random, time, length, volume);
        // Either the next step begins on time, or all is delayed.
        let delay = if clocked { 0.0 } else { length - job.length() };
        time += (job.distance(random, 0.0) + delay).max(1.05 * length);
    }
    job.next = Some(time);
    job.regular(random)
}

fn tape(random: &mut Random) -> Made {
    let count = phases(random, 12).min(100);
    let mut job = Job::even(random, count, 0.02);
    job.busy = random.between(0.2, 0.6);
    let (mount, spread) = (job.period * (1.0 - job.busy), random.between(0.1, 0.45));
    let mut time = job.first(random);
    for _ in 0..count {
        let end = job.usual(random, time);
        time = end + mount * random.gamma(1.0 / (spread * spread)).max(0.05);
    }
    job.next = Some(time);
    job.regular(random).turned()
}

fn retried(random: &mut Random) -> Made {
    let count = phases(random, 10).min(200);
    let mut job = Job::even(random, count, 0.03);
    (job.busy, job.clocked) = (job.busy.min(0.2), random.chance(0.5));
    let fails = random.between(0.05, 0.25);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let (length, volume) = (job.length(), job.volume());
        let mut time = start;
        if random.chance(fails) {
            let share = random.between(0.2, 0.9);
            job.output(random, time, share * length, share * volume);
            time += share * length + 0.3 * length * random.unit();
        }
        let end = job.output(random, time, length, volume);
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn vanish(random: &mut Random) -> Made {
    let count = random.whole(10, 60);
    let mut job = Job::even(random, count, 0.05);
    job.ranks = random.pick(&[4, 8, 32]);
    job.busy = job.busy.clamp(0.02, 0.4);
    let share = job.volume() / f64::from(job.ranks);
    let until: Vec<f64> = (0..job.ranks)
        .map(|rank| if rank == 0 || random.chance(0.4) { 2.0 } else { random.between(0.1, 1.2) })
        .collect();
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, &start) in starts.iter().enumerate() {
        let done = i as f64 / count as f64;
        for (rank, _) in until.iter().enumerate().filter(|(_, until)| **until > done) {
            let length = job.length() * random.between(0.8, 1.0);
            job.write(rank as u32, start, length, share);
        }
        let end = start + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn clocks(random: &mut Random) -> Made {
    let count = random.whole(8, 50);
    let mut job = Job::even(random, count, 0.04);
    job.ranks = random.pick(&[2, 4, 16, 64]);
    job.busy = random.between(0.02, 0.25);
    let (most, drift) = (job.period * random.between(0.02, 0.2), random.between(0.0, 0.3));
    let clocks: Vec<(f64, f64)> =
        (0..job.ranks).map(|rank| (if rank == 0 { 0.0 } else { random.unit() }, random.unit())).collect();
    let share = job.volume() / f64::from(job.ranks);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, &start) in starts.iter().enumerate() {
        let mut last = 0.0f64;
        for (rank, (offset, pace)) in clocks.iter().enumerate() {
            let pace = if rank == 0 { 0.0 } else { *pace };
            let by = most * (offset + drift * pace * i as f64 / count as f64);
            let (at, length) = (start + by, job.length());
            job.write(rank as u32, at, length, share);
            last = last.max(by);
        }
        let end = start + last + job.length();
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn closed_late(random: &mut Random) -> Made {
    let count = phases(random, 8).min(150);
    let mut job = Job::even(random, count, 0.04);
    job.busy = job.busy.min(0.15);
    let (late, share) = (random.between(0.55, 0.85), random.between(0.05, 0.4));
    // One file in a few is small enough to stay in the buffer until it is closed.
    let often = random.between(0.2, 1.0);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        job.usual(random, start);
        if random.chance(often) {
            let (length, volume) = (job.length() * share, job.volume() * share);
            let at = start + late * job.period * random.between(0.98, 1.02);
            job.output(random, at, length, volume);
        }
    }
    job.next = Some(next);
    job.regular(random)
}

fn far_away(random: &mut Random) -> Made {
    let count = phases(random, 6);
    let mut job = Job::even(random, count, 0.08);
    job.play(random, count);
    for _ in 0..random.whole(1, 3) {
        let far = job.period * random.log_between(30.0, 20_000.0);
        let bytes = random.log_between(1.0, 1e5);
        let at = if random.chance(0.5) { job.end() + far } else { job.starts[0] - far };
        let length = 0.01 * job.period;
        job.write(0, at, length, bytes);
    }
    job.next = None;
    job.regular(random)
}
