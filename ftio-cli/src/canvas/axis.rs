//! Axes: round tick values and their labels.

use crate::terminal::units;

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
    fn one_prefix_for_all() {
        assert_eq!(
            labels(&[0.0, 5e8, 1e9, 1.5e9]),
            (vec!["0.0".into(), "0.5".into(), "1.0".into(), "1.5".into()], "G")
        );
        assert_eq!(labels(&[0.0, 0.02, 0.04]), (vec!["0".into(), "20".into(), "40".into()], "m"));
    }
}
