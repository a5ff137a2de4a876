//! How far off forecasts are at some distance, and what a run closer by would change.

use super::constants::{DRIFT, TYPICAL};

/// How far a scale lies beyond the largest measured one, and what that means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// The scale in units of the largest measured one.
    pub times: f64,
    /// A factor by which values at that distance are typically off …
    pub off: f64,
    /// … and are seldom off by more.
    pub seldom: f64,
}

impl Reach {
    /// Series have been measured this many times beyond the scales that were known, and no further.
    pub const CHECKED: f64 = 16.0;

    /// Of a scale that many times the largest measured one.
    ///
    /// ```
    /// let (far, near) = (perf_model::Reach::at(8.0), perf_model::Reach::at(2.0));
    /// assert!(far.off > near.off && far.seldom > near.seldom);
    /// ```
    pub fn at(times: f64) -> Reach {
        let h = times.max(1.0).ln();
        let after = TYPICAL.iter().position(|(times, _)| h < times.ln());
        let off = match after {
            Some(place) => {
                let ((from, low), (to, high)) = (TYPICAL[place.max(1) - 1], TYPICAL[place.max(1)]);
                let along = (h - from.ln()) / (to.ln() - from.ln());
                (low.ln() + along * (high.ln() - low.ln())).exp()
            }
            None => TYPICAL[TYPICAL.len() - 1].1,
        };
        Reach { times, off, seldom: (DRIFT.1 * h).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_grow_with_the_distance() {
        assert_eq!((Reach::at(0.5).off, Reach::at(1.0).seldom), (1.0, 1.0));
        assert!((Reach::at(2.0).off - 1.13).abs() < 1e-9 && (Reach::at(4.0).off - 1.28).abs() < 1e-9);
        let between = Reach::at(3.0).off;
        assert!(1.13 < between && between < 1.28, "{between}");
        assert_eq!(Reach::at(100.0).off, 1.47);
        assert!((Reach::at(8.0).seldom - 18.4).abs() < 0.1);
    }
}
