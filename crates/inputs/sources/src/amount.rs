//! Amounts in messages: bytes, times, and numbers of things.

/// `33.56 MB`: four digits and a decimal prefix.
pub fn bytes(value: f64) -> String {
    if value < 0.0 {
        return format!("-{}", bytes(-value));
    }
    let prefixes = [(1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match prefixes.into_iter().find(|(factor, _)| value >= 0.99995 * factor) {
        Some((factor, unit)) => {
            let scaled = value / factor;
            let decimals = match scaled {
                s if s >= 99.995 => 1,
                s if s >= 9.9995 => 2,
                _ => 3,
            };
            format!("{scaled:.decimals$} {unit}")
        }
        None => format!("{value:.0} B"),
    }
}

/// `512.8 ms`, `10.13 s`: four digits, without a prefix from one second on; hours or days after the seconds
/// from an hour on.
pub fn seconds(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value} s");
    }
    let size = value.abs();
    let prefixes = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps")];
    let (factor, unit) =
        prefixes.into_iter().find(|(factor, _)| size >= 0.99995 * factor).unwrap_or((1e-12, "ps"));
    let scaled = value / factor;
    let decimals = match scaled.abs() {
        v if v >= 999.95 => 0,
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    match size {
        0.0 => "0 s".into(),
        v if v >= 172_800.0 => format!("{value:.0} s ({:.1} d)", value / 86_400.0),
        v if v >= 3600.0 => format!("{value:.0} s ({:.1} h)", value / 3600.0),
        _ => format!("{scaled:.decimals$} {unit}"),
    }
}

/// A size that somebody chose: `1 MiB`, `4 KiB`; others in decimal.
pub fn size(value: u64) -> String {
    match value {
        0 => "0 B".into(),
        v if v.is_multiple_of(1 << 30) => format!("{} GiB", v >> 30),
        v if v.is_multiple_of(1 << 20) => format!("{} MiB", v >> 20),
        v if v.is_multiple_of(1 << 10) => format!("{} KiB", v >> 10),
        v => bytes(v as f64),
    }
}

/// `12 345 678`, with narrow spaces.
pub fn count(value: u64) -> String {
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
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_words() {
        assert_eq!((bytes(33_557_224.0), bytes(999.0)), ("33.56 MB".into(), "999 B".into()));
        assert_eq!((bytes(4_937_482_737.0), bytes(999_999.0)), ("4.937 GB".into(), "1.000 MB".into()));
        let times = [0.0, 0.000_3, 0.4801, 36.025, 163.997, 0.999_99, 350_932.0].map(seconds);
        let shown = ["0 s", "300.0 µs", "480.1 ms", "36.02 s", "164.0 s", "1.000 s", "350932 s (4.1 d)"];
        assert_eq!(times, shown);
        assert_eq!(
            (size(1 << 20), size(4096), size(1000)),
            ("1 MiB".into(), "4 KiB".into(), "1.000 kB".into())
        );
    }
}
