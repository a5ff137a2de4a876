//! A period that changes on the way: the phases before some instant have one distance, those after it another.

use crate::phases::phase::Phase;
use crate::phases::regularity::variation;

/// Distances on each side of the change.
const MIN_DISTANCES: usize = 3;

/// How much longer the one distance must be than the other.
const MIN_RATIO: f64 = 1.2;

/// How even the distances on each side must be.
const EVEN: f64 = 0.15;

/// Where the period changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The phase from which on the second period holds.
    pub at: usize,
    /// Mean distance of phase starts before and after.
    pub periods: [f64; 2],
}

/// The change of the period, if there is exactly one that makes both parts much more even than the whole.
pub fn change(phases: &[Phase]) -> Option<Change> {
    let distances: Vec<f64> = phases.windows(2).map(|pair| pair[1].start - pair[0].start).collect();
    let n = distances.len();
    if n < 2 * MIN_DISTANCES {
        return None;
    }
    let spread = |part: &[f64]| variation(part).powi(2) * part.len() as f64;
    let splits = MIN_DISTANCES..=n - MIN_DISTANCES;
    let both = |at: &usize| spread(&distances[..*at]) + spread(&distances[*at..]);
    let at = splits.min_by(|a, b| both(a).total_cmp(&both(b)))?;
    let (before, after) = distances.split_at(at);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let periods = [mean(before), mean(after)];
    let ratio = periods[0].max(periods[1]) / periods[0].min(periods[1]);
    let inside = (both(&at) / n as f64).sqrt();
    let even = variation(before).max(variation(after)) <= EVEN;
    let clear = variation(&distances) >= 2.0 * inside && ratio - 1.0 >= 3.0 * inside;
    (even && clear && ratio >= MIN_RATIO).then_some(Change { at, periods })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeded_random::Random;

    fn at(distances: impl Iterator<Item = f64>) -> Vec<Phase> {
        let mut start = 0.0;
        let mut out = vec![Phase { start, end: 1.0, volume: 1.0 }];
        for distance in distances {
            start += distance;
            out.push(Phase { start, end: start + 1.0, volume: 1.0 });
        }
        out
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let list = at((0..20).map(|i| if i < 12 { 10.0 + 0.1 * f64::from(i % 3) } else { 15.0 }));
        let found = change(&list).unwrap();
        assert_eq!(found.at, 12);
        assert!((found.periods[0] - 10.1).abs() < 1e-9 && (found.periods[1] - 15.0).abs() < 1e-9);
    }

    #[test]
    fn jitter_is_no_change() {
        let mut random = Random::new(3);
        for spread in [0.0, 0.1, 0.3, 1.0, 1.9] {
            for _ in 0..50 {
                let list = at((0..20).map(|_| 10.0 * (1.0 + spread * (random.unit() - 0.5))));
                assert_eq!(change(&list), None, "{spread}");
            }
        }
    }
}
