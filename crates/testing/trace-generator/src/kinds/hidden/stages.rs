//! Nothing recurs: stages, workers, groups of bursts.

use super::Job;
use crate::generated::{Truth, Write};
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("workers", "several workers, each at random", workers),
    Kind::new("groups_of_bursts", "random groups of bursts at random distances", groups),
    Kind::new("stages_in_a_row", "stages of different kinds, one after another", in_a_row),
    Kind::new("event_log", "small outputs at log-normal distances, sizes too", event_log),
    Kind::new("stages_of_bursts", "a few stages, each of several bursts of one size", of_bursts),
    Kind::new("workflow", "several programs of a workflow, each once", workflow),
];

fn workers(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let until = job.period() * job.count as f64;
    for rank in 0..random.whole(2, 8) as u32 {
        job.program.ranks = job.program.ranks.max(rank + 1);
        let is_free = random.chance(0.5);
        let mut time = job.period() * random.unit();
        while time < until {
            let length = 0.1 * job.period() * random.between(0.5, 2.0);
            let bytes = (job.rate() * length).max(1.0) as u64;
            job.program.writes.push(Write { rank, start: time, end: time + length, bytes });
            let pause = if is_free { random.exponential(1.0) } else { 0.9 * random.gamma(1.5) };
            time += length + job.period() * pause;
        }
    }
    job.program.made(Truth::default())
}

fn groups(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let mut time = job.program.first;
    for _ in 0..random.whole(3, 11) {
        for _ in 0..random.whole(1, 7) {
            let length = job.period() * random.between(0.02, 0.15);
            let bytes = job.rate() * length * random.factor(0.5);
            job.burst(time, length, bytes);
            time += length + 0.2 * job.period() * random.exponential(1.0);
        }
        time += 2.4 * job.period() * random.gamma(1.2);
    }
    job.program.made(Truth::default())
}

fn in_a_row(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let mut time = job.program.first;
    for _ in 0..random.whole(3, 7) {
        let length = job.period() * random.gamma(2.0);
        let bytes = job.rate() * length * random.factor(0.8);
        job.other(random, time, length, bytes);
        time += length + 0.96 * job.period() * random.gamma(1.2);
    }
    job.program.made(Truth::default())
}

fn event_log(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let spread = random.between(0.7, 1.3);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..job.count {
        let length = 0.05 * job.period() * random.factor(0.5);
        let bytes = job.rate() * length * random.factor(1.0);
        job.burst(time, length, bytes);
        starts.push(time);
        time += length + job.period() * (spread * random.normal() - 0.5).exp();
    }
    job.program.made(Truth::at_random(starts))
}

fn of_bursts(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let mut time = job.program.first;
    for _ in 0..random.whole(2, 5) {
        let length = job.period() * random.log_between(0.02, 0.3);
        for _ in 0..random.whole(1, 9) {
            let (long, bytes) = (length * random.factor(0.3), job.rate() * length * random.factor(0.6));
            job.other(random, time, long, bytes);
            time += 1.3 * length + 0.3 * job.period() * random.exponential(1.0);
        }
        time += job.period() * random.log_between(0.5, 5.0);
    }
    job.program.made(Truth::default())
}

fn workflow(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let mut time = job.program.first;
    for _ in 0..random.whole(3, 8) {
        let (length, parts) = (job.period() * random.log_between(0.05, 2.0), random.whole(1, 5));
        let each = length / parts as f64;
        for _ in 0..parts {
            let (long, bytes) = (each * random.between(0.3, 0.9), job.rate() * each * random.factor(1.0));
            job.other(random, time, long, bytes);
            time += each * random.between(1.0, 2.0);
        }
        time += 1.5 * job.period() * random.exponential(1.0);
    }
    job.program.made(Truth::default())
}
