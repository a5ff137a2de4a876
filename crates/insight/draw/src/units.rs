//! Numbers for people: four significant digits and a decimal prefix.

use ftio_core::detect::Analysis;

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

/// A number of unknown unit: without a prefix, unless it would be long.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || (size > 0.0 && size < 1e-3) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.*}", if size < 1.0 { 4 } else { 3 });
    let text = if size >= 1.0 { digits(value) } else { text };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Bytes without a fraction below 1 kB.
pub use sources::amount::bytes;

/// Seconds, without a prefix from one second on; hours or days beside them from an hour on.
pub use sources::amount::seconds;

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

pub use sources::amount::{count as grouped, counted};

/// `4 ranks`, or that the input does not tell.
pub fn ranks(ranks: Option<u32>) -> String {
    ranks.map_or("an unknown number of ranks".into(), |ranks| counted(ranks.into(), "rank"))
}

/// How volumes and bandwidths are written: the unit of a sampled quantity is not known.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    pub is_quantity: bool,
}

impl Units {
    /// Of what was analysed.
    pub fn of(analysis: &Analysis) -> Self {
        Units { is_quantity: analysis.is_quantity }
    }

    /// Bytes, or what is sampled.
    pub fn volume(self, value: f64) -> String {
        if self.is_quantity { number(value) } else { bytes(value) }
    }

    /// Bytes per second, or what is sampled.
    pub fn rate(self, value: f64) -> String {
        if self.is_quantity { number(value) } else { si(value, "B/s") }
    }
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
        assert_eq!(seconds(86_400.0), "86400 s (24.0 h)");
        assert_eq!(seconds(350_932.0), "350932 s (4.1 d)");
        assert_eq!(seconds(3599.0), "3599 s");
        for (value, text) in [(0.75, "0.75"), (3.0, "3"), (0.0, "0"), (-1.5, "-1.5"), (1234.5678, "1235")] {
            assert_eq!(number(value), text);
        }
        assert_eq!((number(25.767e9), number(2e-5)), ("2.577e10".into(), "2.000e-5".into()));
        assert_eq!(percent(0.62737), "62.7 %");
        assert_eq!((percent(0.99999), percent(1.0)), ("99.9 %".into(), "100.0 %".into()));
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(counted(1, "rank"), "1 rank");
    }
}
