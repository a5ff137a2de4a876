//! What is on the screen.

use super::chart::Chart;
use crate::predict::shown::Shown;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, percent, seconds, si};

use ftio_core::predict::{Direction, Interval, Prediction};
use std::time::Instant;

/// Before there is anything to show.
pub fn waiting(names: &[String], columns: usize) -> Vec<String> {
    let mut lines = vec![cut("ftio predict: waiting for", columns), String::new()];
    lines.extend(names.iter().map(|name| cut(&format!("  {}", printable(name)), columns)));
    lines.extend([String::new(), cut("q ends", columns)]);
    lines
}

/// One trace: which of how many it is, columns and rows of the screen, and the time.
pub fn lines(shown: &Shown, which: (usize, usize), size: (usize, usize), clock: Instant) -> Vec<String> {
    let (columns, rows) = size;
    let style = Style::for_stdout();
    let Some(last) = &shown.last else { return waiting(std::slice::from_ref(&shown.name), columns) };
    let since = if shown.ended { 0.0 } else { clock.saturating_duration_since(shown.at).as_secs_f64() };
    let now = last.t + since;
    let of = if which.1 > 1 { format!(" ({} of {})", which.0 + 1, which.1) } else { String::new() };
    let keys = if which.1 > 1 { "q ends, tab: next, p: previous" } else { "q ends" };
    let name = cut(&format!("{}{of}", printable(&shown.name)), columns);
    // The keys, where there is room for them.
    let gap = columns.saturating_sub(name.chars().count() + keys.len());
    let keys = if gap > 1 { style.dim(&format!("{}{keys}", " ".repeat(gap))) } else { String::new() };
    let mut lines = vec![style.bold(&name) + &keys];

    lines.extend(picture(shown, last, now, size));
    lines.push(cut_styled(&format!("Period      {}", period(last, style)), columns));
    let next = if shown.ended { "none, the job has ended".into() } else { countdown(last, now) };
    lines.push(cut(&format!("Next phase  {next}"), columns));
    lines.push(cut(&format!("So far      {}", so_far(last)), columns));
    if let Some(change) = shown.change {
        let after = change.after.map_or("none".into(), seconds);
        let text =
            format!("Changed     at {}: from {} to {after}", seconds(change.t), seconds(change.before));
        lines.push(style.warn(&cut(&text, columns)));
    }
    let left = rows.saturating_sub(lines.len() + 1);
    for prediction in shown.before.iter().rev().take(left.min(6)) {
        let found = prediction.1.map_or("no period".into(), seconds);
        lines.push(style.dim(&cut(&format!("{:>11}  {found}", seconds(prediction.0)), columns)));
    }
    lines
}

/// The bandwidth in the window and what is expected next, with a line above and one below.
fn picture(shown: &Shown, last: &Prediction, now: f64, size: (usize, usize)) -> Vec<String> {
    let ((columns, rows), style) = (size, Style::for_stdout());
    let next = last
        .next_phase
        .filter(|_| !shown.ended)
        .filter(|next| next.start < now + 2.0 * last.period.unwrap_or(0.0));
    let end = next.map_or(now, |next| (next.end + 0.1 * (next.end - last.window[0])).max(now));
    let expected = next.map(|next| {
        let length = (next.end - next.start).max(1e-9);
        [next.start, next.end, next.bytes as f64 / length]
    });
    let chart = Chart { signal: &shown.signal, range: [last.window[0], end], expected, now };
    let height = rows.saturating_sub(10).clamp(3, 16);
    let mut lines = vec![style.dim(&cut(&format!("max {}", si(chart.highest(columns), "B/s")), columns))];
    lines.extend(chart.rows(columns, height));
    lines.push(style.dim(&ends(&seconds(last.window[0]), &seconds(end), columns)));
    lines
}

/// What was found in all predictions so far.
fn so_far(last: &Prediction) -> String {
    let mut parts = vec![format!("periodic: {}", percent(last.probability_periodic))];
    let interval =
        |i: &Interval| format!("{} to {}: {}", seconds(i.low), seconds(i.high), percent(i.probability));
    parts.extend(last.intervals.iter().take(3).map(interval));
    parts.join(", ")
}

fn period(last: &Prediction, style: Style) -> String {
    let Some(period) = last.period else { return style.warn("none") };
    let trend = match last.trend.map(|trend| trend.direction) {
        Some(Direction::Longer) => ", getting longer",
        Some(Direction::Shorter) => ", getting shorter",
        _ => "",
    };
    let sure = style.confidence(last.confidence, &percent(last.confidence));
    format!("{} ({sure}){trend}; window since {}", style.bold(&seconds(period)), seconds(last.window[0]))
}

/// How long it is until the next phase.
pub fn countdown(last: &Prediction, now: f64) -> String {
    let Some(next) = last.next_phase else { return "unknown".into() };
    let volume = bytes(next.bytes as f64);
    // Tenths are enough, and do not flicker.
    let tenths = |time: f64| format!("{:.1} s", time.max(0.0));
    if now < next.start {
        format!("in {}, for {}, {volume}", tenths(next.start - now), seconds(next.end - next.start))
    } else if now < next.end {
        format!("now, for another {}, {volume}", tenths(next.end - now))
    } else {
        format!("was expected {} ago", tenths(now - next.start))
    }
}

/// Two texts at the ends of a line.
fn ends(left: &str, right: &str, columns: usize) -> String {
    let gap = columns.saturating_sub(left.chars().count() + right.chars().count());
    cut(&format!("{left}{}{right}", " ".repeat(gap)), columns)
}

fn cut(text: &str, columns: usize) -> String {
    text.chars().take(columns).collect()
}

/// The same for text with escape sequences, which occupy no columns.
fn cut_styled(text: &str, columns: usize) -> String {
    let (mut in_escape, mut shown) = (false, 0);
    let keep = |c: &char| {
        if *c == '\x1b' || in_escape {
            in_escape = *c != 'm';
            return true;
        }
        shown += 1;
        shown <= columns
    };
    text.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftio_core::predict::{PredictOptions, Predictor};
    use sources::request::{Class, Request};
    use std::time::Duration;

    fn shown() -> Shown {
        let second = 1_000_000_000;
        let mut shown = Shown::new("run");
        let mut predictor = Predictor::new("run", PredictOptions::default());
        for i in 0..8 {
            let start = 10 * i * second;
            predictor.add(&[Request::new(start, start + 2 * second, 1 << 30, Class::WriteSync)]);
            shown.take(&predictor.predict(start + 2 * second), predictor.signal());
        }
        shown
    }

    #[test]
    fn a_whole_screen() {
        let shown = shown();
        let lines = lines(&shown, (0, 2), (80, 24), shown.at + Duration::from_secs(3));
        let text = lines.join("\n");
        assert!(lines.len() <= 24, "{text}");
        assert!(lines[0].starts_with("run (1 of 2)") && lines[0].ends_with("p: previous"), "{text}");
        assert!(text.contains("Period      10.0") || text.contains("Period      9.99"), "{text}");
        assert!(text.contains("Next phase  in 5.0 s, for 2.0"), "{text}");
        assert!(text.contains('█') && text.contains('░') && text.contains('┊'), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn before_during_and_after_the_phase() {
        let last = shown().last.unwrap();
        assert!(countdown(&last, 79.5).starts_with("in 0.5 s"), "{}", countdown(&last, 79.5));
        assert!(countdown(&last, 81.0).starts_with("now, for another 1.0 s"), "{}", countdown(&last, 81.0));
        assert!(countdown(&last, 90.0).starts_with("was expected 10.0 s ago"), "{}", countdown(&last, 90.0));
        assert_eq!(countdown(&Prediction { next_phase: None, ..last }, 0.0), "unknown");
    }

    #[test]
    fn small_screens() {
        let shown = shown();
        for size in [(10, 5), (1, 1), (40, 12)] {
            let lines = lines(&shown, (0, 1), size, shown.at);
            assert!(!lines.is_empty());
        }
    }
}
