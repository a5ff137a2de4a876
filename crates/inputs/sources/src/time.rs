//! Seconds and nanoseconds. Inside, times are whole nanoseconds of job time; what people read is in seconds.

use crate::date::iso_8601;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;

/// Nanoseconds in a second.
pub const PER_SECOND: f64 = SECOND as f64;

/// A second, in nanoseconds.
pub const SECOND: i64 = 1_000_000_000;

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / PER_SECOND
}

/// A sum of nanoseconds as seconds.
pub fn seconds_of_sum(nanoseconds: i128) -> f64 {
    nanoseconds as f64 / PER_SECOND
}

/// Seconds as nanoseconds, rounded; what lies outside their range becomes its end, and NaN 0.
pub fn nanoseconds(seconds: f64) -> i64 {
    (seconds * PER_SECOND).round() as i64
}

/// A moment on the clock, in nanoseconds since 1970. It is written as RFC 3339 in UTC, to the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String", inline, extend("format" = "date-time"))]
pub struct ClockTime(pub i64);

impl ClockTime {
    /// The moment at `job_time` seconds after `origin`, job time 0 in nanoseconds since 1970.
    pub fn after(origin: i64, job_time: f64) -> Self {
        ClockTime(origin.saturating_add(nanoseconds(job_time)))
    }

    /// Seconds since 1970.
    pub fn timestamp(self) -> f64 {
        // A float cannot hold that number of nanoseconds exactly.
        let (whole, rest) = (self.0.div_euclid(SECOND), self.0.rem_euclid(SECOND));
        whole as f64 + seconds(rest)
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.div_euclid(1_000_000);
        let text = iso_8601(milliseconds.div_euclid(1000));
        let whole = text.trim_end_matches('Z');
        write!(f, "{whole}.{:03}Z", milliseconds.rem_euclid(1000))
    }
}

impl Serialize for ClockTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_as_text() {
        let moment = ClockTime::after(1_700_000_000 * 1_000_000_000, 1.25);
        assert_eq!(moment.to_string(), "2023-11-14T22:13:21.250Z");
        assert_eq!(moment.timestamp(), 1_700_000_001.25);
        assert_eq!(ClockTime(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(serde_json::to_string(&ClockTime(0)).unwrap(), "\"1970-01-01T00:00:00.000Z\"");
    }

    #[test]
    fn there_and_back() {
        for ns in [0, 1, -1, 1_500_000_000, -1_500_000_000, 1 << 52] {
            assert_eq!(nanoseconds(seconds(ns)), ns);
        }
        assert_eq!((nanoseconds(f64::INFINITY), nanoseconds(f64::NAN)), (i64::MAX, 0));
    }
}
