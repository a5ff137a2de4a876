//! Values that options of several commands take, and how they are read.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ftio_core::detect::Outlier;
use ftio_core::detect::Outlier::{Dbscan, IsolationForest, LocalOutlierFactor, Peaks, ZScore};

/// One of these words, each of which stands for a value.
pub fn one_of<T, const N: usize>(words: [(&'static str, T); N]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let names = words.each_ref().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(move |word| {
        let found = words.iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| value.clone()).ok_or("unknown")
    })
}

/// `--outlier`: its names and what it does.
const OUTLIERS: [(&[&str], Outlier, &str); 5] = [
    (&["zscore", "z-score"], ZScore, "Standard deviations above the mean, as in the paper"),
    (&["dbscan", "db-scan"], Dbscan, "Points that belong to no cluster"),
    (&["isolation-forest", "forest"], IsolationForest, "Points that few random cuts isolate"),
    (
        &["lof"],
        LocalOutlierFactor,
        "Points in sparser surroundings than their neighbours (local outlier factor)",
    ),
    (&["peaks", "peak"], Peaks, "Local maxima near the highest"),
];

/// `--outlier`.
pub fn outlier() -> impl TypedValueParser<Value = Outlier> {
    let value = |(names, _, help): &(&'static [&'static str], Outlier, &'static str)| {
        PossibleValue::new(names[0]).aliases(&names[1..]).help(*help)
    };
    PossibleValuesParser::new(OUTLIERS.each_ref().map(value)).try_map(|word| {
        let found = OUTLIERS.iter().find(|(names, ..)| names.contains(&word.as_str()));
        found.map(|(_, outlier, _)| *outlier).ok_or("unknown")
    })
}

/// `--flush`: what `TMIO_FLUSH` takes.
pub fn flush(text: &str) -> Result<String, String> {
    let seconds = text.strip_prefix("interval:").and_then(|seconds| seconds.parse::<f64>().ok());
    let is_known = matches!(text, "finalize" | "close") || seconds.is_some_and(|s| (0.01..=1e6).contains(&s));
    let expected = "expected finalize, close, or interval:SECONDS with 0.01 or more";
    if is_known { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

/// `--freq`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    Auto,
    Hertz(f64),
}

impl Sampling {
    pub fn hertz(self) -> Option<f64> {
        match self {
            Sampling::Hertz(hz) => Some(hz),
            Sampling::Auto => None,
        }
    }
}

/// A sampling frequency; the Python FTIO's −1 means automatic as well.
pub fn frequency(text: &str) -> Result<Sampling, String> {
    match text.parse::<f64>() {
        Ok(-1.0) => Ok(Sampling::Auto),
        Ok(hz) if (1e-9..=1e9).contains(&hz) => Ok(Sampling::Hertz(hz)),
        _ if text == "auto" => Ok(Sampling::Auto),
        _ => Err("expected a number of Hz between 1e-9 and 1e9, or \"auto\"".into()),
    }
}

/// A number that `fits`.
pub fn number(text: &str, fits: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| fits(*number));
    number.ok_or_else(|| format!("expected {expected}"))
}

/// A point in time.
pub fn seconds(text: &str) -> Result<f64, String> {
    number(text, |seconds| seconds.abs() <= 1e9, "a number of seconds")
}

/// A length of time.
pub fn positive_seconds(text: &str) -> Result<f64, String> {
    number(text, |seconds| seconds > 0.0 && seconds <= 1e9, "a number of seconds above 0")
}

/// A length of time in seconds, or with a unit: 90s, 30m, 24h, 7d.
pub fn duration(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1.0),
        Some(b'm') => (&text[..text.len() - 1], 60.0),
        Some(b'h') => (&text[..text.len() - 1], 3600.0),
        Some(b'd') => (&text[..text.len() - 1], 86_400.0),
        _ => (text, 1.0),
    };
    let fits = |value: f64| value > 0.0 && value.is_finite();
    let value = self::number(number, fits, "seconds above 0, or a time such as 30m, 24h or 7d")?;
    Ok(value * factor)
}

/// A number of bytes, or of bytes per second: 1500, 50M, 2.5G (powers of 1000), 64Mi (of 1024).
pub fn size(text: &str) -> Result<f64, String> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_suffix('B').unwrap_or(unit);
    let (letter, base) = unit.strip_suffix('i').map_or((unit, 1000.0_f64), |letter| (letter, 1024.0));
    let power = match letter {
        "" if base == 1000.0 => Some(0),
        "k" | "K" => Some(1),
        "M" => Some(2),
        "G" => Some(3),
        "T" => Some(4),
        "P" => Some(5),
        _ => None,
    };
    let value = power.and_then(|power| Some(number.parse::<f64>().ok()? * base.powi(power)));
    let wanted = "expected a number of bytes above 0 such as 500M, 2.5G or 64Mi";
    value.filter(|value| *value >= 1.0 && *value <= 1e18).ok_or_else(|| wanted.into())
}

/// A part of a whole.
pub fn share(text: &str) -> Result<f64, String> {
    number(text, |share| share > 0.0 && share <= 1.0, "a number above 0 and up to 1")
}

/// A number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0 && value.is_finite(), "a number above 0")
}

/// A number of at least 0.
pub fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |value| value >= 0.0 && value.is_finite(), "a number of at least 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_refused() {
        assert_eq!((frequency("auto"), frequency("-1")), (Ok(Sampling::Auto), Ok(Sampling::Auto)));
        assert_eq!(frequency("2.5"), Ok(Sampling::Hertz(2.5)));
        assert!(["0", "-2", "1e10", "NaN", "x"].into_iter().all(|text| frequency(text).is_err()));
        assert_eq!(seconds("-3"), Ok(-3.0));
        assert!(seconds("1e10").is_err() && seconds("NaN").is_err());
        assert!(positive_seconds("0").is_err() && positive_seconds("inf").is_err());
        assert_eq!(
            (duration("90"), duration("24h"), duration("0.5d")),
            (Ok(90.0), Ok(86_400.0), Ok(43_200.0))
        );
        assert!(["", "h", "-1h", "1w", "NaN"].into_iter().all(|text| duration(text).is_err()));
        assert_eq!((size("1500"), size("50M"), size("2.5GB")), (Ok(1500.0), Ok(5e7), Ok(2.5e9)));
        assert_eq!((size("64Mi"), size("1KiB")), (Ok(67_108_864.0), Ok(1024.0)));
        assert!(["", "M", "-1", "0", "1X", "1i", "1e3", "NaN"].into_iter().all(|text| size(text).is_err()));
        assert_eq!(share("1"), Ok(1.0));
        assert!(share("0").is_err() && share("1.1").is_err() && share("NaN").is_err());
        assert_eq!(not_negative("0"), Ok(0.0));
        assert!(positive("0").is_err() && not_negative("-1").is_err() && positive("NaN").is_err());
    }
}
