//! The performance model normal form: what a model is as a function, and its value at a point.
//!
//! A term is `c · Π p_l^i · log2(p_l)^j` over some of the parameters `p_l`; a [`Formula`] is a constant plus
//! terms; a [`Function`] is one formula, or two that meet at a change point.

use crate::fraction::Fraction;

/// The two exponents of one parameter in one term: `p^(power) · log2(p)^(log)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Exponents {
    /// Exponent of the parameter.
    pub power: Fraction,
    /// Exponent of its binary logarithm.
    pub log: Fraction,
}

impl Exponents {
    /// `p^(numerator/denominator) · log2(p)^(log)`.
    pub const fn new(numerator: i32, denominator: i32, log: i32) -> Self {
        Exponents { power: Fraction::new(numerator, denominator), log: Fraction::whole(log) }
    }

    /// Value at `p`.
    ///
    /// ```
    /// use perf_model::Exponents;
    /// assert_eq!(Exponents::new(3, 2, 1).evaluate(4.0), 16.0); // 4^1.5 · log2 4
    /// ```
    pub fn evaluate(self, p: f64) -> f64 {
        let power = if self.power.is_zero() { 1.0 } else { p.powf(self.power.value()) };
        if self.log.is_zero() { power } else { power * p.log2().powf(self.log.value()) }
    }

    /// Whether the logarithm appears at all.
    pub const fn has_log(self) -> bool {
        !self.log.is_zero()
    }

    /// Order of growth for comparisons: first the power, then the logarithm.
    pub fn growth(self) -> (f64, f64) {
        (self.power.value(), self.log.value())
    }
}

/// One parameter's part of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    /// Index of the parameter in the experiment.
    pub parameter: usize,
    /// Its exponents.
    pub exponents: Exponents,
}

/// A coefficient times a product of factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The coefficient.
    pub coefficient: f64,
    /// The factors, each of another parameter.
    pub factors: Vec<Factor>,
}

impl Term {
    /// Product of the factors at a point, without the coefficient.
    pub fn basis(&self, point: &[f64]) -> f64 {
        basis(&self.factors, point)
    }
}

/// Product of factors at a point. A parameter the point does not have makes it NaN.
pub(crate) fn basis(factors: &[Factor], point: &[f64]) -> f64 {
    factors
        .iter()
        .map(|factor| point.get(factor.parameter).map_or(f64::NAN, |&p| factor.exponents.evaluate(p)))
        .product()
}

/// A constant plus terms.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Formula {
    /// The constant.
    pub constant: f64,
    /// The terms; none for a constant model.
    pub terms: Vec<Term>,
}

impl Formula {
    /// A constant.
    pub fn constant(constant: f64) -> Self {
        Formula { constant, terms: Vec::new() }
    }

    /// `constant + coefficient · p^i · log2(p)^j` of the first parameter.
    pub fn single(constant: f64, coefficient: f64, exponents: Exponents) -> Self {
        let factors = vec![Factor { parameter: 0, exponents }];
        Formula { constant, terms: vec![Term { coefficient, factors }] }
    }

    /// Value at a point.
    pub fn evaluate(&self, point: &[f64]) -> f64 {
        self.terms.iter().fold(self.constant, |sum, term| sum + term.coefficient * term.basis(point))
    }

    /// Number of factors over all terms: how involved the formula is.
    pub fn factor_count(&self) -> usize {
        self.terms.iter().map(|term| term.factors.len()).sum()
    }

    /// Whether both have the same terms, whatever the coefficients.
    pub fn same_terms(&self, other: &Formula) -> bool {
        self.terms.len() == other.terms.len()
            && self.terms.iter().zip(&other.terms).all(|(a, b)| a.factors == b.factors)
    }
}

/// A model as a function of the parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// One formula everywhere.
    Formula(Formula),
    /// Two formulas of one parameter: the first up to `lower_end`, the second from `upper_start`.
    Segmented {
        /// Up to and including this value the first formula holds.
        lower_end: f64,
        /// From this value on the second formula holds; equal to `lower_end` if the segments share a point.
        upper_start: f64,
        /// Below, above.
        formulas: Box<[Formula; 2]>,
    },
}

impl Function {
    /// Value at a point. Between two segments that share no point nothing was measured, so that the value
    /// there is NaN.
    pub fn evaluate(&self, point: &[f64]) -> f64 {
        self.formula_at(point).map_or(f64::NAN, |formula| formula.evaluate(point))
    }

    /// The formula in force at a point.
    pub fn formula_at(&self, point: &[f64]) -> Option<&Formula> {
        match self {
            Function::Formula(formula) => Some(formula),
            Function::Segmented { lower_end, upper_start, formulas } => match point.first() {
                Some(p) if p <= lower_end => Some(&formulas[0]),
                Some(p) if p >= upper_start => Some(&formulas[1]),
                _ => None,
            },
        }
    }

    /// The formula, or the one of the upper segment: what counts for extrapolation.
    pub fn leading(&self) -> &Formula {
        match self {
            Function::Formula(formula) => formula,
            Function::Segmented { formulas, .. } => &formulas[1],
        }
    }

    /// Whether no parameter appears.
    pub fn is_constant(&self) -> bool {
        matches!(self, Function::Formula(formula) if formula.terms.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluates_a_product_of_two_parameters() {
        let factor = |parameter, exponents| Factor { parameter, exponents };
        let formula = Formula {
            constant: 1.0,
            terms: vec![Term {
                coefficient: 2.0,
                factors: vec![factor(0, Exponents::new(1, 1, 0)), factor(1, Exponents::new(0, 1, 2))],
            }],
        };
        assert_eq!(formula.evaluate(&[3.0, 8.0]), 1.0 + 2.0 * 3.0 * 9.0);
        assert!(formula.evaluate(&[3.0]).is_nan());
    }

    #[test]
    fn a_gap_between_segments_has_no_value() {
        let function = Function::Segmented {
            lower_end: 4.0,
            upper_start: 8.0,
            formulas: Box::new([Formula::constant(1.0), Formula::constant(2.0)]),
        };
        assert_eq!(function.evaluate(&[4.0]), 1.0);
        assert_eq!(function.evaluate(&[8.0]), 2.0);
        assert!(function.evaluate(&[6.0]).is_nan());
    }
}
