//! Exact exponents: small fractions in lowest terms.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A fraction in lowest terms with a positive denominator. Exponents are written as people write them, `3/4`
/// and not `0.75`, and refined exactly ([`mediant`](Fraction::mediant)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(with = "String", inline)]
pub struct Fraction {
    numerator: i32,
    denominator: i32,
}

impl Fraction {
    /// Zero.
    pub const ZERO: Fraction = Fraction { numerator: 0, denominator: 1 };

    /// `numerator / denominator`, reduced. A denominator of zero is read as one.
    ///
    /// ```
    /// use perf_model::Fraction;
    /// assert_eq!(Fraction::new(6, -8).to_string(), "-3/4");
    /// assert_eq!(Fraction::new(4, 2).to_string(), "2");
    /// ```
    pub const fn new(numerator: i32, denominator: i32) -> Self {
        if denominator == 0 {
            return Fraction { numerator, denominator: 1 };
        }
        let divisor = greatest_common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs()) as i32;
        let sign = if denominator < 0 { -1 } else { 1 };
        Fraction { numerator: sign * numerator / divisor, denominator: sign * denominator / divisor }
    }

    /// A whole number.
    pub const fn whole(number: i32) -> Self {
        Fraction { numerator: number, denominator: 1 }
    }

    /// Above the bar.
    pub const fn numerator(self) -> i32 {
        self.numerator
    }

    /// Below the bar, at least one.
    pub const fn denominator(self) -> i32 {
        self.denominator
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The nearest double.
    pub fn value(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// The mediant (a + c) / (b + d) of a/b and c/d: the simplest fraction between two neighbours of the
    /// Stern–Brocot tree, which is how the refining modeler halves its search interval.
    pub const fn mediant(self, other: Fraction) -> Fraction {
        Fraction::new(self.numerator + other.numerator, self.denominator + other.denominator)
    }
}

const fn greatest_common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { 1 } else { a }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_and_prints() {
        for (numerator, denominator, text) in
            [(0, 7, "0"), (2, 4, "1/2"), (-2, 4, "-1/2"), (2, -4, "-1/2"), (9, 3, "3"), (5, 0, "5")]
        {
            assert_eq!(Fraction::new(numerator, denominator).to_string(), text);
        }
    }

    #[test]
    fn mediants_of_the_stern_brocot_tree() {
        let mediant = Fraction::whole(0).mediant(Fraction::whole(1));
        assert_eq!(mediant, Fraction::new(1, 2));
        assert_eq!(mediant.mediant(Fraction::whole(1)), Fraction::new(2, 3));
    }
}
