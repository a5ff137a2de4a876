//! Programs with a rhythm, as a tracer sees them.

use super::simulation::{Done, Script, Step, run};
use crate::generated::{Truth, mean_distance};
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("u_stencil", "output every n iterations whose times are gamma distributed", stencil),
    Kind::new("u_by_the_clock", "checkpoint after the iteration in which the interval is over", by_the_clock),
    Kind::new("u_contended", "one job of several on a storage; the others slow it down", contended),
    Kind::new("u_failed_outputs", "outputs that fail at once and leave a slot empty", failed_outputs),
    Kind::new("u_crash", "a crash, a silence in the queue, a large read, the rhythm again", crash),
    Kind::new("u_ensemble", "members of one period that write at times of their own", ensemble),
    Kind::new(
        "u_growing_output",
        "outputs that grow, computing that does not: the mean distance",
        growing_output,
    ),
    Kind::new("u_shrinking_output", "outputs that shrink to a third at fixed times", shrinking_output),
    Kind::new("u_rounds", "two-phase collective writes: rounds within every output", rounds),
    Kind::new("u_log_and_output", "a log line after every iteration, an output every tenth", log_and_output),
    Kind::new("u_plot_and_restart", "plot files, and a restart file at every k-th", plot_and_restart),
    Kind::new("u_slow_tail", "outputs whose last bytes trickle until the next", slow_tail),
    Kind::new("u_warm_up", "iterations that become faster at first: caches, boosts", warm_up),
    Kind::new("u_short_run", "four to six outputs after a long set-up", short_run).within(0.07),
];

/// What one script gives alone.
fn alone(script: Script, random: &mut Random) -> Done {
    let storage = script.link * random.between(1.0, 3.0);
    run(&[script], storage).swap_remove(0)
}

fn made(done: Done, truth: Truth) -> Made {
    let duration = done.end();
    let ranks = done.writes.iter().map(|write| write.rank + 1).max().unwrap_or(1);
    Made { recording: Recording::Requests { ranks, duration, writes: done.writes, reads: Vec::new() }, truth }
}

fn mean_of(marks: &[f64]) -> Truth {
    Truth { period: mean_distance(marks), starts: marks.to_vec(), ..Truth::default() }
}

fn regular(done: Done) -> Made {
    let truth = mean_of(&done.marks);
    made(done, truth)
}

struct Pace {
    link: f64,
    compute: f64,
    bytes: f64,
}

fn pace(random: &mut Random) -> Pace {
    let (link, compute) = (random.log_between(5e7, 1e10), random.log_between(3.0, 200.0));
    Pace { link, compute, bytes: link * compute * random.log_between(0.03, 0.6) }
}

fn stencil(random: &mut Random) -> Made {
    let pace = pace(random);
    let (each, shape) = (random.whole(4, 50), random.between(4.0, 60.0));
    let mut steps = vec![Step::Compute(pace.compute * random.unit())];
    for _ in 0..random.whole(8, 40) {
        for _ in 0..each {
            steps.push(Step::Compute(pace.compute / each as f64 * random.gamma(shape)));
        }
        steps.extend([Step::Mark, Step::Transfer(pace.bytes * random.factor(0.05))]);
    }
    regular(alone(Script { steps, link: pace.link }, random))
}

fn by_the_clock(random: &mut Random) -> Made {
    let pace = pace(random);
    let iteration = pace.compute * random.between(0.02, 0.12);
    let (mut steps, mut since, mut left) = (Vec::new(), 0.0, random.whole(10, 40));
    while left > 0 {
        let length = iteration * random.factor(0.1);
        steps.push(Step::Compute(length));
        since += length;
        if since >= pace.compute {
            steps.extend([Step::Mark, Step::Transfer(pace.bytes)]);
            (since, left) = (0.0, left - 1);
        }
    }
    regular(alone(Script { steps, link: pace.link }, random))
}

fn contended(random: &mut Random) -> Made {
    let pace = pace(random);
    let job = |random: &mut Random, count: usize, loose: f64, compute: f64, bytes: f64| {
        let mut steps = vec![Step::Compute(compute * random.unit())];
        for _ in 0..count {
            steps.extend([Step::Mark, Step::Transfer(bytes), Step::Compute(compute * random.factor(loose))]);
        }
        Script { steps, link: pace.link }
    };
    let mut scripts = vec![job(random, 20, 0.02, pace.compute, pace.bytes)];
    for _ in 0..random.whole(1, 4) {
        let (compute, bytes) =
            (pace.compute * random.log_between(0.3, 4.0), pace.bytes * random.log_between(0.3, 3.0));
        scripts.push(job(random, 60, 0.6, compute, bytes));
    }
    let storage = pace.link * random.between(1.0, 2.0);
    regular(run(&scripts, storage).swap_remove(0))
}

fn failed_outputs(random: &mut Random) -> Made {
    let pace = pace(random);
    let interval = pace.compute + pace.bytes / pace.link;
    let (first, failing) = (pace.compute * random.unit(), random.between(0.06, 0.2));
    let count = random.whole(15, 45);
    let mut steps = Vec::new();
    for i in 0..count {
        steps.push(Step::Until(first + interval * (i as f64 + 0.02 * random.unit())));
        if i == 0 || i == count - 1 || !random.chance(failing) {
            steps.extend([Step::Mark, Step::Transfer(pace.bytes)]);
        }
    }
    let done = alone(Script { steps, link: pace.link }, random);
    let truth = Truth { period: Some(interval), starts: done.marks.clone(), ..Truth::default() };
    made(done, truth)
}

fn crash(random: &mut Random) -> Made {
    let pace = pace(random);
    let mut steps = Vec::new();
    for part in 0..2 {
        if part == 1 {
            // Some computing is lost; the job waits in the queue and reads its last checkpoint.
            let (lost, queue) = (pace.compute * random.unit(), pace.compute * random.log_between(1.0, 15.0));
            steps
                .extend([Step::Compute(lost + queue), Step::Transfer(pace.bytes * random.between(0.5, 1.5))]);
        }
        for _ in 0..random.whole(6, 20) {
            steps.extend([
                Step::Compute(pace.compute * random.factor(0.015)),
                Step::Mark,
                Step::Transfer(pace.bytes),
            ]);
        }
    }
    let done = alone(Script { steps, link: pace.link }, random);
    let mut distances: Vec<f64> = done.marks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_by(f64::total_cmp);
    let period = Some(distances[distances.len() / 2]);
    let truth = Truth { period, starts: done.marks.clone(), ..Truth::default() };
    made(done, truth)
}

fn ensemble(random: &mut Random) -> Made {
    let pace = pace(random);
    let (members, count) = (random.whole(2, 6), random.whole(10, 30));
    let interval = pace.compute + pace.bytes / pace.link;
    let scripts: Vec<Script> = (0..members)
        .map(|_| {
            let (shift, size) = (interval * random.unit(), random.log_between(0.2, 1.0));
            let step = |i: usize| {
                let time = interval * (i as f64 + 0.01 * random.normal()) + shift;
                [Step::Until(time), Step::Mark, Step::Transfer(pace.bytes * size / members as f64)]
            };
            Script { steps: (0..count).flat_map(step).collect(), link: pace.link }
        })
        .collect();
    let mut all = run(&scripts, pace.link * members as f64);
    let marks = all[0].marks.clone();
    let writes = all.iter_mut().flat_map(|done| std::mem::take(&mut done.writes)).collect();
    regular(Done { writes, marks })
}

fn growing_output(random: &mut Random) -> Made {
    let pace = pace(random);
    let (count, growth) = (random.whole(10, 35), random.between(1.5, 4.0));
    let mut steps = Vec::new();
    for i in 0..count {
        let size = 1.0 + (growth - 1.0) * i as f64 / count as f64;
        let compute = pace.compute * random.factor(0.01);
        steps.extend([Step::Compute(compute), Step::Mark, Step::Transfer(pace.bytes * 0.3 * size)]);
    }
    let made = regular(alone(Script { steps, link: pace.link }, random));
    let starts = &made.truth.starts;
    let also = vec![starts[1] - starts[0], starts[count - 1] - starts[count - 2]];
    Made { truth: Truth { also, ..made.truth }, ..made }
}

fn shrinking_output(random: &mut Random) -> Made {
    let pace = pace(random);
    let (count, interval) = (random.whole(10, 40), 1.2 * pace.compute + pace.bytes / pace.link);
    let step = |i: usize| {
        let bytes = pace.bytes * (-1.1 * i as f64 / count as f64).exp() * random.factor(0.05);
        [Step::Until(interval * (i as f64 + 0.5)), Step::Mark, Step::Transfer(bytes)]
    };
    let steps = (0..count).flat_map(step).collect();
    regular(alone(Script { steps, link: pace.link }, random))
}

fn rounds(random: &mut Random) -> Made {
    let pace = pace(random);
    let (rounds, exchange) = (random.whole(4, 25), random.between(0.2, 1.5));
    let each = pace.bytes / rounds as f64;
    let mut steps = Vec::new();
    for _ in 0..random.whole(8, 25) {
        let compute = pace.compute * 2.0 * random.factor(0.05);
        steps.extend([Step::Compute(compute), Step::Mark]);
        for _ in 0..rounds {
            steps.extend([
                Step::Transfer(each),
                Step::Compute(exchange * each / pace.link * random.factor(0.2)),
            ]);
        }
    }
    regular(alone(Script { steps, link: pace.link }, random))
}

fn log_and_output(random: &mut Random) -> Made {
    let pace = pace(random);
    let (each, line) = (random.whole(5, 15), pace.bytes * random.log_between(1e-5, 3e-3));
    let iteration = pace.compute / each as f64;
    let mut steps = Vec::new();
    for _ in 0..random.whole(8, 30) {
        for _ in 0..each {
            steps.extend([Step::Compute(iteration * random.factor(0.03)), Step::Transfer(line)]);
        }
        steps.extend([Step::Mark, Step::Transfer(pace.bytes)]);
    }
    let made = regular(alone(Script { steps, link: pace.link }, random));
    Made { truth: Truth { also: vec![iteration], ..made.truth }, ..made }
}

fn plot_and_restart(random: &mut Random) -> Made {
    let pace = pace(random);
    let (each, count) = (random.whole(3, 8), random.whole(4, 9));
    let interval = 1.2 * pace.compute + pace.bytes / pace.link;
    let step = |i: usize| {
        let restart = i % each == each - 1;
        let bytes = pace.bytes * if restart { 1.0 } else { 0.2 };
        [Step::Until(interval * (i as f64 + 0.01 * random.unit())), Step::Mark, Step::Transfer(bytes)]
    };
    let steps = (0..each * count).flat_map(step).collect();
    let made = regular(alone(Script { steps, link: pace.link }, random));
    Made { truth: Truth { also: vec![interval * each as f64], ..made.truth }, ..made }
}

fn slow_tail(random: &mut Random) -> Made {
    let pace = pace(random);
    let pieces = random.whole(5, 20);
    let mut steps = Vec::new();
    for _ in 0..random.whole(8, 30) {
        steps.extend([Step::Mark, Step::Transfer(pace.bytes)]);
        let total = pace.compute * random.between(0.97, 1.03);
        for i in 0..pieces {
            let bytes = pace.bytes * 0.1 * random.exponential(1.0) / pieces as f64;
            steps.extend([
                Step::Compute(total / pieces as f64),
                Step::Transfer(bytes * if i < pieces - 2 { 1.0 } else { 0.01 }),
            ]);
        }
    }
    let made = regular(alone(Script { steps, link: pace.link }, random));
    Made { truth: Truth { also: vec![pace.compute / pieces as f64], ..made.truth }, ..made }
}

fn warm_up(random: &mut Random) -> Made {
    let pace = pace(random);
    let (count, slow) = (random.whole(14, 40), random.between(1.3, 2.5));
    let mut steps = Vec::new();
    for i in 0..count {
        let slower = 1.0 + (slow - 1.0) * (-(i as f64)).exp();
        steps.extend([
            Step::Compute(pace.compute * slower * random.factor(0.015)),
            Step::Mark,
            Step::Transfer(pace.bytes),
        ]);
    }
    let done = alone(Script { steps, link: pace.link }, random);
    let marks = done.marks.clone();
    let settled = mean_of(&marks[4..]);
    made(done, Truth { starts: marks, ..settled })
}

fn short_run(random: &mut Random) -> Made {
    let pace = pace(random);
    let mut steps = vec![Step::Compute(pace.compute * random.between(1.0, 6.0))];
    for _ in 0..random.whole(4, 6) {
        steps.extend([
            Step::Mark,
            Step::Transfer(pace.bytes * random.factor(0.03)),
            Step::Compute(pace.compute * random.factor(0.03)),
        ]);
    }
    regular(alone(Script { steps, link: pace.link }, random))
}
