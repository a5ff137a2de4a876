//! What was made up: writes, and the truth about them.

use serde::Serialize;

/// One write of one rank, in seconds of job time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Write {
    /// The rank.
    pub rank: u32,
    /// When it begins.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// How much it writes.
    pub bytes: u64,
}

/// A trace with its truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// Number of ranks.
    pub ranks: u32,
    /// Length of the job in seconds; it begins at 0.
    pub duration: f64,
    /// All writes, in no particular order.
    pub writes: Vec<Write>,
    /// What a detector should find.
    pub truth: Truth,
}

/// What a detector should find.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Truth {
    /// What was generated, in a word.
    pub kind: String,
    /// The distance at which phases recur: without missing phases the mean distance of their starts, (s_J −
    /// s_1)/(J − 1); none if the signal has no single period.
    pub period: Option<f64>,
    /// All periods, if there are several.
    pub periods: Vec<f64>,
    /// Other periods that are right as well: what may be called a rhythm, but need not be.
    pub also: Vec<f64>,
    /// Is "no period" right as well?
    pub or_none: bool,
    /// When which of them begins to hold, if they follow one another.
    pub changes: Vec<f64>,
    /// Start of each phase.
    pub starts: Vec<f64>,
    /// End of each phase.
    pub ends: Vec<f64>,
    /// Start of the phase that would come next if the trace went on, where that is known.
    pub next: Option<f64>,
    /// Share of the time, from the first phase to the last, in which the bandwidth of the application exceeds
    /// its mean (paper, II-C b), from the exact step function of all writes.
    pub r_io: Option<f64>,
}

/// Where distances vary by this much of their mean, it is a matter of taste whether equal phases have a
/// period: a program whose computing times vary and tasks of random lengths look the same.
const MATTER_OF_TASTE: std::ops::Range<f64> = 0.4..0.6;

/// Fewer phases than this come at even distances by chance; such ones vary by less than this.
const FEW: usize = 8;
const FEW_EVEN: f64 = 0.15;

impl Truth {
    /// Equal phases at random: there is no period. If the distances happen to vary little, their mean is
    /// right as well.
    pub fn at_random(starts: Vec<f64>) -> Self {
        let limit = if starts.len() < FEW { FEW_EVEN } else { MATTER_OF_TASTE.end };
        let even = variation(&starts).is_some_and(|variation| variation < limit);
        let also = if even { mean_distance(&starts).into_iter().collect() } else { Vec::new() };
        Truth { also, starts, ..Truth::default() }
    }

    /// Equal phases whose distances vary: the period is their mean. If they vary much, or if a few vary at
    /// all, "no period" is right as well.
    pub fn loose(self) -> Self {
        let limit = if self.starts.len() < FEW { FEW_EVEN } else { MATTER_OF_TASTE.start };
        let or_none = variation(&self.starts).is_some_and(|variation| variation > limit);
        Truth { or_none, ..self }
    }
}

/// The mean distance of phases, if there are two or more.
pub fn mean_distance(starts: &[f64]) -> Option<f64> {
    let links = starts.len().checked_sub(1).filter(|&links| links > 0)?;
    Some((starts[links] - starts[0]) / links as f64)
}

/// By how much the distances of phases vary: their deviation over their mean.
fn variation(starts: &[f64]) -> Option<f64> {
    let mean = mean_distance(starts)?;
    let squares: f64 = starts.windows(2).map(|pair| (pair[1] - pair[0] - mean).powi(2)).sum();
    let free = starts.len().checked_sub(2).filter(|&free| free > 0)?;
    Some((squares / free as f64).sqrt() / mean)
}

/// The share of the time between two instants in which the bandwidth of the writes exceeds its mean between
/// them.
pub fn busy_share(writes: &[Write], (from, to): (f64, f64)) -> f64 {
    let mut changes: Vec<(f64, f64)> = Vec::with_capacity(2 * writes.len());
    let mut volume = 0.0;
    for write in writes.iter().filter(|write| write.end > write.start) {
        let rate = write.bytes as f64 / (write.end - write.start);
        let (start, end) = (write.start.max(from), write.end.min(to));
        if end > start {
            volume += rate * (end - start);
            changes.push((start, rate));
            changes.push((end, -rate));
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = volume / (to - from);
    let (mut rate, mut since, mut busy) = (0.0, 0.0, 0.0);
    for (time, change) in changes {
        if rate > mean {
            busy += time - since;
        }
        rate += change;
        since = time;
    }
    busy / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts at distances of 10 s that are in turn shorter and longer by this share.
    fn starts(count: usize, by: f64) -> Vec<f64> {
        (0..count).map(|i| 10.0 * (i as f64 + if i % 2 == 0 { 0.0 } else { by })).collect()
    }

    #[test]
    fn where_it_is_a_matter_of_taste_both_answers_are_right() {
        let program = |by: f64| Truth { period: Some(10.0), starts: starts(21, by), ..Truth::default() };
        for (by, none, mean) in [(0.2, false, true), (0.5, true, true), (0.8, true, false)] {
            let found = variation(&starts(21, by)).unwrap();
            assert!((found - by * (20.0_f64 / 19.0).sqrt()).abs() < 1e-6, "{found}");
            assert_eq!(program(by).loose().or_none, none, "{by}");
            let also = Truth::at_random(starts(21, by)).also;
            assert_eq!(!also.is_empty(), mean, "{by}");
            assert!(also.iter().all(|mean| (mean - 10.0).abs() < 0.1), "{also:?}");
        }
    }

    #[test]
    fn few_phases_must_be_even_indeed() {
        assert!(!Truth::at_random(starts(5, 0.1)).also.is_empty());
        assert!(Truth::at_random(starts(5, 0.2)).also.is_empty());
        assert!(Truth::at_random(starts(2, 0.0)).also.is_empty(), "one distance says nothing");
        assert_eq!(mean_distance(&[3.0]), None);
        assert_eq!(mean_distance(&[]), None);
    }

    #[test]
    fn the_share_of_busy_time() {
        let write = |start: f64, end: f64, bytes: u64| Write { rank: 0, start, end, bytes };
        // 100 B/s for 2 s of 10 s: the mean is 20.
        assert!((busy_share(&[write(1.0, 3.0, 200)], (0.0, 10.0)) - 0.2).abs() < 1e-9);
        // A log of 10 B/s below the mean of 30 does not count; what overlaps adds up.
        let with_log = [write(1.0, 3.0, 100), write(1.0, 3.0, 100), write(0.0, 10.0, 100)];
        assert!((busy_share(&with_log, (0.0, 10.0)) - 0.2).abs() < 1e-9);
        // From the middle of the first write on: 1 of 8 s.
        assert!((busy_share(&with_log, (2.0, 10.0)) - 0.125).abs() < 1e-9);
    }
}
