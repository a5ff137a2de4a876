//! Moments and durations as job logs write them.

use ftio_core::source::date::seconds_since_1970;

/// Seconds since 1970 (or on the clock of the log): a number of seconds, or a date and time of day. Without a
/// time zone it is local time, `offset` seconds ahead of UTC.
pub fn moment(text: &str, offset: f64) -> Option<f64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return seconds.is_finite().then_some(seconds);
    }
    let has_zone = text.get(10..).is_some_and(|clock| clock.contains(['Z', 'z', '+', '-']));
    let has_clock = text.contains(':');
    let seconds = seconds_since_1970(text).filter(|_| has_clock)?;
    Some(if has_zone { seconds } else { seconds - offset })
}

/// Seconds of a duration: a number, `MM:SS`, `HH:MM:SS` or `D-HH:MM:SS`, as Slurm writes them.
pub fn duration(text: &str) -> Option<f64> {
    let text = text.trim();
    let (days, clock) =
        text.split_once('-').map_or((Some(0.0), text), |(days, clock)| (days.parse().ok(), clock));
    let mut seconds = 0.0;
    for part in clock.split(':') {
        seconds = 60.0 * seconds + part.parse::<f64>().ok().filter(|part| *part >= 0.0)?;
    }
    days.map(|days: f64| 86_400.0 * days + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(moment("1714566600", 0.0), Some(1_714_566_600.0));
        assert_eq!(moment("2024-05-01T12:30:00Z", 7200.0), Some(1_714_566_600.0));
        assert_eq!(moment("2024-05-01T14:30:00", 7200.0), Some(1_714_566_600.0));
        assert_eq!(moment("2024-05-01 14:30:00.5+02:00", 0.0), Some(1_714_566_600.5));
        for wrong in ["Unknown", "None", "", "2024-13-01T00:00:00", "2024-05-01", "nan"] {
            assert_eq!(moment(wrong, 0.0), None, "{wrong}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Some(90.0));
        assert_eq!(duration("01:30"), Some(90.0));
        assert_eq!(duration("1-00:00:01"), Some(86_401.0));
        assert_eq!(duration("x"), None);
    }
}
