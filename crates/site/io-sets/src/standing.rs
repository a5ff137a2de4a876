//! The priority of one job, from its start to its end.
//!
//! As report §3.2: a unique default until the first conclusive prediction; then that of the set of the
//! predicted period, kept until the next conclusive prediction. If earlier runs of the application are known,
//! theirs from the start.

use crate::rules::{Priority, Set};

/// Where a job stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    priority: Priority,
    period: Option<f64>,
}

impl Standing {
    /// Nothing is known yet.
    pub fn unknown(job: &str, taken: impl Fn(Priority) -> bool) -> Self {
        Standing { priority: Priority::default_for(job, taken), period: None }
    }

    /// The period is known, from earlier runs or otherwise; `None` if the number cannot be a period.
    pub fn known(period: f64) -> Option<Self> {
        Some(Standing { priority: Set::of_period(period)?.priority(), period: Some(period) })
    }

    /// From the periods that earlier runs had: their median, which one odd run does not move.
    pub fn from_history(periods: &[f64]) -> Option<Self> {
        let mut periods: Vec<f64> =
            periods.iter().copied().filter(|&p| Set::of_period(p).is_some()).collect();
        periods.sort_by(f64::total_cmp);
        Standing::known(*periods.get(periods.len().checked_sub(1)? / 2)?)
    }

    /// A prediction: `None` or a nonsensical period is inconclusive, and changes nothing. Tells whether the
    /// priority changed.
    pub fn predicted(&mut self, period: Option<f64>) -> bool {
        let Some(next) = period.and_then(Standing::known) else { return false };
        let changed = next.priority != self.priority;
        *self = next;
        changed
    }

    /// The priority now.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// The period on which it is based, if it is based on one.
    pub fn period(&self) -> Option<f64> {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_until_conclusive_then_kept() {
        let mut standing = Standing::unknown("4711", |_| false);
        let default = standing.priority();
        assert_eq!(standing.period(), None);
        for inconclusive in [None, Some(f64::NAN), Some(-1.0)] {
            assert!(!standing.predicted(inconclusive));
            assert_eq!(standing.priority(), default);
        }
        assert!(standing.predicted(Some(19.2)));
        assert_eq!(standing.priority().value(), 0.1);
        assert!(!standing.predicted(None));
        assert!(!standing.predicted(Some(21.0)), "the same set");
        assert_eq!((standing.priority().value(), standing.period()), (0.1, Some(21.0)));
        assert!(standing.predicted(Some(384.0)));
        assert_eq!(standing.priority().value(), 0.001);
    }

    #[test]
    fn history_counts_from_the_start() {
        let standing = Standing::from_history(&[380.0, f64::NAN, 390.0, 5.0]).unwrap();
        assert_eq!(standing.period(), Some(380.0));
        assert_eq!(standing.priority().value(), 0.001);
        assert_eq!(Standing::from_history(&[]), None);
        assert_eq!(Standing::from_history(&[0.0]), None);
    }
}
