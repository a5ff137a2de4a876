//! Charts of models as SVG.

use super::chart::Chart;
use super::formula::{amount, number};
use crate::text::printable;
use std::fmt::Write;

/// More on one sheet nobody can read.
pub const MOST: usize = 24;

/// Of one chart.
pub const WIDTH: f64 = 460.0;
pub const HEIGHT: f64 = 320.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 42.0;

/// Colours that can be told apart with any colour vision (Okabe and Ito), for light and dark ground.
pub const STYLE: &str = "
  svg { background: #fff; font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
  text { fill: #222; font-size: 11px; } .title { font-size: 13px; font-weight: 600; } .formula { fill: #b34700; font-size: 12px; }
  .soft { fill: #5b6068; } .axis { stroke: #5b6068; } .grid { stroke: #e2e4e8; } .band { fill: #d55e00; fill-opacity: .14; }
  .curve { stroke: #d55e00; stroke-width: 2; } .beyond { fill: #888; fill-opacity: .07; } .point { fill: #0072b2; stroke: #fff; stroke-width: 1; }
  path.curve, line { fill: none; }
  @media (prefers-color-scheme: dark) { svg { background: #16181d; } text { fill: #e6e6e6; } .soft { fill: #a8adb5; } .formula { fill: #ff9a56; }
    .axis { stroke: #9aa0a8; } .grid { stroke: #2b2f38; } .curve { stroke: #ff7f2a; } .band { fill: #ff7f2a; } .point { fill: #4ea8e0; stroke: #16181d; } }
";

/// Charts in two columns.
pub fn sheet(charts: &[Chart]) -> String {
    let columns = charts.len().clamp(1, 2);
    let rows = charts.len().div_ceil(columns).max(1);
    let (width, height) = (WIDTH * columns as f64, HEIGHT * rows as f64);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <title>Scaling models</title>\n<style>{STYLE}</style>\n"
    );
    for (i, chart) in charts.iter().enumerate() {
        let (left, top) = (WIDTH * (i % columns) as f64, HEIGHT * (i / columns) as f64);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<g transform=\"translate({left} {top})\">\n{}</g>", panel(chart, i));
    }
    out.push_str("</svg>\n");
    out
}

/// One chart; `number` tells its clipping path from others on the page.
pub fn panel(chart: &Chart, number: usize) -> String {
    let mut out = String::new();
    heading(chart, &mut out);
    axes(chart, &mut out);
    let _ = write!(
        out,
        "<clipPath id=\"c{number}\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/></clipPath><g clip-path=\"url(#c{number})\">",
        WIDTH - LEFT - RIGHT,
        HEIGHT - TOP - BOTTOM
    );
    curve(chart, &mut out);
    out.push_str("</g>\n");
    points(chart, &mut out);
    out
}

fn x(chart: &Chart, value: f64) -> f64 {
    LEFT + chart.x.place(value) * (WIDTH - LEFT - RIGHT)
}

fn y(chart: &Chart, value: f64) -> f64 {
    HEIGHT - BOTTOM - chart.y.place(value) * (HEIGHT - TOP - BOTTOM)
}

fn heading(chart: &Chart, out: &mut String) {
    let name = format!("{} · {}", chart.data.callpath, chart.data.metric);
    let lines = [
        ("title", 20.0, without_beginning(&printable(&name), 52)),
        ("formula", 37.0, without_end(&chart.formula, 64)),
        ("soft", 53.0, without_end(&chart.remark, 72)),
    ];
    for (class, y, text) in lines {
        let _ = writeln!(out, "<text class=\"{class}\" x=\"{RIGHT}\" y=\"{y}\">{}</text>", escaped(&text));
    }
}

fn axes(chart: &Chart, out: &mut String) {
    let bottom = HEIGHT - BOTTOM;
    let right = WIDTH - RIGHT;
    let edge = x(chart, chart.measured_to);
    if edge + 1.0 < right {
        let _ = writeln!(
            out,
            "<rect class=\"beyond\" x=\"{edge:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"><title>beyond what was measured</title></rect>",
            right - edge,
            bottom - TOP
        );
    }
    for (value, label) in chart.y.ticks(5, 10.0, chart.unit()) {
        let at = y(chart, value);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            escaped(&label)
        );
    }
    let base = if chart.x.logarithmic { 2.0 } else { 10.0 };
    for (value, label) in chart.x.ticks(8, base, "") {
        let at = x(chart, value);
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{at:.1}\" y1=\"{bottom}\" x2=\"{at:.1}\" y2=\"{}\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            bottom + 4.0,
            bottom + 16.0
        );
    }
    let _ = writeln!(
        out,
        "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\"/>\
         <text class=\"soft\" x=\"{right}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        bottom + 32.0,
        escaped(&printable(&chart.data.parameter))
    );
}

fn curve(chart: &Chart, out: &mut String) {
    let inside: Vec<(f64, f64, f64)> = chart
        .data
        .curve
        .iter()
        .filter_map(|at| at.interval.map(|interval| (at.x, interval.low, interval.high)))
        .filter(|(_, low, high)| low.is_finite() && high.is_finite())
        .collect();
    let there = inside.iter().map(|(at, _, high)| (*at, *high));
    let back = inside.iter().rev().map(|(at, low, _)| (*at, *low));
    let outline = path(chart, there.chain(back));
    if !outline.is_empty() {
        let _ = writeln!(out, "<path class=\"band\" d=\"{outline}z\"/>");
    }
    let defined = chart.data.curve.iter().filter(|at| at.y.is_finite()).map(|at| (at.x, at.y));
    let _ = writeln!(out, "<path class=\"curve\" d=\"{}\"/>", path(chart, defined));
}

fn path(chart: &Chart, points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (i, (px, py)) in points.enumerate() {
        let _ = write!(d, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, x(chart, px), y(chart, py));
    }
    d
}

fn points(chart: &Chart, out: &mut String) {
    for [px, py] in &chart.data.points {
        let _ = writeln!(
            out,
            "<circle class=\"point\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{} = {}: {}</title></circle>",
            x(chart, *px),
            y(chart, *py),
            escaped(&printable(&chart.data.parameter)),
            number(*px),
            escaped(&amount(*py, &chart.data.metric))
        );
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

/// Text for XML and HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
