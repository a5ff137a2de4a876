//! Jobs and users without a rhythm.

use super::simulation::{Script, Step, run};
use crate::generated::{Truth, Write};
use crate::kinds::program::{binned, samples};
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("u_user", "somebody at a terminal: thinks (log-normal), then reads or writes", user),
    Kind::new("u_equal_jobs", "equal jobs that come at random and queue for the storage", equal_jobs),
    Kind::new("u_on_off", "on/off sources with Pareto times, added up", on_off),
    Kind::new("u_work_queue", "tasks of gamma lengths taken from a queue, equal outputs", work_queue),
    Kind::new("u_log_writer", "small writes whose rate changes slowly", log_writer),
    Kind::new("u_copy", "one long copy whose bandwidth wavers", copy),
    Kind::new("u_few_outputs", "three to six equal outputs whenever something converges", few_outputs),
];

fn none(ranks: u32, writes: Vec<Write>) -> Made {
    let duration = writes.iter().map(|write| write.end).fold(0.0, f64::max);
    Made {
        recording: Recording::Requests { ranks, duration, writes, reads: Vec::new() },
        truth: Truth::default(),
    }
}

/// Equal outputs at random; those that touch are one.
fn equal_outputs(ranks: u32, writes: Vec<Write>) -> Made {
    let mut spans: Vec<(f64, f64)> = writes.iter().map(|write| (write.start, write.end)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut starts, mut end) = (Vec::new(), f64::NEG_INFINITY);
    for span in spans {
        if span.0 > end {
            starts.push(span.0);
        }
        end = end.max(span.1);
    }
    Made { truth: Truth::at_random(starts), ..none(ranks, writes) }
}

fn user(random: &mut Random) -> Made {
    let (link, think) = (1e8, random.log_between(3.0, 60.0));
    let mut steps = Vec::new();
    for _ in 0..random.whole(10, 80) {
        let bytes = link * think * random.log_between(0.01, 0.5);
        steps.extend([Step::Compute(think * random.factor(1.0)), Step::Transfer(bytes)]);
    }
    none(1, run(&[Script { steps, link }], link).swap_remove(0).writes)
}

fn equal_jobs(random: &mut Random) -> Made {
    let (link, mean) = (1e9, random.log_between(5.0, 100.0));
    let bytes = link * mean * random.between(0.05, 0.4);
    let mut time = 0.0;
    let scripts: Vec<Script> = (0..random.whole(10, 60))
        .map(|_| {
            time += random.exponential(mean);
            Script { steps: vec![Step::Until(time), Step::Transfer(bytes)], link }
        })
        .collect();
    let done = run(&scripts, link);
    equal_outputs(scripts.len() as u32, done.into_iter().flat_map(|done| done.writes).collect())
}

fn on_off(random: &mut Random) -> Made {
    let (link, mean) = (1e8, random.log_between(2.0, 20.0));
    let until = mean * 200.0;
    let sources = random.whole(2, 8);
    let scripts: Vec<Script> = (0..sources)
        .map(|_| {
            let (mut steps, mut time) = (Vec::new(), 0.0);
            while time < until {
                let (off, on) = (mean * (0.3 + random.pareto(1.5)), mean * (0.3 + random.pareto(1.5)));
                steps.extend([Step::Compute(off), Step::Transfer(on * link)]);
                time += off + on;
            }
            Script { steps, link }
        })
        .collect();
    let writes: Vec<Write> =
        run(&scripts, link * sources as f64).into_iter().flat_map(|done| done.writes).collect();
    if random.chance(0.5) {
        let step = until / random.between(200.0, 2000.0);
        return samples(step, binned(&writes, step, until), Truth::default());
    }
    none(sources as u32, writes)
}

fn work_queue(random: &mut Random) -> Made {
    let (link, mean) = (1e9, random.log_between(5.0, 100.0));
    let (shape, bytes) = (random.between(0.8, 3.0), link * mean * random.between(0.02, 0.2));
    let mut steps = Vec::new();
    for _ in 0..random.whole(10, 50) {
        steps.extend([Step::Compute(mean * random.gamma(shape)), Step::Transfer(bytes)]);
    }
    equal_outputs(1, run(&[Script { steps, link }], link).swap_remove(0).writes)
}

fn log_writer(random: &mut Random) -> Made {
    let (mut time, mut rate): (f64, f64) = (0.0, 1.0);
    let until = random.log_between(300.0, 3000.0);
    let mut writes = Vec::new();
    while time < until {
        rate = (rate * random.factor(0.1)).clamp(0.2, 5.0);
        time += random.exponential(1.0 / rate);
        let bytes = random.log_between(100.0, 1e5) as u64;
        writes.push(Write { rank: 0, start: time, end: time + 0.01, bytes });
    }
    none(1, writes)
}

fn copy(random: &mut Random) -> Made {
    let count = random.whole(100, 2000);
    let (mut time, mut rate): (f64, f64) = (0.0, 1.0);
    let writes = (0..count)
        .map(|_| {
            rate = 1.0 + 0.9 * (rate - 1.0) + 0.1 * random.normal();
            let start = time;
            time += 0.04 / rate.max(0.1);
            Write { rank: 0, start, end: time, bytes: 4_000_000 }
        })
        .collect();
    none(1, writes)
}

fn few_outputs(random: &mut Random) -> Made {
    let (link, mean) = (1e9, random.log_between(10.0, 200.0));
    let bytes = link * mean * random.between(0.05, 0.3);
    let mut steps = Vec::new();
    for _ in 0..random.whole(3, 6) {
        steps.extend([Step::Compute(mean * random.factor(0.8)), Step::Transfer(bytes)]);
    }
    equal_outputs(1, run(&[Script { steps, link }], link).swap_remove(0).writes)
}
