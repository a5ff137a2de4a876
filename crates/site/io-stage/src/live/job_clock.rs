//! What time it is for the job.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Job time: by the clock if the trace says when the job began, else by its flushes.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobClock {
    /// Job time 0 in nanoseconds since 1970.
    origin: Option<i64>,
    /// At this moment, it was at least this late for the job.
    heard: (Instant, f64),
}

impl JobClock {
    /// Until something is known, job time begins now.
    pub(super) fn new() -> Self {
        JobClock { origin: None, heard: (Instant::now(), 0.0) }
    }

    /// The trace says when the job began.
    pub(super) fn begins(&mut self, origin: i64) {
        self.origin = Some(origin);
    }

    /// The trace tells what happened up to this job time: so late it is.
    pub(super) fn heard(&mut self, until: f64) {
        if until > self.heard.1 + self.heard.0.elapsed().as_secs_f64() {
            self.heard = (Instant::now(), until);
        }
    }

    /// In seconds of job time.
    pub(super) fn now(&self) -> f64 {
        match self.origin {
            Some(origin) => (real() - origin) as f64 / 1e9,
            None => self.heard.1 + self.heard.0.elapsed().as_secs_f64(),
        }
    }

    /// Job time 0 in nanoseconds since 1970.
    pub(super) fn origin(&self) -> i64 {
        self.origin.unwrap_or_else(|| real() - (self.now() * 1e9) as i64)
    }
}

/// Nanoseconds since 1970.
fn real() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_flushes_or_by_the_clock() {
        let mut clock = JobClock::new();
        clock.heard(100.0);
        clock.heard(50.0);
        assert!((100.0..110.0).contains(&clock.now()));
        assert!((real() - clock.origin() - 100_000_000_000).abs() < 10_000_000_000);
        clock.begins(real() - 7_000_000_000);
        assert!((7.0..17.0).contains(&clock.now()));
    }
}
