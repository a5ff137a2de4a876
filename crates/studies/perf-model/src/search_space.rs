//! Which terms are tried.
//!
//! The lists are Extra-P's, in its order: where two terms fit equally well, the earlier one wins.

use crate::fraction::Fraction;
use crate::function::Exponents;

const fn e(numerator: i32, denominator: i32, log: i32) -> Exponents {
    Exponents::new(numerator, denominator, log)
}

/// Growing terms, from `log2(p)` to `p^3 · log2(p)`.
#[rustfmt::skip]
pub const GROWING: [Exponents; 42] = [
    e(0, 1, 1), e(0, 1, 2), e(1, 4, 0), e(1, 3, 0), e(1, 4, 1), e(1, 3, 1), e(1, 4, 2), e(1, 3, 2),
    e(1, 2, 0), e(1, 2, 1), e(1, 2, 2), e(2, 3, 0), e(3, 4, 0), e(2, 3, 1), e(3, 4, 1), e(4, 5, 0),
    e(2, 3, 2), e(3, 4, 2), e(1, 1, 0), e(1, 1, 1), e(1, 1, 2), e(5, 4, 0), e(5, 4, 1), e(4, 3, 0),
    e(4, 3, 1), e(3, 2, 0), e(3, 2, 1), e(3, 2, 2), e(5, 3, 0), e(7, 4, 0), e(2, 1, 0), e(2, 1, 1),
    e(2, 1, 2), e(9, 4, 0), e(7, 3, 0), e(5, 2, 0), e(5, 2, 1), e(5, 2, 2), e(8, 3, 0), e(11, 4, 0),
    e(3, 1, 0), e(3, 1, 1),
];

/// Shrinking terms with a logarithm, for strong scaling.
#[rustfmt::skip]
pub const SHRINKING_LOG: [Exponents; 23] = [
    e(0, 1, -1), e(0, 1, -2), e(-1, 4, -1), e(-1, 3, -1),
    e(-1, 4, -2), e(-1, 3, -2), e(-1, 2, -1), e(-1, 2, -2),
    e(-2, 3, -1), e(-3, 4, -1), e(-2, 3, -2), e(-3, 4, -2),
    e(-1, 1, -1), e(-1, 1, -2), e(-5, 4, -1), e(-4, 3, -1),
    e(-3, 2, -1), e(-3, 2, -2), e(-2, 1, -1), e(-2, 1, -2), e(-5, 2, -1), e(-5, 2, -2), e(-3, 1, -1),
];

/// Shrinking powers, for strong scaling.
#[rustfmt::skip]
pub const SHRINKING_POWER: [Exponents; 19] = [
    e(-1, 4, 0), e(-1, 3, 0), e(-1, 2, 0), e(-2, 3, 0), e(-3, 4, 0), e(-4, 5, 0), e(-1, 1, 0), e(-5, 4, 0),
    e(-4, 3, 0), e(-3, 2, 0), e(-5, 3, 0), e(-7, 4, 0), e(-2, 1, 0), e(-9, 4, 0), e(-7, 3, 0), e(-5, 2, 0),
    e(-8, 3, 0), e(-11, 4, 0), e(-3, 1, 0),
];

/// The terms to try for one parameter.
///
/// ```
/// use perf_model::{Exponents, Options, SearchSpace, model_series};
///
/// // Only what theory allows: p or p · log2 p.
/// let space = SearchSpace::of(vec![Exponents::new(1, 1, 0), Exponents::new(1, 1, 1)]);
/// let options = Options { space: Some(space), ..Options::default() };
/// let model = model_series(&[2.0, 4.0, 8.0, 16.0], &[2.1, 8.3, 23.5, 64.9], &options);
/// assert_eq!(model.function.leading().terms[0].factors[0].exponents, Exponents::new(1, 1, 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSpace {
    exponents: Vec<Exponents>,
    shrinking: bool,
}

impl SearchSpace {
    /// The usual terms; without logarithms if `logs` is false, with shrinking ones if `shrinking` is true.
    pub fn new(logs: bool, shrinking: bool) -> Self {
        let mut exponents: Vec<Exponents> =
            GROWING.into_iter().filter(|exponents| logs || !exponents.has_log()).collect();
        if shrinking {
            if logs {
                exponents.extend(SHRINKING_LOG);
            }
            exponents.extend(SHRINKING_POWER);
        }
        SearchSpace { exponents, shrinking }
    }

    /// Terms of the caller's choice, in the caller's order.
    pub fn of(exponents: Vec<Exponents>) -> Self {
        let shrinking = exponents.iter().any(|e| e.power.numerator() < 0 || e.log.numerator() < 0);
        SearchSpace { exponents, shrinking }
    }

    /// Finer exponents: powers up to 5 in all fractions with denominators up to 12, with the logarithm to the
    /// power 0, 1 or 2, the logarithm alone also to half powers, and all of them negated.
    pub fn fine(logs: bool) -> Self {
        const GREATEST_POWER: i32 = 5;
        const GREATEST_DENOMINATOR: i32 = 12;
        const GREATEST_LOG: i32 = 2;
        let mut powers: Vec<Fraction> = Vec::new();
        for denominator in 1..=GREATEST_DENOMINATOR {
            let new =
                (1..=GREATEST_POWER * denominator).map(|numerator| Fraction::new(numerator, denominator));
            powers.extend(new.filter(|power| power.denominator() == denominator));
        }
        let mut exponents: Vec<Exponents> =
            powers.iter().map(|&power| Exponents { power, log: Fraction::ZERO }).collect();
        if logs {
            let alone = (1..=2 * GREATEST_LOG)
                .map(|half| Exponents { power: Fraction::ZERO, log: Fraction::new(half, 2) });
            exponents.extend(alone);
            for log in (1..=GREATEST_LOG).map(Fraction::whole) {
                exponents.extend(powers.iter().map(|&power| Exponents { power, log }));
            }
        }
        let negated = |fraction: Fraction| Fraction::new(-fraction.numerator(), fraction.denominator());
        let shrinking: Vec<Exponents> =
            exponents.iter().map(|e| Exponents { power: negated(e.power), log: negated(e.log) }).collect();
        exponents.extend(shrinking);
        SearchSpace { exponents, shrinking: true }
    }

    /// All terms, whatever the data.
    pub fn exponents(&self) -> &[Exponents] {
        &self.exponents
    }

    /// What Extra-P tries for these parameter values: all terms, or those without logarithm if a value is
    /// below one (not above one, if shrinking terms are on).
    pub(crate) fn compat(&self, smallest: f64) -> Vec<Exponents> {
        let logs = if self.shrinking { smallest > 1.0 } else { smallest >= 1.0 };
        self.exponents.iter().copied().filter(|exponents| logs || !exponents.has_log()).collect()
    }

    /// The terms that are finite and not ambiguous in sign at these parameter values: a logarithm needs
    /// values of at least one, a negative power values above zero, a negative power of the logarithm values
    /// above one.
    pub(crate) fn defined(&self, smallest: f64) -> Vec<Exponents> {
        let fits = |exponents: &Exponents| {
            (!exponents.has_log() || smallest >= 1.0)
                && (exponents.log.numerator() >= 0 || smallest > 1.0)
                && (exponents.power.numerator() >= 0 || smallest > 0.0)
                && (exponents.power.denominator() == 1 || smallest >= 0.0)
        };
        self.exponents.iter().copied().filter(fits).collect()
    }
}

impl Default for SearchSpace {
    fn default() -> Self {
        SearchSpace::new(true, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_filters() {
        assert_eq!(SearchSpace::new(true, false).exponents().len(), 42);
        assert_eq!(SearchSpace::new(false, false).exponents().len(), 19);
        assert_eq!(SearchSpace::new(true, true).exponents().len(), 84);
        assert_eq!(SearchSpace::new(true, false).compat(1.0).len(), 42);
        assert_eq!(SearchSpace::new(true, true).compat(1.0).len(), 38);
        assert_eq!(SearchSpace::new(true, true).defined(1.0).len(), 61);
        assert_eq!(SearchSpace::new(true, true).defined(0.5).len(), 38);
        assert_eq!(SearchSpace::new(true, true).defined(0.0).len(), 19);
    }
}
