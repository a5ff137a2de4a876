//! Axes: where values lie along them, round tick values, and their labels.

use crate::units;

/// An axis from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub logarithmic: bool,
}

/// What an axis shows.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    pub name: &'static str,
    pub unit: &'static str,
}

impl Axis {
    pub fn linear(low: f64, high: f64) -> Self {
        Axis { low, high, logarithmic: false }
    }

    /// An axis needs some length.
    pub fn widened(mut self) -> Self {
        if !(self.low.is_finite() && self.high.is_finite()) {
            return Axis::linear(0.0, 1.0);
        }
        if self.high <= self.low {
            self.high = if self.low == 0.0 { 1.0 } else { self.low + self.low.abs() };
        }
        self
    }

    /// 0 at the low end, 1 at the high end; what lies beyond is put a little outside.
    pub fn place(self, value: f64) -> f64 {
        let along = if self.logarithmic {
            if value <= 0.0 {
                return -0.5;
            }
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        along.clamp(-0.5, 1.5)
    }

    /// About `count` round values; along a logarithmic axis, powers of `base`.
    pub fn ticks(self, count: usize, base: f64) -> Vec<f64> {
        if self.logarithmic { self.powers(count, base) } else { ticks(self.low, self.high, count) }
    }

    fn powers(self, count: usize, base: f64) -> Vec<f64> {
        let (first, last) = (self.low.log(base), self.high.log(base));
        let step = ((last - first) / count.max(1) as f64).ceil().max(1.0) as i32;
        let mut found: Vec<f64> = ((first - 1e-9).ceil() as i32..=(last + 1e-9).floor() as i32)
            .filter(|exponent| exponent.rem_euclid(step) == 0)
            .map(|exponent| base.powi(exponent))
            .collect();
        if base == 10.0 && found.len() < 3 {
            let between = |power: f64| [1.0, 2.0, 5.0].map(|digit| digit * power);
            let decades = first.floor() as i32..=last.floor() as i32;
            found = decades.flat_map(|exponent| between(10f64.powi(exponent))).collect();
            found.retain(|value| (self.low..=self.high).contains(value));
        }
        found
    }
}

/// Round values between `low` and `high`, about `count` of them, in steps of 1, 2 or 5 times a power of ten.
pub fn ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return vec![low];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// Labels for ticks, all with the prefix that suits the largest; the second value is that prefix.
pub fn labels(ticks: &[f64]) -> (Vec<String>, &'static str) {
    let largest = ticks.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let (factor, letter) = units::prefix(largest);
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0) / factor;
    let decimals = (-(step * 1.0001).log10().floor()).clamp(0.0, 6.0) as usize;
    (ticks.iter().map(|tick| format!("{:.decimals$}", tick / factor)).collect(), letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_steps() {
        assert_eq!(ticks(0.0, 100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(3.2, 7.9, 5), [4.0, 5.0, 6.0, 7.0]);
        assert_eq!(ticks(0.0, 0.0, 5), [0.0]);
    }

    #[test]
    fn values_beyond_the_ends_are_a_little_outside() {
        let axis = Axis { low: 1.0, high: 16.0, logarithmic: true };
        assert_eq!((axis.place(1.0), axis.place(4.0), axis.place(16.0)), (0.0, 0.5, 1.0));
        assert_eq!((axis.place(-1.0), axis.place(1e9)), (-0.5, 1.5));
        assert_eq!(Axis::linear(3.0, 3.0).widened().high, 6.0);
    }

    #[test]
    fn one_prefix_for_all() {
        assert_eq!(
            labels(&[0.0, 5e8, 1e9, 1.5e9]),
            (vec!["0.0".into(), "0.5".into(), "1.0".into(), "1.5".into()], "G")
        );
        assert_eq!(labels(&[0.0, 0.02, 0.04]), (vec!["0".into(), "20".into(), "40".into()], "m"));
    }
}
