//! Numbers as Python writes them, which is what readers of Extra-P's output parse.

/// `str(float)`: the shortest digits that read back as the same number, an exponent below 1e-4 and from 1e16.
///
/// ```
/// use perf_model::output::number::python;
/// assert_eq!(python(3.0), "3.0");
/// assert_eq!(python(1.5e-5), "1.5e-05");
/// assert_eq!(python(1e16), "1e+16");
/// assert_eq!(python(f64::NEG_INFINITY), "-inf");
/// ```
pub fn python(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        return format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
    }
    let mut text = format!("{value}");
    if !text.contains('.') {
        text.push_str(".0");
    }
    text
}

/// A number by Python's format specification `[[fill]align][sign][0][width][.precision][type]` with the types
/// `e`, `E`, `f`, `F`, `g`, `G`, `%` and none. `None` if the specification is anything else.
pub fn formatted(value: f64, specification: &str) -> Option<String> {
    let Specification { fill, align, sign, width, precision, kind } = Specification::parse(specification)?;
    let magnitude = value.abs();
    let mut text = if !value.is_finite() {
        python(magnitude)
    } else {
        match kind {
            None if precision.is_none() => python(magnitude),
            Some('e' | 'E') => exponential(magnitude, precision.unwrap_or(6)),
            Some('f' | 'F') => format!("{magnitude:.*}", precision.unwrap_or(6)),
            Some('%') => format!("{:.*}%", precision.unwrap_or(6), magnitude * 100.0),
            _ => general(magnitude, precision.unwrap_or(6).max(1)),
        }
    };
    if matches!(kind, Some('E' | 'G' | 'F')) {
        text = text.to_uppercase();
    }
    let prefix = match sign {
        _ if value.is_sign_negative() && !value.is_nan() => "-",
        '+' => "+",
        ' ' => " ",
        _ => "",
    };
    let padding = width.saturating_sub(text.chars().count() + prefix.len());
    let pad = |count: usize| fill.to_string().repeat(count);
    Some(match align {
        '=' => format!("{prefix}{}{text}", pad(padding)),
        '<' => format!("{prefix}{text}{}", pad(padding)),
        '^' => format!("{}{prefix}{text}{}", pad(padding / 2), pad(padding - padding / 2)),
        _ => format!("{}{prefix}{text}", pad(padding)),
    })
}

struct Specification {
    fill: char,
    align: char,
    sign: char,
    width: usize,
    precision: Option<usize>,
    kind: Option<char>,
}

impl Specification {
    /// Widths and precisions beyond this are mistakes.
    const GREATEST: usize = 1000;

    fn parse(text: &str) -> Option<Specification> {
        let is_align = |c: &char| matches!(c, '<' | '>' | '=' | '^');
        let mut characters: Vec<char> = text.chars().collect();
        let (mut fill, mut align) = (' ', '>');
        if characters.get(1).is_some_and(is_align) {
            (fill, align) = (characters[0], characters[1]);
            characters.drain(..2);
        } else if characters.first().is_some_and(is_align) {
            align = characters.remove(0);
        }
        let mut rest = characters.into_iter().peekable();
        let sign = rest.next_if(|c| matches!(c, '+' | '-' | ' ')).unwrap_or('-');
        if rest.next_if_eq(&'0').is_some() {
            (fill, align) = ('0', '=');
        }
        let mut number = || -> Option<Option<usize>> {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            if digits.is_empty() {
                return Some(None);
            }
            digits.parse().ok().filter(|number| *number <= Self::GREATEST).map(Some)
        };
        let width = number()?.unwrap_or(0);
        let precision = if rest.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            Some(digits.parse().ok().filter(|number| *number <= Self::GREATEST)?)
        } else {
            None
        };
        let kind = rest.next_if(|c| matches!(c, 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%'));
        rest.next().is_none().then_some(Specification { fill, align, sign, width, precision, kind })
    }
}

/// `1.50e+03`: Rust's digits with C's exponent.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// C's `%g`: significant digits, whichever notation is shorter, no trailing zeros.
fn general(value: f64, precision: usize) -> String {
    let rounded = exponential(value, precision - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let strip = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "+00"));
        format!("{}e{exponent}", strip(digits))
    } else {
        strip(&format!("{value:.*}", (precision as i32 - 1 - exponent).max(0) as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_floats() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1234567.5, "1234567.5"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (1e15, "1000000000000000.0"),
            (1.25e16, "1.25e+16"),
            (-6.086212762799767e-16, "-6.086212762799767e-16"),
            (1e-100, "1e-100"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(python(value), text);
        }
    }

    #[test]
    fn format_specifications() {
        for (value, specification, text) in [
            (1234.5, ".2e", "1.23e+03"),
            (1234.5, ".2E", "1.23E+03"),
            (0.0, ".2E", "0.00E+00"),
            (-1.5, "8.1f", "    -1.5"),
            (-1.5, "08.1f", "-00001.5"),
            (1.5, "+.1f", "+1.5"),
            (1.5, "*<6", "1.5***"),
            (1.5, "^7", "  1.5  "),
            (123456789.0, "g", "1.23457e+08"),
            (0.0001, "g", "0.0001"),
            (100.0, ".3g", "100"),
            (0.256, ".1%", "25.6%"),
            (2.5, "", "2.5"),
        ] {
            assert_eq!(formatted(value, specification).as_deref(), Some(text), "{specification}");
        }
        for bad in ["x", ".e", "1.2.3", "99999999999", "d"] {
            assert_eq!(formatted(1.0, bad), None, "{bad}");
        }
    }
}
