//! Stages that follow each other, schedulers that wait, operators that intervene.

use super::job::{Job, jitter, phases};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("read_compute_write", "a stage reads what the one before wrote, computes and writes", stages),
    Kind::new(
        "cycle_by_the_clock",
        "every cycle begins on time, what follows takes as long as it takes",
        cycle,
    ),
    Kind::new("producer_and_consumer", "a consumer reads each file some time after it was written", producer),
    Kind::new("requeued_overnight", "two to four runs, silences longer than all the activity", overnight),
    Kind::new(
        "suspended_by_others",
        "a job that is stopped and continued: distances longer by chance",
        suspended,
    ),
    Kind::new("operator_asks_for_more", "regular outputs, some more on request", on_request),
    Kind::new("half_of_the_outputs", "every second output is switched off for a while", half_off),
    Kind::new(
        "transfer_after_each",
        "a phase is written, then read and sent away at a lower speed",
        transfer,
    ),
    Kind::new("polling_for_input", "a tiny read every few seconds, the real input now and then", polling),
    Kind::new("streamed_windows", "events are gathered and written at the end of every window", windows),
    Kind::new(
        "backlog_after_a_pause",
        "clocked batches; after a pause the missed ones follow at once",
        backlog,
    ),
    Kind::new(
        "compile_run_compile",
        "a program is built, runs a few regular steps, and is built again",
        edit_loop,
    ),
];

fn stages(random: &mut Random) -> Made {
    let (count, number) = (phases(random, 7).min(80), random.whole(2, 5));
    let mut job = Job::even(random, count * number, 0.06);
    // Parts of the cycle: unlike each other, or their distance were a period as well.
    let parts: Vec<f64> = (0..number).map(|_| random.factor(0.7)).collect();
    let whole: f64 = parts.iter().sum();
    let sizes: Vec<f64> = (0..number).map(|_| random.factor(0.7)).collect();
    let busy = random.between(0.1, 0.4);
    let mut time = job.first(random);
    for _ in 0..count {
        let start = time;
        let mut end = time;
        for (part, size) in parts.iter().zip(&sizes) {
            let span = job.period * part / whole * (1.0 + job.jitter * random.normal()).max(0.5);
            let (length, bytes) = (0.5 * busy * span, job.rate * job.period * 0.05 * size);
            job.read(0, time, length, bytes);
            end = job.output(random, time + span - 1.2 * length, length, bytes);
            time += span;
        }
        job.mark(start, end);
    }
    job.next = Some(time);
    job.regular(random)
}

fn cycle(random: &mut Random) -> Made {
    let (count, number) = (phases(random, 7).min(100), random.whole(2, 5));
    let mut job = Job::even(random, count * number, 0.02);
    job.clocked = true;
    let spread = random.between(0.1, 0.4);
    job.busy = 0.7;
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for &start in &starts {
        let (mut time, mut end) = (start, start);
        let limit = start + 0.85 * job.period;
        for stage in 0..number {
            let length = 0.12 * job.period / number as f64 * random.factor(0.2);
            if time + length > limit {
                break;
            }
            let volume = job.rate * length * if stage == 0 { 2.0 } else { 1.0 };
            end = job.output(random, time, length, volume);
            time = end + 0.5 * job.period / number as f64 * random.factor(spread);
        }
        job.mark(start, end);
    }
    job.next = Some(next);
    job.regular(random)
}

fn producer(random: &mut Random) -> Made {
    let count = phases(random, 7).min(150);
    let mut job = Job::even(random, count, 0.05);
    job.busy = job.busy.min(0.2);
    let (lag, share) = (random.between(0.25, 3.0), random.between(0.1, 0.9));
    let spread = random.between(0.0, 0.15);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let end = job.usual(random, start);
        let (length, volume) = (job.length() * random.between(0.5, 1.5), job.volume());
        let at = end + job.period * (lag + spread * random.normal()).max(0.05);
        job.read(0, at, length, share * volume);
    }
    job.next = Some(next);
    job.regular(random)
}

fn overnight(random: &mut Random) -> Made {
    let runs = random.whole(2, 4);
    let mut job = Job::even(random, 20 * runs, 0.05);
    job.busy = job.busy.min(0.3);
    let (mut time, mut within, mut links) = (0.0, 0.0, 0);
    let warm_up = random.chance(0.5);
    for _ in 0..runs {
        let count = random.whole(6, 30);
        if warm_up {
            let (length, volume) = (job.length() * random.between(0.3, 2.0), job.volume());
            job.read(0, time, length, volume);
            time += length + 0.4 * job.period;
        }
        let (starts, next) = job.rhythm(random, time, count);
        for &start in &starts {
            job.usual(random, start);
        }
        within += starts[count - 1] - starts[0];
        links += count - 1;
        job.next = Some(next);
        time = next + job.period * count as f64 * random.log_between(1.2, 60.0);
    }
    let period = within / links as f64;
    job.based(random, period)
}

fn suspended(random: &mut Random) -> Made {
    let count = phases(random, 14).min(300);
    let mut job = Job::even(random, count, 0.03);
    (job.busy, job.clocked) = (job.busy.min(0.3), false);
    let (often, long) = (random.between(0.04, 0.16), random.log_between(0.3, 8.0));
    let mut time = job.first(random);
    for _ in 0..count {
        job.usual(random, time);
        time += job.distance(random, 1.1 * job.length());
        if random.chance(often) {
            time += job.period * long * random.between(0.4, 1.6);
        }
    }
    let period = job.undisturbed();
    job.based(random, period)
}

fn on_request(random: &mut Random) -> Made {
    let count = phases(random, 14).min(200);
    let mut job = Job::even(random, count, 0.03);
    (job.busy, job.clocked) = (job.busy.min(0.12), true);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let often = random.between(0.03, 0.2);
    for start in starts {
        job.usual(random, start);
        if random.chance(often) {
            // Early or late enough not to touch a regular one.
            let at = start + job.period * random.between(0.3, 0.7);
            let (length, volume) = (job.length(), job.volume() * random.between(0.3, 1.0));
            job.output(random, at, length, volume);
        }
    }
    job.next = Some(next);
    job.regular(random)
}

fn half_off(random: &mut Random) -> Made {
    let count = random.whole(24, 80);
    let mut job = Job::even(random, count, 0.02);
    (job.busy, job.clocked) = (job.busy.min(0.3), true);
    // For less than half of the time only every second one is there.
    let from = random.whole(4, count / 2);
    let to = from + random.whole(4, count / 3);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for (i, &start) in starts.iter().enumerate() {
        if !(from..to).contains(&i) || (i - from).is_multiple_of(2) {
            job.usual(random, start);
        }
    }
    job.next = Some(next);
    let period = job.period;
    job.based(random, period)
}

fn transfer(random: &mut Random) -> Made {
    let count = phases(random, 7).min(150);
    let mut job = Job::even(random, count, 0.05);
    job.busy = random.between(0.03, 0.2);
    let (slower, share) = (random.between(2.0, 4.0), random.between(0.3, 1.0));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    for start in starts {
        let end = job.usual(random, start);
        let chunks = 12;
        let each = slower * job.length() / chunks as f64;
        let bytes = share * job.volume() / chunks as f64;
        for i in 0..chunks {
            job.read(0, end + (i as f64 + 0.5) * each, 0.6 * each, bytes);
        }
    }
    job.next = Some(next);
    job.regular(random)
}

fn polling(random: &mut Random) -> Made {
    let count = phases(random, 8).min(60);
    let mut job = Job::any(random, count);
    (job.jitter, job.busy) = (jitter(random).min(0.12), job.busy.min(0.3));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let each = job.period / random.between(8.0, 80.0);
    for start in starts {
        job.usual(random, start);
    }
    let until = job.end();
    let bytes = 1e-5 * job.volume();
    let mut time = each * random.unit();
    while time < until {
        job.write(0, time, 0.002 * each, bytes);
        time += each;
    }
    job.next = Some(next);
    job.regular(random).also(&[each]).turned()
}

fn windows(random: &mut Random) -> Made {
    let count = phases(random, 10).min(400);
    let mut job = Job::even(random, count, 0.01);
    (job.clocked, job.busy) = (true, job.busy.min(0.3));
    let events = random.log_between(0.7, 200.0);
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let least = starts[0];
    for start in starts {
        // How many events there were: by chance; without any, nothing is written.
        let mut seen = 0.0;
        let mut left = events - random.exponential(1.0);
        while left > 0.0 && seen < 400.0 {
            seen += 1.0;
            left -= random.exponential(1.0);
        }
        if seen > 0.0 || start == least {
            let size = (seen / events).max(0.05);
            let (length, volume) = (job.length() * size.clamp(0.2, 2.0), job.volume() * size);
            job.phase(random, start, length, volume);
        }
    }
    job.next = Some(next);
    let period = job.period;
    job.based(random, period)
}

fn backlog(random: &mut Random) -> Made {
    let count = random.whole(20, 80);
    let mut job = Job::even(random, count, 0.015);
    (job.clocked, job.busy) = (true, random.between(0.05, 0.25));
    let first = job.first(random);
    let (starts, next) = job.rhythm(random, first, count);
    let (often, most) = (random.between(0.02, 0.08), random.whole(2, 5));
    let mut free = 0.0f64;
    let mut last = f64::NEG_INFINITY;
    for start in starts {
        if start > 4.0 * job.period && random.chance(often) {
            free = start + job.period * most as f64 * random.between(0.5, 1.0);
        }
        // What was missed follows at once, one after the other.
        let at = f64::max(start, free.max(last));
        let end = job.usual(random, at);
        last = end + 0.05 * job.period;
    }
    job.next = Some(next.max(last));
    let period = job.period;
    job.based(random, period)
}

fn edit_loop(random: &mut Random) -> Made {
    let runs = random.whole(3, 7);
    let mut job = Job::even(random, 10 * runs, 0.03);
    job.busy = job.busy.min(0.25);
    let (mut time, mut within, mut links) = (0.0, 0.0, 0);
    for _ in 0..runs {
        for _ in 0..random.whole(3, 15) {
            let length = 0.01 * job.period * random.factor(0.8);
            let bytes = 0.3 * job.rate * length;
            job.write(0, time, length, bytes);
            time += job.period * 0.1 * random.factor(0.8);
        }
        time += job.period * random.between(0.3, 2.0);
        let count = random.whole(5, 15);
        let (starts, next) = job.rhythm(random, time, count);
        for &start in &starts {
            job.usual(random, start);
        }
        within += starts[count - 1] - starts[0];
        links += count - 1;
        time = next + job.period * random.log_between(0.5, 20.0);
    }
    let period = within / links as f64;
    job.based(random, period)
}
