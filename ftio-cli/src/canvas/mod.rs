//! What pictures are drawn on: a sheet of lines, areas and text, charts with axes on it, and the sheet as SVG or PNG.
//! Nothing here knows what is drawn.

pub mod axis;
pub mod curve;
mod file;
pub mod frame;
mod markup;
#[cfg(feature = "png")]
mod png;
pub mod sheet;
mod svg;

use crate::exit::wrong_usage;
pub use file::PictureFile;
pub use markup::escaped;
use std::path::Path;
pub use svg::POINTS;

/// What a picture is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A drawing.
    Svg,
    /// The same as pixels.
    Png,
    /// One page that needs no network, with zoom and hover.
    Html,
}

impl Format {
    /// The format that the ending of a file name asks for.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Format::Svg),
            Some("html" | "htm") => Ok(Format::Html),
            Some("png") if cfg!(feature = "png") => Ok(Format::Png),
            Some("png") => Err(wrong_usage(format!("{}: this ftio was built without PNG", path.display()))),
            _ => Err(wrong_usage(format!(
                "{}: expected a name that ends in .html, .svg or .png",
                path.display()
            ))),
        }
    }
}

/// Draw a sheet; as part of a page, in SVG.
pub fn draw_sheet(sheet: &sheet::Sheet, format: Format) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Html | Format::Svg => svg::draw(sheet).into_bytes(),
        #[cfg(feature = "png")]
        Format::Png => png::draw(sheet)?,
        #[cfg(not(feature = "png"))]
        Format::Png => anyhow::bail!("this ftio was built without PNG"),
    })
}
