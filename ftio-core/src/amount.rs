//! Amounts in messages: bytes, and numbers of things.

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
        assert_eq!(
            (size(1 << 20), size(4096), size(1000)),
            ("1 MiB".into(), "4 KiB".into(), "1.000 kB".into())
        );
    }
}
