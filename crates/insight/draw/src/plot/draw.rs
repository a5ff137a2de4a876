//! Pictures of analyses, drawn.

use super::picture::Picture;
use super::timeline::Timeline;
use super::{html, scene};
use crate::Result;
use crate::canvas::{self, Format, draw_sheet};
use ftio_core::detect::Analysis;

/// What is to be drawn of an analysis.
pub fn picture(analysis: &Analysis, format: Format) -> Picture {
    let found = &analysis.detection;
    let window = [found.t_start, found.t_end.max(found.t_start + analysis.signal.step())];
    Picture::of(analysis, Timeline::of(analysis.lanes.as_ref(), window), points(format))
}

/// Draw pictures, side by side if there are several.
pub fn draw(pictures: &[Picture], format: Format) -> Result<Vec<u8>> {
    match format {
        Format::Html => Ok(html::draw(pictures)?.into_bytes()),
        Format::Svg | Format::Png => draw_sheet(&scene::sheet(pictures), format),
    }
}

/// Points per curve.
fn points(format: Format) -> usize {
    match format {
        Format::Html => html::POINTS,
        Format::Svg | Format::Png => canvas::POINTS,
    }
}
