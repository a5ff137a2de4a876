//! Workloads after Lublin and Feitelson (JPDC 63, 2003): sizes, run times and arrivals of rigid jobs as
//! several machines saw them, here without their distinction of batch and interactive jobs.
//!
//! What the model does not have is added: a share of the jobs is malleable, every job does some I/O, and the
//! arrivals are stretched until the jobs need the asked share of the machine.

use crate::job::{Job, Kind};
use crate::scaling::Scaling;
use seeded_random::Random;
use std::f64::consts::TAU;

/// What to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Number of jobs.
    pub jobs: usize,
    /// Nodes of the machine.
    pub nodes: u32,
    /// Node-seconds of the jobs beside those of the machine until the last submission.
    pub load: f64,
    /// Share of malleable jobs.
    pub malleable: f64,
    /// Users ask for up to this many times the run time; 1: they know it.
    pub overestimate: f64,
    /// The same seed gives the same jobs. The share of malleable jobs changes nothing else.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { jobs: 1000, nodes: 128, load: 0.8, malleable: 0.0, overestimate: 1.0, seed: 1 }
    }
}

// Sizes.
const SERIAL: f64 = 0.244;
const POWER_OF_TWO: f64 = 0.576;
const LOW: f64 = 0.8;
/// The middle of the two-stage distribution of log2(size) is this much below its upper end.
const BELOW_HIGH: f64 = 2.5;
const LOWER_STAGE: f64 = 0.86;
// The logarithm of run times: one of two gamma distributions (shape, scale), by size.
const SHORT: (f64, f64) = (4.2, 0.94);
const LONG: (f64, f64) = (312.0, 0.03);
const SHORT_PER_NODE: f64 = -0.0054;
const SHORT_AT_NONE: f64 = 0.78;
const MAX_RUN_TIME: f64 = 172_800.0;
// The binary logarithm of seconds between two arrivals in the busiest hours, and the cycle of a day.
const BETWEEN: (f64, f64) = (10.2303, 0.4871);
const OF_THE_DAY: (f64, f64) = (8.1737, 3.9631);
const BUCKETS: usize = 48;
const BUCKET: f64 = 1800.0;
const DAY_BEGINS: usize = 11;

/// Make a workload.
pub fn workload(options: &Options) -> Vec<Job> {
    let mut random = Random::new(options.seed);
    // What is added has numbers of its own, so that it does not change the rest.
    let mut added = Random::new(options.seed ^ 0x6c75_626c_696e);
    let cycle = daily_cycle();
    let mut clock = 0.0;
    let mut jobs: Vec<Job> = (0..options.jobs)
        .map(|number| {
            clock = arrival(clock, &cycle, &mut random);
            let nodes = size(options.nodes, &mut random);
            let time = run_time(nodes, &mut random);
            let mut job = Job::rigid(number as u64 + 1, clock, nodes, time);
            more(&mut job, options, &mut added);
            job
        })
        .collect();
    let first = jobs.first().map_or(0.0, |job| job.submit);
    let work: f64 = jobs.iter().map(|job| job.time * f64::from(job.preferred)).sum();
    let span = work / (f64::from(options.nodes) * options.load);
    let stretch = if clock > first { span / (clock - first) } else { 0.0 };
    jobs.iter_mut().for_each(|job| job.submit = ((job.submit - first) * stretch).round());
    jobs
}

/// I/O, whether it is malleable, and what its user says about its time.
fn more(job: &mut Job, options: &Options, random: &mut Random) {
    let heavy = random.unit() < 0.3;
    let (low, high) = if heavy { (0.2, 0.5) } else { (0.01, 0.1) };
    job.io_share = low + (high - low) * random.unit();
    job.bandwidth = f64::from(job.preferred) * 1e6 * 2f64.powf(6.0 + 4.0 * random.unit());
    let serial = 0.1 * random.unit();
    let chosen = random.unit() < options.malleable;
    let asks = random.unit();
    job.estimate = (job.time * (1.0 + (options.overestimate - 1.0) * asks)).ceil();
    if chosen {
        let (min, max) = ((job.preferred / 4).max(1), (job.preferred * 2).min(options.nodes));
        *job = job.clone().malleable(min, max.max(job.preferred), Scaling::Serial(serial));
    }
    debug_assert!(job.kind == Kind::Malleable || !chosen);
}

fn size(nodes: u32, random: &mut Random) -> u32 {
    let high = f64::from(nodes).log2();
    if random.unit() <= SERIAL {
        return 1;
    }
    let middle = (high - BELOW_HIGH).max(LOW);
    let low = LOW.min(high);
    let (from, to) = if random.unit() <= LOWER_STAGE { (low, middle) } else { (middle, high) };
    let mut power = from + (to - from) * random.unit();
    if random.unit() <= POWER_OF_TWO {
        power = power.round();
    }
    (2f64.powf(power).round() as u32).clamp(1, nodes)
}

fn run_time(nodes: u32, random: &mut Random) -> f64 {
    let short = (SHORT_PER_NODE * f64::from(nodes) + SHORT_AT_NONE).clamp(0.0, 1.0);
    let (shape, scale) = if random.unit() <= short { SHORT } else { LONG };
    (scale * gamma(shape, random)).exp().min(MAX_RUN_TIME).ceil()
}

/// How busy each half hour of a day is, 1 on average.
fn daily_cycle() -> [f64; BUCKETS] {
    let (shape, scale) = OF_THE_DAY;
    let mut weights = [0.0; BUCKETS];
    for (place, weight) in weights.iter_mut().enumerate() {
        // The density of the gamma distribution over half hours since the day began, and their successors
        // after midnight.
        let hours = |x: f64| (shape - 1.0) * x.ln() - x / scale;
        let since = ((place + BUCKETS - DAY_BEGINS) % BUCKETS) as f64 + 0.5;
        *weight = hours(since).exp();
    }
    let mean = weights.iter().sum::<f64>() / BUCKETS as f64;
    weights.map(|weight| (weight / mean).max(0.01))
}

/// The next arrival: time passes faster in busy hours.
fn arrival(last: f64, cycle: &[f64; BUCKETS], random: &mut Random) -> f64 {
    let (shape, scale) = BETWEEN;
    let mut left = 2f64.powf(scale * gamma(shape, random));
    let mut clock = last;
    loop {
        let bucket = (clock / BUCKET).floor();
        let weight = cycle[bucket as usize % BUCKETS];
        let rest = (bucket + 1.0) * BUCKET - clock;
        if left <= rest * weight {
            return clock + left / weight;
        }
        left -= rest * weight;
        clock = (bucket + 1.0) * BUCKET;
    }
}

/// A number of a gamma distribution with scale 1 (Marsaglia and Tsang 2000), for shapes of at least 1.
pub(crate) fn gamma(shape: f64, random: &mut Random) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && random.unit().max(f64::MIN_POSITIVE).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A number of the normal distribution (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * random.unit().max(f64::MIN_POSITIVE).ln()).sqrt();
    radius * (TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moments_of_the_gamma_distribution() {
        let mut random = Random::new(3);
        let values: Vec<f64> = (0..40_000).map(|_| gamma(4.2, &mut random)).collect();
        let mean = values.iter().sum::<f64>() / 4e4;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4e4;
        assert!((mean - 4.2).abs() < 0.05 && (variance - 4.2).abs() < 0.15, "{mean} {variance}");
    }

    #[test]
    fn shares_and_load_are_as_asked() {
        let options = Options { jobs: 5000, ..Options::default() };
        let jobs = workload(&options);
        let share = |of: fn(&Job) -> bool| jobs.iter().filter(|job| of(job)).count() as f64 / 5000.0;
        // A quarter is serial by itself, and a few of the others come out as 1 as well.
        assert!((0.22..0.36).contains(&share(|job| job.preferred == 1)));
        assert!(share(|job| job.preferred.is_power_of_two()) > 0.6);
        assert!(jobs.iter().all(|job| job.problem().is_none() && job.preferred <= 128));
        let work: f64 = jobs.iter().map(|job| job.time * f64::from(job.preferred)).sum();
        let load = work / (128.0 * jobs.last().unwrap().submit);
        assert!((load - 0.8).abs() < 1e-3, "{load}");
        let some = workload(&Options { malleable: 0.3, ..options.clone() });
        let malleable = some.iter().filter(|job| job.kind == Kind::Malleable).count();
        assert!((1350..1650).contains(&malleable), "{malleable}");
        // Nothing else changes.
        assert!(jobs.iter().zip(&some).all(|(a, b)| (a.submit, a.time) == (b.submit, b.time)));
        assert_eq!(some, workload(&Options { malleable: 0.3, ..options }));
    }
}
