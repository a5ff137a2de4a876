//! Formulas and amounts for people: few digits, exact where a number is whole.

use crate::units::{bytes, seconds, si};
use perf_model::{Factor, Formula, Function};

/// `8.39e6 · Processes · log2(Processes)`.
pub fn function(function: &Function, parameters: &[String]) -> String {
    match function {
        Function::Formula(one) => formula(one, parameters),
        Function::Segmented { lower_end, upper_start, formulas } => {
            let name = parameters.first().map_or("p", String::as_str);
            let [below, above] = [&formulas[0], &formulas[1]].map(|one| formula(one, parameters));
            format!("{below} up to {name} = {}; {above} from {}", number(*lower_end), number(*upper_start))
        }
    }
}

/// One formula.
pub fn formula(formula: &Formula, parameters: &[String]) -> String {
    let mut text = String::new();
    // What vanishes beside the terms is rounding.
    let largest = formula.terms.iter().map(|term| term.coefficient.abs()).fold(0.0, f64::max);
    if formula.terms.is_empty() || formula.constant.abs() > 1e-12 * largest {
        text.push_str(&number(formula.constant));
    }
    for term in &formula.terms {
        let (sign, size) =
            if term.coefficient < 0.0 { ("−", -term.coefficient) } else { ("+", term.coefficient) };
        match (text.is_empty(), sign) {
            (true, "+") => {}
            (true, _) => text.push('−'),
            _ => text.push_str(&format!(" {sign} ")),
        }
        let mut parts: Vec<String> = if size == 1.0 { Vec::new() } else { vec![number(size)] };
        parts.extend(term.factors.iter().flat_map(|one| factor(one, parameters)));
        text.push_str(&parts.join(" · "));
    }
    text
}

fn factor(factor: &Factor, parameters: &[String]) -> Vec<String> {
    let name = parameters.get(factor.parameter).map_or("p", String::as_str);
    let raised = |base: String, exponent: String| match exponent.as_str() {
        "0" => None,
        "1" => Some(base),
        whole if whole.chars().all(|c| c.is_ascii_digit()) => Some(format!("{base}^{whole}")),
        other => Some(format!("{base}^({other})")),
    };
    let power = raised(name.to_owned(), factor.exponents.power.to_string());
    let log = raised(format!("log2({name})"), factor.exponents.log.to_string());
    power.into_iter().chain(log).collect()
}

/// A number: all digits if it is whole, else four of them.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let text = if !value.is_finite() {
        return "?".into();
    } else if (size - size.round()).abs() <= (1e-9 * size).min(1e-4) && size < 1e15 {
        format!("{size:.0}")
    } else if (1e-3..1e6).contains(&size) {
        let before = size.log10().floor() as i32;
        format!("{size:.decimals$}", decimals = (3 - before).max(0) as usize)
    } else {
        format!("{size:.3e}")
    };
    if value < 0.0 { format!("−{text}") } else { text }
}

/// A value with the unit that a metric has in brackets at its end: `Size (B)`, `Time (s)`.
pub fn amount(value: f64, metric: &str) -> String {
    if !value.is_finite() {
        return "?".into();
    }
    match unit(metric) {
        Some("B") => bytes(value),
        Some("s") => seconds(value),
        Some(unit) => si(value, unit),
        None => number(value),
    }
}

/// What is in brackets at the end of the name of a metric.
pub fn unit(metric: &str) -> Option<&str> {
    let (_, unit) = metric.strip_suffix(')')?.rsplit_once('(')?;
    Some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_model::{Exponents, Term};

    #[test]
    fn formulas_for_people() {
        let p = ["Processes".to_owned()];
        let single = |constant, coefficient, exponents| {
            formula(&Formula::single(constant, coefficient, exponents), &p)
        };
        assert_eq!(single(0.0, 4_294_967_296.0, Exponents::new(1, 1, 0)), "4294967296 · Processes");
        assert_eq!(
            single(-2.5, -0.012346, Exponents::new(3, 4, 2)),
            "−2.500 − 0.01235 · Processes^(3/4) · log2(Processes)^2"
        );
        assert_eq!(single(1e-20, 1.0, Exponents::new(0, 1, 1)), "log2(Processes)");
        assert_eq!(single(1.0, -3e9 / 7.0, Exponents::new(-1, 1, 0)), "1 − 4.286e8 · Processes^(-1)");
        assert_eq!(formula(&Formula::constant(0.0), &p), "0");
        let factors = [(0, Exponents::new(2, 1, 0)), (1, Exponents::new(1, 1, 0))]
            .map(|(parameter, exponents)| Factor { parameter, exponents });
        let both =
            Formula { constant: 0.0, terms: vec![Term { coefficient: 2.0, factors: factors.to_vec() }] };
        assert_eq!(formula(&both, &["p".to_owned(), "n".to_owned()]), "2 · p^2 · n");
    }

    #[test]
    fn amounts_have_the_unit_of_their_metric() {
        assert_eq!(amount(8_388_608.0, "Size (B)"), "8.389 MB");
        assert_eq!(amount(0.0123, "Time (s)"), "12.30 ms");
        assert_eq!(amount(2e9, "Bandwidth (B/s)"), "2.000 GB/s");
        assert_eq!(amount(12.0, "Hits"), "12");
        assert_eq!(amount(f64::NAN, "Hits"), "?");
    }
}
