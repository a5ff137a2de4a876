//! A prediction as a line for people.

use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, percent, seconds};
use ftio_core::predict::{Direction, Prediction};

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
        let text = format!("{} to {}, {}", seconds(next.start), seconds(next.end), bytes(next.bytes as f64));
        parts.push(format!("next phase {text}"));
    }
    if let Some(interval) = prediction.intervals.first() {
        let range = format!("{} to {}", seconds(interval.low), seconds(interval.high));
        parts.push(style.dim(&format!("{} of all {range}", percent(interval.probability))));
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
