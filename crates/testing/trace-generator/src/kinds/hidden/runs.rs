//! Runs with silences between them, strays far away, huge transfers; and what is irregular with the like.

use super::{Job, within_runs};
use crate::generated::Truth;
use crate::kinds::program::regular;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("runs_and_silences", "two to four runs with silences of 2 to 120 periods between", runs),
    Kind::new("requeued", "the job is requeued: nights between its runs, a restart read first", requeued),
    Kind::new("far_strays", "one or two events 20 to 20,000 periods later", strays),
    Kind::new("far_events", "something long before or after: a job step, a log line, the end", far),
    Kind::new("huge_transfers", "one to three huge transfers, at the start or anywhere", huge),
    Kind::new("prolog_and_epilog", "input and mesh first, outputs, at the end all once more", prolog),
    Kind::new("outputs_then_others", "few outputs, then a long time of something else", then_others),
    Kind::new("irregular_and_far", "something irregular, and something else far away", irregular_far),
];

fn runs(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.program.jitter *= 0.7;
    let (mut time, mut runs) = (job.program.first, Vec::new());
    for _ in 0..random.whole(2, 4) {
        let count = random.whole(4, 21);
        let (starts, _) = job.rhythm(random, time, count, 0.0);
        time = starts[count - 1] + job.period() * random.log_between(2.0, 120.0);
        runs.push(starts);
    }
    let truth = Truth { period: within_runs(&runs), starts: runs.concat(), ..Truth::default() };
    job.program.made(truth)
}

fn requeued(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (mut time, mut runs) = (job.program.first, Vec::new());
    for _ in 0..random.whole(2, 4) {
        if random.chance(0.4) {
            let (length, volume) = (job.length() * random.between(0.5, 2.0), random.between(0.3, 1.5));
            job.phase(random, time, length, volume);
            time += length + job.period() * random.between(0.2, 1.2);
        }
        let count = random.whole(5, 29);
        let (starts, _) = job.rhythm(random, time, count, 0.05);
        time = starts[count - 1] + job.period() * random.log_between(3.0, 400.0);
        runs.push(starts);
    }
    let truth = Truth { period: within_runs(&runs), starts: runs.concat(), ..Truth::default() };
    job.program.made(truth)
}

fn strays(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (first, count) = (job.program.first, job.count);
    let (starts, end) = job.rhythm(random, first, count, 0.0);
    for _ in 0..random.whole(1, 2) {
        let far = job.period() * random.log_between(20.0, 20_000.0);
        let length = job.length() * random.between(0.1, 1.0);
        let bytes = job.volume() * random.log_between(1e-5, 3.0);
        job.burst(end + far, length, bytes);
    }
    job.program.made(regular(starts))
}

fn far(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (first, count) = (job.program.first, random.whole(5, 60));
    let (starts, end) = job.rhythm(random, first, count, 0.1);
    for _ in 0..random.whole(1, 3) {
        let away = job.period() * random.log_between(30.0, 30_000.0);
        let at = if random.chance(0.6) { end + away } else { starts[0] - away };
        let length = job.length() * random.log_between(0.01, 2.0);
        let bytes = job.rate() * length * random.log_between(1e-6, 2.0);
        job.burst(at, length, bytes);
    }
    job.program.made(regular(starts))
}

fn huge(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (first, count) = (job.program.first + job.period() * random.between(0.2, 3.0), job.count);
    let (starts, end) = job.rhythm(random, first, count, 0.0);
    for _ in 0..random.whole(1, 3) {
        let before = 0.5 * starts[0];
        let at =
            if random.chance(0.5) { random.between(0.0, before) } else { random.between(starts[0], end) };
        let length = job.period() * random.between(0.1, 3.0);
        let bytes = job.rate() * length * random.log_between(1.0, 30.0);
        job.burst(at, length, bytes);
    }
    job.program.made(regular(starts))
}

/// So many things of any form and size, one after another; when they are done.
fn others(job: &mut Job, random: &mut Random, mut time: f64, count: usize) -> f64 {
    for _ in 0..count {
        let length = job.period() * random.log_between(0.02, 1.5);
        let bytes = job.rate() * length * random.log_between(0.05, 3.0);
        job.other(random, time, length, bytes);
        time += length + job.period() * random.log_between(0.05, 2.0);
    }
    time
}

fn prolog(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (first, before) = (job.program.first, random.whole(1, 6));
    let time = others(&mut job, random, first, before);
    let count = random.whole(4, 24);
    let (starts, end) = job.rhythm(random, time, count, 0.0);
    let after = random.below(4);
    others(&mut job, random, end, after);
    job.program.made(regular(starts))
}

fn then_others(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (first, count) = (job.program.first, random.whole(5, 13));
    let (starts, end) = job.rhythm(random, first, count, 0.0);
    let mut time = end + job.period() * random.log_between(0.5, 10.0);
    let length = job.period() * random.log_between(0.1, 3.0);
    for _ in 0..random.whole(1, 3) {
        let bytes = job.rate() * length * random.log_between(0.1, 3.0);
        job.other(random, time, length, bytes);
        time += length + job.period() * random.log_between(0.3, 8.0);
    }
    job.program.made(regular(starts))
}

fn irregular_far(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..random.whole(3, 19) {
        let (length, volume) = (job.length() * random.factor(0.4), random.factor(0.4));
        job.phase(random, time, length, volume);
        starts.push(time);
        time += length + 0.91 * job.period() * random.gamma(1.3);
    }
    for _ in 0..random.whole(1, 2) {
        let at = time + job.period() * random.log_between(30.0, 10_000.0);
        let bytes = job.rate() * job.period() * random.log_between(1e-4, 1.0);
        let length = if random.chance(0.5) { job.period() } else { job.length() };
        job.burst(at, length, bytes);
    }
    job.program.made(Truth::at_random(starts))
}
