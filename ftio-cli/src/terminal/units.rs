//! Numbers for people: four significant digits and a decimal prefix.

const PREFIXES: [(f64, &str); 11] = [
    (1e18, "E"),
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
    (1e-12, "p"),
];

/// The prefix that suits a value: its factor and its letter.
pub fn prefix(value: f64) -> (f64, &'static str) {
    let value = value.abs();
    if value == 0.0 || !value.is_finite() {
        return (1.0, "");
    }
    // 999.95 would be shown as 1000.
    PREFIXES.into_iter().find(|(factor, _)| value >= factor * 0.99995).unwrap_or((1e-12, "p"))
}

/// `1.234 MB`.
pub fn si(value: f64, unit: &str) -> String {
    let (factor, letter) = prefix(value);
    let scaled = value / factor;
    if letter.is_empty() && scaled == scaled.trunc() && scaled.abs() < 1e3 {
        return format!("{scaled} {unit}");
    }
    format!("{} {letter}{unit}", digits(scaled))
}

/// Bytes without a fraction below 1 kB.
pub fn bytes(value: f64) -> String {
    if value.abs() < 999.5 { format!("{value:.0} B") } else { si(value, "B") }
}

/// Seconds, without a prefix from one second on.
pub fn seconds(value: f64) -> String {
    match value {
        0.0 => "0 s".into(),
        value if value.abs() >= 1.0 => format!("{} s", digits(value)),
        value => si(value, "s"),
    }
}

/// A share as percent. What is not all is never shown as 100 %.
pub fn percent(share: f64) -> String {
    const NEARLY_ALL: f64 = 99.9;
    let shown = 100.0 * share;
    format!("{:.1} %", if share < 1.0 { shown.min(NEARLY_ALL) } else { shown })
}

/// Four significant digits; more in front of the point if there are more.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => 0,
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// `12 345 678`.
pub fn grouped(value: u64) -> String {
    let text = value.to_string();
    let mut out = String::new();
    for (i, digit) in text.chars().enumerate() {
        if i > 0 && (text.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// "1 rank", "2 ranks".
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `4 ranks`, or that the input does not tell.
pub fn ranks(ranks: Option<u32>) -> String {
    ranks.map_or("an unknown number of ranks".into(), |ranks| counted(ranks.into(), "rank"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(8_053_063_680.0), "8.053 GB");
        assert_eq!(si(999_999.0, "B"), "1.000 MB");
        assert_eq!(si(0.0922, "Hz"), "92.20 mHz");
        assert_eq!(si(5.0, "Hz"), "5 Hz");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(seconds(10.1276), "10.13 s");
        assert_eq!(seconds(0.0123), "12.30 ms");
        assert_eq!(seconds(86_400.0), "86400 s");
        assert_eq!(percent(0.62737), "62.7 %");
        assert_eq!((percent(0.99999), percent(1.0)), ("99.9 %".into(), "100.0 %".into()));
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(counted(1, "rank"), "1 rank");
    }
}
