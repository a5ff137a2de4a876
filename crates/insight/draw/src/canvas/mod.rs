//! What pictures are drawn on: a sheet of lines, areas and text, charts with axes on it, and the sheet as SVG
//! or PNG. Nothing here knows what is drawn.

pub mod axis;
pub mod curve;
mod format;
pub mod frame;
mod markup;
#[cfg(feature = "png")]
mod png;
pub mod sheet;
mod svg;

pub use format::Format;
pub use markup::escaped;
pub use svg::POINTS;

use crate::Result;

/// Draw a sheet; as part of a page, in SVG.
pub fn draw_sheet(sheet: &sheet::Sheet, format: Format) -> Result<Vec<u8>> {
    Ok(match format {
        Format::Html | Format::Svg => svg::draw(sheet).into_bytes(),
        #[cfg(feature = "png")]
        Format::Png => png::draw(sheet)?,
        #[cfg(not(feature = "png"))]
        Format::Png => return Err(crate::Error::NoPng),
    })
}
