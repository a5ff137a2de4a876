//! A sheet as PNG, on light ground, at twice the size so that it stays sharp.

use super::sheet::{Anchor, Ink, Point, Rectangle, Shape, Sheet};
use crate::{Error, Result};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

const SCALE: f32 = 2.0;
/// Larger pictures would not be looked at, and their memory grows with the area.
const MAX_PIXELS: f64 = 1e8;

/// Latin letters, digits and some symbols; see LICENSE beside it.
const FONT: &[u8] = include_bytes!("font/sans.ttf");

pub fn draw(sheet: &Sheet) -> Result<Vec<u8>> {
    let (width, height) = (f64::from(SCALE) * sheet.width, f64::from(SCALE) * sheet.height);
    let fits = width * height <= MAX_PIXELS;
    if !fits {
        return Err(Error::TooLarge);
    }
    let mut pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32).ok_or(Error::NoMemory)?;
    pixmap.fill(Color::WHITE);
    let face =
        Face::parse(FONT, 0).map_err(|problem| Error::Encode(format!("the built-in font: {problem}")))?;
    let mut canvas = Canvas { pixmap, clip: None, face };
    sheet.shapes.iter().for_each(|shape| canvas.shape(shape));
    canvas.pixmap.encode_png().map_err(|problem| Error::Encode(problem.to_string()))
}

struct Canvas<'a> {
    pixmap: Pixmap,
    clip: Option<Mask>,
    face: Face<'a>,
}

impl Canvas<'_> {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { points, ink, width, dashed } => {
                self.stroke(polygon(points, false), *ink, *width, *dashed);
            }
            Shape::Strokes { lines, ink, width } => {
                let mut builder = PathBuilder::new();
                for (from, to) in lines {
                    builder.move_to(from.0 as f32, from.1 as f32);
                    builder.line_to(to.0 as f32, to.1 as f32);
                }
                self.stroke(builder.finish(), *ink, *width, false);
            }
            Shape::Area { points, ink, opacity } => self.fill(polygon(points, true), *ink, *opacity),
            Shape::Dot { at, radius, ink } => {
                self.fill(PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32), *ink, 1.0);
            }
            Shape::Text { at, text, size, bold, anchor, upwards, ink } => {
                let path = self.text(*at, text, *size, *anchor, *upwards);
                // The font has one weight; a thin line around the letters makes them bold.
                if *bold && let Some(path) = path.clone() {
                    self.stroke(Some(path), *ink, size * 0.045, false);
                }
                self.fill(path, *ink, 1.0);
            }
            Shape::Cells { place, columns, values, ink } => self.cells(place, *columns, values, *ink),
            Shape::Clip(place) => self.clip = self.mask(place),
            Shape::EndClip => self.clip = None,
        }
    }

    fn mask(&self, place: &Rectangle) -> Option<Mask> {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        let path = PathBuilder::from_rect(rectangle(place.left, place.top, place.width, place.height)?);
        mask.fill_path(&path, FillRule::Winding, false, Transform::from_scale(SCALE, SCALE));
        Some(mask)
    }

    fn stroke(&mut self, path: Option<Path>, ink: Ink, width: f64, dashed: bool) {
        let Some(path) = path else { return };
        let stroke = Stroke {
            width: width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Bevel,
            dash: if dashed { StrokeDash::new(vec![4.0, 3.0], 0.0) } else { None },
            ..Stroke::default()
        };
        let scale = Transform::from_scale(SCALE, SCALE);
        self.pixmap.stroke_path(&path, &paint(ink, 1.0), &stroke, scale, self.clip.as_ref());
    }

    fn fill(&mut self, path: Option<Path>, ink: Ink, opacity: f64) {
        let Some(path) = path else { return };
        let scale = Transform::from_scale(SCALE, SCALE);
        self.pixmap.fill_path(&path, &paint(ink, opacity), FillRule::Winding, scale, self.clip.as_ref());
    }

    fn cells(&mut self, place: &Rectangle, columns: usize, values: &[f64], ink: Ink) {
        let rows = values.len() / columns.max(1);
        let (width, height) = (place.width / columns as f64, place.height / rows.max(1) as f64);
        for (row, values) in values.chunks(columns).enumerate() {
            for (column, &value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                let (x, y) = (place.left + column as f64 * width, place.top + row as f64 * height);
                let mut paint = paint(ink, value.clamp(0.06, 1.0));
                // Neighbours must not leave a seam.
                paint.anti_alias = false;
                if let Some(rectangle) = rectangle(x, y, width, height) {
                    let scale = Transform::from_scale(SCALE, SCALE);
                    self.pixmap.fill_rect(rectangle, &paint, scale, None);
                }
            }
        }
    }

    /// The outline of a text.
    fn text(&self, at: Point, text: &str, size: f64, anchor: Anchor, upwards: bool) -> Option<Path> {
        let scale = size as f32 / f32::from(self.face.units_per_em());
        let glyphs: Vec<GlyphId> =
            text.chars().map(|c| self.face.glyph_index(c).unwrap_or(GlyphId(0))).collect();
        let advance = |glyph: &GlyphId| f32::from(self.face.glyph_hor_advance(*glyph).unwrap_or(0));
        let length: f32 = glyphs.iter().map(advance).sum();
        let mut pen = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -length / 2.0,
            Anchor::End => -length,
        };
        let mut outline = Outline { builder: PathBuilder::new(), shift: pen };
        for glyph in &glyphs {
            outline.shift = pen;
            self.face.outline_glyph(*glyph, &mut outline);
            pen += advance(glyph);
        }
        let turn = if upwards { Transform::from_rotate(-90.0) } else { Transform::identity() };
        let placed = turn.pre_scale(scale, -scale).post_translate(at.0 as f32, at.1 as f32);
        outline.builder.finish()?.transform(placed)
    }
}

fn paint(ink: Ink, opacity: f64) -> Paint<'static> {
    let [light, _] = ink.colours();
    let part =
        |at: usize| light.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(part(1), part(3), part(5), (255.0 * opacity).round() as u8);
    paint
}

fn rectangle(left: f64, top: f64, width: f64, height: f64) -> Option<Rect> {
    Rect::from_xywh(left as f32, top as f32, width as f32, height as f32)
}

fn polygon(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (i, point) in points.iter().enumerate() {
        let (x, y) = (point.0 as f32, point.1 as f32);
        if i == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// Glyphs beside each other, in units of the font.
struct Outline {
    builder: PathBuilder,
    shift: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.builder.move_to(x + self.shift, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.builder.line_to(x + self.shift, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.builder.quad_to(x1 + self.shift, y1, x + self.shift, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.builder.cubic_to(x1 + self.shift, y1, x2 + self.shift, y2, x + self.shift, y);
    }
    fn close(&mut self) {
        self.builder.close();
    }
}
