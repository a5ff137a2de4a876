//! How long to wait for ranks that have not flushed when others have.

use std::time::{Duration, Instant};

/// Before two flushes have been seen.
const AT_FIRST: Duration = Duration::from_secs(1);

/// Limits of the wait.
const MIN_WAIT: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Not all ranks write at the same moment: wait for the others three quarters of the time from flush to
/// flush.
#[derive(Clone, Copy, Debug)]
pub struct Grace {
    length: Duration,
    /// When all ranks had last written.
    last_flush: Option<Instant>,
    /// Since when some ranks have written and others have not.
    since: Option<Instant>,
}

impl Default for Grace {
    fn default() -> Self {
        Grace { length: AT_FIRST, last_flush: None, since: None }
    }
}

impl Grace {
    /// All ranks have written.
    pub fn flushed(&mut self, now: Instant) {
        if let Some(last) = self.last_flush.replace(now) {
            self.length = (now.duration_since(last) * 3 / 4).clamp(MIN_WAIT, MAX_WAIT);
        }
    }

    /// Another run has begun: its flushes may come at other intervals.
    pub fn restarted(&mut self) {
        self.last_flush = None;
    }

    /// After a look: do some ranks lag behind, and have they been waited for long enough?
    pub fn is_over(&mut self, unsettled: bool, now: Instant) -> bool {
        if !unsettled {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let over = now.duration_since(since) >= self.length;
        if over {
            self.since = None;
        }
        over
    }

    /// How long until the wait is over, if there is one.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        let since = self.since?;
        Some(self.length.saturating_sub(now.duration_since(since)) + Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_follows_the_interval_of_the_flushes() {
        let start = Instant::now();
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut grace = Grace::default();
        assert!(!grace.is_over(true, at(0.0)) && !grace.is_over(true, at(0.9)));
        assert!(grace.is_over(true, at(1.0)), "one second at first");
        grace.flushed(at(1.0));
        grace.flushed(at(5.0));
        assert!(!grace.is_over(true, at(6.0)) && grace.left(at(7.0)) > Some(Duration::from_secs(1)));
        assert!(!grace.is_over(true, at(8.9)) && grace.is_over(true, at(9.0)));
        assert_eq!(grace.left(at(9.0)), None);
        grace.flushed(at(5.001));
        assert!(
            !grace.is_over(true, at(10.0)) && grace.is_over(true, at(10.5)),
            "never less than half a second"
        );
    }

    #[test]
    fn nobody_is_waited_for_when_all_have_written() {
        let now = Instant::now();
        let mut grace = Grace::default();
        assert!(!grace.is_over(true, now));
        assert!(!grace.is_over(false, now + Duration::from_secs(60)));
        assert_eq!(grace.left(now), None);
    }
}
