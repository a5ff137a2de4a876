//! How regular phases are, and whether chance alone could make them so.

use crate::phases::phase::Phase;
use crate::phases::thresholds::{FREE_VOLUME, LONGEST_FIRST, LONGEST_LAST, VOLUME_SCALE};
use crate::signal::statistics::variation;

/// How regular a list of phases is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Regularity {
    /// Number of phases.
    pub count: usize,
    /// Mean distance of their starts in seconds: (last − first)/(count − 1).
    pub period: f64,
    /// Coefficient of variation (σ/mean) of the distances.
    pub distances: f64,
    /// Coefficient of variation of the volumes.
    pub volumes: f64,
}

impl Regularity {
    /// Of at least two phases.
    pub fn of(phases: &[Phase]) -> Option<Self> {
        let count = phases.len();
        let (first, last) = (phases.first()?, phases.last()?);
        let distances: Vec<f64> = phases.windows(2).map(|pair| pair[1].start - pair[0].start).collect();
        let period = (last.start - first.start) / distances.len() as f64;
        if count < 2 || period <= 0.0 {
            return None;
        }
        let volumes = volume_variation(phases.iter().map(|phase| phase.volume).collect());
        Some(Regularity { count, period, distances: variation(&distances), volumes })
    }

    /// The same, distances having been known to `exactness` seconds.
    pub fn known_to(self, exactness: f64) -> Self {
        Regularity { distances: without_error(self.distances, exactness / self.period), ..self }
    }

    /// How uneven the phases are: the variation of their distances, more if their volumes vary as well.
    pub fn unevenness(&self) -> f64 {
        let excess = ((self.volumes - FREE_VOLUME) / VOLUME_SCALE).max(0.0);
        self.distances * (1.0 + excess * excess)
    }

    /// The unevenness as a share of what would be no evidence of a period: below 1 the phases are periodic.
    ///
    /// Phases that begin at random instants, independent of each other, have exponential distances.
    /// [`by_chance`] is the variation that only 3 % of such phases fall below.
    pub fn irregularity(&self) -> f64 {
        self.unevenness() / by_chance(self.count - 1)
    }
}

/// A spread without that of the errors with which it was measured. What is left is not known to be less than
/// half of these.
pub fn without_error(spread: f64, error: f64) -> f64 {
    (spread * spread - error * error).max(0.25 * error * error).sqrt().min(spread)
}

/// Coefficient of variation of the volumes of phases that should be alike: of few phases all, else without
/// the first, which is often longer, and the last, which may be cut off. But what is several times as large
/// as the others is several phases.
pub fn volume_variation(mut volumes: Vec<f64>) -> f64 {
    if volumes.len() < 5 {
        return variation(&volumes);
    }
    let mut sorted = volumes.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    if volumes.last().is_some_and(|last| *last <= LONGEST_LAST * median) {
        volumes.pop();
    }
    if volumes[0] <= LONGEST_FIRST * median {
        volumes.remove(0);
    }
    variation(&volumes)
}

/// The coefficient of variation that 3 % of `count` exponential distances fall below.
///
/// With G = Σd²/(Σd)², the statistic of Greenwood (Journal of the Royal Statistical Society 109, 1946), it is
/// √(count·G − 1). For two distances it is even between 0 and 1; the others are from 20 000 simulations each.
pub fn by_chance(count: usize) -> f64 {
    const QUANTILES: [(f64, f64); 15] = [
        (1.0, 0.0),
        (2.0, 0.030),
        (3.0, 0.154),
        (4.0, 0.272),
        (5.0, 0.346),
        (6.0, 0.398),
        (8.0, 0.472),
        (10.0, 0.520),
        (12.0, 0.560),
        (15.0, 0.600),
        (19.0, 0.640),
        (25.0, 0.678),
        (40.0, 0.740),
        (60.0, 0.783),
        (100.0, 0.828),
    ];
    let count = count as f64;
    // Beyond the table it approaches 1 like 1/√count.
    let last = QUANTILES[QUANTILES.len() - 1];
    if count >= last.0 {
        return 1.0 - (1.0 - last.1) * (last.0 / count).sqrt();
    }
    let above = QUANTILES.iter().position(|(n, _)| *n >= count).unwrap_or(0).max(1);
    let (low, high) = (QUANTILES[above - 1], QUANTILES[above]);
    low.1 + (high.1 - low.1) * ((count - low.0) / (high.0 - low.0)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeded_random::Random;

    #[test]
    fn three_per_cent_of_random_phases_look_regular() {
        let mut random = Random::new(5);
        for count in [2, 3, 5, 10, 19, 33, 80, 200] {
            let mut regular = 0;
            for _ in 0..3000 {
                let distances: Vec<f64> = (0..count).map(|_| -(1.0 - random.unit()).ln()).collect();
                regular += usize::from(variation(&distances) < by_chance(count));
            }
            assert!((40..150).contains(&regular), "{count}: {regular} of 3000");
        }
    }

    #[test]
    fn what_a_list_of_phases_is_like() {
        let phase = |start: f64, volume: f64| Phase { start, end: start + 1.0, volume };
        let even: Vec<Phase> = (0..10).map(|i| phase(7.0 * f64::from(i), 5.0)).collect();
        let found = Regularity::of(&even).unwrap();
        assert!((found.period - 7.0).abs() < 1e-12 && found.distances < 1e-12 && found.volumes < 1e-12);
        assert!(found.irregularity() < 1e-9);
        let uneven = [phase(0.0, 1.0), phase(1.0, 5.0), phase(10.0, 2.0), phase(12.0, 9.0)];
        assert!(Regularity::of(&uneven).unwrap().irregularity() > 2.0);
        assert_eq!(Regularity::of(&even[..1]), None);
        assert_eq!(Regularity::of(&[]), None);
    }
}
