//! Bytes per second over the last moments.

use std::collections::VecDeque;

/// What was transferred lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    length: f64,
    /// How long ago it ends: what was transferred since then may not have been reported yet.
    lag: f64,
    pieces: VecDeque<(f64, f64, f64)>,
}

impl Window {
    pub(crate) fn new(length: f64, lag: f64) -> Self {
        Window { length, lag, pieces: VecDeque::new() }
    }

    /// These bytes were transferred evenly from one time to another. Whoever reports them only afterwards,
    /// because a call took long, must not make a peak of them.
    pub(crate) fn add(&mut self, from: f64, to: f64, bytes: u64) {
        if bytes > 0 {
            self.pieces.push_back((from.min(to - 1e-3), to, bytes as f64));
            self.forget(to);
        }
    }

    fn forget(&mut self, now: f64) {
        while self.pieces.front().is_some_and(|piece| piece.1 <= now - self.lag - self.length) {
            self.pieces.pop_front();
        }
    }

    /// Bytes per second until now.
    pub(crate) fn rate(&mut self, now: f64) -> f64 {
        self.forget(now);
        let now = now - self.lag;
        let from = now - self.length;
        let inside = |&(begin, end, bytes): &(f64, f64, f64)| {
            bytes * ((end.min(now) - begin.max(from)) / (end - begin)).clamp(0.0, 1.0)
        };
        // Not `sum`, which is -0 for nothing.
        self.pieces.iter().map(inside).fold(0.0, |sum, bytes| sum + bytes) / self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_call_is_no_peak() {
        let mut window = Window::new(2.0, 0.0);
        // Four calls of a second and 10 bytes each.
        for end in 1..=4 {
            window.add(f64::from(end) - 1.0, f64::from(end), 10);
        }
        assert!((window.rate(4.0) - 10.0).abs() < 1e-9);
        assert!((window.rate(4.5) - 7.5).abs() < 1e-9);
        assert!((window.rate(5.0) - 5.0).abs() < 1e-9, "a second without anything");
        assert_eq!(window.rate(9.0).to_bits(), 0, "nothing is 0, and not -0");
    }
}
