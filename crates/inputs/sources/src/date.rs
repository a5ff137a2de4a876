//! Dates as tables have them: ISO 8601, and the `YYYY-MM-DD hh:mm:ss` of LMT and SQL.

/// Seconds since 1970 of a date and time of day, in UTC unless it says otherwise: `2026-03-01T12:00:00.5Z`,
/// `2026-03-01 12:00:00+01:00`, `2026-03-01 12:00`, `2026-03-01`.
pub fn seconds_since_1970(text: &str) -> Option<f64> {
    let text = text.trim();
    let date = text.get(..10)?;
    let mut parts = date.split(['-', '/']);
    let year = digits(parts.next()?, 4)?;
    let month = digits(parts.next()?, 2)?;
    let day = digits(parts.next()?, 2)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let days = days_since_1970(year, month, day) as f64;
    let rest = text.get(10..)?;
    if rest.is_empty() {
        return Some(days * 86400.0);
    }
    let rest = rest.strip_prefix(['T', 't', ' ', '_'])?.trim_start();
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let mut parts = time.trim_end().split(':');
    let hours = digits(parts.next()?, 2)?;
    let minutes = digits(parts.next()?, 2)?;
    let seconds: f64 = match parts.next() {
        Some(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            text.replace(',', ".").parse().ok()?
        }
        Some(_) => return None,
        None => 0.0,
    };
    // A leap second is one.
    if parts.next().is_some() || hours > 24 || minutes > 59 || !(0.0..61.0).contains(&seconds) {
        return None;
    }
    let offset = offset(zone.trim())?;
    Some(days * 86400.0 + (hours * 3600 + minutes * 60 - offset) as f64 + seconds)
}

/// Seconds that a time zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next() {
        None | Some('Z' | 'z') if zone.len() <= 1 => return Some(0),
        Some('+') => 1,
        Some('-') => -1,
        _ => return None,
    };
    let (hours, minutes) = match zone[1..].split_once(':') {
        Some((hours, minutes)) => (digits(hours, 2)?, digits(minutes, 2)?),
        None if zone.len() == 5 => (digits(zone.get(1..3)?, 2)?, digits(zone.get(3..5)?, 2)?),
        None => (digits(&zone[1..], 2)?, 0),
    };
    Some(sign * (hours * 3600 + minutes * 60))
}

fn digits(text: &str, count: usize) -> Option<i64> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// By counting leap years: a year is 365 days and every fourth, but not hundredth, but four-hundredth one
/// more.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leap_days = |years: i64| years / 4 - years / 100 + years / 400;
    let years = 365 * (year - 1970) + leap_days(before) - leap_days(1969);
    let months: i64 = (1..month).map(|month| days_in(year, month)).sum();
    years + months + day - 1
}

/// A moment as ISO 8601, to the second, in UTC.
pub fn iso_8601(seconds: i64) -> String {
    let (mut days, time) = (seconds.div_euclid(86400), seconds.rem_euclid(86400));
    let mut year = 1970;
    let length = |year: i64| if is_leap(year) { 366 } else { 365 };
    while days < 0 {
        year -= 1;
        days += length(year);
    }
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let mut month = 1;
    while days >= days_in(year, month) {
        days -= days_in(year, month);
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}Z", days + 1, time / 3600, time / 60 % 60, time % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_of_many_writers() {
        // As `date -u -d … +%s` says.
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("2026-11-15T17:00:00Z", 1794762000.0),
            ("2026-11-15 17:00:00", 1794762000.0),
            ("2026-11-15T18:00:00+01:00", 1794762000.0),
            ("2026-11-15T12:30:00-0430", 1794762000.0),
            ("2026-11-15 17:00", 1794762000.0),
            ("2026/11/15 17:00:00.25", 1794762000.25),
            ("2024-02-29T00:00:00Z", 1709164800.0),
            ("2000-03-01", 951868800.0),
        ] {
            assert_eq!(seconds_since_1970(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "12:00",
            "2026-13-01",
            "2026-02-29",
            "2026-11-15T25",
            "2026-11-15Tnoon",
            "20261115",
            "2026-11-15é",
        ] {
            assert_eq!(seconds_since_1970(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(seconds in -60_000_000_000i64..60_000_000_000) {
            let text = iso_8601(seconds);
            if (0..=9999).contains(&text[..4].parse::<i32>().unwrap_or(-1)) {
                prop_assert_eq!(seconds_since_1970(&text), Some(seconds as f64), "{}", text);
            }
        }

        #[test]
        fn anything_is_survived(text in "\\PC{0,40}") {
            let _ = seconds_since_1970(&text);
        }
    }
}
