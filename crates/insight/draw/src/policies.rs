//! Policies of scheduling compared: the metrics of all repetitions, and who did I/O when in the first one.

use crate::canvas::axis::ticks;
use crate::canvas::sheet::{Anchor, Ink, Sheet};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 54.0;
const TOP: f64 = 62.0;
/// Of the charts of metrics.
const HEIGHT: f64 = 190.0;
/// Of the names below them.
const NAMES: f64 = 116.0;
/// Of one application's row in the courses.
const MAX_ROWS: usize = 40;

/// Simulations of several policies.
#[derive(Debug)]
pub struct Comparison<'a> {
    pub metrics: Vec<Metric<'a>>,
    /// The first repetition of each policy.
    pub courses: Vec<Course<'a>>,
    /// Seconds that the courses last.
    pub end: f64,
    /// Whether there is something published to compare with.
    pub published: bool,
}

/// A number by which policies are compared.
#[derive(Debug)]
pub struct Metric<'a> {
    pub name: &'a str,
    pub policies: Vec<Values<'a>>,
}

/// What a policy comes to.
#[derive(Debug)]
pub struct Values<'a> {
    pub policy: &'a str,
    /// Of each repetition.
    pub all: Vec<f64>,
    pub mean: f64,
    /// What was published for it.
    pub published: Option<f64>,
}

/// The I/O phases of a run: start and end of each, by application.
#[derive(Debug)]
pub struct Course<'a> {
    pub policy: &'a str,
    pub applications: Vec<Vec<[f64; 2]>>,
}

/// Draw it.
pub fn sheet(comparison: &Comparison<'_>) -> Sheet {
    let (shown, end) = (&comparison.courses, comparison.end);
    let most = shown.iter().map(|course| course.applications.len()).max().unwrap_or(1);
    let rows = most.min(MAX_ROWS) as f64;
    let row = (110.0 / rows).clamp(2.5, 8.0);
    let strip = rows * row + 34.0;
    let courses = TOP + HEIGHT + NAMES + 24.0;
    let mut sheet = Sheet::new("Set-10", WIDTH, courses + strip * shown.len() as f64 + 44.0);
    sheet.heading((16.0, 22.0), "What scheduling does", 14.0);
    legend(comparison.published, &mut sheet);
    let width = (WIDTH - 16.0) / comparison.metrics.len() as f64;
    for (i, metric) in comparison.metrics.iter().enumerate() {
        let left = i as f64 * width + LEFT;
        Chart { metric, left, width: width - LEFT - 4.0 }.draw(&mut sheet);
    }
    for (i, course) in shown.iter().enumerate() {
        let top = courses + i as f64 * strip;
        phases(course, end, (top, row), &mut sheet);
    }
    time_axis(end, courses + strip * shown.len() as f64, &mut sheet);
    sheet
}

fn legend(published: bool, sheet: &mut Sheet) {
    let y = 22.0;
    sheet.dot((510.0, y - 4.0), 3.0, Ink::Sampled);
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
    metric: &'a Metric<'a>,
    left: f64,
    width: f64,
}

impl Chart<'_> {
    fn draw(&self, sheet: &mut Sheet) {
        let policies = &self.metric.policies;
        let values = policies.iter().flat_map(|one| one.all.iter().copied());
        let published = policies.iter().filter_map(|one| one.published);
        let (low, high) = values
            .chain(published)
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let margin = 0.08 * (high - low).max(0.01);
        let (low, high) = (low - margin, high + margin);
        let at_y = |value: f64| TOP + HEIGHT * (high - value) / (high - low);
        sheet.heading((self.left - 38.0, TOP - 12.0), self.metric.name, 12.5);
        let marks = ticks(low, high, 5);
        let step = marks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0);
        let decimals = (-(step * 1.0001).log10().floor()).clamp(0.0, 4.0) as usize;
        let right = self.left + self.width;
        let lines = marks.iter().map(|&tick| ((self.left, at_y(tick)), (right, at_y(tick)))).collect();
        sheet.strokes(lines, Ink::Grid, 1.0);
        for tick in marks {
            let place = (self.left - 6.0, at_y(tick) + 4.0);
            sheet.text(place, format!("{tick:.decimals$}"), 11.0, Anchor::End, Ink::Text);
        }
        let slot = self.width / policies.len().max(1) as f64;
        for (i, one) in policies.iter().enumerate() {
            let x = self.left + (i as f64 + 0.5) * slot;
            for (k, &value) in one.all.iter().enumerate() {
                let aside = slot * 0.3 * ((k as f64 + 0.5) / one.all.len() as f64 - 0.5);
                let at = (x + aside, at_y(value));
                sheet.dot(at, 2.2, Ink::Sampled);
            }
            let bar = |value: f64| vec![(x - slot * 0.34, at_y(value)), (x + slot * 0.34, at_y(value))];
            if let Some(value) = one.published {
                sheet.line(bar(value), Ink::Wave, 3.0);
            }
            sheet.line(bar(one.mean), Ink::Text, 1.6);
            sheet.upwards((x + 4.0, TOP + HEIGHT + 12.0), one.policy, 11.0, Anchor::End, Ink::Text);
        }
    }
}

fn at_x(end: f64, time: f64) -> f64 {
    LEFT + (WIDTH - LEFT - 16.0) * (time / end).min(1.0)
}

/// Who did I/O when.
fn phases(course: &Course<'_>, end: f64, place: (f64, f64), sheet: &mut Sheet) {
    let (top, row) = place;
    let name = format!("{}: I/O phases of the first repetition, an application per row", course.policy);
    sheet.heading((LEFT, top - 6.0), name, 11.5);
    let rows = course.applications.len().min(MAX_ROWS);
    let bottom = top + rows as f64 * row;
    sheet.band(at_x(end, 0.0), at_x(end, end), top, bottom, Ink::Grid, 0.45);
    for (i, phases) in course.applications.iter().take(rows).enumerate() {
        let above = top + i as f64 * row;
        for [start, stop] in phases.iter().filter(|[start, _]| *start < end) {
            let (from, to) = (at_x(end, *start), at_x(end, *stop));
            let ink = if i == 0 { Ink::Wave } else { Ink::Sampled };
            sheet.band(from, to.max(from + 0.6), above + 0.5, above + row - 0.5, ink, 0.9);
        }
    }
}

fn time_axis(end: f64, top: f64, sheet: &mut Sheet) {
    let y = top - 26.0;
    let mut marks = vec![((at_x(end, 0.0), y), (at_x(end, end), y))];
    for tick in ticks(0.0, end, 8) {
        let x = at_x(end, tick);
        marks.push(((x, y), (x, y + 5.0)));
        sheet.text((x, y + 18.0), format!("{tick:.0}"), 11.0, Anchor::Middle, Ink::Text);
    }
    sheet.strokes(marks, Ink::Axis, 1.0);
    sheet.text((at_x(end, end), y + 34.0), "time (s)", 11.0, Anchor::End, Ink::Soft);
}
