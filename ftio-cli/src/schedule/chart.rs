//! The results of a simulation as a picture: the metrics of all repetitions, and who did I/O when in the
//! first one.

use super::simulate::Result;
use super::table::{COLUMNS, title};
use crate::canvas::axis::ticks;
use crate::canvas::sheet::{Anchor, Ink, Shape, Sheet};
use io_sets::experiment::{Experiment, Policy};
use io_sets::metrics::Metrics;
use io_sets::simulate::Outcome;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 54.0;
const TOP: f64 = 62.0;
/// Of the charts of metrics.
const HEIGHT: f64 = 190.0;
/// Of the names below them.
const NAMES: f64 = 116.0;
/// Of one application's row in the courses.
const MOST_ROWS: usize = 40;

/// Draw it. `shown` is the first repetition of each policy.
pub fn sheet(
    experiment: &Experiment,
    results: &[Result],
    shown: &[(Policy, Outcome)],
    published: bool,
) -> Sheet {
    let rows = experiment.applications.len().min(MOST_ROWS) as f64;
    let row = (110.0 / rows).clamp(2.5, 8.0);
    let strip = rows * row + 34.0;
    let courses = TOP + HEIGHT + NAMES + 24.0;
    let mut sheet = Sheet {
        title: "Set-10".into(),
        width: WIDTH,
        height: courses + strip * shown.len() as f64 + 44.0,
        shapes: Vec::new(),
    };
    heading(&mut sheet, (16.0, 22.0), "What scheduling does", 14.0);
    legend(published, &mut sheet);
    let width = (WIDTH - 16.0) / COLUMNS.len() as f64;
    for (i, (name, value, change)) in COLUMNS.iter().enumerate() {
        let base = results.iter().find(|result| result.policy == Policy::FairShare);
        let paper = |policy: Policy| {
            let change = change(&policy.published()).filter(|_| published && policy != Policy::FairShare)?;
            Some(value(&base?.mean) * (1.0 + change))
        };
        let left = i as f64 * width + LEFT;
        let chart = Chart { name, value: *value, left, width: width - LEFT - 4.0 };
        chart.draw(results, &paper, &mut sheet);
    }
    for (i, (policy, outcome)) in shown.iter().enumerate() {
        let top = courses + i as f64 * strip;
        course(experiment, *policy, outcome, (top, row), &mut sheet);
    }
    let bottom = courses + strip * shown.len() as f64;
    time_axis(experiment, bottom, &mut sheet);
    sheet
}

fn heading(sheet: &mut Sheet, at: (f64, f64), text: &str, size: f64) {
    sheet.shapes.push(Shape::Text {
        at,
        text: text.into(),
        size,
        bold: true,
        anchor: Anchor::Start,
        upwards: false,
        ink: Ink::Text,
    });
}

fn legend(published: bool, sheet: &mut Sheet) {
    let y = 22.0;
    sheet.shapes.push(Shape::Dot { at: (510.0, y - 4.0), radius: 3.0, ink: Ink::Sampled });
    sheet.text((520.0, y), "a repetition", 12.0, Anchor::Start, Ink::Text);
    sheet.line(vec![(610.0, y - 4.0), (634.0, y - 4.0)], Ink::Text, 2.0);
    sheet.text((640.0, y), "mean", 12.0, Anchor::Start, Ink::Text);
    if published {
        sheet.line(vec![(694.0, y - 4.0), (718.0, y - 4.0)], Ink::Wave, 3.0);
        sheet.text((724.0, y), "published change, from our fair share", 12.0, Anchor::Start, Ink::Text);
    }
}

/// One metric.
struct Chart<'a> {
    name: &'a str,
    value: fn(&Metrics) -> f64,
    left: f64,
    width: f64,
}

impl Chart<'_> {
    fn draw(&self, results: &[Result], paper: &dyn Fn(Policy) -> Option<f64>, sheet: &mut Sheet) {
        let values = || results.iter().flat_map(|result| &result.all).map(self.value);
        let published = results.iter().filter_map(|result| paper(result.policy));
        let (low, high) = values()
            .chain(published)
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let margin = 0.08 * (high - low).max(0.01);
        let (low, high) = (low - margin, high + margin);
        let at_y = |value: f64| TOP + HEIGHT * (high - value) / (high - low);
        heading(sheet, (self.left - 38.0, TOP - 12.0), self.name, 12.5);
        let marks = ticks(low, high, 5);
        let step = marks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0);
        let decimals = (-(step * 1.0001).log10().floor()).clamp(0.0, 4.0) as usize;
        let right = self.left + self.width;
        let lines = marks.iter().map(|&tick| ((self.left, at_y(tick)), (right, at_y(tick)))).collect();
        sheet.shapes.push(Shape::Strokes { lines, ink: Ink::Grid, width: 1.0 });
        for tick in marks {
            let place = (self.left - 6.0, at_y(tick) + 4.0);
            sheet.text(place, format!("{tick:.decimals$}"), 11.0, Anchor::End, Ink::Text);
        }
        let slot = self.width / results.len().max(1) as f64;
        for (i, result) in results.iter().enumerate() {
            let x = self.left + (i as f64 + 0.5) * slot;
            for (k, metrics) in result.all.iter().enumerate() {
                let aside = slot * 0.3 * ((k as f64 + 0.5) / result.all.len() as f64 - 0.5);
                let at = (x + aside, at_y((self.value)(metrics)));
                sheet.shapes.push(Shape::Dot { at, radius: 2.2, ink: Ink::Sampled });
            }
            let bar = |value: f64| vec![(x - slot * 0.34, at_y(value)), (x + slot * 0.34, at_y(value))];
            if let Some(value) = paper(result.policy) {
                sheet.line(bar(value), Ink::Wave, 3.0);
            }
            sheet.line(bar((self.value)(&result.mean)), Ink::Text, 1.6);
            sheet.shapes.push(Shape::Text {
                at: (x + 4.0, TOP + HEIGHT + 12.0),
                text: title(result.policy).into(),
                size: 11.0,
                bold: false,
                anchor: Anchor::End,
                upwards: true,
                ink: Ink::Text,
            });
        }
    }
}

fn at_x(experiment: &Experiment, time: f64) -> f64 {
    LEFT + (WIDTH - LEFT - 16.0) * (time / experiment.frame.end).min(1.0)
}

/// Who did I/O when.
fn course(experiment: &Experiment, policy: Policy, outcome: &Outcome, place: (f64, f64), sheet: &mut Sheet) {
    let (top, row) = place;
    let name = format!("{}: I/O phases of the first repetition, an application per row", title(policy));
    heading(sheet, (LEFT, top - 6.0), &name, 11.5);
    let rows = outcome.courses.len().min(MOST_ROWS);
    let bottom = top + rows as f64 * row;
    sheet.band(at_x(experiment, 0.0), at_x(experiment, experiment.frame.end), top, bottom, Ink::Grid, 0.45);
    for (i, course) in outcome.courses.iter().take(rows).enumerate() {
        let above = top + i as f64 * row;
        for phase in course.phases.iter().filter(|phase| phase.start < experiment.frame.end) {
            let (from, to) = (at_x(experiment, phase.start), at_x(experiment, phase.end));
            let ink = if i == 0 { Ink::Wave } else { Ink::Sampled };
            sheet.band(from, to.max(from + 0.6), above + 0.5, above + row - 0.5, ink, 0.9);
        }
    }
}

fn time_axis(experiment: &Experiment, top: f64, sheet: &mut Sheet) {
    let y = top - 26.0;
    let end = experiment.frame.end;
    let mut marks = vec![((at_x(experiment, 0.0), y), (at_x(experiment, end), y))];
    for tick in ticks(0.0, end, 8) {
        let x = at_x(experiment, tick);
        marks.push(((x, y), (x, y + 5.0)));
        sheet.text((x, y + 18.0), format!("{tick:.0}"), 11.0, Anchor::Middle, Ink::Text);
    }
    sheet.shapes.push(Shape::Strokes { lines: marks, ink: Ink::Axis, width: 1.0 });
    sheet.text((at_x(experiment, end), y + 34.0), "time (s)", 11.0, Anchor::End, Ink::Soft);
}
