//! Is an answer right?

use crate::generated::Truth;
use serde::Serialize;

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The period, or all of them where several are wanted; no answer where there is no period.
    Right,
    /// Another period, or one where there is no period.
    Wrong,
    /// No answer although there is a period.
    Refused,
}

/// Judge an answer: its `period`, and `periods`, all rhythms that it names.
///
/// Where the truth is one period, `period` must be within `tolerance` of it or of one that is right
/// [as well](Truth::also); no answer is refused, unless that is right [as well](Truth::or_none). Where there
/// are several, `periods` must hold each of them. Without a period any answer is wrong, but for those that
/// are right as well.
pub fn verdict(truth: &Truth, tolerance: f64, period: Option<f64>, periods: &[f64]) -> Verdict {
    let near = |one: f64, other: f64| (one / other - 1.0).abs() <= tolerance;
    let refused = period.is_none() && periods.is_empty();
    if !truth.periods.is_empty() {
        let all = truth.periods.iter().all(|&wanted| periods.iter().any(|&found| near(found, wanted)));
        return match (all, refused) {
            (true, _) => Verdict::Right,
            (false, true) => Verdict::Refused,
            (false, false) => Verdict::Wrong,
        };
    }
    let named = || period.into_iter().chain(if period.is_none() { periods } else { &[] }.iter().copied());
    let right = |found: f64| truth.period.iter().chain(&truth.also).any(|&wanted| near(found, wanted));
    match (truth.period.is_some(), refused) {
        (true, true) if !truth.or_none => Verdict::Refused,
        (_, true) => Verdict::Right,
        (_, false) if named().all(right) => Verdict::Right,
        _ => Verdict::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Refused, Right, Wrong};
    use super::*;

    #[test]
    fn answers_are_judged_by_what_is_wanted() {
        let one = Truth { period: Some(10.0), also: vec![20.0], ..Truth::default() };
        for (period, expected) in
            [(Some(10.2), Right), (Some(20.1), Right), (Some(5.0), Wrong), (None, Refused)]
        {
            assert_eq!(verdict(&one, 0.03, period, &[]), expected, "{period:?}");
        }
        let loose = Truth { period: Some(10.0), or_none: true, ..Truth::default() };
        for (period, expected) in [(Some(10.2), Right), (Some(5.0), Wrong), (None, Right)] {
            assert_eq!(verdict(&loose, 0.03, period, &[]), expected, "{period:?}");
        }
        let none = Truth::default();
        assert_eq!(verdict(&none, 0.03, None, &[]), Right);
        assert_eq!(verdict(&none, 0.03, Some(3.0), &[3.0]), Wrong);
        let two = Truth { period: Some(10.0), periods: vec![10.0, 3.0], ..Truth::default() };
        assert_eq!(verdict(&two, 0.04, Some(10.0), &[3.0, 10.1]), Right);
        assert_eq!(verdict(&two, 0.04, Some(10.0), &[10.1]), Wrong);
        assert_eq!(verdict(&two, 0.04, None, &[]), Refused);
        let changing = Truth { periods: vec![10.0, 3.0], changes: vec![0.0, 50.0], ..Truth::default() };
        assert_eq!(verdict(&changing, 0.03, None, &[10.0, 3.0]), Right);
        assert_eq!(verdict(&changing, 0.03, Some(5.0), &[5.0]), Wrong);
    }
}
