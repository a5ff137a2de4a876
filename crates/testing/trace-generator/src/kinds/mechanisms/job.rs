//! A job under construction: its requests, and where its phases are.

use super::form::{FORMS, Form};
use crate::generated::{Truth, Write, mean_distance};
use crate::kinds::program::binned;
use crate::kinds::{Made, Recording};
use crate::random::Random;

/// About how many requests a job may have.
const MAX_REQUESTS: usize = 20_000;

/// A job under construction, with a rhythm drawn by chance.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// Number of ranks.
    pub ranks: u32,
    /// How many of them write.
    pub writers: u32,
    /// The period in seconds.
    pub period: f64,
    /// Share of the period that a phase takes.
    pub busy: f64,
    /// Bytes per second within phases.
    pub rate: f64,
    /// The deviation of a distance over the period.
    pub jitter: f64,
    /// Do phases keep to a clock (delays do not add up)?
    pub clocked: bool,
    /// The writes so far.
    pub writes: Vec<Write>,
    /// The reads so far.
    pub reads: Vec<Write>,
    /// Starts of phases so far.
    pub starts: Vec<f64>,
    /// Ends of phases so far.
    pub ends: Vec<f64>,
    /// Start of the phase that would come next.
    pub next: Option<f64>,
    form: Form,
    pieces: usize,
}

/// How many phases: mostly some tens.
pub(super) fn phases(random: &mut Random, least: usize) -> usize {
    let most = if random.chance(0.8) { 45.0 } else { 1200.0 };
    random.log_between(least as f64, most) as usize
}

/// A looseness: mostly small.
pub(super) fn jitter(random: &mut Random) -> f64 {
    let (low, high) = random.pick(&[(0.0, 0.02), (0.0, 0.05), (0.02, 0.12), (0.05, 0.2), (0.15, 0.4)]);
    random.between(low, high)
}

impl Job {
    /// A job of about `count` phases, everything else by chance.
    pub fn any(random: &mut Random, count: usize) -> Self {
        let ranks = random.pick(&[1, 1, 2, 4, 8, 16, 48, 128, 512, 2048, 8192]);
        let most = (MAX_REQUESTS / count.max(1)).clamp(1, 256) as u32;
        // A file of every rank, a few aggregators, or one writer for all.
        let writers = random.pick(&[ranks, ranks, (ranks / 32).max(1), 1]).min(most);
        let pieces = random.whole(2, 10).min((most / writers).max(2) as usize);
        Job {
            ranks,
            writers,
            period: random.log_between(0.2, 2000.0),
            busy: random.log_between(0.01, 0.5),
            rate: random.log_between(1e6, 2e10),
            jitter: jitter(random),
            clocked: random.chance(0.4),
            writes: Vec::new(),
            reads: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            next: None,
            form: random.pick(&FORMS),
            pieces,
        }
    }

    /// A job whose distances vary by less than that.
    pub fn even(random: &mut Random, count: usize, most: f64) -> Self {
        let jitter = random.between(0.0, most);
        Job { jitter, ..Job::any(random, count) }
    }

    /// The length of a usual phase.
    pub fn length(&self) -> f64 {
        self.busy * self.period
    }

    /// The bytes of a usual phase.
    pub fn volume(&self) -> f64 {
        self.rate * self.length()
    }

    /// A distance to the next phase, never shorter than `least`.
    pub fn distance(&self, random: &mut Random, least: f64) -> f64 {
        (self.period * (1.0 + self.jitter * random.normal())).max(least)
    }

    /// The starts of `count` phases from `first` on, and of the one that would come next.
    pub fn rhythm(&self, random: &mut Random, first: f64, count: usize) -> (Vec<f64>, f64) {
        let least = 1.1 * self.length() + 0.05 * self.period;
        // On a clock, two neighbours never change places.
        let shake = self.jitter.min((1.0 - self.busy) / 5.0);
        let mut time = first;
        let mut starts: Vec<f64> = (0..=count)
            .map(|i| {
                if self.clocked {
                    let by = (shake * random.normal()).clamp(-2.0 * shake, 2.0 * shake);
                    return first + self.period * (i as f64 + by);
                }
                let start = time;
                time += self.distance(random, least);
                start
            })
            .collect();
        let next = starts.pop().unwrap_or(time);
        (starts, next)
    }

    /// When the job's first phase begins.
    pub fn first(&self, random: &mut Random) -> f64 {
        self.period * random.pick(&[0.0, 0.3, 1.0, 1.0, 3.0]) * random.unit()
    }

    /// A whole rhythm of `count` usual phases.
    pub fn play(&mut self, random: &mut Random, count: usize) {
        let first = self.first(random);
        let (starts, next) = self.rhythm(random, first, count);
        for start in starts {
            self.usual(random, start);
        }
        self.next = Some(next);
    }

    /// A usual phase; its end.
    pub fn usual(&mut self, random: &mut Random, at: f64) -> f64 {
        let (length, volume) = (self.length(), self.volume());
        self.phase(random, at, length, volume)
    }

    /// A phase; its end.
    pub fn phase(&mut self, random: &mut Random, at: f64, length: f64, volume: f64) -> f64 {
        self.mark(at, at + length);
        self.output(random, at, length, volume)
    }

    /// Note a phase.
    pub fn mark(&mut self, start: f64, end: f64) {
        self.starts.push(start);
        self.ends.push(end);
    }

    /// One write.
    pub fn write(&mut self, rank: u32, start: f64, length: f64, bytes: f64) {
        push(&mut self.writes, rank, start, length, bytes);
    }

    /// One read.
    pub fn read(&mut self, rank: u32, start: f64, length: f64, bytes: f64) {
        push(&mut self.reads, rank, start, length, bytes);
    }

    /// Writes in the job's form that are no phase of their own; their end.
    pub fn output(&mut self, random: &mut Random, at: f64, length: f64, volume: f64) -> f64 {
        let share = volume / f64::from(self.writers);
        for (rank, from, to, part) in self.form.requests(random, self.writers, self.pieces) {
            self.write(rank, at + from * length, (to - from) * length, part * share);
        }
        at + length
    }

    /// When the last request ends.
    pub fn end(&self) -> f64 {
        self.writes.iter().chain(&self.reads).map(|one| one.end).fold(0.0, f64::max)
    }

    /// The truth about the phases: their mean distance. The median one is right as well; where distances vary
    /// much, so is no answer.
    pub fn mean_truth(&self) -> Truth {
        let mut also = Vec::new();
        if let (Some(mean), Some(median)) = (mean_distance(&self.starts), median_distance(&self.starts))
            && (0.003..0.25).contains(&(median / mean - 1.0).abs())
        {
            also.push(median);
        }
        Truth { period: mean_distance(&self.starts), also, ..Truth::default() }
    }

    /// The mean of those distances that are within a quarter of the median one: where some are delayed.
    pub fn undisturbed(&self) -> f64 {
        let median = median_distance(&self.starts).unwrap_or(self.period);
        let distances = self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        let usual: Vec<f64> = distances.filter(|one| (one / median - 1.0).abs() < 0.25).collect();
        usual.iter().sum::<f64>() / usual.len().max(1) as f64
    }

    /// All phases are there.
    pub fn regular(self, random: &mut Random) -> Made {
        let truth = self.mean_truth();
        let made = self.made(random, truth);
        Made { truth: made.truth.loose(), ..made }
    }

    /// Of a base distance, some phases being missing, delayed or odd.
    pub fn based(self, random: &mut Random, period: f64) -> Made {
        self.made(random, Truth { period: Some(period), ..Truth::default() })
    }

    /// Two rhythms that both are wanted, the first that of the phases.
    pub fn both(self, random: &mut Random, period: f64, other: f64) -> Made {
        let periods = vec![period, other];
        self.made(random, Truth { period: Some(period), periods, ..Truth::default() })
    }

    /// No period, and no phases that would mean anything.
    pub fn none(mut self, random: &mut Random) -> Made {
        self.starts.clear();
        self.ends.clear();
        self.next = None;
        self.made(random, Truth::default())
    }

    /// Equal phases at random.
    pub fn at_random(mut self, random: &mut Random) -> Made {
        let truth = Truth::at_random(std::mem::take(&mut self.starts));
        self.starts = truth.starts.clone();
        self.next = None;
        self.made(random, truth)
    }

    /// The requests with the truth about them, to which the phases are added. The trace begins at 0, and ends
    /// with the last request or in the quiet after it.
    pub fn made(mut self, random: &mut Random, truth: Truth) -> Made {
        let all = || self.writes.iter().chain(&self.reads);
        let early = all().map(|one| one.start).fold(0.0, f64::min);
        let last = all().map(|one| one.end).fold(0.0, f64::max);
        let quiet = self.next.map_or(0.0, |next| (next - last).max(0.0));
        let duration = last + random.pick(&[0.0, 0.0, 0.3, 0.9]) * quiet - early;
        for one in self.writes.iter_mut().chain(&mut self.reads) {
            one.start -= early;
            one.end -= early;
        }
        let moved = |times: Vec<f64>| times.into_iter().map(|time| time - early).collect();
        let truth = Truth {
            starts: moved(self.starts),
            ends: moved(self.ends),
            changes: moved(truth.changes),
            next: self.next.map(|next| next - early),
            ..truth
        };
        let (writes, reads) = (self.writes, self.reads);
        Made { recording: Recording::Requests { ranks: self.ranks, duration, writes, reads }, truth }
    }
}

impl Made {
    /// The same as a monitor sees it, in bins of `step` seconds: writes and reads together.
    pub(super) fn sampled(self, step: f64) -> Made {
        self.logged(step, |_, value| value)
    }

    /// The same as a monitor sees it, each value changed by what else the monitor sees or does.
    pub(super) fn logged(self, step: f64, mut value: impl FnMut(usize, f64) -> f64) -> Made {
        let recording = match self.recording {
            Recording::Requests { duration, mut writes, reads, .. } => {
                writes.extend(reads);
                let values = binned(&writes, step, duration);
                let values = values.into_iter().enumerate().map(|(i, one)| value(i, one).max(0.0)).collect();
                Recording::Samples { step, values, counter: false }
            }
            samples => samples,
        };
        Made { recording, ..self }
    }

    /// The same as bytes so far.
    pub(super) fn counted(self) -> Made {
        let recording = match self.recording {
            Recording::Samples { step, values, .. } => {
                let mut sum = 0.0;
                let mut so_far = |value: &f64| {
                    sum += value * step;
                    sum.round()
                };
                Recording::Samples { step, values: values.iter().map(&mut so_far).collect(), counter: true }
            }
            requests => requests,
        };
        Made { recording, ..self }
    }

    /// The same with its writes as reads and its reads as writes.
    pub(super) fn turned(mut self) -> Made {
        if let Recording::Requests { writes, reads, .. } = &mut self.recording {
            std::mem::swap(writes, reads);
        }
        self
    }

    /// The same where other periods are right as well.
    pub(super) fn also(mut self, periods: &[f64]) -> Made {
        self.truth.also.extend(periods);
        self
    }
}

fn push(list: &mut Vec<Write>, rank: u32, start: f64, length: f64, bytes: f64) {
    // Shorter than a microsecond no request is, and none lasts no time at all.
    let end = start + length.max(1e-6);
    list.push(Write { rank, start, end, bytes: bytes.max(1.0) as u64 });
}

/// The median distance of phases, if there are two or more.
pub(super) fn median_distance(starts: &[f64]) -> Option<f64> {
    let mut distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied()
}

/// Values around 0 of deviation 1 that remember those before over so many.
pub(super) fn memory(random: &mut Random, count: usize, over: f64) -> Vec<f64> {
    let keep = (-1.0 / over).exp();
    let mut value = random.normal();
    let next = |_| {
        value = keep * value + (1.0 - keep * keep).sqrt() * random.normal();
        value
    };
    (0..count).map(next).collect()
}
