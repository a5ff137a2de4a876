//! What one I/O phase looks like: the writes of every rank, from the start of the phase on.

use crate::generated::Write;
use crate::random::Random;

/// The form of the phases of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Every rank writes all the time, in requests of nearly equal length, as IOR does.
    Ior,
    /// One request per rank, all of the same length.
    Rectangle,
    /// The bandwidth grows from a fifth of its mean on.
    RampUp,
    /// The bandwidth falls to a fifth of its mean.
    RampDown,
    /// Two to five bursts with short pauses in between.
    SubBursts,
    /// Most ranks are done early, some need all the time.
    LongTail,
    /// Rank 0 writes a small header, then all ranks their data.
    Header,
    /// A few ranks write for all.
    Aggregators,
    /// Requests with pauses of their own length, every rank at its own pace.
    Strided,
    /// Most of the bytes in a short peak at the beginning, the rest slowly.
    Cached,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 10] = [
        Shape::Ior,
        Shape::Rectangle,
        Shape::RampUp,
        Shape::RampDown,
        Shape::SubBursts,
        Shape::LongTail,
        Shape::Header,
        Shape::Aggregators,
        Shape::Strided,
        Shape::Cached,
    ];

    /// Those in which all ranks write.
    pub const BY_ALL_RANKS: [Shape; 9] = [
        Shape::Ior,
        Shape::Rectangle,
        Shape::RampUp,
        Shape::RampDown,
        Shape::SubBursts,
        Shape::LongTail,
        Shape::Header,
        Shape::Strided,
        Shape::Cached,
    ];

    /// The writes of all ranks, `volume` bytes in `length` seconds, starting at 0. Rank 0 starts first.
    pub fn phase(self, ranks: u32, length: f64, volume: f64, random: &mut Random) -> Vec<Write> {
        let mut out = Vec::new();
        let share = volume / f64::from(ranks);
        let bursts = 2 + random.below(4);
        let tail = 1 + random.below(3) as u32;
        let writers = (ranks / 8).max(1);
        let gap = random.between(0.03, 0.1) * length;
        for rank in 0..ranks {
            // All ranks but one or two end a little early.
            let end = if rank <= 1 { length } else { length * random.between(0.97, 1.0) };
            match self {
                Shape::Ior => steady(&mut out, rank, 0.0, end, share, 12, 0.2, random),
                Shape::Rectangle => steady(&mut out, rank, 0.0, length, share, 1, 0.0, random),
                Shape::RampUp => ramp(&mut out, rank, end, share, 0.2, 1.8),
                Shape::RampDown => ramp(&mut out, rank, end, share, 1.8, 0.2),
                Shape::SubBursts => {
                    let pitch = (length * 1.0) / (bursts as f64 - 0.25);
                    for burst in 0..bursts {
                        let from = burst as f64 * pitch;
                        let to = (from + 0.75 * pitch * random.between(0.97, 1.0)).min(length);
                        steady(&mut out, rank, from, to, share / bursts as f64, 3, 0.2, random);
                    }
                }
                Shape::LongTail => {
                    let slow = rank == 0 || rank >= ranks.saturating_sub(tail);
                    let end = if slow { end } else { length * random.between(0.5, 0.65) };
                    steady(&mut out, rank, 0.0, end, share, 8, 0.2, random);
                }
                Shape::Header => {
                    if rank == 0 {
                        let bytes = (volume * 1e-4).clamp(1.0, 4096.0) as u64;
                        out.push(Write { rank, start: 0.0, end: 0.01 * length, bytes });
                    }
                    steady(&mut out, rank, gap, end, share, 8, 0.2, random);
                }
                Shape::Aggregators => {
                    if rank < writers {
                        steady(&mut out, rank, 0.0, end, volume / f64::from(writers), 40, 0.3, random);
                    }
                }
                Shape::Strided => strided(&mut out, rank, end, share, random),
                Shape::Cached => {
                    steady(&mut out, rank, 0.0, 0.2 * length, 0.7 * share, 3, 0.1, random);
                    steady(&mut out, rank, 0.2 * length, end, 0.3 * share, 8, 0.2, random);
                }
            }
        }
        out
    }
}

/// Back to back requests of equal size, whose lengths vary.
#[allow(clippy::too_many_arguments, reason = "one line each in the table of shapes")]
fn steady(
    out: &mut Vec<Write>,
    rank: u32,
    from: f64,
    to: f64,
    bytes: f64,
    count: usize,
    spread: f64,
    random: &mut Random,
) {
    let lengths: Vec<f64> = (0..count).map(|_| random.factor(spread)).collect();
    let scale = (to - from) / lengths.iter().sum::<f64>();
    let mut time = from;
    for length in lengths {
        out.push(Write {
            rank,
            start: time,
            end: time + length * scale,
            bytes: (bytes / count as f64) as u64,
        });
        time += length * scale;
    }
}

/// Requests of equal length, whose sizes grow or shrink evenly.
fn ramp(out: &mut Vec<Write>, rank: u32, length: f64, bytes: f64, first: f64, last: f64) {
    const STEPS: usize = 16;
    for i in 0..STEPS {
        let weight = first + (last - first) * (i as f64 + 0.5) / STEPS as f64;
        let (start, end) = (length * i as f64 / STEPS as f64, length * (i + 1) as f64 / STEPS as f64);
        out.push(Write { rank, start, end, bytes: (bytes * weight / STEPS as f64) as u64 });
    }
}

fn strided(out: &mut Vec<Write>, rank: u32, length: f64, bytes: f64, random: &mut Random) {
    let count = 6 + random.below(6);
    let pitch = length / (count as f64 - 0.5);
    for i in 0..count {
        let late = if i == 0 { 0.0 } else { random.between(-0.2, 0.2) * pitch };
        let start = i as f64 * pitch + late.min(0.0);
        out.push(Write {
            rank,
            start,
            end: (start + 0.5 * pitch).min(length),
            bytes: (bytes / count as f64) as u64,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_fills_its_phase() {
        let mut random = Random::new(3);
        for shape in Shape::ALL {
            let phase = shape.phase(32, 10.0, 1e9, &mut random);
            let first = phase.iter().map(|write| write.start).fold(f64::INFINITY, f64::min);
            let last = phase.iter().map(|write| write.end).fold(0.0, f64::max);
            let bytes: u64 = phase.iter().map(|write| write.bytes).sum();
            assert!(first == 0.0 && (last - 10.0).abs() < 0.05, "{shape:?}: {first} to {last}");
            assert!((bytes as f64 / 1e9 - 1.0).abs() < 1e-3, "{shape:?}: {bytes}");
            assert!(phase.iter().all(|write| write.end > write.start), "{shape:?}");
            assert!(phase.iter().any(|write| write.rank == 0 && write.start == 0.0), "{shape:?}");
        }
    }
}
