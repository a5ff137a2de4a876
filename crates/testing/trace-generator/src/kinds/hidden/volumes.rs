//! Even distances with volumes or lengths that are not alike; and uneven ones with such volumes.

use super::Job;
use crate::generated::{Truth, Write};
use crate::kinds::program::regular;
use crate::kinds::{Kind, Made};
use crate::random::Random;

pub(in crate::kinds) const KINDS: &[Kind] = &[
    Kind::new("volumes_of_decades", "even distances, volumes over one to three decades", decades),
    Kind::new("random_work", "steps of random work: distances vary by 5 to 18 %, volumes by decades", work),
    Kind::new("full_and_partial", "full and partial outputs in turn, not half-way in between", partial),
    Kind::new(
        "refinement",
        "every output is larger than the last, and so may be the time between",
        refinement,
    ),
    Kind::new("stragglers", "a file of each rank: lengths vary, one straggler now and then", stragglers),
    Kind::new("late_with_a_tail", "on the clock, each late by something with a tail", late),
    Kind::new("gamma_volumes", "no period: gamma distances, volumes over decades", gamma_volumes),
];

fn decades(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let spread = random.between(0.5, 1.8);
    job.program.jitter = random.between(0.0, 0.12);
    let wide = random.chance(0.5);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..job.count.max(12) {
        let size = random.factor(spread);
        let length = job.length() * if wide { size.min(2.0) } else { 1.0 };
        job.phase(random, time, length, size);
        starts.push(time);
        time += job.distance(random);
    }
    job.program.made(regular(starts))
}

fn work(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (varies, spread) = (random.between(0.05, 0.18), random.between(0.6, 2.3));
    let wide = random.chance(0.5);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..random.whole(10, 90) {
        let size = random.factor(spread);
        let length = job.length() * if wide { size.sqrt().min(3.0) } else { 0.5 };
        job.phase(random, time, length, size);
        starts.push(time);
        time += job.period() * random.gamma(1.0 / (varies * varies));
    }
    job.program.made(regular(starts))
}

fn partial(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.busy = job.busy.min(0.22);
    job.program.jitter = random.between(0.0, 0.04);
    let (off, size) = (random.between(0.25, 0.75), random.log_between(0.05, 0.7));
    let length = (job.length() * if random.chance(0.5) { size } else { 1.0 }).min(0.2 * job.period());
    let (mut time, mut starts) = (job.program.first, Vec::new());
    for _ in 0..job.count {
        job.usual(random, time, 1.0);
        let late = 1.0 + 0.5 * job.program.jitter * random.normal();
        job.phase(random, time + off * job.period() * late, length, size);
        starts.push(time);
        time += job.distance(random);
    }
    let also = if (off - 0.5).abs() < 0.02 { vec![job.period() / 2.0] } else { Vec::new() };
    job.program.made(Truth { also, ..regular(starts) })
}

fn refinement(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.program.jitter = random.between(0.0, 0.03);
    let count = random.whole(8, 34);
    let most = |growth: f64, all: f64| growth.min(all.powf(1.0 / count as f64));
    let growth = most(random.between(1.01, 1.12), 60.0);
    let longer = most(growth.powf(random.pick(&[0.0, 0.3, 1.0])), 4.0);
    let (mut time, mut starts, mut size, mut stretch) = (job.program.first, Vec::new(), 1.0f64, 1.0);
    for _ in 0..count {
        let length = (job.length() * size.powf(0.8)).min(0.8 * job.period() * stretch);
        job.phase(random, time, length, size);
        starts.push(time);
        let more = if job.busy * size < 0.5 { length - job.length() } else { 0.0 };
        time += stretch * job.distance(random) + more;
        (size, stretch) = (size * growth, stretch * longer);
    }
    let (first, last) = (starts[1] - starts[0], starts[count - 1] - starts[count - 2]);
    job.program.made(Truth { also: vec![first, last], ..regular(starts) })
}

fn stragglers(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    job.program.ranks = random.pick(&[4, 8, 16, 32]);
    let (spread, often) = (random.between(0.1, 0.5), random.between(0.05, 0.4));
    let varies = random.between(0.0, 0.05);
    let (mut time, mut starts) = (job.program.first, Vec::new());
    let bytes = (job.volume() / f64::from(job.program.ranks)) as u64;
    for _ in 0..job.count.min(30) {
        let slow = if random.chance(often) { random.between(1.5, 6.0) } else { 1.0 };
        let mut longest: f64 = 0.0;
        for rank in 0..job.program.ranks {
            let slow = if rank == 0 { slow } else { 1.0 };
            let length = (job.length() * slow * (spread * random.normal()).exp()).min(1.5 * job.period());
            job.program.writes.push(Write { rank, start: time, end: time + length, bytes: bytes.max(1) });
            longest = longest.max(length);
        }
        starts.push(time);
        let compute = job.period() * (1.0 - job.busy);
        time += longest + compute * (1.0 + varies * random.normal()).max(0.2);
    }
    job.program.made(regular(starts))
}

fn late(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (late, spread) = (random.between(0.01, 0.15), random.between(0.0, 1.0));
    let period = job.period();
    let mut starts: Vec<f64> =
        (0..job.count).map(|i| job.program.first + period * (i as f64 + random.exponential(late))).collect();
    starts.sort_by(f64::total_cmp);
    for &start in &starts {
        let size = random.factor(spread);
        job.usual(random, start, size);
    }
    job.program.made(Truth { also: vec![period], ..regular(starts) })
}

fn gamma_volumes(random: &mut Random) -> Made {
    let mut job = Job::any(random);
    let (spread, mut time, mut starts) = (random.between(0.5, 1.8), job.program.first, Vec::new());
    let length = 0.1 * job.period();
    for _ in 0..job.count {
        let size = random.factor(spread);
        job.phase(random, time, length, size);
        starts.push(time);
        time += 1.2 * length + 0.9 * job.period() * random.gamma(1.5);
    }
    job.program.made(Truth::at_random(starts))
}
