//! Functions as text: Extra-P's notation, Python and LaTeX.

use super::number::python;
use crate::function::{Factor, Formula, Function};

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notation {
    /// `2.0 + 3.5 * p^(3/4) * log2(p)^(1)`.
    #[default]
    Plain,
    /// `2.0+3.5*p**(3/4)*log2(p)**(1)`.
    Python,
    /// `$2.0+3.5\cdot p^{3/4}\cdot \log_2{p}^{1}$`.
    Latex,
}

/// Writes a function; a parameter without a name is written `p`.
///
/// ```
/// use perf_model::output::formula::{Notation, function};
/// use perf_model::{Exponents, Formula, Function};
/// let model = Function::Formula(Formula::single(2.0, -3.5, Exponents::new(3, 4, 1)));
/// assert_eq!(function(&model, &["p"], Notation::Plain), "2.0 + -3.5 * p^(3/4) * log2(p)^(1)");
/// assert_eq!(function(&model, &["p"], Notation::Python), "2.0-3.5*p**(3/4)*log2(p)**(1)");
/// ```
pub fn function<S: AsRef<str>>(function: &Function, parameters: &[S], notation: Notation) -> String {
    match function {
        Function::Formula(one) => formula(one, parameters, notation),
        Function::Segmented { lower_end, upper_start, formulas } => {
            let [below, above] = [&formulas[0], &formulas[1]].map(|one| formula(one, parameters, notation));
            let name = name(parameters, 0);
            let (end, start) = (python(*lower_end), python(*upper_start));
            match notation {
                Notation::Plain => format!("{below} for {name}<={end}\n{above} for {name}>={start}"),
                Notation::Python if lower_end == upper_start => {
                    format!("{below} if {name}<={end} else {above}")
                }
                Notation::Python => {
                    format!("{below} if {name}<={end} else {above} if {name}>={start} else math.nan")
                }
                Notation::Latex => format!("{below} for ${name}<={end}$\n{above} for ${name}>={start}$"),
            }
        }
    }
}

/// Writes a formula.
pub fn formula<S: AsRef<str>>(formula: &Formula, parameters: &[S], notation: Notation) -> String {
    let number: fn(f64) -> String = if notation == Notation::Latex { latex_number } else { python };
    let (times, plus) = match notation {
        Notation::Plain => (" * ", " + "),
        Notation::Python => ("*", "+"),
        Notation::Latex => ("\\cdot ", "+"),
    };
    let mut text = String::new();
    if formula.constant != 0.0 || formula.terms.is_empty() {
        text.push_str(&number(formula.constant));
    }
    for term in &formula.terms {
        let mut parts = Vec::with_capacity(term.factors.len() + 1);
        if term.coefficient != 1.0 {
            parts.push(number(term.coefficient));
        }
        parts.extend(term.factors.iter().flat_map(|factor| factor_parts(factor, parameters, notation)));
        let term = parts.join(times);
        if !text.is_empty() && (notation == Notation::Plain || !term.starts_with('-')) {
            text.push_str(plus);
        }
        text.push_str(&term);
    }
    if notation == Notation::Latex { format!("${text}$") } else { text }
}

fn factor_parts<S: AsRef<str>>(factor: &Factor, parameters: &[S], notation: Notation) -> Vec<String> {
    let name = name(parameters, factor.parameter);
    let raised = |base: String, exponent: crate::Fraction| match notation {
        Notation::Plain => format!("{base}^({exponent})"),
        Notation::Python => format!("{base}**({exponent})"),
        Notation::Latex => format!("{base}^{{{exponent}}}"),
    };
    let mut parts = Vec::with_capacity(2);
    if !factor.exponents.power.is_zero() {
        parts.push(raised(name.to_owned(), factor.exponents.power));
    }
    if factor.exponents.has_log() {
        let log =
            if notation == Notation::Latex { format!("\\log_2{{{name}}}") } else { format!("log2({name})") };
        parts.push(raised(log, factor.exponents.log));
    }
    parts
}

fn name<S: AsRef<str>>(parameters: &[S], index: usize) -> &str {
    parameters.get(index).map_or("p", AsRef::as_ref)
}

fn latex_number(value: f64) -> String {
    let text = python(value);
    match text.split_once('e') {
        Some((digits, exponent)) => {
            format!("{digits}\\cdot 10^{{{}}}", exponent.parse::<i32>().unwrap_or_default())
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{Exponents, Term};

    #[test]
    fn ones_and_zeros_are_left_out() {
        let plain = |one: &Formula| formula(one, &["p"], Notation::Plain);
        assert_eq!(plain(&Formula::constant(0.0)), "0.0");
        assert_eq!(plain(&Formula::single(0.0, 3.0, Exponents::new(1, 1, 0))), "3.0 * p^(1)");
        assert_eq!(plain(&Formula::single(1.0, 1.0, Exponents::new(0, 1, 2))), "1.0 + log2(p)^(2)");
    }

    #[test]
    fn several_parameters_and_latex() {
        let factor = |parameter, exponents| Factor { parameter, exponents };
        let one = Formula {
            constant: 1.5e-5,
            terms: vec![Term {
                coefficient: -2.0,
                factors: vec![factor(0, Exponents::new(1, 2, 0)), factor(1, Exponents::new(1, 1, 1))],
            }],
        };
        assert_eq!(
            formula(&one, &["p", "n"], Notation::Plain),
            "1.5e-05 + -2.0 * p^(1/2) * n^(1) * log2(n)^(1)"
        );
        assert_eq!(
            formula(&one, &["p", "n"], Notation::Latex),
            "$1.5\\cdot 10^{-5}-2.0\\cdot p^{1/2}\\cdot n^{1}\\cdot \\log_2{n}^{1}$"
        );
    }
}
