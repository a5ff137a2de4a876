//! Which periods were predicted so far, and how often.
//!
//! Windows differ from flush to flush, and with them the resolution of the spectrum, so that equal periods
//! are not predicted equal. The paper (II-D) therefore merges frequencies by DBSCAN, with ε from the
//! differences between the time windows, into intervals from the smallest to the largest of a cluster. The
//! probability of an interval is the share of all predictions that fall into it.
//!
//! The difference between the resolutions 1/Δt of two windows is large for the first, short windows, where it
//! would merge everything; and next to nothing between long ones. As our frequencies are located below the
//! resolution, ε is kept between `LEAST` and `MOST` of the median frequency, which makes it right for periods
//! of any length.

use super::trend::{LOOK_BACK, Trend};
use crate::signal::statistics::upper_median;
use schemars::JsonSchema;
use serde::Serialize;
use sources::time::seconds;
use std::collections::VecDeque;

/// ε is at least this share of the median frequency.
const LEAST: f64 = 0.02;

/// ε is at most this share of the median frequency.
const MOST: f64 = 0.1;

/// Predictions that count: the last so many.
const REMEMBERED: usize = 1024;

/// Periods that were predicted alike.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Interval {
    /// The shortest of them, in seconds.
    pub low: f64,
    /// The longest of them, in seconds.
    pub high: f64,
    /// Share of all predictions so far.
    pub probability: f64,
    /// Share of those predictions so far that found a period.
    pub probability_if_periodic: f64,
    /// The frequencies: 1/high and 1/low.
    pub frequencies: [f64; 2],
}

/// One prediction.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Seconds.
    until: f64,
    /// Δt in seconds.
    length: f64,
    period: Option<f64>,
}

/// The predictions so far.
#[derive(Clone, Debug, Default)]
pub struct Past {
    points: VecDeque<Point>,
}

impl Past {
    /// One more: up to `until`, in a window of `length` nanoseconds.
    pub fn push(&mut self, until: i64, length: i64, period: Option<f64>) {
        if self.points.len() == REMEMBERED {
            self.points.pop_front();
        }
        self.points.push_back(Point { until: seconds(until), length: seconds(length), period });
    }

    /// Share of the predictions that found a period; 0 without any.
    pub fn probability_periodic(&self) -> f64 {
        let periodic = self.points.iter().filter(|point| point.period.is_some()).count();
        periodic as f64 / self.points.len().max(1) as f64
    }

    /// Where the period is going.
    pub fn trend(&self) -> Option<Trend> {
        let periodic = self.points.iter().rev().filter_map(|point| Some((point.until, point.period?)));
        let mut last: Vec<(f64, f64)> = periodic.take(LOOK_BACK).collect();
        last.reverse();
        Trend::of(&last)
    }

    /// The intervals, the most probable first.
    pub fn intervals(&self) -> Vec<Interval> {
        let mut frequencies: Vec<f64> =
            self.points.iter().filter_map(|point| point.period).map(|period| 1.0 / period).collect();
        if frequencies.is_empty() {
            return Vec::new();
        }
        let epsilon = self.epsilon(upper_median(frequencies.iter().copied()));
        frequencies.sort_by(f64::total_cmp);
        let share = |count: usize, of: usize| count as f64 / of as f64;
        let mut intervals: Vec<Interval> = clusters(&frequencies, epsilon)
            .map(|cluster| Interval {
                low: 1.0 / cluster[cluster.len() - 1],
                high: 1.0 / cluster[0],
                probability: share(cluster.len(), self.points.len()),
                probability_if_periodic: share(cluster.len(), frequencies.len()),
                frequencies: [cluster[0], cluster[cluster.len() - 1]],
            })
            .collect();
        intervals.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        intervals
    }

    /// The largest difference between the resolutions of consecutive windows, kept in proportion to the
    /// frequency.
    fn epsilon(&self, frequency: f64) -> f64 {
        let resolutions = self.points.iter().map(|point| 1.0 / point.length);
        let differences = resolutions.clone().zip(resolutions.skip(1)).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max).clamp(LEAST * frequency, MOST * frequency)
    }
}

/// DBSCAN (Ester et al., KDD 1996) on a line: with two points a core, clusters are runs of neighbours not
/// further apart than ε, and a lone point is noise.
fn clusters(sorted: &[f64], epsilon: f64) -> impl Iterator<Item = &[f64]> {
    sorted.chunk_by(move |a, b| b - a <= epsilon).filter(|run| run.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(periods: &[Option<f64>]) -> Past {
        let mut past = Past::default();
        for (i, period) in (1..).zip(periods) {
            past.push(i * 10_000_000_000, i * 10_000_000_000, *period);
        }
        past
    }

    #[test]
    fn two_kinds_of_predictions_and_noise() {
        let periods = [None, Some(10.0), Some(10.1), Some(5.0), Some(9.9), Some(5.02), Some(2.0), None];
        let past = past(&periods);
        assert_eq!(past.probability_periodic(), 0.75);
        let found = past.intervals();
        assert_eq!(found.len(), 2);
        let ten = found[0];
        assert!((ten.low - 9.9).abs() < 1e-9 && (ten.high - 10.1).abs() < 1e-9, "{ten:?}");
        assert_eq!((ten.probability, ten.probability_if_periodic), (3.0 / 8.0, 0.5));
        assert_eq!(ten.frequencies, [1.0 / 10.1, 1.0 / 9.9]);
        assert_eq!(found[1].probability, 0.25);
    }

    /// What is found does not depend on the unit of time.
    #[test]
    fn at_any_time_scale() {
        for scale in [1e-3, 1.0, 1e5] {
            let mut past = Past::default();
            for (i, period) in (1..).zip([10.0, 10.2, 10.1, 20.0, 19.8]) {
                let until = (scale * 1e10) as i64 * i;
                past.push(until, until, Some(period * scale));
            }
            let found: Vec<f64> = past.intervals().iter().map(|interval| interval.probability).collect();
            assert_eq!(found, [0.6, 0.4], "{scale}");
        }
    }

    #[test]
    fn nothing_and_one() {
        assert_eq!(past(&[]).intervals(), []);
        assert_eq!(past(&[]).probability_periodic(), 0.0);
        assert_eq!(past(&[None, Some(3.0)]).intervals(), []);
        assert_eq!(past(&[Some(3.0); 3]).intervals()[0].probability, 1.0);
    }
}
