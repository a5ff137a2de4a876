//! Numbers as C prints and as JSON spells them.

use std::io::{self, Write};

/// `printf("%.2e")`.
pub(super) fn write_e2(out: &mut impl Write, value: f64) -> io::Result<()> {
    if !value.is_finite() {
        return out.write_all(if value.is_nan() { b"NaN" } else { b"Infinity" });
    }
    // Rust leaves out the sign and the leading zero of the exponent.
    let text = format!("{value:.2e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    write!(out, "{digits}e{sign}{exponent:0>2}")
}

/// `std::to_string(double)`, which is `printf("%f")`; no number is `NaN`, as TMIO writes it.
pub(super) fn write_f6(out: &mut impl Write, value: f64) -> io::Result<()> {
    if value.is_nan() {
        return out.write_all(b"NaN");
    }
    if value.is_infinite() {
        return out.write_all(if value > 0.0 { b"Infinity" } else { b"-Infinity" });
    }
    write!(out, "{value:.6}")
}

/// Longest number that [`parse`] has to see: `%f` of the largest double has 316 characters.
pub(super) const LONGEST: usize = 400;

/// The powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Reads the number that `text` begins with: its value, correctly rounded, and the rest.
///
/// Beyond JSON it takes the spellings of NaN and infinity that C and Python print (`nan`, `NaN`, `-nan`,
/// `inf`, `Infinity`), and `null`.
pub(super) fn parse(text: &[u8]) -> Option<(f64, &[u8])> {
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let mut rest = unsigned;
    let mut mantissa = 0u64;
    let mut digits = 0usize;
    while let [digit @ b'0'..=b'9', tail @ ..] = rest {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        digits += 1;
        rest = tail;
    }
    let mut decimals = 0usize;
    if let [b'.', tail @ ..] = rest {
        rest = tail;
        while let [digit @ b'0'..=b'9', tail @ ..] = rest {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            decimals += 1;
            rest = tail;
        }
    }
    if digits + decimals == 0 {
        return word(unsigned, negative);
    }
    let has_exponent = matches!(rest, [b'e' | b'E', ..]);
    // Both are exact, so that their quotient is the correctly rounded one.
    if !has_exponent && digits + decimals <= 19 && mantissa <= 1 << 53 {
        let value = mantissa as f64 / POWERS.get(decimals)?;
        return Some((if negative { -value } else { value }, rest));
    }
    if has_exponent {
        rest = rest.get(1..)?;
        if let [b'+' | b'-', tail @ ..] = rest {
            rest = tail;
        }
        let before = rest.len();
        while let [b'0'..=b'9', tail @ ..] = rest {
            rest = tail;
        }
        if rest.len() == before {
            return None;
        }
    }
    let length = text.len() - rest.len();
    let value = std::str::from_utf8(text.get(..length)?).ok()?.parse().ok()?;
    Some((value, rest))
}

/// The words that stand for numbers, in any case, the longer ones first.
const WORDS: [(&[u8], f64); 5] = [
    (b"infinity", f64::INFINITY),
    (b"inf", f64::INFINITY),
    (b"nan(ind)", f64::NAN),
    (b"nan", f64::NAN),
    (b"null", f64::NAN),
];

fn word(text: &[u8], negative: bool) -> Option<(f64, &[u8])> {
    WORDS.iter().find_map(|(word, value)| {
        let (start, rest) = text.split_at_checked(word.len())?;
        let value = if negative { -value } else { *value };
        start.eq_ignore_ascii_case(word).then_some((value, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn e2(value: f64) -> String {
        let mut out = Vec::new();
        write_e2(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn f6(value: f64) -> String {
        let mut out = Vec::new();
        write_f6(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_look_as_c_prints_them() {
        // From printf of glibc.
        let cases = [
            (0.0, "0.00e+00"),
            (8053063680.0, "8.05e+09"),
            (0.000123456, "1.23e-04"),
            (9.999e99, "1.00e+100"),
            (-1.005, "-1.00e+00"),
            (1.5e-310, "1.50e-310"),
        ];
        for (value, text) in cases {
            assert_eq!(e2(value), text);
        }
        assert_eq!(f6(85322393.76), "85322393.760000");
        assert_eq!(f6(0.0000005), "0.000000");
        assert_eq!(f6(0.0000015), "0.000002");
        assert_eq!(f6(f64::NAN), "NaN");
    }

    #[test]
    fn words_for_no_number_are_read() {
        for text in ["NaN", "nan", "-nan", "NAN", "-nan(ind)", "null"] {
            assert!(parse(text.as_bytes()).unwrap().0.is_nan(), "{text}");
        }
        assert_eq!(parse(b"inf,"), Some((f64::INFINITY, b",".as_slice())));
        assert_eq!(parse(b"-Infinity]"), Some((f64::NEG_INFINITY, b"]".as_slice())));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "-", ".", "e5", "1e", "1e+", "x", "true", "in", "\"1\""] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_agrees_with_the_standard_library(value in any::<f64>(), decimals in 0usize..20) {
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:.decimals$}")] {
                let expected: f64 = text.parse().unwrap();
                let (parsed, rest) = parse(text.as_bytes()).unwrap();
                prop_assert!(rest.is_empty());
                prop_assert!(parsed == expected || (parsed.is_nan() && expected.is_nan()), "{}", text);
            }
        }

        #[test]
        fn short_numbers_are_exact(mantissa in any::<u64>(), decimals in 0u32..25) {
            let digits = format!("{mantissa:0>30}");
            let (whole, fraction) = digits.split_at(30 - decimals as usize);
            let text = format!("{}.{fraction}", whole.trim_start_matches('0'));
            if text != "." {
                let expected: f64 = text.parse().unwrap();
                prop_assert_eq!(parse(text.as_bytes()), Some((expected, b"".as_slice())));
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            if let Some((_, rest)) = parse(&bytes) {
                prop_assert!(rest.len() < bytes.len());
            }
        }
    }
}
