//! Numbers in sentences.

pub use sources::amount::{bytes, count, counted, size};

/// `1.23 MB/s`.
pub fn rate(value: f64) -> String {
    format!("{}/s", bytes(value))
}

/// `12.3 s`, `45 ms`.
pub fn seconds(value: f64) -> String {
    match value {
        v if v >= 0.9995 => format!("{} s", digits(v)),
        v if v >= 0.000_999_5 => format!("{} ms", digits(v * 1e3)),
        v => format!("{} µs", digits(v * 1e6)),
    }
}

/// `12.3 %`.
pub fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if value >= 9.95 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// Three significant digits.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(rate(2e6), "2.000 MB/s");
        assert_eq!(
            (seconds(1.8), seconds(0.0123), seconds(120.4)),
            ("1.80 s".into(), "12.3 ms".into(), "120 s".into())
        );
        assert_eq!((percent(0.025), percent(0.4)), ("2.5 %".into(), "40 %".into()));
        assert_eq!(count(50_832), "50\u{202f}832");
    }
}
