//! How far the work has come, on a terminal: how many are done, rate, time left.

use crate::terminal::units::grouped;
use std::io::{IsTerminal, Write};
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
            eprint!(
                "\r\x1b[2K{}",
                line(self.done, self.total, self.noun, self.begun.elapsed().as_secs_f64())
            );
            let _ = std::io::stderr().flush();
        }
    }

    /// Take the bar away while something else is printed; the next [`add`](Self::add) brings it back.
    pub fn hide(&mut self) {
        if self.shown.take().is_some() {
            eprint!("\r\x1b[2K");
        }
    }

    /// Take the bar away.
    pub fn finish(mut self) {
        self.hide();
    }
}

fn line(done: u64, total: u64, noun: &str, seconds: f64) -> String {
    let share = if total == 0 { 1.0 } else { done as f64 / total as f64 };
    let full = ((share * WIDTH as f64) as usize).min(WIDTH);
    let rate = if seconds > 0.0 { done as f64 / seconds } else { 0.0 };
    let left = if rate > 0.0 { clock((total.saturating_sub(done)) as f64 / rate) } else { "–".into() };
    format!(
        "{}{} {:3.0} %  {} of {} {noun}s  {} {noun}s/s  {left} left",
        "█".repeat(full),
        "░".repeat(WIDTH - full),
        100.0 * share,
        grouped(done),
        grouped(total),
        grouped(rate.round() as u64)
    )
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
        let text = line(2500, 10_000, "log", 5.0);
        assert!(text.starts_with("███████░"), "{text}");
        assert!(text.ends_with(" 25 %  2\u{202f}500 of 10\u{202f}000 logs  500 logs/s  0:15 left"), "{text}");
        assert!(line(0, 10, "log", 0.0).ends_with("0 logs/s  – left"));
        assert_eq!(clock(11_100.0), "3:05:00");
    }
}
