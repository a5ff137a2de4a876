//! A program that does I/O in phases: what the kinds are built from.

use super::{Made, Recording};
use crate::generated::{Truth, Write, mean_distance};
use crate::random::Random;
use crate::shape::Shape;

/// Shapes whose requests leave no pauses that could be taken for those between phases.
pub(super) const SOLID: [Shape; 8] = [
    Shape::Ior,
    Shape::Rectangle,
    Shape::RampUp,
    Shape::RampDown,
    Shape::LongTail,
    Shape::Header,
    Shape::Aggregators,
    Shape::Cached,
];

/// A program under construction, with a rhythm drawn by chance.
#[derive(Clone, Debug)]
pub struct Program {
    /// Number of ranks.
    pub ranks: u32,
    /// The period in seconds.
    pub period: f64,
    /// Bytes per second within phases.
    pub rate: f64,
    /// The form of the phases.
    pub shape: Shape,
    /// When the first phase begins.
    pub first: f64,
    /// How loosely phases keep the rhythm: the deviation of a distance over the period.
    pub jitter: f64,
    /// Do phases keep to a clock (delays do not add up)?
    pub clocked: bool,
    /// The writes so far.
    pub writes: Vec<Write>,
}

impl Program {
    /// Ranks, period, bandwidth, shape and looseness by chance.
    pub fn any(random: &mut Random) -> Self {
        let period = random.log_between(4.0, 120.0);
        let shape = if random.chance(0.1) { Shape::Strided } else { random.pick(&SOLID) };
        Program {
            ranks: random.pick(&[1, 2, 4, 8]),
            period,
            rate: random.log_between(1e8, 2e10),
            shape,
            first: period * random.between(0.0, 1.5),
            jitter: random.between(0.0, 0.03),
            clocked: random.chance(0.5),
            writes: Vec::new(),
        }
    }

    /// Add a phase of the program's shape.
    pub fn phase(&mut self, random: &mut Random, at: f64, length: f64, volume: f64) {
        self.shaped(random, self.shape, at, length, volume);
    }

    /// Add a phase of some shape.
    pub fn shaped(&mut self, random: &mut Random, shape: Shape, at: f64, length: f64, volume: f64) {
        for mut write in shape.phase(self.ranks, length, volume, random) {
            write.start += at;
            write.end += at;
            write.bytes = write.bytes.max(1);
            if write.end > write.start {
                self.writes.push(write);
            }
        }
    }

    /// Add a phase of `bursts` equal bursts, each busy for the share `busy` of its distance.
    pub fn bursts(&mut self, at: f64, length: f64, volume: f64, bursts: usize, busy: f64) {
        let distance = length / (bursts as f64 - 1.0 + busy);
        for burst in 0..bursts {
            let start = at + burst as f64 * distance;
            self.all_ranks(start, start + busy * distance, volume / bursts as f64);
        }
    }

    /// Add one request of each rank, `volume` bytes in all.
    pub fn all_ranks(&mut self, start: f64, end: f64, volume: f64) {
        for rank in 0..self.ranks {
            let bytes = (volume / f64::from(self.ranks)).max(1.0) as u64;
            self.writes.push(Write { rank, start, end, bytes });
        }
    }

    /// The starts of `count` phases.
    pub fn starts(&self, random: &mut Random, count: usize) -> Vec<f64> {
        let mut time = self.first;
        (0..count)
            .map(|i| {
                if self.clocked {
                    return self.first + self.period * (i as f64 + self.jitter * random.normal());
                }
                let start = time;
                time += self.period * (1.0 + self.jitter * random.normal()).max(0.05);
                start
            })
            .collect()
    }

    /// A phase of the share `busy` of the period at each start, volumes spread by `volumes` and lengths by
    /// `lengths`.
    pub fn phases(&mut self, random: &mut Random, starts: &[f64], busy: f64, volumes: f64, lengths: f64) {
        let usual = busy * self.period;
        for &start in starts {
            let length = usual * random.factor(lengths);
            let volume = self.rate * usual * random.factor(volumes);
            self.phase(random, start, length, volume);
        }
    }

    /// Foreign bursts at random instants up to `until`, `mean` seconds apart on average.
    pub fn foreign(&mut self, random: &mut Random, until: f64, mean: f64, length: f64, rate: f64) {
        let mut time = random.exponential(mean);
        while time < until {
            let length = length * random.factor(0.4);
            let shape = random.pick(&[Shape::Rectangle, Shape::RampDown, Shape::Cached, Shape::LongTail]);
            let volume = rate * length * random.factor(0.35);
            self.shaped(random, shape, time, length, volume);
            time += random.exponential(mean);
        }
    }

    /// A log of one rank up to `until`: `bytes` every `distance` seconds, busy for the share `busy` of it.
    pub fn log(&mut self, until: f64, distance: f64, busy: f64, bytes: f64) {
        let count = (until / distance) as usize;
        let write = |i: usize| {
            let start = i as f64 * distance;
            Write { rank: 0, start, end: start + busy * distance, bytes: bytes.max(1.0) as u64 }
        };
        self.writes.extend((0..count).map(write));
    }

    /// When the last request ends.
    pub fn end(&self) -> f64 {
        self.writes.iter().map(|write| write.end).fold(0.0, f64::max)
    }

    /// The requests, with the truth about them.
    pub fn made(self, truth: Truth) -> Made {
        let duration = self.end();
        self.made_until(duration, truth)
    }

    /// The requests of a job that goes on until `duration`.
    pub fn made_until(mut self, duration: f64, truth: Truth) -> Made {
        // A job begins at 0.
        let early = self.writes.iter().map(|write| write.start).fold(0.0, f64::min);
        for write in &mut self.writes {
            write.start -= early;
            write.end -= early;
        }
        let starts = truth.starts.iter().map(|start| start - early).collect();
        Made {
            recording: Recording::Requests {
                ranks: self.ranks,
                duration: duration - early,
                writes: self.writes,
                reads: Vec::new(),
            },
            truth: Truth { starts, ..truth },
        }
    }

    /// The mean bandwidth in bins of `step` seconds up to `until`.
    pub fn sampled(&self, step: f64, until: f64) -> Vec<f64> {
        binned(&self.writes, step, until)
    }
}

/// The mean bandwidth of writes in bins of `step` seconds up to `until`.
pub(super) fn binned(writes: &[Write], step: f64, until: f64) -> Vec<f64> {
    let mut bins = vec![0.0; (until / step).ceil().max(1.0) as usize];
    let last = bins.len() - 1;
    for write in writes {
        let (from, to) = (write.start / step, write.end / step);
        let rate = write.bytes as f64 / (to - from).max(1e-12) / step;
        let (first, end) = ((from.max(0.0) as usize).min(last), (to.max(0.0) as usize).min(last));
        for (bin, value) in bins.iter_mut().enumerate().take(end + 1).skip(first) {
            let overlap = to.min(bin as f64 + 1.0) - from.max(bin as f64);
            *value += rate * overlap.max(0.0);
        }
    }
    bins
}

/// A series of samples, with the truth about it.
pub(super) fn samples(step: f64, values: Vec<f64>, truth: Truth) -> Made {
    Made { recording: Recording::Samples { step, values, counter: false }, truth }
}

/// The truth about phases of one period that all are there: the mean distance of their starts.
pub(super) fn regular(starts: Vec<f64>) -> Truth {
    Truth { period: mean_distance(&starts), starts, ..Truth::default() }
}

/// The truth about phases of a base distance, of which some are missing or odd.
pub(super) fn base(period: f64, starts: Vec<f64>) -> Truth {
    Truth { period: Some(period), starts, ..Truth::default() }
}
