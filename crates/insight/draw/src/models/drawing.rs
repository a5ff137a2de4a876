//! Charts of models on a sheet.

use super::chart::{Chart, labelled_ticks};
use crate::canvas::frame::Frame;
use crate::canvas::sheet::{Anchor, Ink, Point, Rectangle, Shape, Sheet};
use files::printable;

/// More charts on one sheet cannot be read.
pub const MAX_DRAWN: usize = 24;

/// Of one chart.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 42.0;

/// Charts in two columns.
pub fn sheet(charts: &[Chart]) -> Sheet {
    let columns = charts.len().clamp(1, 2);
    let rows = charts.len().div_ceil(columns).max(1);
    let mut sheet = Sheet {
        title: "Scaling models".into(),
        width: WIDTH * columns as f64,
        height: HEIGHT * rows as f64,
        shapes: Vec::new(),
    };
    for (i, chart) in charts.iter().enumerate() {
        let corner = (WIDTH * (i % columns) as f64, HEIGHT * (i / columns) as f64);
        Panel { chart, corner }.draw(&mut sheet);
    }
    sheet
}

/// Where the measured points of a chart that is alone on its sheet are.
pub fn places(chart: &Chart) -> impl Iterator<Item = Point> {
    let panel = Panel { chart, corner: (0.0, 0.0) };
    chart.data.points.iter().map(move |[x, y]| panel.at(*x, *y))
}

/// A chart whose upper left corner is here.
#[derive(Clone, Copy)]
struct Panel<'a> {
    chart: &'a Chart,
    corner: Point,
}

impl Panel<'_> {
    fn draw(self, sheet: &mut Sheet) {
        self.heading(sheet);
        self.axes(sheet);
        self.frame().clipped(sheet, |sheet| self.curve(sheet));
        for [x, y] in &self.chart.data.points {
            sheet.shapes.push(Shape::Dot { at: self.at(*x, *y), radius: 4.0, ink: Ink::Sampled });
        }
    }

    fn frame(self) -> Frame {
        let place = Rectangle {
            left: self.corner.0 + LEFT,
            top: self.corner.1 + TOP,
            width: WIDTH - LEFT - RIGHT,
            height: HEIGHT - TOP - BOTTOM,
        };
        Frame { place, x: self.chart.x, y: self.chart.y }
    }

    fn at(self, x: f64, y: f64) -> Point {
        self.frame().at(x, y)
    }

    fn heading(self, sheet: &mut Sheet) {
        let (chart, (left, top)) = (self.chart, self.corner);
        let name = format!("{} · {}", chart.data.callpath, chart.data.metric);
        sheet.shapes.push(Shape::Text {
            at: (left + RIGHT, top + 20.0),
            text: without_beginning(&printable(&name), 52),
            size: 13.0,
            bold: true,
            anchor: Anchor::Start,
            upwards: false,
            ink: Ink::Text,
        });
        let formula = without_end(&chart.formula, 64);
        sheet.text((left + RIGHT, top + 37.0), formula, 12.0, Anchor::Start, Ink::Wave);
        let remark = without_end(&chart.remark, 72);
        sheet.text((left + RIGHT, top + 53.0), remark, 11.0, Anchor::Start, Ink::Soft);
    }

    fn axes(self, sheet: &mut Sheet) {
        let chart = self.chart;
        let (left, right) = (self.corner.0 + LEFT, self.corner.0 + WIDTH - RIGHT);
        let (top, bottom) = (self.corner.1 + TOP, self.corner.1 + HEIGHT - BOTTOM);
        let (edge, _) = self.at(chart.measured_to, 0.0);
        if edge + 1.0 < right {
            sheet.band(edge, right, top, bottom, Ink::Soft, 0.08);
        }
        let mut grid = Vec::new();
        for (value, label) in labelled_ticks(chart.y, 5, 10.0, chart.unit()) {
            let (_, y) = self.at(chart.x.low, value);
            grid.push(((left, y), (right, y)));
            sheet.text((left - 6.0, y + 4.0), label, 11.0, Anchor::End, Ink::Text);
        }
        sheet.shapes.push(Shape::Strokes { lines: grid, ink: Ink::Grid, width: 1.0 });
        let mut ticks = vec![((left, bottom), (right, bottom))];
        let base = if chart.x.logarithmic { 2.0 } else { 10.0 };
        for (value, label) in labelled_ticks(chart.x, 8, base, "") {
            let (x, _) = self.at(value, chart.y.low);
            ticks.push(((x, bottom), (x, bottom + 4.0)));
            sheet.text((x, bottom + 16.0), label, 11.0, Anchor::Middle, Ink::Text);
        }
        sheet.shapes.push(Shape::Strokes { lines: ticks, ink: Ink::Axis, width: 1.0 });
        let name = printable(&chart.data.parameter).into_owned();
        sheet.text((right, bottom + 32.0), name, 11.0, Anchor::End, Ink::Soft);
    }

    fn curve(self, sheet: &mut Sheet) {
        let curve = &self.chart.data.curve;
        let finite = |at: &perf_model::output::plot::CurvePoint| {
            let interval = at.interval?;
            (interval.low.is_finite() && interval.high.is_finite()).then_some((at.x, interval))
        };
        let inside: Vec<_> = curve.iter().filter_map(finite).collect();
        let there = inside.iter().map(|(x, interval)| self.at(*x, interval.high));
        let back = inside.iter().rev().map(|(x, interval)| self.at(*x, interval.low));
        let outline: Vec<Point> = there.chain(back).collect();
        if !outline.is_empty() {
            sheet.shapes.push(Shape::Area { points: outline, ink: Ink::Wave, opacity: 0.14 });
        }
        let other = self.chart.other.iter().filter(|[_, y]| y.is_finite());
        let points: Vec<Point> = other.map(|[x, y]| self.at(*x, *y)).collect();
        if !points.is_empty() {
            sheet.shapes.push(Shape::Line { points, ink: Ink::Soft, width: 1.2, dashed: true });
        }
        let line = curve.iter().filter(|at| at.y.is_finite()).map(|at| self.at(at.x, at.y)).collect();
        sheet.line(line, Ink::Wave, 2.0);
    }
}

fn without_end(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// The last levels of a callpath say most.
fn without_beginning(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    std::iter::once('…').chain(text.chars().skip(count - longest + 1)).collect()
}
