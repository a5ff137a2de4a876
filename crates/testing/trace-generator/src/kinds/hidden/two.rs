//! Two rhythms at once, both wanted.

use super::{Job, both};
use crate::kinds::{Kind, Made};
use crate::random::Random;
use crate::shape::Shape;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("two_outputs", "two outputs 2.2 to 14 times apart; both are wanted", outputs).within(0.04),
    Kind::new("two_strangers", "two programs on one file system, 1.4 to 20 times apart; both", strangers)
        .within(0.04),
    Kind::new("steps_and_checkpoints", "a little every step, a checkpoint every few; both", insitu)
        .within(0.04),
    Kind::new("steps_and_outputs", "small transfers each step, outputs apart from them; both", outputs_apart)
        .within(0.04),
];

/// Phases from anywhere in the first period up to the end, distances varying by that much; their starts.
fn until(random: &mut Random, period: f64, end: f64, jitter: f64) -> Vec<f64> {
    let mut time = period * random.unit();
    let mut starts = Vec::new();
    while time < end {
        starts.push(time);
        time += period * (1.0 + jitter * random.normal());
    }
    starts
}

/// A rhythm beside the program's: its period, share, rate, shape, and by how much volumes vary.
struct Beside {
    period: f64,
    busy: f64,
    rate: f64,
    shape: Shape,
    spread: f64,
}

fn together(random: &mut Random, mut job: Job, beside: &Beside, end: f64, jitter: f64) -> Made {
    let slow = until(random, job.period(), end, jitter);
    for &start in &slow {
        let volume = random.factor(beside.spread);
        job.usual(random, start, volume);
    }
    let fast = until(random, beside.period, end, jitter);
    let length = beside.busy * beside.period;
    let ranks = std::mem::replace(&mut job.program.ranks, 1);
    for &start in &fast {
        let bytes = beside.rate * length * random.factor(beside.spread);
        job.program.shaped(random, beside.shape, start, length, bytes);
    }
    job.program.ranks = ranks;
    let (one, other) = (job.volume() * slow.len() as f64, beside.rate * length * fast.len() as f64);
    let truth = if one >= other { both(&slow, &fast) } else { both(&fast, &slow) };
    job.program.made(truth)
}

fn outputs(random: &mut Random) -> Made {
    let job = Job::any(random);
    let beside = Beside {
        period: job.period() / random.between(2.2, 14.0),
        busy: random.between(0.05, 0.4),
        rate: job.rate() * random.between(0.3, 1.5),
        shape: Shape::Rectangle,
        spread: 0.05,
    };
    let end = job.period() * random.whole(6, 15) as f64;
    together(random, job, &beside, end, 0.02)
}

fn strangers(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.busy = random.between(0.04, 0.3);
    let beside = Beside {
        period: job.period() / random.between(1.4, 20.0),
        busy: random.between(0.04, 0.4),
        rate: job.rate() * random.log_between(0.1, 3.0),
        shape: random.pick(&Shape::ALL),
        spread: 0.05,
    };
    let end = job.period() * random.whole(7, 21) as f64;
    together(random, job, &beside, end, 0.02)
}

fn outputs_apart(random: &mut Random) -> Made {
    let job = Job::any(random);
    let beside = Beside {
        period: job.period() / random.between(3.0, 15.0),
        busy: random.between(0.05, 0.3),
        rate: job.rate() * random.log_between(0.05, 1.0),
        shape: Shape::Rectangle,
        spread: 0.1,
    };
    let end = job.period() * random.whole(7, 19) as f64;
    together(random, job, &beside, end, 0.03)
}

fn insitu(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (every, cycles) = (random.whole(3, 12), random.whole(6, 19));
    let step = job.period() / every as f64;
    let jitter = random.between(0.0, 0.03);
    let (little, size) = (step * random.between(0.05, 0.35), random.log_between(0.05, 0.8));
    let (stops, also_then) = (random.chance(0.6), random.chance(0.7));
    let length = step * if stops { random.between(0.2, 1.5) } else { random.between(0.2, 0.6) };
    let (mut time, mut slow, mut fast) = (job.program.first, Vec::new(), Vec::new());
    for i in 0..cycles * every {
        let is_checkpoint = i % every == every - 1;
        if !is_checkpoint || also_then {
            let bytes = job.rate() * little * size;
            job.burst(time, little, bytes);
            fast.push(time);
        }
        if is_checkpoint {
            let at = time + if also_then { 1.02 * little } else { 0.0 };
            let bytes = job.rate() * length;
            job.program.phase(random, at, length, bytes);
            slow.push(time);
        }
        time += step * (1.0 + jitter * random.normal()) + if is_checkpoint && stops { length } else { 0.0 };
    }
    let (one, other) = (length * slow.len() as f64, little * size * fast.len() as f64);
    let mut truth = if one >= other { both(&slow, &fast) } else { both(&fast, &slow) };
    // A step that waits for the checkpoint, or is left out, is not the usual one.
    let mut distances: Vec<f64> = fast.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_by(f64::total_cmp);
    let usual = distances[distances.len() / 2];
    let of_fast = usize::from(one >= other);
    truth.periods[of_fast] = usual;
    truth.period = truth.periods.first().copied();
    job.program.made(truth)
}
