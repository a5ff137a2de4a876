//! Has the behaviour changed?
//!
//! A window of a hundred periods hardly notices the first few of a new kind. So where the window is long, its
//! *tail* is looked at as well: a few periods, or, while no period is seen there, twice as many each time
//! (the new period may be longer). What the tail says is compared with what held so far by a two-sided CUSUM
//! (Page 1954) on the logarithm of the period:
//!
//! > S⁺ ← max(0, S⁺ + z − 1), S⁻ ← max(0, S⁻ − z − 1), z = (ln T − median) / σ, cut off at ±4; a change if
//! > either exceeds 5.
//!
//! In the logarithm thresholds are relative, and nothing depends on whether periods are milliseconds or
//! hours. σ is that of the predictions since the last change (by the median absolute deviation), but at least
//! 5 %. One wrong prediction is not enough (4 − 1 < 5); two in a row that are some 15 % off are, and a drift
//! of 10 % is noticed after a handful. Predictions count that are half a period apart: those between look at
//! almost the same data.
//!
//! If no period is found at all, three times in a row and for more than two periods, the behaviour has
//! changed as well.

use crate::signal::statistics::upper_median;
use schemars::JsonSchema;
use serde::Serialize;
use sources::time::{nanoseconds, seconds};
use std::collections::VecDeque;

/// Least relative standard deviation that predictions are credited with.
const LEAST_SIGMA: f64 = 0.05;
/// A single prediction counts at most so many standard deviations.
const CUT_OFF: f64 = 4.0;
/// Deviations that are forgiven.
const SLACK: f64 = 1.0;
/// Where the sum means a change.
const THRESHOLD: f64 = 5.0;
/// Predictions that make the reference: the last so many.
const REMEMBERED: usize = 32;
/// So many predictions in a row, not further apart than this share, make a behaviour that can change.
const ENOUGH: usize = 3;
const ALIKE: f64 = 0.2;
/// Predictions without a period that mean a change, and for how many periods.
const MISSES: u32 = 3;
const MISSED_PERIODS: f64 = 2.0;

/// A change of behaviour.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Change {
    /// When it was noticed, in seconds of job time.
    pub t: f64,
    /// The period until then.
    pub before: f64,
    /// The period since then; `None` if the I/O is not periodic any more.
    pub after: Option<f64>,
}

/// Watches the periods.
#[derive(Clone, Debug, Default)]
pub struct ChangeDetector {
    /// Logarithms of the periods since the last change.
    held: VecDeque<f64>,
    /// S⁺ and S⁻.
    sums: (f64, f64),
    /// Times in a row that the tail, and the window, had no period.
    tail_misses: u32,
    misses: u32,
    /// When a period was last found.
    last_found: i64,
    /// When a period was last taken into account.
    last_counted: i64,
    last: Option<Change>,
}

impl ChangeDetector {
    /// Where the tail of the window begins, if the window is long enough to have one. `periods` is what a
    /// tail should hold.
    pub fn tail(&self, start: i64, until: i64, periods: f64) -> Option<i64> {
        if self.held.len() < ENOUGH {
            return None;
        }
        let doubled = f64::from(1u32 << self.tail_misses.min(20));
        let from = until.saturating_sub(nanoseconds((periods + 1.0) * doubled * self.reference()?));
        // The rest must be long enough to be something else.
        (until - start >= 2 * (until - from)).then_some(from)
    }

    /// Did the tail have a period?
    pub fn tail_seen(&mut self, periodic: bool) {
        self.tail_misses = if periodic { 0 } else { self.tail_misses.saturating_add(1) };
    }

    /// A period was found. `Some` if it means a change.
    pub fn observe(&mut self, until: i64, period: f64) -> Option<Change> {
        (self.misses, self.last_found) = (0, until);
        let shorter = self.reference().map_or(period, |reference| reference.min(period));
        if seconds(until.saturating_sub(self.last_counted)) < shorter / 2.0 && !self.held.is_empty() {
            return None;
        }
        self.last_counted = until;
        let log = period.ln();
        let before = match self.reference() {
            Some(reference) if self.held.len() >= ENOUGH => reference,
            reference => {
                // What has not held yet cannot change.
                if reference.is_some_and(|reference| (log - reference.ln()).abs() > ALIKE) {
                    self.held.clear();
                }
                self.hold(log);
                return None;
            }
        };
        let z = ((log - before.ln()) / self.sigma()).clamp(-CUT_OFF, CUT_OFF);
        self.sums = ((self.sums.0 + z - SLACK).max(0.0), (self.sums.1 - z - SLACK).max(0.0));
        if self.sums.0.max(self.sums.1) > THRESHOLD {
            return self.begin_anew(Change { t: seconds(until), before, after: Some(period) });
        }
        // What is about to mean a change must not become what it is compared with.
        if z.abs() <= 2.0 {
            self.hold(log);
        }
        None
    }

    /// No period was found. `Some` if that means a change: when a period was last found.
    pub fn missed(&mut self, until: i64) -> Option<i64> {
        let before = self.reference()?;
        self.misses += 1;
        let since = seconds(until - self.last_found);
        if self.misses < MISSES || since < MISSED_PERIODS * before || self.held.len() < ENOUGH {
            return None;
        }
        let from = self.last_found;
        self.begin_anew(Change { t: seconds(until), before, after: None });
        Some(from)
    }

    /// The last change.
    pub fn last(&self) -> Option<Change> {
        self.last
    }

    fn begin_anew(&mut self, change: Change) -> Option<Change> {
        let ChangeDetector { last_found, last_counted, .. } = *self;
        *self = ChangeDetector { last: Some(change), last_found, last_counted, ..Self::default() };
        if let Some(period) = change.after {
            self.hold(period.ln());
        }
        Some(change)
    }

    fn hold(&mut self, log: f64) {
        if self.held.len() == REMEMBERED {
            self.held.pop_front();
        }
        self.held.push_back(log);
    }

    /// The period that held so far.
    fn reference(&self) -> Option<f64> {
        let held: Vec<f64> = self.held.iter().copied().collect();
        (!held.is_empty()).then(|| upper_median(held.iter().copied()).exp())
    }

    /// Its relative standard deviation: 1.4826 times the median absolute deviation, which is that of a normal
    /// distribution.
    fn sigma(&self) -> f64 {
        let mut held: Vec<f64> = self.held.iter().copied().collect();
        if held.is_empty() {
            return LEAST_SIGMA;
        }
        let middle = upper_median(held.iter().copied());
        held.iter_mut().for_each(|log| *log = (*log - middle).abs());
        (1.4826 * upper_median(held.iter().copied())).max(LEAST_SIGMA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At which of these periods (observed one after the other) a change is noticed.
    fn noticed(periods: impl IntoIterator<Item = f64>) -> Vec<usize> {
        let mut detector = ChangeDetector::default();
        let mut until = 0;
        let observe = |(i, period): (usize, f64)| {
            until += nanoseconds(period);
            detector.observe(until, period).map(|_| i)
        };
        periods.into_iter().enumerate().filter_map(observe).collect()
    }

    fn steps(scale: f64, parts: &[(usize, f64)]) -> Vec<f64> {
        parts.iter().flat_map(|&(count, period)| vec![scale * period; count]).collect()
    }

    #[test]
    fn steps_are_noticed_at_the_second_sight_at_any_time_scale() {
        for scale in [1e-4, 1e-2, 1.0, 1e2, 1e4] {
            assert_eq!(noticed(steps(scale, &[(10, 10.0), (10, 20.0)])), [11], "{scale}");
            assert_eq!(noticed(steps(scale, &[(10, 10.0), (10, 7.0), (10, 10.0)])), [11, 21], "{scale}");
        }
    }

    #[test]
    fn one_wrong_prediction_is_none() {
        assert_eq!(noticed(steps(1.0, &[(10, 10.0), (1, 20.0), (10, 10.0), (1, 5.0), (10, 10.0)])), [0; 0]);
    }

    #[test]
    fn what_has_not_held_cannot_change() {
        assert_eq!(noticed(steps(1.0, &[(1, 0.002), (1, 0.008), (1, 0.5), (10, 1.0)])), [0; 0]);
    }

    #[test]
    fn noise_is_none() {
        let mut random = seeded_random::Random::new(7);
        let noisy = (0..1000).map(|_| 10.0 * (1.0 + 0.06 * (random.unit() - 0.5))).collect::<Vec<f64>>();
        assert_eq!(noticed(noisy), [0; 0]);
    }

    #[test]
    fn a_period_that_is_lost() {
        let mut detector = ChangeDetector::default();
        for i in 1..=5 {
            assert_eq!(detector.observe(nanoseconds(10.0 * f64::from(i)), 10.0), None);
        }
        let missed: Vec<Option<i64>> =
            (51..80).step_by(4).map(|t| detector.missed(nanoseconds(f64::from(t)))).collect();
        let first = missed.iter().position(Option::is_some).unwrap();
        assert_eq!((first, missed[first]), (5, Some(nanoseconds(50.0))), "at 71 s: two periods after 50 s");
        let change = detector.last().unwrap();
        assert!(
            (change.t, change.after) == (71.0, None) && (change.before - 10.0).abs() < 1e-9,
            "{change:?}"
        );
        assert!(missed[first + 1..].iter().all(Option::is_none), "once");
    }

    #[test]
    fn the_tail_of_a_long_window() {
        let mut detector = ChangeDetector::default();
        assert_eq!(detector.tail(0, 10_000, 3.0), None, "nothing to compare with");
        for until in [0, 1000, 2000] {
            detector.observe(until, 1e-6);
        }
        assert_eq!(detector.tail(0, 10_000, 3.0), Some(6_000));
        assert_eq!(detector.tail(0, 7_000, 3.0), None, "more than half of the window");
        detector.tail_seen(false);
        assert_eq!(detector.tail(0, 16_000, 3.0), Some(8_000), "twice as long after a miss");
        detector.tail_seen(true);
        assert_eq!(detector.tail(0, 16_000, 3.0), Some(12_000));
    }
}
