//! How the terms of several parameters may combine.
//!
//! With one factor `a`, `b`, … per parameter, a form is a list of products of some of them, written as lists
//! of indices: `a + ab` is `[[0], [0, 1]]`.

use crate::function::{Factor, Formula, Term};

/// A list of products of factors.
pub(crate) type Form = &'static [&'static [usize]];

/// The forms for two, three and four factors, in Extra-P's order, which decides between equals.
pub(crate) fn forms(factors: usize) -> &'static [Form] {
    match factors {
        2 => TWO,
        3 => THREE,
        4 => FOUR,
        _ => &[],
    }
}

/// Forms of four factors beyond Extra-P's two, by analogy with those of three.
pub(crate) const FOUR_MORE: &[Form] = &[
    &[&[0, 1], &[2], &[3]],
    &[&[0, 2], &[1], &[3]],
    &[&[0, 3], &[1], &[2]],
    &[&[1, 2], &[0], &[3]],
    &[&[1, 3], &[0], &[2]],
    &[&[2, 3], &[0], &[1]],
    &[&[0, 1], &[2, 3]],
    &[&[0, 2], &[1, 3]],
    &[&[0, 3], &[1, 2]],
    &[&[0, 1, 2], &[3]],
    &[&[0, 1, 3], &[2]],
    &[&[0, 2, 3], &[1]],
    &[&[1, 2, 3], &[0]],
];

const TWO: &[Form] = &[&[&[0, 1]], &[&[0], &[1]], &[&[0], &[0, 1]], &[&[1], &[0, 1]]];

const THREE: &[Form] = &[
    &[&[0, 1, 2]],
    &[&[0], &[1], &[2]],
    &[&[0, 1, 2], &[0]],
    &[&[0, 1, 2], &[1]],
    &[&[0, 1, 2], &[2]],
    &[&[0, 1, 2], &[0, 1]],
    &[&[0, 1, 2], &[1, 2]],
    &[&[0, 1, 2], &[0, 2]],
    &[&[0, 1, 2], &[0, 1], &[2]],
    &[&[0, 1, 2], &[1, 2], &[0]],
    &[&[0, 1, 2], &[0, 2], &[1]],
    &[&[0, 1, 2], &[0], &[1]],
    &[&[0, 1, 2], &[0], &[2]],
    &[&[0, 1, 2], &[1], &[2]],
    &[&[0, 1], &[2]],
    &[&[0, 1], &[2], &[1]],
    &[&[0, 1], &[2], &[0]],
    &[&[0, 2], &[1]],
    &[&[0, 2], &[1], &[0]],
    &[&[0, 2], &[1], &[2]],
    &[&[1, 2], &[0]],
    &[&[1, 2], &[0], &[1]],
    &[&[1, 2], &[0], &[2]],
];

const FOUR: &[Form] = &[&[&[0, 1, 2, 3]], &[&[0], &[1], &[2], &[3]]];

/// The formula of a form, with coefficients of one.
pub(crate) fn formula(form: Form, factors: &[Factor]) -> Formula {
    let term = |product: &&[usize]| Term {
        coefficient: 1.0,
        factors: product.iter().filter_map(|&index| factors.get(index).copied()).collect(),
    };
    Formula { constant: 0.0, terms: form.iter().map(term).collect() }
}

/// Number of factors in a form: the measure of how involved it is.
pub(crate) fn size(form: Form) -> usize {
    form.iter().map(|product| product.len()).sum()
}

/// The matrix of a formula at some points: a column of ones, then one per term.
pub(crate) fn design(formula: &Formula, points: &crate::points::Points) -> Vec<f64> {
    let mut rows = Vec::with_capacity(points.len() * (formula.terms.len() + 1));
    for (point, _) in points.iter() {
        rows.push(1.0);
        rows.extend(formula.terms.iter().map(|term| term.basis(point)));
    }
    rows
}

/// Puts coefficients, the constant first, into a formula.
pub(crate) fn set_coefficients(formula: &mut Formula, coefficients: &[f64]) {
    formula.constant = coefficients[0];
    for (term, coefficient) in formula.terms.iter_mut().zip(&coefficients[1..]) {
        term.coefficient = *coefficient;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_twice() {
        for all in [TWO.to_vec(), THREE.to_vec(), [FOUR, FOUR_MORE].concat()] {
            let mut seen = Vec::new();
            for form in all {
                let mut products: Vec<&[usize]> = form.to_vec();
                products.sort();
                assert!(!seen.contains(&products), "{form:?}");
                seen.push(products);
            }
        }
    }
}
