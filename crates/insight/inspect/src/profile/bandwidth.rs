//! From the bandwidths of ranks to that of the application, and their averages.

use sources::time::PER_SECOND;

/// A bandwidth that held for some time; nanoseconds and bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// From.
    pub start: i64,
    /// To.
    pub end: i64,
    /// Bytes per second.
    pub bandwidth: f64,
}

/// How fast a series was, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Highest bandwidth of the application at any moment, from the bandwidths of individual requests.
    pub exact: f64,
    /// The same from the average bandwidths of phases.
    pub average: f64,
    /// The same from the bandwidths of phases whose requests are added up.
    pub sum: f64,
    /// Over the phases of all ranks.
    pub per_rank: Statistics,
}

/// Averages over phases; those that moved no byte do not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The slowest phase.
    pub min: f64,
    /// The fastest phase.
    pub max: f64,
    /// Half of the phases are slower.
    pub median: f64,
    /// Bytes of all over the time they would take one after the other.
    pub weighted_harmonic_mean: f64,
    /// The same with phases of equal weight.
    pub harmonic_mean: f64,
    /// Sum over number.
    pub arithmetic_mean: f64,
}

/// Bytes per second; no duration is shorter than one nanosecond, the resolution of a trace.
pub fn rate(bytes: u64, start: i64, end: i64) -> f64 {
    bytes as f64 * PER_SECOND / end.saturating_sub(start).max(1) as f64
}

/// The highest sum of bandwidths at any moment. Stretches that only touch do not overlap.
pub fn peak(stretches: impl Iterator<Item = Stretch>) -> f64 {
    let mut events: Vec<(i64, f64)> = Vec::new();
    for stretch in stretches {
        let end = stretch.end.max(stretch.start.saturating_add(1));
        events.extend([(stretch.start, stretch.bandwidth), (end, -stretch.bandwidth)]);
    }
    // What ends comes before what begins at the same time.
    events.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut now = 0.0;
    events.iter().fold(0.0, |highest: f64, (_, change)| {
        now += change;
        highest.max(now)
    })
}

/// Averages of bandwidths with their bytes; `None` if there are none.
pub fn statistics(mut phases: Vec<(f64, u64)>) -> Option<Statistics> {
    phases.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (first, last) = (phases.first()?.0, phases.last()?.0);
    let n = phases.len();
    let bytes: f64 = phases.iter().map(|(_, bytes)| *bytes as f64).sum();
    let mean = |of: fn(&(f64, u64)) -> f64| phases.iter().map(of).sum::<f64>() / n as f64;
    Some(Statistics {
        min: first,
        max: last,
        median: (phases[(n - 1) / 2].0 + phases[n / 2].0) / 2.0,
        weighted_harmonic_mean: bytes / phases.iter().map(|(b, bytes)| *bytes as f64 / b).sum::<f64>(),
        harmonic_mean: 1.0 / mean(|(b, _)| 1.0 / b),
        arithmetic_mean: mean(|(b, _)| *b),
    })
}
