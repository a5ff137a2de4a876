//! What to expect beyond the largest measured scale.
//!
//! For one parameter and values above zero. Everything is worked out in logarithms, x of the scale and z of
//! the value, so that no forecast can be negative, and no interval begins at 0:
//!
//! 1. Costs `c₀ + c₁ f(p)` with positive coefficients are fitted, the same to the reciprocal (a rate), a
//!    power law and a constant (see [`forms`]). A sum with a negative part is an interpolation, not a cost.
//! 2. Each is weighted by how well it foretells each scale from all the others. Their mean is the *mixture*.
//! 3. The *course* is where the last points are heading: the smaller of the slopes through the last two and
//!    the last three.
//! 4. A rising series goes half way between both, a falling one 0.85 of the way of the mixture; where a form
//!    fits exactly, the mixture alone counts.
//! 5. The interval of 95 % is as wide as measured series have been off at that distance, and wider where
//!    mixture and course disagree.

mod constants;
mod forms;
mod reach;

pub use reach::Reach;

use crate::points::Points;
use constants::*;
use forms::{Curves, Series};

/// A series prepared for forecasts.
#[derive(Debug, Clone)]
pub(crate) struct Forecast {
    curves: Curves,
    /// Of each curve; their sum is 1.
    weights: Vec<f64>,
    /// Logarithm of the largest scale.
    largest: f64,
    /// Logarithm of the value there, beside `middle`.
    last: f64,
    /// Mean of the logarithms of all values, which curves do not contain.
    middle: f64,
    /// Slope of the last points.
    course: f64,
    rises: bool,
    /// How far the points lie from the best curve.
    misfit: f64,
    rate: bool,
}

/// What to expect at one scale.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// Logarithm of the value.
    pub value: f64,
    /// Half widths of the interval of 95 %, in the logarithm.
    pub below: f64,
    pub above: f64,
    /// How far points are off near the largest scale.
    pub scatter: f64,
    /// The points lie on one curve.
    pub exact: bool,
}

impl Forecast {
    /// `None` without three different scales, or where a scale or value is not above zero. `rate`: the metric
    /// is known to be one.
    pub(crate) fn of(points: &Points, rate: bool) -> Option<Forecast> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if points.dimensions != 1 || points.len() < FEWEST {
            return None;
        }
        if !points.iter().all(|(point, value)| positive(point[0]) && positive(value)) {
            return None;
        }
        let order = points.ascending();
        let x: Vec<f64> = order.iter().map(|index| points.point(*index)[0].ln()).collect();
        let mut z: Vec<f64> = order.iter().map(|index| points.values[*index].ln()).collect();
        if x.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        // Squares of what is very large or small have no number: the middle of the logarithms is 0.
        let n = z.len();
        let middle = z.iter().sum::<f64>() / n as f64;
        z.iter_mut().for_each(|z| *z -= middle);
        let series = Series { x, z };
        let pairs = n >= PAIRS_FROM;

        let off = |log: f64, truth: f64| if log.is_nan() { WORST } else { (log - truth).abs().min(WORST) };
        let curves = Curves::fitted(&series, pairs);
        let mut errors: Vec<f64> = Vec::new();
        for left_out in 0..n {
            let others = Curves::fitted(&series.without(left_out), pairs);
            let here = others.at(series.x[left_out]).map(|log| off(log, series.z[left_out]) / n as f64);
            if errors.is_empty() {
                errors.extend(here);
            } else {
                errors.iter_mut().zip(here).for_each(|(error, here)| *error += here);
            }
        }
        // Pairs, the last curves, do not count for how well one form fits.
        let mut squares = vec![0.0; errors.len() - if pairs { SHARED.len() * 3 } else { 0 }];
        for (x, z) in series.x.iter().zip(&series.z) {
            squares.iter_mut().zip(curves.at(*x)).for_each(|(sum, log)| *sum += off(log, *z).powi(2));
        }
        let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
        let exists = curves.at(series.x[n - 1]);
        let weight =
            |(error, log): (&f64, f64)| if log.is_nan() { 0.0 } else { (error + LEAST).powi(-SHARP) };
        let mut weights: Vec<f64> = errors.iter().zip(exists).map(weight).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let (three, two) = (series.slope(3), series.slope(2));
        let course = if three * two > 0.0 { three.abs().min(two.abs()).copysign(three) } else { 0.0 };
        Some(Forecast {
            curves,
            weights,
            largest: series.x[n - 1],
            last: series.z[n - 1],
            middle,
            course,
            rises: three >= 0.0,
            misfit: (least / (n as f64 - 2.0).max(1.0)).sqrt(),
            rate,
        })
        .filter(|found| found.weights.iter().all(|weight| weight.is_finite()))
    }

    /// What to expect at a scale not below the largest measured one; `None` so far away that no number can
    /// hold it.
    pub(crate) fn at(&self, scale: f64) -> Option<Expected> {
        let x = scale.ln();
        let h = x - self.largest;
        let logs = self.curves.at(x).zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        let mixture = logs.map(|(log, weight)| weight * log).sum::<f64>() - self.last;
        let saturates = self.rate && self.rises;
        let mut apart =
            if self.rises { (1.0 - COURSE) * mixture + COURSE * self.course * h } else { FALL * mixture };
        if saturates {
            apart -= SATURATES * h;
        }
        let believed = 1.0 / (1.0 + (self.misfit / EXACT).powi(2));
        let doubt = 1.0 - 1.0 / (1.0 + (self.misfit / HOLDS).powi(2));
        let differ = APART * (mixture - self.course * h);
        let width = |drift: f64| FLOOR.hypot(doubt * differ.hypot(drift * h));
        let (below, above) = if saturates { RATE_DRIFT } else { DRIFT };
        let expected = Expected {
            value: self.middle + self.last + believed * mixture + (1.0 - believed) * apart,
            below: width(below),
            above: width(above),
            scatter: SCATTER * self.misfit,
            exact: self.misfit < ON_IT,
        };
        let ends = [expected.value - expected.below, expected.value + expected.above];
        ends.iter().all(|end| end.exp() > 0.0 && end.exp().is_finite()).then_some(expected)
    }
}
