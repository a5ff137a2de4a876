//! Where the last points are heading.
//!
//! A formula is fitted to all points, but a program whose data leave the cache, or whose network fills, does
//! not keep to one. The largest scales alone know of that. A power of the parameter through the last of them
//! follows it, and multiplies their scatter. What to expect further on lies between the formula and that
//! power: the logarithms of both, weighted by how far each would have been off at the largest scales that are
//! known, and by what scatter can do to it. Where the last points fall, there is no such course: a power goes
//! on falling, but what is left of a cost that is shared by more and more does not.

use crate::line_fit::Sums;
use crate::points::Points;

/// The power goes through this many points.
const POINTS: usize = 3;
/// Fewest points for which it is worth looking: those of a power, and two that it can be held against.
const MIN_COURSE_POINTS: usize = POINTS + 2;
/// A power that was right so far may be off by this share for each doubling, as if it had been tried once
/// more.
const UNKNOWN: f64 = 0.05;

/// A power of the parameter: a line in the logarithms of both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Power(Sums);

impl Power {
    fn through(points: &[(f64, f64)]) -> Option<Power> {
        Some(Power(Sums::of(points.iter().copied()))).filter(|power| power.0.xx > 0.0)
    }

    fn slope(&self) -> f64 {
        self.0.xy / self.0.xx
    }

    /// Logarithm of the value.
    fn at(&self, x: f64) -> f64 {
        self.0.y + self.slope() * (x - self.0.x)
    }

    /// Variance of the logarithm, in units of that of a point.
    fn leverage(&self, x: f64) -> f64 {
        1.0 / POINTS as f64 + (x - self.0.x).powi(2) / self.0.xx
    }
}

/// The course of the last points, and how far to trust it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    power: Power,
    /// Relative variance of a point.
    scatter: f64,
    /// Relative deviation for each doubling.
    drift: f64,
    largest: f64,
}

impl Course {
    /// `None` where logarithms do not exist, points are few, or the last of them fall. `scatter` is the
    /// relative variance of a point about the formula.
    pub(crate) fn of(points: &Points, scatter: f64) -> Option<Course> {
        let positive = points.iter().all(|(point, value)| point.iter().all(|p| *p > 0.0) && value > 0.0);
        if points.dimensions != 1 || points.len() < MIN_COURSE_POINTS || !positive {
            return None;
        }
        let mut logarithms: Vec<(f64, f64)> =
            points.iter().map(|(point, value)| (point[0].ln(), value.ln())).collect();
        logarithms.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n = logarithms.len();
        let scatter = scatter.min(local_scatter(&logarithms)?);
        let largest = logarithms[n - 1].0;
        let (mut squares, mut distances) = (UNKNOWN * UNKNOWN, 1.0);
        for end in POINTS.max(n / 2)..n {
            let power = Power::through(&logarithms[end - POINTS..end])?;
            let last = logarithms[end - 1].0;
            for (x, y) in &logarithms[end..] {
                let chance = scatter * (1.0 + power.leverage(*x));
                squares += ((power.at(*x) - y).powi(2) - chance).max(0.0);
                distances += ((x - last) / std::f64::consts::LN_2).powi(2);
            }
        }
        let power = Power::through(&logarithms[n - POINTS..]).filter(|power| power.slope() > 0.0)?;
        Some(Course { power, scatter, drift: (squares / distances).sqrt(), largest })
    }

    /// How far to go from what formulas say, of that relative variance, to this course, in the logarithm.
    pub(crate) fn share(&self, p: f64, variance: f64) -> f64 {
        let x = p.ln();
        let drift = self.drift * (x - self.largest) / std::f64::consts::LN_2;
        variance / (variance + self.scatter * self.power.leverage(x) + drift * drift)
    }

    /// Logarithm of the value at a scale.
    pub(crate) fn logarithm(&self, p: f64) -> f64 {
        self.power.at(p.ln())
    }
}

/// Variance of the points about powers through neighbours: less than about a formula that does not fit.
fn local_scatter(logarithms: &[(f64, f64)]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for window in logarithms.windows(POINTS) {
        let power = Power::through(window)?;
        squares += window.iter().map(|(x, y)| (power.at(*x) - y).powi(2)).sum::<f64>();
        freedom += (POINTS - 2) as f64;
    }
    (freedom > 0.0).then(|| squares / freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, model_series};

    const SCALES: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

    fn series(value: impl Fn(f64) -> f64) -> Vec<f64> {
        SCALES.iter().map(|p| value(*p)).collect()
    }

    #[test]
    fn a_power_by_the_book() {
        let points: Vec<(f64, f64)> = [1.0f64, 2.0, 3.0].map(|x| (x, 5.0 + 2.0 * x)).to_vec();
        let power = Power::through(&points).unwrap();
        assert!((power.at(7.0) - 19.0).abs() < 1e-12);
        // 1/3 + (7 - 2)² / 2.
        assert!((power.leverage(7.0) - 12.833_333_333_333).abs() < 1e-9);
        assert!(Power::through(&[(1.0, 2.0); 3]).is_none());
    }

    #[test]
    fn an_exact_formula_is_kept_to() {
        for power in [0.5, 1.0, 2.0] {
            let model = model_series(&SCALES, &series(|p| 7.0 + 0.3 * p.powf(power)), &Options::default());
            let prediction = model.predict(&[256.0], 0.95).unwrap();
            assert!((prediction.value / prediction.formula_value - 1.0).abs() < 1e-6, "{prediction:?}");
        }
    }

    #[test]
    fn measured_costs_are_foretold_better_than_by_the_formula() {
        // Milliseconds for inserting into a sorted list, and for a product of large numbers, in Python.
        for (values, truth) in [
            ([0.078_35, 0.1454, 0.3452, 0.9660, 2.513, 7.987], 327.5),
            ([0.060_99, 0.1783, 0.5359, 1.609, 4.879, 14.75], 427.8),
        ] {
            let model = model_series(&SCALES, &values, &Options::default());
            let prediction = model.predict(&[256.0], 0.95).unwrap();
            let off = |value: f64| (value / truth).ln().abs();
            assert!(off(prediction.value) < 0.9 * off(prediction.formula_value), "{prediction:?} {truth}");
        }
    }

    #[test]
    fn a_shared_cost_keeps_its_rest() {
        let values = [252.0, 127.5, 64.9, 33.3, 17.6, 9.81];
        let model = model_series(&SCALES, &values, &Options::default());
        let prediction = model.predict(&[1024.0], 0.95).unwrap();
        assert!((prediction.value / prediction.formula_value - 1.0).abs() < 0.05, "{prediction:?}");
    }

    #[test]
    fn what_to_expect_lies_in_the_interval() {
        let mut random = seeded_random::Random::new(5);
        for _ in 0..200 {
            let power = 3.0 * random.unit() - 1.0;
            let values: Vec<f64> =
                SCALES.iter().map(|p| (3.0 * random.unit()).exp() + p.powf(power)).collect();
            let model = model_series(&SCALES, &values, &Options::default());
            let prediction = model.predict(&[500.0], 0.95).unwrap();
            let Some(interval) = prediction.interval.filter(|_| prediction.formula_value > 0.0) else {
                continue;
            };
            assert!((interval.low..=interval.high).contains(&prediction.value), "{values:?} {prediction:?}");
        }
    }

    #[test]
    fn there_is_no_jump_at_the_largest_scale() {
        let model = model_series(&SCALES, &[0.08, 0.15, 0.35, 0.97, 2.5, 8.0], &Options::default());
        let at = |p: f64| model.predict(&[p], 0.95).unwrap().value;
        assert!((at(32.001) / at(32.0) - 1.0).abs() < 1e-3, "{} {}", at(32.0), at(32.001));
    }

    #[test]
    fn within_the_measured_scales_the_formula_holds() {
        let model = model_series(&SCALES, &[1.1, 1.9, 4.3, 7.7, 16.4, 31.0], &Options::default());
        for p in [0.5, 1.0, 20.0, 32.0] {
            let prediction = model.predict(&[p], 0.95).unwrap();
            assert_eq!(prediction.value, prediction.formula_value);
        }
        let compat = model_series(&SCALES, &[1.1, 1.9, 4.3, 7.7, 16.4, 31.0], &Options::compat());
        let prediction = compat.predict(&[512.0], 0.95).unwrap();
        assert_eq!(prediction.value, prediction.formula_value);
    }

    #[test]
    fn odd_series_have_a_value() {
        for values in [[0.0; 6], [5.0; 6], [1.0, -1.0, 1.0, -1.0, 1.0, -1.0], [1e-300; 6], [1e300; 6]] {
            let model = model_series(&SCALES, &values, &Options::default());
            let prediction = model.predict(&[1e9], 0.95).unwrap();
            assert!(prediction.value.is_finite(), "{prediction:?}");
        }
    }
}
