//! Times of day as people read them: in the time zone of this machine, or as `TZ` says.

use sources::time::ClockTime;
use tz::TimeZone;

/// `2026-03-01 12:00:00 CET`; in UTC where the time zone is not known.
pub fn local(time: ClockTime) -> String {
    let whole = time.0.div_euclid(1_000_000_000);
    let zone = match std::env::var("TZ") {
        Ok(zone) if zone.is_empty() => TimeZone::from_posix_tz("UTC0"),
        Ok(zone) => TimeZone::from_posix_tz(&zone),
        Err(_) => TimeZone::local(),
    };
    let in_zone = |zone: &TimeZone| {
        let date = tz::DateTime::from_timespec(whole, 0, zone.as_ref()).ok()?;
        let name = date.local_time_type().time_zone_designation().to_owned();
        let (day, time) =
            ((date.year(), date.month(), date.month_day()), (date.hour(), date.minute(), date.second()));
        Some(format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02} {name}",
            day.0, day.1, day.2, time.0, time.1, time.2
        ))
    };
    let known = zone.ok().as_ref().and_then(in_zone);
    known.unwrap_or_else(|| {
        let text = ClockTime(whole.saturating_mul(1_000_000_000)).to_string();
        text.replace('T', " ").replace(".000Z", " UTC")
    })
}

/// `12:00:00 CET`.
pub fn time_of_day(time: ClockTime) -> String {
    let text = local(time);
    text.split_once(' ').map_or(text.clone(), |(_, time)| time.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_a_date_and_a_zone() {
        let text = local(ClockTime(1_700_000_000_000_000_000));
        let mut words = text.split(' ');
        assert!(words.next().is_some_and(|day| day.starts_with("2023-11-1")), "{text}");
        assert!(words.next().is_some_and(|time| time.ends_with(":20")), "{text}");
        assert!(words.next().is_some(), "{text}");
        assert!(text.ends_with(&time_of_day(ClockTime(1_700_000_000_000_000_000))), "{text}");
    }
}
