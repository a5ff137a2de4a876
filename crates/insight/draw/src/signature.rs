//! Pictures: a signature over its samples, a job among others, jobs after each other.

use crate::canvas::axis::{Axis, Quantity};
use crate::canvas::curve::Curve;
use crate::canvas::frame::{Frame, Look, shortened, width};
use crate::canvas::sheet::{Anchor, Ink, Point, Rectangle, Sheet};
use crate::units::counted;
use files::printable;
use io_signature::{Sample, Signature};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 360.0;
const POINTS: usize = 3000;

const OF_THE_JOB: Quantity = Quantity { name: "time since the start of the job", unit: "s" };
const FROM_NOW: Quantity = Quantity { name: "time from now", unit: "s" };
const BANDWIDTH: Quantity = Quantity { name: "bandwidth", unit: "B/s" };

/// At most so many samples are drawn.
const MOST_SAMPLES: usize = 30;

/// A frame for curves up to that time and that height, with its axes; the title has a line of its own above
/// the legend.
fn frame(title: &str, quantity: Quantity, time: f64, highest: f64) -> (Sheet, Frame) {
    let title = shortened(&printable(title), LONGEST_TITLE);
    let mut sheet = Sheet::new(&title, WIDTH, HEIGHT);
    let frame = Frame {
        place: Rectangle { left: 84.0, top: 68.0, width: WIDTH - 110.0, height: HEIGHT - 122.0 },
        x: Axis::linear(0.0, time).widened(),
        y: Axis::linear(0.0, 1.08 * highest).widened(),
    };
    frame.axes(quantity, BANDWIDTH, &mut sheet);
    let above = Frame { place: Rectangle { top: 38.0, ..frame.place }, ..frame };
    above.heading(&title, &mut sheet);
    (sheet, frame)
}

/// Letters of a title that fit into a line.
const LONGEST_TITLE: f64 = 105.0;

/// One value a second as a curve that begins at some second.
fn curve(values: &[f64], start: f64, step: f64) -> Curve {
    let x = (0..values.len()).map(|i| start + step * i as f64).collect();
    Curve { x, y: values.to_vec() }.thinned(POINTS)
}

/// All samples faint, the signature strong, its bursts numbered.
pub fn sheet(name: &str, signature: &Signature, samples: &[Sample]) -> Sheet {
    let used = |sample: &&Sample| signature.samples.iter().any(|one| one.used && one.name == sample.name);
    let samples: Vec<&Sample> = samples.iter().filter(used).take(MOST_SAMPLES).collect();
    let highest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let top = samples.iter().map(|sample| highest(&sample.values)).fold(highest(&signature.series), f64::max);
    let duration = signature.duration.max(1.0);
    let title = format!("Signature of {name}, quality {:.2}", signature.quality.mean);
    let (mut sheet, frame) = frame(&title, OF_THE_JOB, duration, top);
    frame.clipped(&mut sheet, |sheet| {
        for sample in &samples {
            // Every sample is drawn as long as the signature.
            let step = sample.step * duration / sample.duration().max(1.0);
            let points = frame.steps(&curve(&sample.values, 0.0, step));
            sheet.line(points, Ink::Soft, 0.35);
        }
        let series = curve(&signature.series, 0.0, 1.0);
        frame.filled(&series, Ink::Sampled, 0.35, sheet);
        sheet.line(frame.steps(&series), Ink::Sampled, 1.8);
    });
    // Where bursts are close, only some have room for their number.
    let mut room = f64::NEG_INFINITY;
    for (number, burst) in signature.bursts.iter().enumerate() {
        let (x, y) = frame.at((burst.start + burst.end) / 2.0, burst.height);
        let text = (number + 1).to_string();
        let half = width(&text, 12.0) / 2.0;
        if x - half >= room {
            sheet.text((x, (y - 8.0).max(frame.place.top + 10.0)), text, 12.0, Anchor::Middle, Ink::Text);
            room = x + half + 5.0;
        }
    }
    let entries = [(Ink::Soft, "samples", Look::Line), (Ink::Sampled, "signature", Look::Area)];
    frame.legend(&entries, &mut sheet);
    sheet
}

/// Jobs on top of each other, from their starts on, and a capacity.
pub fn stacked(title: &str, names: &[String], jobs: &[(f64, &[f64])], below: &[f64], capacity: f64) -> Sheet {
    let ends = jobs.iter().map(|(start, series)| start + series.len() as f64);
    let time = ends.fold(below.len() as f64, f64::max);
    let mut sum = vec![0.0; time.ceil() as usize];
    sum.iter_mut().zip(below).for_each(|(sum, value)| *sum += value);
    let mut layers = vec![sum.clone()];
    for (start, series) in jobs {
        sum[*start as usize..].iter_mut().zip(*series).for_each(|(sum, value)| *sum += value);
        layers.push(sum.clone());
    }
    let highest = sum.iter().copied().fold(capacity, f64::max);
    let (mut sheet, frame) = frame(title, FROM_NOW, time, highest);
    let inks = [Ink::Sampled, Ink::Phase, Ink::Next, Ink::Required, Ink::Exact];
    frame.clipped(&mut sheet, |sheet| {
        let outlines: Vec<Vec<Point>> =
            layers.iter().map(|layer| frame.steps(&curve(layer, 0.0, 1.0))).collect();
        if !below.is_empty() {
            frame.filled(&curve(&layers[0], 0.0, 1.0), Ink::Soft, 0.4, sheet);
        }
        for (number, pair) in outlines.windows(2).enumerate() {
            let points = pair[0].iter().rev().chain(&pair[1]).copied().collect();
            sheet.area(points, inks[number % inks.len()], 1.0);
        }
        sheet.line(vec![frame.at(0.0, capacity), frame.at(time, capacity)], Ink::Dominant, 1.5);
    });
    let mut entries = Vec::new();
    if !below.is_empty() {
        entries.push((Ink::Soft, "others, expected", Look::Area));
    }
    // Each job has its colour; where these repeat or names have no room, one entry stands for all.
    let all = counted(names.len() as u64, "job");
    let room: f64 = names.iter().map(|name| width(name, 11.0) + 37.0).sum();
    if names.len() <= inks.len() && room < 0.8 * frame.place.width {
        entries.extend(names.iter().zip(inks).map(|(name, ink)| (ink, name.as_str(), Look::Solid)));
    } else {
        entries.push((Ink::Sampled, &all, Look::Solid));
    }
    entries.push((Ink::Dominant, "capacity", Look::Line));
    frame.legend(&entries, &mut sheet);
    sheet
}
