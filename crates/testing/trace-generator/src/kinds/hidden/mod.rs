//! What hides a rhythm, and what looks like one: each kind models what a program, a file system or a monitor
//! does. Today's estimator was never fitted on them; the renewal estimator is.

mod epochs;
mod loads;
mod monitors;
mod phases;
mod regimes;
mod runs;
mod stages;
mod traffic;
mod two;
mod volumes;

use super::program::{Program, binned, samples};
use super::{Kind, Made};
use crate::generated::{Truth, mean_distance};
use crate::random::Random;
use crate::shape::Shape;

/// Families of them.
pub const FAMILIES: [(&str, &[Kind]); 10] = [
    ("hidden: in traffic", traffic::KINDS),
    ("hidden: by runs and strays", runs::KINDS),
    ("hidden: uneven volumes and lengths", volumes::KINDS),
    ("hidden: in the form of the phases", phases::KINDS),
    ("hidden: in epochs", epochs::KINDS),
    ("hidden: by change", regimes::KINDS),
    ("hidden: two at once", two::KINDS),
    ("hidden: by the monitor", monitors::KINDS),
    ("no period: stages and workers", stages::KINDS),
    ("no period: loads of servers", loads::KINDS),
];

/// A program with a rhythm over wider ranges than usual.
struct Job {
    program: Program,
    /// The share of the period that a usual phase takes.
    busy: f64,
    /// How many phases.
    count: usize,
}

impl Job {
    fn any(random: &mut Random) -> Self {
        let period = random.log_between(3.0, 300.0);
        let shape = random.pick(&[
            Shape::Ior,
            Shape::Rectangle,
            Shape::RampUp,
            Shape::RampDown,
            Shape::LongTail,
            Shape::Header,
            Shape::Aggregators,
            Shape::Strided,
            Shape::Cached,
        ]);
        let program = Program {
            period,
            shape,
            first: period * random.between(0.0, 1.5),
            jitter: random.between(0.0, 0.07),
            clocked: false,
            ..Program::any(random)
        };
        Job { program, busy: random.between(0.03, 0.35), count: random.whole(8, 45) }
    }

    fn period(&self) -> f64 {
        self.program.period
    }

    fn rate(&self) -> f64 {
        self.program.rate
    }

    /// The length of a usual phase.
    fn length(&self) -> f64 {
        self.busy * self.program.period
    }

    /// The bytes of a usual phase.
    fn volume(&self) -> f64 {
        self.program.rate * self.length()
    }

    /// Add a phase of that length in seconds, and so many times the usual volume.
    fn phase(&mut self, random: &mut Random, at: f64, length: f64, volume: f64) {
        let bytes = volume * self.volume();
        self.program.phase(random, at, length, bytes);
    }

    /// Add a usual phase with so many times the usual volume.
    fn usual(&mut self, random: &mut Random, at: f64, volume: f64) {
        self.phase(random, at, self.length(), volume);
    }

    /// Add one request of all ranks: length in seconds, volume in bytes.
    fn burst(&mut self, at: f64, length: f64, bytes: f64) {
        self.program.all_ranks(at, at + length, bytes);
    }

    /// Add something of any form.
    fn other(&mut self, random: &mut Random, at: f64, length: f64, bytes: f64) {
        let shape = random.pick(&Shape::ALL);
        self.program.shaped(random, shape, at, length, bytes);
    }

    /// A distance: the period with its jitter.
    fn distance(&self, random: &mut Random) -> f64 {
        self.program.period * (1.0 + self.program.jitter * random.normal()).max(0.2)
    }

    /// Usual phases from `time` on; their starts, and when the next one would be.
    fn rhythm(&mut self, random: &mut Random, mut time: f64, count: usize, spread: f64) -> (Vec<f64>, f64) {
        let mut starts = Vec::new();
        for _ in 0..count {
            let volume = random.factor(spread);
            self.usual(random, time, volume);
            starts.push(time);
            time += self.distance(random);
        }
        (starts, time)
    }

    /// The mean bandwidth in bins, with noise of that share of the mean, as a monitor shows it.
    fn monitored(&self, random: &mut Random, step: f64, until: f64, noise: f64, truth: Truth) -> Made {
        let mut values = binned(&self.program.writes, step, until);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter_mut().for_each(|value| *value += noise * mean * random.gamma(2.0));
        samples(step, values, Truth { starts: Vec::new(), ..truth })
    }
}

/// The mean distance of several runs of phases, without what lies between the runs.
fn within_runs(runs: &[Vec<f64>]) -> Option<f64> {
    let distances: Vec<f64> =
        runs.iter().flat_map(|run| run.windows(2).map(|pair| pair[1] - pair[0])).collect();
    (!distances.is_empty()).then(|| distances.iter().sum::<f64>() / distances.len() as f64)
}

/// Two rhythms at once, both wanted; the first moves more.
fn both(one: &[f64], other: &[f64]) -> Truth {
    let periods: Vec<f64> = [one, other].into_iter().filter_map(mean_distance).collect();
    Truth { period: periods.first().copied(), periods, starts: one.to_vec(), ..Truth::default() }
}

/// Values of deviation 1 that remember the one before by that share.
fn remembering(random: &mut Random, count: usize, share: f64) -> Vec<f64> {
    let mut value = random.normal();
    let next = |_| {
        let now = value;
        value = share * value + (1.0 - share * share).sqrt() * random.normal();
        now
    };
    (0..count).map(next).collect()
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// A series with a step by chance, not below 0.
fn series(random: &mut Random, values: &[f64], period: Option<f64>) -> Made {
    let step = random.log_between(0.1, 60.0);
    let truth = Truth { period: period.map(|samples| samples * step), ..Truth::default() };
    samples(step, values.iter().map(|value| 1e9 * value.max(0.0)).collect(), truth)
}

/// 1 for the given share of every period, from anywhere on.
fn pulses(random: &mut Random, count: usize, period: f64, share: f64) -> Vec<f64> {
    let phase = random.unit();
    (0..count).map(|i| if (i as f64 / period + phase).fract() < share { 1.0 } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Recording;

    #[test]
    fn kinds_are_sound() {
        for kind in FAMILIES.iter().flat_map(|(_, kinds)| kinds.iter()) {
            for seed in 0..6 {
                let name = format!("{} {seed}", kind.name);
                let made = kind.generate(seed);
                assert_eq!(made, kind.generate(seed), "{name}");
                let truth = &made.truth;
                let end = match &made.recording {
                    Recording::Requests { duration, writes, .. } => {
                        let is_sound = |one: &crate::generated::Write| {
                            one.start >= 0.0 && one.end > one.start && one.end <= duration + 1e-6
                        };
                        assert!(!writes.is_empty() && writes.iter().all(is_sound), "{name}");
                        *duration
                    }
                    Recording::Samples { step, values, .. } => {
                        assert!(*step > 0.0 && values.iter().all(|value| *value >= 0.0), "{name}");
                        step * values.len() as f64
                    }
                    Recording::Readings { times, values, .. } => {
                        assert!(times.len() == values.len() && values.iter().all(|value| *value >= 0.0));
                        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
                        times[times.len() - 1]
                    }
                };
                assert!(truth.starts.windows(2).all(|pair| pair[0] <= pair[1]), "{name}");
                assert!(truth.starts.iter().all(|start| (0.0..end).contains(start)), "{name}");
                let periods = truth.period.iter().chain(&truth.periods).chain(&truth.also);
                assert!(periods.clone().all(|period| *period > 0.0 && *period < end), "{name}: {truth:?}");
                let is_named = kind.what.starts_with("no period") || !truth.changes.is_empty();
                assert!(periods.count() > 0 || is_named || is_without(kind), "{name}: {truth:?}");
            }
        }
    }

    /// Kinds of families without a period, and of phases at random in the others.
    fn is_without(kind: &Kind) -> bool {
        let in_family = |(name, kinds): &(&str, &[Kind])| {
            name.starts_with("no period") && kinds.iter().any(|one| one.name == kind.name)
        };
        let alone = ["traffic_alone", "clients_alone", "irregular_and_far"];
        FAMILIES.iter().any(in_family) || alone.contains(&kind.name)
    }

    #[test]
    fn every_third_kind_is_sealed() {
        let (all, sealed) = crate::kinds::families()
            .flat_map(|(_, _, kinds)| kinds)
            .fold((0, 0), |(all, sealed), kind| (all + 1, sealed + usize::from(kind.is_sealed())));
        assert!((0.28..0.38).contains(&(f64::from(sealed as u32) / f64::from(all))), "{sealed} of {all}");
    }
}
