//! Signals without a single period.

use crate::generated::{Generated, Truth, Write, busy_share};
use crate::random::Random;
use crate::shape::Shape;
use serde::Serialize;

/// A kind of signal without a single period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Irregular {
    /// The same bandwidth all the time, by many requests.
    Constant,
    /// An independent random bandwidth in every interval.
    White,
    /// Bursts whose distances are exponential.
    Poisson,
    /// One burst.
    OneBurst,
    /// Two bursts.
    TwoBursts,
    /// A bandwidth that goes up or down at random.
    RandomWalk,
    /// Two applications in one: bursts of two periods that do not divide each other.
    Interleaved,
    /// One period in the first half, another one in the second.
    Changing,
}

impl Irregular {
    /// Those without any period.
    pub const NOT_PERIODIC: [Irregular; 6] = [
        Irregular::Constant,
        Irregular::White,
        Irregular::Poisson,
        Irregular::OneBurst,
        Irregular::TwoBursts,
        Irregular::RandomWalk,
    ];

    /// Those with two periods.
    pub const TWO_PERIODS: [Irregular; 2] = [Irregular::Interleaved, Irregular::Changing];

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Irregular::Constant => "constant",
            Irregular::White => "white",
            Irregular::Poisson => "poisson",
            Irregular::OneBurst => "one_burst",
            Irregular::TwoBursts => "two_bursts",
            Irregular::RandomWalk => "random_walk",
            Irregular::Interleaved => "interleaved",
            Irregular::Changing => "changing",
        }
    }

    /// Make up a trace of some minutes.
    pub fn generate(self, seed: u64) -> Generated {
        let random = &mut Random::new(seed ^ 0x1dea);
        let ranks = [1, 4, 32][random.below(3)];
        let mut made = Made { ranks, duration: random.between(300.0, 900.0), writes: Vec::new() };
        let mut truth = Truth { kind: self.name().into(), ..Truth::default() };
        match self {
            Irregular::Constant => made.constant(random),
            Irregular::White => made.white(random),
            Irregular::Poisson => made.poisson(random),
            Irregular::OneBurst => made.bursts(1, random),
            Irregular::TwoBursts => made.bursts(2, random),
            Irregular::RandomWalk => made.random_walk(random),
            Irregular::Interleaved => truth.periods = made.interleaved(random),
            Irregular::Changing => (truth.periods, truth.changes) = made.changing(random),
        }
        truth.r_io = Some(busy_share(&made.writes, (0.0, made.duration)));
        Generated { ranks, duration: made.duration, writes: made.writes, truth }
    }
}

struct Made {
    ranks: u32,
    duration: f64,
    writes: Vec<Write>,
}

impl Made {
    /// Every rank writes `bandwidth` of all ranks together from `start` to `end`.
    fn all_write(&mut self, start: f64, end: f64, bandwidth: f64) {
        let bytes = (bandwidth * (end - start) / f64::from(self.ranks)) as u64;
        if bytes > 0 && end > start {
            self.writes.extend((0..self.ranks).map(|rank| Write { rank, start, end, bytes }));
        }
    }

    fn burst(&mut self, start: f64, length: f64, bandwidth: f64, random: &mut Random) {
        let shape = Shape::ALL[random.below(Shape::ALL.len())];
        let mut phase = shape.phase(self.ranks, length, bandwidth * length, random);
        for write in &mut phase {
            write.start += start;
            write.end += start;
        }
        self.writes.extend(phase);
    }

    fn constant(&mut self, random: &mut Random) {
        let duration = self.duration;
        let spread = random.between(0.0, 0.1);
        for rank in 0..self.ranks {
            let length = random.between(0.2, 3.0);
            let mut time = 0.0;
            while time < duration {
                let end = (time + length * random.factor(spread)).min(duration);
                let bytes = (1e8 * (end - time)) as u64;
                self.writes.push(Write { rank, start: time, end, bytes });
                time = end;
            }
        }
    }

    fn white(&mut self, random: &mut Random) {
        let step = [0.1, 0.5, 1.0, 1.0, 2.0][random.below(5)];
        let form = random.below(3);
        for i in 0..(self.duration / step) as usize {
            let level = match form {
                0 => random.unit(),
                1 => random.normal().abs(),
                _ => random.exponential(1.0),
            };
            self.all_write(i as f64 * step, (i + 1) as f64 * step, 1e9 * level);
        }
    }

    fn poisson(&mut self, random: &mut Random) {
        let mean = random.between(10.0, 40.0);
        let length = mean * random.between(0.02, 0.3);
        let spread = [0.0, 0.3, 0.8][random.below(3)];
        let mut time = random.exponential(mean);
        while time < self.duration {
            let long = length * random.factor(spread);
            let bandwidth = 1e10 * random.factor(spread);
            self.burst(time, long, bandwidth, random);
            time += random.exponential(mean);
        }
        self.duration = self.writes.iter().map(|write| write.end).fold(self.duration, f64::max);
    }

    fn bursts(&mut self, count: usize, random: &mut Random) {
        for i in 0..count {
            let slot = self.duration / count as f64;
            let length = slot * random.between(0.01, 0.3);
            let start = i as f64 * slot + random.between(0.0, slot - length);
            self.burst(start, length, 1e10 * random.factor(0.3), random);
        }
    }

    fn random_walk(&mut self, random: &mut Random) {
        let step = random.between(0.2, 1.0);
        let mut level: f64 = 10.0;
        for i in 0..(self.duration / step) as usize {
            level = (level + random.normal()).abs();
            self.all_write(i as f64 * step, (i + 1) as f64 * step, 1e9 * level);
        }
    }

    fn interleaved(&mut self, random: &mut Random) -> Vec<f64> {
        let short = random.between(15.0, 30.0);
        let long = short * random.between(1.6, 3.6);
        self.duration = long * random.between(12.0, 20.0);
        for (period, share) in [(short, random.between(0.05, 0.15)), (long, random.between(0.05, 0.12))] {
            let bandwidth = 1e10 * random.between(0.5, 1.0);
            let mut time = random.between(0.0, period);
            while time + share * period < self.duration {
                self.burst(time, share * period, bandwidth, random);
                time += period * (1.0 + 0.01 * random.normal());
            }
        }
        vec![short, long]
    }

    fn changing(&mut self, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
        let first = random.between(15.0, 30.0);
        let ratio = random.between(1.4, 3.0);
        let second = if random.unit() < 0.5 { first * ratio } else { first / ratio };
        let share = random.between(0.1, 0.3);
        let length = share * first.min(second);
        let mut time = random.between(0.0, first);
        for period in [first, second] {
            for _ in 0..12 {
                self.burst(time, length, 1e10, random);
                time += period * (1.0 + 0.02 * random.normal());
            }
        }
        self.duration = time;
        (vec![first, second], vec![0.0, 12.0 * first])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_sound() {
        for kind in Irregular::NOT_PERIODIC.into_iter().chain(Irregular::TWO_PERIODS) {
            for seed in 0..5 {
                let found = kind.generate(seed);
                assert_eq!(found, kind.generate(seed));
                assert!(!found.writes.is_empty() && found.truth.period.is_none(), "{kind:?}");
                let inside = |write: &Write| write.start >= 0.0 && write.end <= found.duration + 1e-6;
                assert!(found.writes.iter().all(inside), "{kind:?} {seed}");
            }
        }
    }
}
