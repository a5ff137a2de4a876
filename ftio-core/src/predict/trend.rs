//! Where the period is going.

use crate::signal::statistics::upper_median;
use schemars::JsonSchema;
use serde::Serialize;

/// Below this relative change over the predictions looked at, a period counts as steady.
const STEADY: f64 = 0.05;

/// How many predictions are looked at.
pub const LOOK_BACK: usize = 8;

/// The period over the last predictions.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Trend {
    /// Seconds by which the period grows in a second.
    pub slope: f64,
    /// In a word.
    pub direction: Direction,
}

/// Where a period is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It stays.
    Steady,
    /// It gets longer.
    Longer,
    /// It gets shorter.
    Shorter,
}

impl Trend {
    /// Of (time, period) in seconds: the median of the slopes between all pairs (Theil 1950, Sen 1968), which
    /// one wrong prediction does not bend. `None` with fewer than three.
    pub fn of(points: &[(f64, f64)]) -> Option<Trend> {
        let points = &points[points.len().saturating_sub(LOOK_BACK)..];
        if points.len() < 3 {
            return None;
        }
        let mut slopes: Vec<f64> = Vec::new();
        for (i, a) in points.iter().enumerate() {
            slopes.extend(points[i + 1..].iter().filter(|b| b.0 > a.0).map(|b| (b.1 - a.1) / (b.0 - a.0)));
        }
        if slopes.is_empty() {
            return None;
        }
        let slope = upper_median(slopes.iter().copied());
        let periods: Vec<f64> = points.iter().map(|point| point.1).collect();
        let span = points[points.len() - 1].0 - points[0].0;
        let change = slope * span / upper_median(periods.iter().copied());
        let direction = match change {
            change if change > STEADY => Direction::Longer,
            change if change < -STEADY => Direction::Shorter,
            _ => Direction::Steady,
        };
        Some(Trend { slope, direction })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_longer_shorter() {
        let of = |period: &dyn Fn(f64) -> f64| {
            let points: Vec<(f64, f64)> = (1..7).map(f64::from).map(|i| (10.0 * i, period(i))).collect();
            Trend::of(&points).unwrap()
        };
        assert_eq!(of(&|_| 10.0), Trend { slope: 0.0, direction: Direction::Steady });
        let longer = of(&|i| 10.0 + 0.5 * i);
        assert!((longer.slope - 0.05).abs() < 1e-12 && longer.direction == Direction::Longer);
        assert_eq!(of(&|i| 20.0 - i).direction, Direction::Shorter);
        // One wrong one of six.
        assert_eq!(of(&|i| if i == 3.0 { 20.0 } else { 10.0 }).direction, Direction::Steady);
        assert_eq!(Trend::of(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(Trend::of(&[(1.0, 1.0); 4]), None);
    }
}
