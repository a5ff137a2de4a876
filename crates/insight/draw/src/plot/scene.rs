//! How pictures are laid out on a sheet: for each one its charts below each other, several side by side.

use super::picture::Picture;
use crate::canvas::axis::{Axis, Quantity};
use crate::canvas::curve::Curve;
use crate::canvas::frame::{Frame, Look, shortened};
use crate::canvas::sheet::{Anchor, Ink, Rectangle, Shape, Sheet};
use crate::units::{number, si};

const LEFT: f64 = 74.0;
const RIGHT: f64 = 20.0;
/// Below a chart: labels of its axis; above it: heading and legend.
const BELOW: f64 = 44.0;
const ABOVE: f64 = 34.0;
const HEAD: f64 = 58.0;

const TIME: Quantity = Quantity { name: "time", unit: "s" };
/// Letters of a mark that are shown.
const MARK_LETTERS: f64 = 24.0;
const BANDWIDTH: Quantity = Quantity { name: "bandwidth", unit: "B/s" };

/// Lay them out; at most three beside each other.
pub fn sheet(pictures: &[Picture]) -> Sheet {
    let beside = pictures.len().clamp(1, 3);
    let width = if beside == 1 { 960.0 } else { 640.0 };
    let titles: Vec<&str> = pictures.iter().map(|picture| picture.title.as_str()).collect();
    let mut sheet = Sheet::new(&titles.join(", "), width * beside as f64, 0.0);
    for row in pictures.chunks(beside) {
        let top = sheet.height;
        for (column, picture) in row.iter().enumerate() {
            let bottom = draw(picture, width * column as f64, top, width, &mut sheet);
            sheet.height = sheet.height.max(bottom);
        }
    }
    sheet
}

/// Draw one picture; the answer is where it ends.
fn draw(picture: &Picture, left: f64, top: f64, width: f64, sheet: &mut Sheet) -> f64 {
    let room = width - LEFT - RIGHT;
    sheet.heading((left + LEFT, top + 28.0), shortened(&picture.title, room / 9.6), 17.0);
    let verdict: Vec<String> = picture
        .facts
        .iter()
        .take(2)
        .map(|(name, value)| format!("{} {value}", name.to_lowercase()))
        .collect();
    let mut subtitle = format!("{} · {}", verdict.join(", "), picture.subtitle);
    if let Some((cut, _)) = subtitle.char_indices().nth((room / 6.4) as usize) {
        subtitle.truncate(cut);
        subtitle.push('…');
    }
    sheet.text((left + LEFT, top + 47.0), subtitle, 12.0, Anchor::Start, Ink::Soft);
    let mut at = top + HEAD;
    let mut place = |height: f64| {
        let place = Rectangle { left: left + LEFT, top: at + ABOVE, width: room, height };
        at += ABOVE + height + BELOW;
        place
    };
    signal(picture, place(230.0), sheet);
    spectrum(picture, place(170.0), sheet);
    if let Some(acf) = &picture.acf {
        correlation(picture, acf, place(110.0), sheet);
    }
    if picture.ranks.is_some() {
        ranks(picture, place(120.0), sheet);
    }
    if picture.overlap.is_some() {
        overlap(picture, place(130.0), sheet);
    }
    at
}

/// The window, up to the end of the phase expected next; the same for all charts over time.
fn times(picture: &Picture) -> Axis {
    let end = picture.next_phase.map_or(picture.window[1], |next| next[1].max(picture.window[1]));
    Axis::linear(picture.window[0], end)
}

fn signal(picture: &Picture, place: Rectangle, sheet: &mut Sheet) {
    let crest = match (&picture.rebuilt, &picture.wave) {
        (Some(rebuilt), _) => rebuilt.highest(),
        (None, Some(wave)) => wave.mean + wave.amplitude,
        (None, None) => 0.0,
    };
    // Single requests may be far above what a bin holds; they must not squeeze the rest.
    let sampled = picture.sampled.highest().max(crest);
    let top = picture.exact.as_ref().map_or(sampled, |exact| exact.highest().min(2.5 * sampled).max(sampled));
    let frame = Frame { place, x: times(picture), y: Axis::linear(0.0, 1.05 * top.max(1e-9)) };
    let value = Quantity { name: "value", unit: "" };
    frame.axes(TIME, if picture.unit.is_empty() { value } else { BANDWIDTH }, sheet);
    // What is cut off at the top says how high it is.
    let highest = picture.exact.as_ref().map_or(0.0, Curve::highest);
    let exact_name = match highest > frame.y.high {
        true if picture.unit.is_empty() => format!("exact, up to {}", number(highest)),
        true => format!("exact, up to {}", si(highest, picture.unit)),
        false => "exact".to_owned(),
    };
    let mut legend = Vec::new();
    frame.clipped(sheet, |sheet| {
        phases(picture, &frame, sheet);
        if !picture.phases.is_empty() {
            legend.push((Ink::Phase, "phases", Look::Area));
        }
        if let Some([from, to]) = picture.next_phase {
            let (from, to) = (frame.at_x(from), frame.at_x(to));
            sheet.band(from, to.max(from + 1.0), place.top, frame.bottom(), Ink::Next, 0.25);
            legend.push((Ink::Next, "next phase", Look::Area));
        }
        if let Some(exact) = &picture.exact {
            frame.filled(exact, Ink::Exact, 0.3, sheet);
            sheet.line(frame.steps(exact), Ink::Exact, 0.6);
            legend.push((Ink::Exact, exact_name.as_str(), Look::Area));
        }
        sheet.line(frame.steps(&picture.sampled), Ink::Sampled, 1.1);
        legend.push((Ink::Sampled, "sampled", Look::Line));
        if let Some(rebuilt) = &picture.rebuilt {
            let points = rebuilt.x.iter().zip(&rebuilt.y).map(|(&t, &value)| frame.at(t, value));
            sheet.line(points.collect(), Ink::Wave, 2.0);
            legend.push((Ink::Wave, "mean and strongest waves", Look::Line));
        } else if let Some(wave) = &picture.wave {
            let points = (0..=1200).map(|i| {
                let t = frame.x.low + (frame.x.high - frame.x.low) * f64::from(i) / 1200.0;
                let angle = std::f64::consts::TAU * (wave.frequency * t).fract() + wave.phase;
                frame.at(t, (wave.mean + wave.amplitude * angle.cos()).max(0.0))
            });
            sheet.line(points.collect(), Ink::Wave, 2.0);
            legend.push((Ink::Wave, "dominant wave", Look::Line));
        }
    });
    marks(picture, &frame, sheet);
    if !picture.marks.is_empty() {
        legend.push((Ink::Mark, "marks", Look::Line));
    }
    frame.heading(if picture.unit.is_empty() { "Value" } else { "Bandwidth" }, sheet);
    frame.legend(&legend, sheet);
}

/// The phases as bands at the foot of the chart and a light shade over it.
fn phases(picture: &Picture, frame: &Frame, sheet: &mut Sheet) {
    for [from, to] in &picture.phases {
        let (from, to) = (frame.at_x(*from), frame.at_x(*to));
        let to = to.max(from + 0.5);
        sheet.band(from, to, frame.place.top, frame.bottom(), Ink::Phase, 0.1);
        sheet.band(from, to, frame.bottom() - 4.0, frame.bottom(), Ink::Phase, 0.9);
    }
}

/// What the program has marked, as dashed lines with their texts; those that would overlap have none.
fn marks(picture: &Picture, frame: &Frame, sheet: &mut Sheet) {
    let mut free = frame.place.left;
    for mark in picture.marks.iter().filter(|mark| mark.time >= frame.x.low && mark.time <= frame.x.high) {
        let x = frame.at_x(mark.time);
        let points = vec![(x, frame.place.top), (x, frame.bottom())];
        sheet.dashed(points, Ink::Mark, 1.0);
        let text = shortened(&mark.text, MARK_LETTERS);
        let end = x + 4.0 + 6.5 * text.chars().count() as f64;
        if x >= free && end <= frame.right() {
            sheet.text((x + 3.0, frame.place.top + 12.0), text, 11.0, Anchor::Start, Ink::Mark);
            free = end;
        }
    }
}

fn spectrum(picture: &Picture, place: Rectangle, sheet: &mut Sheet) {
    let shown: Vec<usize> =
        (0..picture.spectrum.x.len()).filter(|&i| picture.spectrum.x[i] <= picture.frequency_range).collect();
    let highest = shown.iter().map(|&i| picture.spectrum.y[i]).fold(1e-6, f64::max);
    let frame = Frame {
        place,
        x: Axis::linear(0.0, picture.frequency_range.max(1e-12)),
        y: Axis::linear(0.0, 1.12 * highest),
    };
    frame.axes(
        Quantity { name: "frequency", unit: "Hz" },
        Quantity { name: "share of power", unit: "%" },
        sheet,
    );
    let bars = shown.iter().map(|&i| {
        let top = frame.at(picture.spectrum.x[i], picture.spectrum.y[i]);
        ((top.0, frame.bottom()), top)
    });
    let width = (place.width / shown.len().max(1) as f64 * 0.7).clamp(0.8, 7.0);
    sheet.strokes(bars.collect(), Ink::Sampled, width);
    let mut legend: Vec<(Ink, &str, Look)> = Vec::new();
    for mark in picture.candidates.iter().filter(|mark| mark.frequency <= picture.frequency_range) {
        let ink = match mark.kind {
            "dominant" => Ink::Dominant,
            "candidate" => Ink::Candidate,
            _ => Ink::Harmonic,
        };
        let at = frame.at(mark.frequency, mark.power);
        sheet.dot(at, 4.5, ink);
        if ink != Ink::Harmonic {
            let left = at.0 > frame.right() - 220.0;
            let (shift, anchor) = if left { (-9.0, Anchor::End) } else { (9.0, Anchor::Start) };
            sheet.text((at.0 + shift, at.1 + 4.0), mark.label.clone(), 11.0, anchor, Ink::Text);
        }
        if !legend.iter().any(|(_, name, _)| *name == mark.kind) {
            legend.push((ink, mark.kind, Look::Dot));
        }
    }
    legend.reverse();
    frame.heading("Spectrum", sheet);
    frame.legend(&legend, sheet);
}

fn correlation(picture: &Picture, acf: &Curve, place: Rectangle, sheet: &mut Sheet) {
    let lowest = acf.y.iter().copied().fold(0.0, f64::min);
    let end = acf.x.last().copied().unwrap_or(1.0).max(1e-9);
    let frame = Frame { place, x: Axis::linear(0.0, end), y: Axis::linear(1.05 * lowest, 1.05) };
    frame.axes(Quantity { name: "lag", unit: "s" }, Quantity { name: "correlation", unit: "" }, sheet);
    let points = acf.x.iter().zip(&acf.y).map(|(&x, &y)| frame.at(x, y)).collect();
    let zero = vec![frame.at(0.0, 0.0), frame.at(end, 0.0)];
    frame.clipped(sheet, |sheet| {
        sheet.line(zero, Ink::Axis, 0.8);
        sheet.line(points, Ink::Sampled, 1.1);
        if let Some(period) = picture.period.filter(|period| end / period <= 200.0) {
            let multiples = (1..).map(|i| period * f64::from(i)).take_while(|&lag| lag <= end);
            for lag in multiples {
                let x = frame.at_x(lag);
                let points = vec![(x, place.top), (x, frame.bottom())];
                sheet.dashed(points, Ink::Wave, 0.9);
            }
        }
    });
    frame.heading("Autocorrelation", sheet);
    if picture.period.is_some() {
        frame.legend(&[(Ink::Wave, "multiples of the period", Look::Line)], sheet);
    }
}

fn ranks(picture: &Picture, place: Rectangle, sheet: &mut Sheet) {
    let Some(map) = &picture.ranks else { return };
    let frame = Frame { place, x: times(picture), y: Axis::linear(0.0, map.ranks as f64) };
    sheet.shapes.push(Shape::Cells {
        place: Rectangle { width: frame.at_x(picture.window[1]) - place.left, ..place },
        columns: map.columns,
        // Small transfers must not vanish beside large ones.
        values: map.cells.iter().map(|cell| cell.sqrt()).collect(),
        ink: Ink::Sampled,
    });
    frame.across(TIME, sheet);
    let last = map.ranks.saturating_sub(1);
    let row = place.height / map.rows.max(1) as f64;
    let first_label = (place.left - 8.0, place.top + (row / 2.0).min(10.0) + 4.0);
    sheet.text(first_label, "0", 12.0, Anchor::End, Ink::Text);
    if last > 0 {
        let last_label = (place.left - 8.0, frame.bottom() - (row / 2.0).min(10.0) + 4.0);
        sheet.text(last_label, last.to_string(), 12.0, Anchor::End, Ink::Text);
    }
    frame.upwards("rank".into(), sheet);
    frame.heading("Ranks", sheet);
    let name = format!("up to {}", si(map.highest, "B/s"));
    frame.legend(&[(Ink::Sampled, &name, Look::Area)], sheet);
}

fn overlap(picture: &Picture, place: Rectangle, sheet: &mut Sheet) {
    let Some(overlap) = &picture.overlap else { return };
    let highest = overlap.required.highest().max(overlap.actual.highest()).max(1e-9);
    let frame = Frame { place, x: times(picture), y: Axis::linear(0.0, 1.05 * highest) };
    frame.axes(TIME, BANDWIDTH, sheet);
    frame.clipped(sheet, |sheet| {
        frame.filled(&overlap.actual, Ink::Actual, 0.25, sheet);
        sheet.line(frame.steps(&overlap.actual), Ink::Actual, 1.0);
        sheet.line(frame.steps(&overlap.required), Ink::Required, 1.6);
    });
    frame.heading("Nonblocking operations", sheet);
    frame.legend(
        &[(Ink::Actual, "actual", Look::Area), (Ink::Required, "required to hide it all", Look::Line)],
        sheet,
    );
}
