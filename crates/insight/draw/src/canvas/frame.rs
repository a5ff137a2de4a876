//! One chart on a sheet: a rectangle, the values its edges stand for, axes, and curves in it.

use super::axis::{Axis, Quantity, labels};
use super::curve::Curve;
use super::sheet::{Anchor, Ink, Point, Rectangle, Shape, Sheet};

#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub place: Rectangle,
    pub x: Axis,
    pub y: Axis,
}

impl Frame {
    pub fn right(&self) -> f64 {
        self.place.left + self.place.width
    }

    pub fn bottom(&self) -> f64 {
        self.place.top + self.place.height
    }

    pub fn at_x(&self, x: f64) -> f64 {
        self.place.left + self.x.place(x) * self.place.width
    }

    pub fn at(&self, x: f64, y: f64) -> Point {
        (self.at_x(x), self.bottom() - self.y.place(y) * self.place.height)
    }

    /// Axes with ticks, grid lines and the names of what they show.
    pub fn axes(&self, across: Quantity, up: Quantity, sheet: &mut Sheet) {
        let y_ticks = self.y.ticks((self.place.height / 45.0).max(2.0) as usize, 10.0);
        let (y_labels, y_prefix) = match up.unit {
            "%" => (y_ticks.iter().map(|tick| format!("{}", (tick * 1000.0).round() / 10.0)).collect(), ""),
            "" => (plain(&y_ticks), ""),
            _ => labels(&y_ticks),
        };
        let mut grid = Vec::new();
        for (tick, label) in y_ticks.iter().zip(y_labels) {
            let (_, y) = self.at(self.x.low, *tick);
            grid.push(((self.place.left, y), (self.right(), y)));
            sheet.text((self.place.left - 8.0, y + 4.0), label, 12.0, Anchor::End, Ink::Text);
        }
        sheet.strokes(grid, Ink::Grid, 1.0);
        self.across(across, sheet);
        let name = format!("{} ({y_prefix}{})", up.name, up.unit).replace(" ()", "");
        self.upwards(name, sheet);
    }

    /// The name of the vertical axis.
    pub fn upwards(&self, name: String, sheet: &mut Sheet) {
        sheet.upwards(
            (self.place.left - 52.0, self.place.top + self.place.height / 2.0),
            name,
            12.0,
            Anchor::Middle,
            Ink::Soft,
        );
    }

    /// The horizontal axis alone.
    pub fn across(&self, shown: Quantity, sheet: &mut Sheet) {
        let x_ticks = self.x.ticks((self.place.width / 105.0).max(2.0) as usize, 10.0);
        let (x_labels, prefix) = if shown.unit == "s" { (plain(&x_ticks), "") } else { labels(&x_ticks) };
        let bottom = self.bottom();
        let mut marks = vec![((self.place.left, bottom), (self.right(), bottom))];
        for (tick, label) in x_ticks.iter().zip(x_labels) {
            let x = self.at_x(*tick);
            marks.push(((x, bottom), (x, bottom + 5.0)));
            sheet.text((x, bottom + 19.0), label, 12.0, Anchor::Middle, Ink::Text);
        }
        sheet.strokes(marks, Ink::Axis, 1.0);
        let name = format!("{} ({prefix}{})", shown.name, shown.unit);
        sheet.text((self.right(), bottom + 36.0), name, 12.0, Anchor::End, Ink::Soft);
    }

    /// The corners of a curve with a step at each point.
    pub fn steps(&self, curve: &Curve) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::with_capacity(2 * curve.x.len());
        for (&x, &y) in curve.x.iter().zip(&curve.y) {
            let next = self.at(x, y);
            if let Some(&(_, before)) = points.last() {
                points.push((next.0, before));
            }
            points.push(next);
        }
        points
    }

    /// A curve closed down to the axis.
    pub fn filled(&self, curve: &Curve, ink: Ink, opacity: f64, sheet: &mut Sheet) {
        let mut points = self.steps(curve);
        if let (Some(&first), Some(&last)) = (points.first(), points.last()) {
            points.insert(0, (first.0, self.bottom()));
            points.push((last.0, self.bottom()));
            sheet.area(points, ink, opacity);
        }
    }

    /// Draw inside the frame only.
    pub fn clipped(&self, sheet: &mut Sheet, draw: impl FnOnce(&mut Sheet)) {
        sheet.shapes.push(Shape::Clip(self.place));
        draw(sheet);
        sheet.shapes.push(Shape::EndClip);
    }

    /// A legend above the frame, flush right.
    pub fn legend(&self, entries: &[(Ink, &str, Look)], sheet: &mut Sheet) {
        let y = self.place.top - 10.0;
        let mut x = self.right();
        for (ink, name, look) in entries.iter().rev() {
            x -= width(name, 11.0);
            sheet.text((x, y), *name, 11.0, Anchor::Start, Ink::Text);
            match look {
                Look::Line => sheet.line(vec![(x - 24.0, y - 4.0), (x - 6.0, y - 4.0)], *ink, 2.0),
                Look::Area => sheet.band(x - 24.0, x - 6.0, y - 9.0, y, *ink, 0.4),
                Look::Solid => sheet.band(x - 24.0, x - 6.0, y - 9.0, y, *ink, 1.0),
                Look::Dot => sheet.dot((x - 11.0, y - 4.0), 4.5, *ink),
            }
            x -= 37.0;
        }
    }

    /// What the chart is.
    pub fn heading(&self, text: &str, sheet: &mut Sheet) {
        sheet.heading((self.place.left, self.place.top - 10.0), text, 12.5);
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Look {
    Line,
    Area,
    Solid,
    Dot,
}

/// About how wide a text is in the fonts that are used.
pub fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | '|' => 0.3,
        'f' | 't' | 'r' | ' ' | '/' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' => 0.92,
        _ => 0.63,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// The beginning and the end of a text that is too long; ends tell names apart.
pub fn shortened(text: &str, most: f64) -> String {
    let most = most as usize;
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most / 2).collect();
    let tail: String = text.chars().skip(count - (most - most / 2 - 1)).collect();
    format!("{head}…{tail}")
}

/// Labels without a prefix: times are best read as plain seconds.
fn plain(ticks: &[f64]) -> Vec<String> {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0);
    let decimals = (-(step * 1.0001).log10().floor()).clamp(0.0, 9.0) as usize;
    ticks.iter().map(|tick| format!("{tick:.decimals$}")).collect()
}
