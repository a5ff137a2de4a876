//! How far the work has come, on a terminal: how many are done, rate, time left.

use crate::terminal::status;
use crate::terminal::units::grouped;
use crate::terminal::width::{columns_of, cut, width};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Seen often enough to move, seldom enough to cost nothing.
const BETWEEN: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// A bar on stderr, if that is a terminal.
#[derive(Debug)]
pub struct Progress {
    total: u64,
    /// What they are: "log".
    noun: &'static str,
    done: u64,
    begun: Instant,
    shown: Option<Instant>,
    visible: bool,
}

impl Progress {
    /// How many there are.
    pub fn new(total: u64, noun: &'static str) -> Self {
        let visible = std::io::stderr().is_terminal();
        let mut progress = Progress { total, noun, done: 0, begun: Instant::now(), shown: None, visible };
        progress.add(0);
        progress
    }

    /// So many more are done.
    pub fn add(&mut self, more: u64) {
        self.done += more;
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= BETWEEN);
        if self.visible && (due || self.done >= self.total) {
            self.shown = Some(Instant::now());
            let columns = columns_of(&std::io::stderr()).unwrap_or(usize::MAX);
            let seconds = self.begun.elapsed().as_secs_f64();
            status::show(&line(self.done, self.total, self.noun, seconds, columns));
        }
    }

    /// Take the bar away while something else is printed; the next [`add`](Self::add) brings it back.
    pub fn hide(&mut self) {
        if self.shown.take().is_some() {
            status::clear();
        }
    }

    /// Take the bar away.
    pub fn finish(mut self) {
        self.hide();
    }
}

/// The bar takes what the numbers leave of the columns: a line that wraps would stay.
fn line(done: u64, total: u64, noun: &str, seconds: f64, columns: usize) -> String {
    let share = if total == 0 { 1.0 } else { done as f64 / total as f64 };
    let rate = if seconds > 0.0 { done as f64 / seconds } else { 0.0 };
    let left = match rate > 0.0 {
        true => format!("{} left", clock(total.saturating_sub(done) as f64 / rate)),
        false => format!("{} so far", clock(seconds.floor())),
    };
    // Below one in a second, the time that is left says more.
    let fast = format!("  {} {noun}s/s", grouped(rate.round() as u64));
    let fast = if rate < 1.0 { "" } else { fast.as_str() };
    let (per_cent, all) = (100.0 * share, grouped(total));
    let numbers = |fast: &str| format!("{per_cent:3.0} %  {} of {all} {noun}s{fast}  {left}", grouped(done));
    let fits = |text: &String| width(text) + 8 <= columns;
    let numbers = Some(numbers(fast)).filter(fits).unwrap_or_else(|| numbers(""));
    let room = columns.saturating_sub(width(&numbers) + 2).min(WIDTH);
    let full = ((share * room as f64) as usize).min(room);
    cut(&format!("{}{} {numbers}", "█".repeat(full), "░".repeat(room - full)), columns - 1)
}

/// `0:07`, `12:34`, `3:05:00`.
fn clock(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_tells_rate_and_time_left() {
        let text = line(2500, 10_000, "log", 5.0, 120);
        assert!(text.starts_with("███████░"), "{text}");
        assert!(text.ends_with(" 25 %  2\u{202f}500 of 10\u{202f}000 logs  500 logs/s  0:15 left"), "{text}");
        assert!(line(0, 10, "log", 0.0, 120).ends_with("0 of 10 logs  0:00 so far"));
        assert!(line(0, 10, "log", 12.9, 120).ends_with("0 of 10 logs  0:12 so far"));
        assert_eq!(clock(11_100.0), "3:05:00");
    }

    #[test]
    fn the_bar_fits_the_terminal() {
        for columns in [40, 60, 80, 200] {
            for (done, total) in [(0, 36_240), (5632, 36_240), (36_240, 36_240), (99_000_000, 100_000_000)] {
                let text = line(done, total, "application", 12.5, columns);
                assert!(width(&text) < columns, "{columns}: {text}");
                assert!(text.ends_with(" left") || text.ends_with(" so far"), "{columns}: {text}");
            }
        }
        assert!(line(5632, 36_240, "log", 3.5, 80).starts_with('█'));
    }
}
