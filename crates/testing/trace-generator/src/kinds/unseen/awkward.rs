//! Rhythms as users bring them: averaged, clipped, cut, mixed with others, and beside larger things.

use crate::generated::{Truth, Write};
use crate::kinds::program::{Program, base, binned, regular, samples};
use crate::kinds::{Kind, Made, Recording};
use crate::random::Random;
use std::f64::consts::TAU;

pub(super) const KINDS: &[Kind] = &[
    Kind::new("u_daily_load", "users by day, none by night, weekends quieter: a day, or a week", daily_load),
    Kind::new(
        "u_working_days",
        "a backup every night but those of the weekend: a day, or a week",
        working_days,
    ),
    Kind::new("u_clipped", "bursts that a server at its limit cuts off, with others beside", clipped),
    Kind::new("u_three_jobs", "three regular jobs added up: any of their periods", three_jobs).within(0.04),
    Kind::new("u_counter_gaps", "a counter with a reset, and monitors that fail for a while", counter_gaps),
    Kind::new("u_reads_only", "regular reads beside a few bytes of writes at random", reads_only),
    Kind::new("u_clock_step", "a clock that is set forward or back by up to a period", clock_step),
    Kind::new("u_averaged", "averages over bins of which a period has 2.2 to 3", averaged),
    Kind::new(
        "u_one_to_fifty",
        "phases of one and of fifty parts in turn: their distance, or twice",
        one_to_fifty,
    ),
    Kind::new("u_giant_checkpoint", "one giant checkpoint in the middle of regular phases", giant_checkpoint),
    Kind::new("u_glitches", "a monitor with a few samples that are far too high", glitches),
    Kind::new("u_growing_noise", "regular phases while other traffic grows beyond them", growing_noise),
    Kind::new("u_many_small", "one large output every n steps that each write a little", many_small),
    Kind::new(
        "u_steps_of_three",
        "three unlike outputs in turn at uneven distances: their cycle",
        steps_of_three,
    ),
    Kind::new(
        "u_tail_renewal",
        "no period: equal phases at distances with a heavy tail, a least one",
        tail_renewal,
    ),
    Kind::new("u_last_minute", "no period: a few outputs, closer and closer to the end", last_minute),
    Kind::new("u_hot_cold", "no period: equal phases, busy and quiet times at random", hot_cold),
];

const DAY: f64 = 86_400.0;

fn daily_load(random: &mut Random) -> Made {
    let (days, step) = (random.whole(8, 30), random.pick(&[300.0, 900.0, 3600.0]));
    let (night, weekend, noise) =
        (random.between(0.05, 0.5), random.between(0.3, 1.0), random.between(0.1, 0.6));
    let (first, peak) = (random.below(7), random.between(0.3, 0.7));
    let count = (days as f64 * DAY / step) as usize;
    let values = (0..count).map(|i| {
        let time = i as f64 * step / DAY;
        let wave = 0.5 + 0.5 * (TAU * (time - peak)).cos();
        let quiet = if (time as usize + first) % 7 >= 5 { weekend } else { 1.0 };
        1e9 * (night + quiet * wave) * random.factor(noise)
    });
    let values = values.collect();
    samples(step, values, Truth { also: vec![7.0 * DAY], ..base(DAY, Vec::new()) })
}

fn working_days(random: &mut Random) -> Made {
    let (days, step) = (random.whole(20, 60), random.pick(&[600.0, 1800.0, 3600.0]));
    let (first, at) = (random.below(7), random.between(0.0, 0.5));
    let length = random.between(0.04, 0.15);
    let mut starts = Vec::new();
    let mut writes = Vec::new();
    for day in (0..days).filter(|day| (day + first) % 7 < 5) {
        let start = DAY * (day as f64 + at);
        let end = start + DAY * length * random.factor(0.1);
        starts.push(start);
        writes.push(Write { rank: 0, start, end, bytes: (1e9 * (end - start)) as u64 });
    }
    let mut values = binned(&writes, step, DAY * days as f64);
    let level = 1e9 * random.between(0.0, 0.1);
    values.iter_mut().for_each(|value| *value += level * random.exponential(1.0));
    samples(step, values, Truth { also: vec![7.0 * DAY], ..base(DAY, starts) })
}

/// A program with `count` regular phases of the share `busy` of the period.
fn phased(random: &mut Random, count: usize, busy: f64) -> (Program, Vec<f64>) {
    let mut program = Program::any(random);
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.1, 0.0);
    (program, starts)
}

fn clipped(random: &mut Random) -> Made {
    let count = random.whole(12, 40);
    let busy = random.between(0.1, 0.3);
    let (mut program, starts) = phased(random, count, busy);
    let (until, period, rate) =
        (program.end() + program.period * random.unit(), program.period, program.rate);
    let apart = period * random.between(1.0, 3.0);
    program.foreign(random, until, apart, 0.2 * period, rate);
    let step = period / random.between(12.0, 40.0);
    let limit = rate * random.between(0.4, 0.9);
    let (level, noise) = (random.between(0.0, 0.2), random.between(0.0, 0.3));
    let value = |value: f64| (value + level * rate * random.factor(noise)).min(limit);
    let values = program.sampled(step, until).into_iter().map(value).collect();
    samples(step, values, base(period, starts))
}

fn three_jobs(random: &mut Random) -> Made {
    let fast = random.log_between(5.0, 60.0);
    let periods = [fast, fast * random.between(2.3, 3.7), fast * random.between(5.2, 8.4)];
    let until = periods[2] * random.between(9.0, 25.0);
    let mut writes = Vec::new();
    let rate = 1e9;
    for (rank, period) in periods.iter().enumerate() {
        let (length, mut start) = (period * random.between(0.08, 0.2), period * random.unit());
        while start + length < until {
            let bytes = (rate * length) as u64;
            writes.push(Write { rank: rank as u32, start, end: start + length, bytes });
            start += period * (1.0 + 0.01 * random.normal());
        }
    }
    let truth = Truth { also: periods[..2].to_vec(), ..base(periods[2], Vec::new()) };
    if random.chance(0.5) {
        let step = fast / random.between(6.0, 20.0);
        return samples(step, binned(&writes, step, until), truth);
    }
    Made { recording: Recording::Requests { ranks: 3, duration: until, writes, reads: Vec::new() }, truth }
}

fn counter_gaps(random: &mut Random) -> Made {
    let count = random.whole(15, 50);
    let busy = random.between(0.1, 0.4);
    let (program, starts) = phased(random, count, busy);
    let until = program.end() + program.period * random.unit();
    let step = program.period / random.between(8.0, 40.0);
    let rates = program.sampled(step, until);
    let reset = random.below(rates.len());
    // While the monitor fails, the last value is repeated.
    let gaps: Vec<(usize, usize)> = (0..random.whole(1, 3))
        .map(|_| {
            let from = random.below(rates.len());
            (from, from + (program.period * random.between(0.3, 3.0) / step) as usize)
        })
        .collect();
    let (mut sum, mut shown) = (0.0, 0.0);
    let count = |(i, rate): (usize, &f64)| {
        sum = if i == reset { 0.0 } else { sum + rate * step };
        if !gaps.iter().any(|&(from, to)| (from..to).contains(&i)) {
            shown = sum;
        }
        shown
    };
    let values = rates.iter().enumerate().map(count).collect();
    let truth = base(program.period, starts);
    Made { recording: Recording::Samples { step, values, counter: true }, truth }
}

fn reads_only(random: &mut Random) -> Made {
    let count = random.whole(10, 40);
    let busy = random.between(0.08, 0.4);
    let (program, starts) = phased(random, count, busy);
    let (until, period, rate) = (program.end(), program.period, program.rate);
    let mut writer = Program { writes: Vec::new(), ..program.clone() };
    // Less than a tenth of the bytes: writes that are more are analysed themselves.
    let share = random.between(0.005, 0.04);
    writer.foreign(random, until, period, share * busy * period, rate);
    let mut made = writer.made(regular(starts));
    if let Recording::Requests { duration, reads, .. } = &mut made.recording {
        *duration = duration.max(until);
        *reads = program.writes;
    }
    made
}

fn clock_step(random: &mut Random) -> Made {
    let count = random.whole(14, 40);
    let busy = random.between(0.05, 0.3);
    let (mut program, mut starts) = phased(random, count, busy);
    let at = starts[random.whole(4, count - 5)] - 0.2 * program.period;
    let by = program.period * random.between(-0.7, 1.0);
    let moved = |time: f64| if time > at { time + by } else { time };
    for write in program.writes.iter_mut().filter(|write| write.start > at) {
        (write.start, write.end) = (write.start + by, write.end + by);
    }
    starts.iter_mut().for_each(|start| *start = moved(*start));
    let period = program.period;
    program.made(base(period, starts))
}

fn averaged(random: &mut Random) -> Made {
    let count = random.whole(30, 150);
    let busy = random.between(0.1, 0.5);
    let mut program = Program { jitter: 0.005, clocked: true, ..Program::any(random) };
    let starts = program.starts(random, count);
    program.phases(random, &starts, busy, 0.1, 0.0);
    let step = program.period / random.between(2.2, 3.0);
    let until = program.end();
    samples(step, program.sampled(step, until), base(program.period, starts))
}

fn one_to_fifty(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(14, 40), random.between(0.05, 0.3));
    let starts = program.starts(random, count);
    let large = random.below(2);
    for (i, &start) in starts.iter().enumerate() {
        let length = busy * program.period;
        let share: f64 = if i % 2 == large { 1.0 } else { 0.02 };
        // Small at the same bandwidth, or small for the same time.
        let short = if random.chance(0.5) { share.max(0.1) } else { 1.0 };
        program.phase(random, start, length * short, share * program.rate * length);
    }
    let period = program.period;
    program.made(Truth { also: vec![2.0 * period], ..base(period, starts) })
}

fn giant_checkpoint(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy) = (random.whole(10, 40), random.between(0.03, 0.25));
    let giant = random.whole(count / 4, 3 * count / 4);
    let longer = program.period * random.between(1.0, 8.0);
    let mut starts = program.starts(random, count);
    starts[giant..].iter_mut().skip(1).for_each(|start| *start += longer);
    for (i, &start) in starts.iter().enumerate() {
        let length = if i == giant { longer } else { busy * program.period };
        program.phase(random, start, length, program.rate * length);
    }
    let period = program.period;
    program.made(base(period, starts))
}

fn glitches(random: &mut Random) -> Made {
    let count = random.whole(15, 60);
    let busy = random.between(0.1, 0.4);
    let (program, starts) = phased(random, count, busy);
    let until = program.end();
    let step = program.period / random.between(10.0, 40.0);
    let mut values = program.sampled(step, until);
    for _ in 0..random.whole(1, 6) {
        let at = random.below(values.len());
        values[at] = program.rate * random.log_between(20.0, 1000.0);
    }
    samples(step, values, base(program.period, starts))
}

fn growing_noise(random: &mut Random) -> Made {
    let count = random.whole(15, 40);
    let busy = random.between(0.1, 0.3);
    let (program, starts) = phased(random, count, busy);
    let until = program.end();
    let step = program.period / random.between(10.0, 30.0);
    let most = random.between(0.3, 1.0);
    let mut values = program.sampled(step, until);
    let bins = values.len() as f64;
    for (i, value) in values.iter_mut().enumerate() {
        *value += most * program.rate * (i as f64 / bins).powi(2) * random.exponential(1.0);
    }
    samples(step, values, base(program.period, starts))
}

fn many_small(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, each) = (random.whole(6, 20), random.whole(5, 25));
    let little = program.period / each as f64;
    let size = random.log_between(0.001, 0.05);
    let mut starts = Vec::new();
    let mut time = program.first;
    for i in 0..count * each {
        let volume = program.rate * 0.3 * little;
        program.all_ranks(time, time + 0.1 * little, size * volume);
        time += little * (1.0 + 0.05 * random.normal()).max(0.3);
        if i % each == each - 1 {
            starts.push(time);
            let length = little * random.between(0.8, 1.2);
            program.all_ranks(time, time + length, program.rate * length);
            time += length + 0.1 * little;
        }
    }
    let truth = regular(starts);
    let small = truth.period.unwrap_or(0.0) / each as f64;
    program.made(Truth { also: vec![small, little], ..truth })
}

fn steps_of_three(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let count = random.whole(6, 20);
    let after = [0.0, random.between(0.15, 0.27), random.between(0.45, 0.6)];
    let parts = after.map(|after| (after, random.log_between(0.02, 0.12)));
    let starts = program.starts(random, count);
    for &start in &starts {
        for (at, length) in parts {
            let (at, length) = (start + at * program.period, length * program.period);
            program.phase(random, at, length, program.rate * length);
        }
    }
    program.made(regular(starts))
}

fn without_period(program: Program) -> Made {
    program.made(Truth::default())
}

fn tail_renewal(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, busy, tail) = (random.whole(12, 80), random.between(0.02, 0.2), random.between(1.1, 2.0));
    let (mut time, mut starts) = (program.first, Vec::new());
    for _ in 0..count {
        let length = busy * program.period;
        program.phase(random, time, length, program.rate * length);
        starts.push(time);
        time += length + program.period * (0.1 + random.pareto(tail)).min(60.0);
    }
    program.made(Truth::at_random(starts))
}

fn last_minute(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let (count, ratio) = (random.whole(4, 9), random.between(0.4, 0.65));
    let (mut time, mut distance) = (program.first, 10.0 * program.period);
    for _ in 0..count {
        let length = (0.2 * program.period).min(0.5 * distance);
        program.phase(random, time, length, program.rate * length);
        time += distance * random.factor(0.2);
        distance *= ratio;
    }
    without_period(program)
}

fn hot_cold(random: &mut Random) -> Made {
    let mut program = Program::any(random);
    let until = program.period * random.between(60.0, 200.0);
    let length = program.period * random.between(0.02, 0.1);
    let (mut time, mut left, mut hot) = (0.0, 0.0, false);
    while time < until {
        let mean = if hot { 0.5 } else { 6.0 } * program.period;
        let wait = length + random.exponential(mean);
        time += wait;
        left -= wait;
        if left <= 0.0 {
            hot = !hot;
            left = program.period * random.exponential(if hot { 6.0 } else { 20.0 });
        }
        program.phase(random, time, length, program.rate * length);
    }
    without_period(program)
}
