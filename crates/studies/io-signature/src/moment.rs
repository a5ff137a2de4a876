//! Moments and durations as job logs write them.

use sources::date::{iso_8601, seconds_since_1970};

/// Seconds since 1970 (or on the clock of the log): a number of seconds, or a date and time of day. Without a
/// time zone it is local time, `offset` seconds ahead of UTC.
pub fn moment(text: &str, offset: f64) -> Option<f64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return seconds.is_finite().then_some(seconds);
    }
    let has_clock = text.contains(':');
    let seconds = seconds_since_1970(text).filter(|_| has_clock)?;
    Some(if is_local(text) { seconds - offset } else { seconds })
}

/// Is it a date and time of day without a time zone?
pub fn is_local(text: &str) -> bool {
    text.contains(':') && !text.trim().get(10..).is_some_and(|clock| clock.contains(['Z', 'z', '+', '-']))
}

/// The first day between two moments on which clocks are changed for daylight saving in Europe or North
/// America.
pub fn clock_change(from: f64, to: f64) -> Option<String> {
    const DAY: i64 = 86_400;
    // Between 1970 and 2286.
    let day = |moment: f64| (moment.clamp(0.0, 1e10) / DAY as f64).floor() as i64;
    let (from, to) = (day(from), day(to));
    // 1970 began with a Thursday. Half a year always has such a day.
    let sundays = (from + 1..=to.min(from + 400)).filter(|day| (day + 4).rem_euclid(7) == 0);
    let date = |day: i64| iso_8601(day * DAY).get(..10).map(str::to_owned);
    sundays.filter_map(date).find(|date| {
        let part = |range: std::ops::Range<usize>| date.get(range).and_then(|text| text.parse::<u8>().ok());
        match (part(5..7), part(8..10)) {
            (Some(3), Some(day)) => (8..=14).contains(&day) || day >= 25,
            (Some(10), Some(day)) => day >= 25,
            (Some(11), Some(day)) => day <= 7,
            _ => false,
        }
    })
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
    fn clocks_change() {
        let at = |text: &str| seconds_since_1970(text).unwrap();
        let found = |from: &str, to: &str| clock_change(at(from), at(to));
        assert_eq!(found("2024-10-20T00:00:00Z", "2024-11-01T00:00:00Z").as_deref(), Some("2024-10-27"));
        assert_eq!(found("2024-03-01T00:00:00Z", "2024-04-01T00:00:00Z").as_deref(), Some("2024-03-10"));
        assert_eq!(found("2024-05-01T00:00:00Z", "2024-09-01T00:00:00Z"), None);
        assert!(is_local("2024-05-01T12:00:00") && !is_local("2024-05-01T12:00:00Z") && !is_local("17"));
    }

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Some(90.0));
        assert_eq!(duration("01:30"), Some(90.0));
        assert_eq!(duration("1-00:00:01"), Some(86_401.0));
        assert_eq!(duration("x"), None);
    }
}
