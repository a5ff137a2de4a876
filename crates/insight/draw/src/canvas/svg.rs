//! A sheet as SVG.

use super::markup::escaped;
use super::sheet::{Anchor, Ink, Point, Rectangle, Shape, Sheet};
use std::fmt::Write;

/// Points per curve: about two per pixel.
pub const POINTS: usize = 4000;

/// Shades of a map; neighbouring cells of one shade are one shape.
const SHADES: f64 = 16.0;

/// Write it. Writing to a string cannot fail.
pub fn draw(sheet: &Sheet) -> String {
    let (width, height) = (sheet.width, sheet.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n\
         <title>{}</title>\n<style>{}</style>\n",
        escaped(&sheet.title),
        style()
    );
    let mut clips = 0;
    for shape in &sheet.shapes {
        let _ = match shape {
            Shape::Line { points, ink, width, dashed } => writeln!(
                out,
                "<path class=\"l {}\" stroke-width=\"{width}\"{} d=\"{}\"/>",
                ink.name(),
                if *dashed { " stroke-dasharray=\"4 3\"" } else { "" },
                path(points)
            ),
            Shape::Strokes { lines, ink, width } => {
                let mut d = String::new();
                for (from, to) in lines {
                    let _ = write!(d, "{}{}", Step('M', *from), Step('L', *to));
                }
                writeln!(out, "<path class=\"l {}\" stroke-width=\"{width:.2}\" d=\"{d}\"/>", ink.name())
            }
            Shape::Area { points, ink, opacity } => writeln!(
                out,
                "<path class=\"f {}\" fill-opacity=\"{opacity}\" d=\"{}Z\"/>",
                ink.name(),
                path(points)
            ),
            Shape::Dot { at, radius, ink } => writeln!(
                out,
                "<circle class=\"f {}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"/>",
                ink.name(),
                at.0,
                at.1
            ),
            Shape::Text { at: (x, y), text, size, bold, anchor, upwards, ink } => {
                let turn = if *upwards {
                    format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"")
                } else {
                    String::new()
                };
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                writeln!(
                    out,
                    "<text class=\"f {}\" x=\"{x:.1}\" y=\"{y:.1}\" \
                     font-size=\"{size}\"{}{anchor}{turn}>{}</text>",
                    ink.name(),
                    if *bold { " font-weight=\"600\"" } else { "" },
                    escaped(text)
                )
            }
            Shape::Cells { place, columns, values, ink } => {
                cells(place, *columns, values, *ink, &mut out);
                Ok(())
            }
            Shape::Clip(r) => {
                clips += 1;
                writeln!(
                    out,
                    "<clipPath id=\"c{clips}\">\
                     <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>\
                     <g clip-path=\"url(#c{clips})\">",
                    r.left, r.top, r.width, r.height
                )
            }
            Shape::EndClip => writeln!(out, "</g>"),
        };
    }
    out.push_str("</svg>\n");
    out
}

fn style() -> String {
    let rules = |ground: usize| {
        Ink::all().fold(String::new(), |mut rules, ink| {
            let _ = write!(rules, ".{}{{--c:{}}}", ink.name(), ink.colours()[ground]);
            rules
        })
    };
    format!(
        "svg{{background:#fff;font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}}\
         .l{{stroke:var(--c);fill:none}}.f{{fill:var(--c)}}{}\
         @media (prefers-color-scheme:dark){{svg{{background:#16181d}}{}}}\
         @media print{{svg{{background:#fff}}{}}}",
        rules(0),
        rules(1),
        rules(0)
    )
}

fn path(points: &[Point]) -> String {
    let mut d = String::with_capacity(12 * points.len());
    for (i, point) in points.iter().enumerate() {
        let _ = write!(d, "{}", Step(if i == 0 { 'M' } else { 'L' }, *point));
    }
    d
}

/// One step of a path.
struct Step(char, Point);

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:.1} {:.1}", self.0, self.1.0, self.1.1)
    }
}

fn cells(place: &Rectangle, columns: usize, values: &[f64], ink: Ink, out: &mut String) {
    let rows = values.len() / columns.max(1);
    let (width, height) = (place.width / columns as f64, place.height / rows.max(1) as f64);
    let mut shades = vec![String::new(); SHADES as usize + 1];
    for (row, values) in values.chunks(columns).enumerate() {
        let shade = |value: &f64| (value * SHADES).ceil().clamp(0.0, SHADES) as usize;
        let mut from = 0;
        for run in values.chunk_by(|a, b| shade(a) == shade(b)) {
            let shade = run.first().map_or(0, shade);
            if shade > 0 {
                let (x, y) = (place.left + from as f64 * width, place.top + row as f64 * height);
                let across = run.len() as f64 * width;
                let _ = write!(shades[shade], "M{x:.1} {y:.1}h{across:.1}v{height:.1}h-{across:.1}z");
            }
            from += run.len();
        }
    }
    for (shade, d) in shades.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
        let opacity = shade as f64 / SHADES;
        let _ = writeln!(out, "<path class=\"f {}\" fill-opacity=\"{opacity:.3}\" d=\"{d}\"/>", ink.name());
    }
}
