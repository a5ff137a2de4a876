//! Phases of several kinds in turn: a large and a small one, training and evaluation, a short distance and a
//! long one.
//!
//! If volumes, lengths or distances of the phases at the same place of a cycle of two, three or four are much
//! more alike than those of all phases, the cycle is what recurs: its phases are one. The gain is the
//! log-likelihood of a place for each instead of one for all, less half a logarithm for each parameter (BIC).

use crate::phases::phase::Phase;
use crate::phases::thresholds::{MAX_CYCLE, PATTERN_FLOOR, PATTERN_GAIN};
use crate::signal::statistics::upper_median;

/// A cycle of phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pattern {
    /// Phases in a cycle.
    pub length: usize,
    /// The first phase of the list that begins a cycle.
    pub first: usize,
    /// What is gained by taking it as a cycle, in nats for each phase.
    pub gain: f64,
}

/// The clearest cycle of a list of phases, if there is one. Starts and ends are known to `exactness` seconds:
/// coarse samples fall in and out of step with phases, which looks like a pattern.
pub fn pattern(phases: &[Phase], exactness: f64) -> Option<Pattern> {
    if phases.len() < 6 {
        return None;
    }
    let span = phases[phases.len() - 1].start - phases[0].start;
    let mean = span / (phases.len() - 1) as f64;
    let logarithm = |value: f64| value.max(1e-300).ln();
    let volumes: Vec<f64> = phases.iter().map(|phase| logarithm(phase.volume)).collect();
    let lengths: Vec<f64> = phases.iter().map(|phase| logarithm(phase.end - phase.start)).collect();
    let distances: Vec<f64> = phases.windows(2).map(|pair| (pair[1].start - pair[0].start) / mean).collect();
    let longest = MAX_CYCLE.min(phases.len() / 3);
    let usual = upper_median(phases.iter().map(|phase| phase.end - phase.start));
    if 4.0 * exactness > mean {
        return None;
    }
    let floors = [0.0, 2.0 * exactness / usual.max(exactness), 2.0 * exactness / mean]
        .map(|floor| floor.max(PATTERN_FLOOR));
    let gain = |length: usize| {
        [&volumes, &lengths, &distances]
            .iter()
            .zip(floors)
            .map(|(marks, floor)| gain_of(marks, length, floor))
            .sum::<f64>()
    };
    let best = (2..=longest).map(|length| (length, gain(length))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (length, gain) = best;
    if gain < PATTERN_GAIN {
        return None;
    }
    let first = (0..length).max_by(|&a, &b| {
        let by_gap = place_mean(&distances, length, a + length - 1).total_cmp(&place_mean(
            &distances,
            length,
            b + length - 1,
        ));
        let gap = |place: usize| place_mean(&distances, length, place + length - 1);
        let same = (gap(a) - gap(b)).abs() < PATTERN_FLOOR;
        let by_volume = place_mean(&volumes, length, a).total_cmp(&place_mean(&volumes, length, b));
        if same { by_volume } else { by_gap }
    })?;
    Some(Pattern { length, first, gain: gain / phases.len() as f64 })
}

/// The mean of the marks at one place of the cycle.
fn place_mean(marks: &[f64], length: usize, place: usize) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for mark in marks.iter().skip(place % length).step_by(length) {
        sum += mark;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

fn gain_of(marks: &[f64], length: usize, floor: f64) -> f64 {
    let n = marks.len() as f64;
    let mean = marks.iter().sum::<f64>() / n;
    let all = marks.iter().map(|mark| (mark - mean).powi(2)).sum::<f64>() / n;
    let means: Vec<f64> = (0..length).map(|place| place_mean(marks, length, place)).collect();
    let inside = marks.iter().enumerate().map(|(i, mark)| (mark - means[i % length]).powi(2)).sum::<f64>()
        / (n - length as f64).max(1.0);
    let floor = floor * floor;
    0.5 * n * (all.max(floor) / inside.max(floor)).ln() - 0.5 * (length - 1) as f64 * n.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeded_random::Random;

    #[test]
    fn large_and_small_in_turn() {
        let phase = |i: usize| Phase {
            start: 5.0 * i as f64,
            end: 5.0 * i as f64 + 1.0,
            volume: if i % 2 == 1 { 2.0 } else { 1.0 },
        };
        let found = pattern(&(0..12).map(phase).collect::<Vec<_>>(), 0.0).unwrap();
        assert_eq!((found.length, found.first), (2, 1));
    }

    #[test]
    fn volumes_by_chance_have_no_pattern() {
        let mut random = Random::new(4);
        let found = (0..300).filter(|_| {
            let phase = |i: usize| Phase {
                start: 5.0 * i as f64 + random.unit(),
                end: 5.0 * i as f64 + 2.0,
                volume: 1.0 + random.unit(),
            };
            pattern(&(0..12).map(phase).collect::<Vec<_>>(), 0.0).is_some()
        });
        assert!(found.count() <= 9);
    }
}
