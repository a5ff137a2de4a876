//! How far back a prediction looks.
//!
//! The behaviour of a job may change, so that old data should be given up at some point (paper, II-D). The
//! published way: *after finding k times a dominant frequency, the window is reduced to k times the last
//! found period.* In the paper's example (III-B c) the third hit lets the window of the prediction at 47.4 s
//! begin at 47.4 − 3 × 8.1 = 23.1 s. There it stays, while the window grows, until k more hits let it move
//! again. Where the published start lies within a phase, ours lies in the quiet before it: the part of a
//! phase that a window leaves over looks like one that begins later. A window in which nothing is found once
//! it is shortened is taken back, and the next hit tries again.

use sources::time::{nanoseconds, seconds};
use std::str::FromStr;

/// How the window follows the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowRule {
    /// Everything since the start.
    All,
    /// After so many hits keep as many periods, again and again; and start anew when the behaviour changes.
    Hits(u32),
    /// Always the last so many periods, once a period is known.
    Periods(f64),
    /// Always the last so many seconds.
    Length(f64),
    /// Everything since the behaviour last changed.
    Change,
}

/// Periods that differ by less than this share are alike.
const ALIKE: f64 = 0.2;

/// The k of the paper.
pub const DEFAULT_HITS: u32 = 3;

impl Default for WindowRule {
    fn default() -> Self {
        WindowRule::Hits(DEFAULT_HITS)
    }
}

/// As users write it. The Python FTIO's names are understood as well.
impl FromStr for WindowRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        let number = |least: f64| match value.map(str::parse::<f64>) {
            Some(Ok(number)) if number >= least && number <= 1e9 => Ok(number),
            _ => Err(format!("expected \"{name}:\" and a number of at least {least}")),
        };
        match (name, value) {
            ("hits" | "frequency_hits", None) => Ok(WindowRule::default()),
            ("hits" | "frequency_hits", _) => number(1.0).map(|k| WindowRule::Hits(k as u32)),
            ("periods", _) => number(1.0).map(WindowRule::Periods),
            ("seconds", _) => number(1e-6).map(WindowRule::Length),
            ("change" | "adwin" | "cusum" | "ph", None) => Ok(WindowRule::Change),
            ("all" | "none", None) => Ok(WindowRule::All),
            _ => Err("expected hits:K, periods:K, seconds:S, change or all".into()),
        }
    }
}

impl WindowRule {
    /// The length is not one that users have asked for: a window may begin a little earlier, before a phase
    /// instead of within it.
    pub fn may_move(self) -> bool {
        matches!(self, WindowRule::Hits(_))
    }

    /// With how many periods to begin again when the behaviour has changed; `None`: changes are not looked
    /// for.
    pub fn follows_changes(self) -> Option<f64> {
        match self {
            WindowRule::Hits(k) => Some(f64::from(k.max(DEFAULT_HITS))),
            WindowRule::Periods(periods) => Some(periods.max(f64::from(DEFAULT_HITS))),
            WindowRule::Change => Some(f64::from(DEFAULT_HITS)),
            WindowRule::All | WindowRule::Length(_) => None,
        }
    }
}

/// The window, from flush to flush.
#[derive(Clone, Debug)]
pub struct Window {
    rule: WindowRule,
    /// No window begins earlier.
    first: i64,
    start: i64,
    /// Where it began before it was last shortened, as long as that can be taken back.
    before: Option<i64>,
    hits: u32,
    /// When a hit was last counted.
    last_hit: i64,
    period: Option<f64>,
}

impl Window {
    /// From `first` on.
    pub fn new(rule: WindowRule, first: i64) -> Self {
        Window { rule, first, start: first, before: None, hits: 0, last_hit: i64::MIN, period: None }
    }

    /// Where the window of the last flush began.
    pub fn begins(&self) -> i64 {
        self.start
    }

    /// Where the window of a flush at `until` begins.
    pub fn start(&mut self, until: i64) -> i64 {
        let back = |length: f64| until.saturating_sub(nanoseconds(length)).max(self.first);
        match (self.rule, self.period) {
            (WindowRule::All | WindowRule::Change, _) => self.start,
            (WindowRule::Length(length), _) => back(length),
            (WindowRule::Periods(periods), Some(period)) => {
                let start = back(periods * period);
                if start > self.start {
                    self.before = Some(self.start);
                }
                start
            }
            (WindowRule::Hits(k), Some(period)) if self.hits >= k => {
                let start = back(f64::from(k) * period);
                if start > self.start {
                    self.before = Some(self.start);
                    self.start = start;
                }
                self.hits = 0;
                self.start
            }
            (WindowRule::Hits(_) | WindowRule::Periods(_), _) => self.start,
        }
    }

    /// Where the window began before it was shortened for this flush.
    pub fn before_shortening(&self) -> Option<i64> {
        self.before
    }

    /// What came of it: the window that was used in the end, and whether it began anew because of a change.
    pub fn estimated(&mut self, start: i64, until: i64, period: Option<f64>, changed: bool) {
        let taken_back = self.before.take() == Some(start);
        match self.rule {
            WindowRule::Hits(_) | WindowRule::Change | WindowRule::All => self.start = start,
            // What lies further back than twice the window may go.
            WindowRule::Periods(_) | WindowRule::Length(_) => {
                self.start = if changed { start } else { self.start.max(start - (until - start)) };
            }
        }
        let alike = |period: f64, before: f64| (period / before).ln().abs() < ALIKE;
        let hits_wanted = match self.rule {
            WindowRule::Hits(hits) => Some(hits),
            _ => None,
        };
        match period {
            None if changed => self.hits = 0,
            None => {}
            Some(_) if changed => (self.hits, self.last_hit) = (1, until),
            Some(period) if self.period.is_some_and(|before| !alike(period, before)) => {
                (self.hits, self.last_hit) = (1, until);
            }
            Some(_) if taken_back && hits_wanted.is_some() => {
                (self.hits, self.last_hit) = (hits_wanted.unwrap_or(1).saturating_sub(1), until);
            }
            Some(period)
                if self.hits == 0 || seconds(until.saturating_sub(self.last_hit)) >= period / 2.0 =>
            {
                (self.hits, self.last_hit) = (self.hits + 1, until);
            }
            Some(_) => {}
        }
        if period.is_some() || changed {
            self.period = period;
        }
    }

    /// Hits since the window was shortened or began anew.
    pub fn hits(&self) -> u32 {
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_as_users_write_them() {
        let window_rule = str::parse::<WindowRule>;
        assert_eq!(window_rule("hits"), Ok(WindowRule::Hits(3)));
        assert_eq!(window_rule("hits:5"), Ok(WindowRule::Hits(5)));
        assert_eq!(window_rule("periods:4.5"), Ok(WindowRule::Periods(4.5)));
        assert_eq!(window_rule("seconds:60"), Ok(WindowRule::Length(60.0)));
        assert_eq!(window_rule("cusum"), Ok(WindowRule::Change));
        assert_eq!(window_rule("all"), Ok(WindowRule::All));
        for wrong in ["", "hits:0", "hits:x", "periods", "seconds:-1", "change:3", "some"] {
            assert!(window_rule(wrong).is_err(), "{wrong}");
        }
    }

    fn ns(seconds: f64) -> i64 {
        nanoseconds(seconds)
    }

    /// Flushes at these times find these periods; where the windows begin.
    fn starts(rule: WindowRule, flushes: &[(f64, Option<f64>)]) -> Vec<f64> {
        let mut window = Window::new(rule, 0);
        let start = |&(until, period): &(f64, Option<f64>)| {
            let start = window.start(ns(until));
            window.estimated(start, ns(until), period, false);
            (seconds(start) * 1e3).round() / 1e3
        };
        flushes.iter().map(start).collect()
    }

    /// Figure 15: three hits, and 47.4 − 3 × 8.1 = 23.1; three more, and 71.1 − 3 × 8 = 47.1 (the paper
    /// prints 47.3).
    #[test]
    fn the_example_of_the_paper() {
        let flushes = [
            (22.8, None),
            (31.0, Some(8.9)),
            (39.2, Some(8.4)),
            (43.5, Some(8.1)),
            (47.4, Some(8.2)),
            (55.3, Some(8.1)),
            (63.0, Some(8.0)),
            (71.1, Some(7.8)),
        ];
        assert_eq!(starts(WindowRule::Hits(3), &flushes), [0.0, 0.0, 0.0, 0.0, 23.1, 23.1, 23.1, 47.1]);
    }

    #[test]
    fn a_miss_is_forgiven_and_another_period_is_not() {
        let flushes = [(10.0, Some(2.0)), (12.0, Some(2.0)), (14.0, None), (16.0, Some(2.1)), (18.0, None)];
        assert_eq!(starts(WindowRule::Hits(3), &flushes), [0.0, 0.0, 0.0, 0.0, 11.7]);
        let flushes =
            [(10.0, Some(2.0)), (12.0, Some(2.0)), (14.0, Some(3.0)), (16.0, Some(2.0)), (18.0, None)];
        assert_eq!(starts(WindowRule::Hits(3), &flushes), [0.0; 5]);
    }

    #[test]
    fn many_flushes_in_a_period_are_not_many_hits() {
        let flushes: Vec<(f64, Option<f64>)> = (60..90).map(|i| (f64::from(i) / 2.0, Some(10.0))).collect();
        let starts = starts(WindowRule::Hits(3), &flushes);
        assert_eq!(starts.iter().position(|start| *start > 0.0), Some(21), "{starts:?}");
        assert_eq!(starts[21], 10.5);
    }

    #[test]
    fn a_fixed_number_of_periods_or_seconds() {
        let flushes = [(10.0, None), (12.0, Some(2.0)), (14.0, Some(2.5)), (16.0, None), (18.0, Some(2.0))];
        assert_eq!(starts(WindowRule::Periods(4.0), &flushes), [0.0, 0.0, 6.0, 6.0, 8.0]);
        assert_eq!(starts(WindowRule::Length(11.0), &flushes), [0.0, 1.0, 3.0, 5.0, 7.0]);
        assert_eq!(starts(WindowRule::All, &flushes), [0.0; 5]);
    }

    #[test]
    fn a_shortened_window_can_be_taken_back() {
        let mut window = Window::new(WindowRule::Hits(3), 0);
        for until in [10.0, 12.0, 14.0] {
            let start = window.start(ns(until));
            assert_eq!(window.before_shortening(), None);
            window.estimated(start, ns(until), Some(2.0), false);
        }
        assert_eq!(window.start(ns(16.0)), ns(10.0));
        assert_eq!(window.before_shortening(), Some(0));
        window.estimated(0, ns(16.0), Some(2.0), false);
        assert_eq!((window.start(ns(16.5)), window.hits()), (0, 2));
        // One more hit, not three, and it is tried again.
        window.estimated(0, ns(18.0), Some(2.0), false);
        assert_eq!(window.start(ns(20.0)), ns(14.0));
    }

    #[test]
    fn a_change_begins_anew() {
        let mut window = Window::new(WindowRule::Change, 0);
        window.estimated(ns(50.0), ns(60.0), Some(3.0), true);
        assert_eq!((window.start(ns(70.0)), window.hits()), (ns(50.0), 1));
    }
}
