//! An application that computes and writes, J times (paper, III-A).
//!
//! Each iteration has a computing time t_cpu from a normal distribution cut at 0, then an I/O phase: a
//! [shape](crate::shape) for P ranks, in which each rank but rank 0 is late by δ_k, exponential with mean φ.
//! The next iteration begins when all ranks are done. Before the first and after the last iteration the job
//! idles. Other traffic may be added: noise of one process that writes for 2.2 s again and again, with
//! pauses.

use crate::generated::{Generated, Truth, Write, busy_share};
use crate::random::Random;
use crate::shape::Shape;
use serde::Serialize;

/// Other traffic in the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// None.
    #[default]
    None,
    /// Bursts of about 500 MB/s.
    Low,
    /// Bursts of about 1 GB/s.
    High,
}

/// What to generate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Application {
    /// P.
    pub ranks: u32,
    /// J.
    pub iterations: usize,
    /// μ of t_cpu, in seconds.
    pub compute: f64,
    /// σ/μ of t_cpu.
    pub jitter: f64,
    /// φ in seconds.
    pub desync: f64,
    /// Other traffic.
    pub noise: Noise,
    /// The form of the phases; `None`: one of them by chance.
    pub shape: Option<Shape>,
    /// Mean length of a phase without delays, in seconds.
    pub phase: f64,
    /// How much the volume of the phases differs: the deviation of its logarithm.
    pub volume_spread: f64,
    /// How many times as long as the others the first phase is.
    pub first_phase: f64,
    /// Before the first and after the last iteration the job idles for up to this many seconds.
    pub idle: f64,
}

impl Default for Application {
    /// The paper's setting without any disturbance: P = 32, J = 20, t_cpu = 11 s, phases of 10.4 s.
    fn default() -> Self {
        Application {
            ranks: 32,
            iterations: 20,
            compute: 11.0,
            jitter: 0.0,
            desync: 0.0,
            noise: Noise::None,
            shape: None,
            phase: 10.4,
            volume_spread: 0.0,
            first_phase: 1.0,
            idle: 30.0,
        }
    }
}

impl Application {
    /// The paper's own setting: phases as IOR writes them, no idle time at the edges.
    pub fn of_the_paper() -> Self {
        Application { shape: Some(Shape::Ior), idle: 0.0, ..Application::default() }
    }
}

/// Bytes of a phase: 32 ranks, 3.5 GB each.
const VOLUME: f64 = 112e9;

impl Application {
    /// Make up a trace.
    pub fn generate(&self, seed: u64) -> Generated {
        let random = &mut Random::new(seed);
        // Four ranks that are late by more than they write leave no phase to speak of.
        let choice = if self.desync > 0.0 { &Shape::BY_ALL_RANKS[..] } else { &Shape::ALL[..] };
        let shape = self.shape.unwrap_or(choice[random.below(choice.len())]);
        let mut time = random.between(0.0, self.idle);
        let (mut writes, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for iteration in 0..self.iterations {
            time += if self.jitter > 0.0 {
                random.positive_normal(self.compute, self.jitter * self.compute)
            } else {
                self.compute
            };
            starts.push(time);
            let longer = if iteration == 0 { self.first_phase } else { 1.0 };
            // The recordings of the paper are 10.22 to 13.34 s long, 10.4 s on average.
            let length = self.phase * (0.983 + random.exponential(0.017).min(0.3)) * longer;
            let volume = VOLUME * random.factor(self.volume_spread);
            let mut phase = shape.phase(self.ranks, length, volume, random);
            let delays: Vec<f64> = (0..self.ranks)
                .map(
                    |rank| {
                        if rank == 0 || self.desync == 0.0 { 0.0 } else { random.exponential(self.desync) }
                    },
                )
                .collect();
            for write in &mut phase {
                let delay = time + delays[write.rank as usize];
                write.start += delay;
                write.end += delay;
            }
            time = phase.iter().map(|write| write.end).fold(time, f64::max);
            ends.push(time);
            writes.extend(phase);
        }
        let duration = time + random.between(0.0, self.idle);
        add_noise(&mut writes, self.noise, duration, random);
        let count = (self.iterations.max(2) - 1) as f64;
        let truth = Truth {
            kind: "application".into(),
            period: starts.last().zip(starts.first()).map(|(last, first)| (last - first) / count),
            r_io: starts.first().zip(ends.last()).map(|(&first, &last)| busy_share(&writes, (first, last))),
            starts,
            ends,
            ..Truth::default()
        };
        Generated { ranks: self.ranks, duration, writes, truth }
    }
}

/// Sequences of ten bursts of one process, about 2.2 s from one to the next.
fn add_noise(writes: &mut Vec<Write>, noise: Noise, duration: f64, random: &mut Random) {
    let bandwidth = match noise {
        Noise::None => return,
        Noise::Low => 0.5e9,
        Noise::High => 1e9,
    };
    let mut time = 0.0;
    while time < duration {
        let busy = random.between(0.55, 0.95);
        for _ in 0..10 {
            let pitch = 2.2 * random.factor(0.1);
            let end = (time + busy * pitch).min(duration);
            let rate = bandwidth * random.factor(0.1);
            if end > time {
                writes.push(Write { rank: 0, start: time, end, bytes: (rate * (end - time)) as u64 });
            }
            time += pitch;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_trace() {
        let application =
            Application { desync: 5.0, jitter: 0.5, noise: Noise::High, ..Application::default() };
        assert_eq!(application.generate(1), application.generate(1));
        assert_ne!(application.generate(1), application.generate(2));
    }

    #[test]
    fn the_truth_is_in_the_writes() {
        for seed in 0..20 {
            let found = Application::default().generate(seed);
            let first = found.writes.iter().map(|write| write.start).fold(f64::INFINITY, f64::min);
            assert!((found.truth.starts[0] - first).abs() < 1e-9);
            let period = found.truth.period.unwrap();
            assert!((21.2..21.9).contains(&period), "{period}");
            assert!(found.truth.ends[19] <= found.duration);
            assert!(found.writes.iter().all(|write| write.end <= found.duration && write.rank < 32));
        }
    }

    #[test]
    fn late_ranks_make_long_phases() {
        let found = Application { desync: 22.0, ..Application::default() }.generate(1);
        let length = (found.truth.ends[0] - found.truth.starts[0]) / 10.4;
        assert!(length > 4.0, "{length}");
    }
}
