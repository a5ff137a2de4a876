//! Predictions as lines: for people, and as JSON.

use super::sink::Sink;
use crate::terminal::clock::time_of_day;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, percent, seconds};
use crate::terminal::width::{columns_of, width, wrapped};
use ftio_core::predict::{Direction, Prediction};
use std::io::{self, Write};

/// Where lines for people go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Stdout,
    /// Standard output belongs to the program that runs.
    Stderr,
}

/// Lines for people.
#[derive(Debug)]
pub struct TextLines {
    named: bool,
    place: Place,
    style: Style,
}

impl TextLines {
    /// `named` if there are several traces.
    pub fn open(named: bool, place: Place) -> Self {
        let style = match place {
            Place::Stdout => Style::for_stdout(),
            Place::Stderr => Style::for_stderr(),
        };
        TextLines { named, place, style }
    }
}

impl Sink for TextLines {
    fn prediction(&mut self, prediction: &Prediction, _json: &str) -> io::Result<()> {
        let line = line(prediction, self.named, self.style);
        // A pipe or a file gets one line for each.
        match self.place {
            Place::Stdout => writeln!(io::stdout(), "{}", broken(&line, columns_of(&io::stdout()))),
            Place::Stderr => writeln!(io::stderr(), "{}", broken(&line, columns_of(&io::stderr()))),
        }
    }
}

/// The line for a terminal of this width, broken between words.
fn broken(line: &str, columns: Option<usize>) -> String {
    const INDENT: usize = 11;
    match columns.filter(|columns| width(line) > *columns) {
        Some(columns) => {
            let lines = wrapped(line, columns.saturating_sub(INDENT).max(INDENT));
            lines.join(&format!("\n{}", " ".repeat(INDENT)))
        }
        None => line.to_owned(),
    }
}

/// One JSON object per line, always on standard output.
#[derive(Debug)]
pub struct JsonLines;

impl Sink for JsonLines {
    fn prediction(&mut self, _prediction: &Prediction, json: &str) -> io::Result<()> {
        writeln!(io::stdout(), "{json}")
    }
}

/// The line; with the name of the trace if there are several.
pub fn line(prediction: &Prediction, named: bool, style: Style) -> String {
    let mut parts = Vec::new();
    match prediction.period {
        Some(period) => {
            let sure = style.confidence(prediction.confidence, &percent(prediction.confidence));
            parts.push(format!("period {} ({sure})", style.bold(&seconds(period))));
        }
        None => parts.push(style.warn("no period")),
    }
    if let Some(next) = prediction.next_phase {
        let clock = next.start_time.map(|time| format!(" ({})", time_of_day(time))).unwrap_or_default();
        let (start, end) = (seconds(next.start), seconds(next.end));
        let text = format!("{start} to {end}{clock}, {}", bytes(next.bytes as f64));
        let sure = if next.provisional { "perhaps " } else { "" };
        parts.push(format!("next phase {sure}{text}"));
    }
    if let Some(interval) = prediction.intervals.first() {
        let range = format!("{} to {}", seconds(interval.low), seconds(interval.high));
        parts.push(style.dim(&format!("{} of the periods so far {range}", percent(interval.probability))));
    }
    match prediction.trend.map(|trend| trend.direction) {
        Some(Direction::Longer) => parts.push("getting longer".into()),
        Some(Direction::Shorter) => parts.push("getting shorter".into()),
        Some(Direction::Steady) | None => {}
    }
    parts.push(style.dim(&format!("since {}", seconds(prediction.window[0]))));
    if let Some(change) = prediction.change {
        let now = change.after.map_or("none".into(), seconds);
        parts.push(style.warn(&format!("behaviour changed (was {}, is {now})", seconds(change.before))));
    }
    let name = if named { format!("{}  ", printable(&prediction.source)) } else { String::new() };
    format!("{name}{:>9}  {}", seconds(prediction.t), parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_between_words() {
        let line =
            "  7.529 s  period 741.2 ms (99.9 %); next phase 7.832 s to 7.885 s (19:54:44 UTC), 16.78 MB";
        assert_eq!(broken(line, None), line);
        assert_eq!(broken(line, Some(200)), line);
        for columns in [30, 60, 80] {
            let text = broken(line, Some(columns));
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}: {text}");
            assert!(text.contains("7.885 s") && text.lines().count() > 1, "{columns}: {text}");
        }
    }
}
