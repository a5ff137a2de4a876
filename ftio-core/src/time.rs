//! Seconds and nanoseconds. Inside, times are whole nanoseconds of job time; what people read is in seconds.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for ns in [0, 1, -1, 1_500_000_000, -1_500_000_000, 1 << 52] {
            assert_eq!(nanoseconds(seconds(ns)), ns);
        }
        assert_eq!((nanoseconds(f64::INFINITY), nanoseconds(f64::NAN)), (i64::MAX, 0));
    }
}
