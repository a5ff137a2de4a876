//! Pictures of an analysis: the bandwidth with its phases and dominant wave, the spectrum with its candidates, the
//! autocorrelation, what each rank did when, and what nonblocking operations needed and got.

pub mod axis;
mod curve;
mod frame;
mod html;
mod phases;
mod picture;
#[cfg(feature = "png")]
mod png;
mod scene;
pub mod sheet;
mod svg;
mod timeline;

use anyhow::bail;
use ftio_core::detect::Analysis;
use ftio_core::source::OpenOptions;
pub use phases::phases;
pub use picture::Picture;
use std::path::Path;
use timeline::Timeline;

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
            Some("png") => bail!("{}: this ftio was built without PNG", path.display()),
            _ => bail!("{}: expected a name that ends in .html, .svg or .png", path.display()),
        }
    }

    /// Points per curve.
    fn points(self) -> usize {
        match self {
            Format::Html => html::POINTS,
            Format::Svg | Format::Png => svg::POINTS,
        }
    }
}

/// What is to be drawn of an analysis; `reading` is how its input was read.
pub fn picture(analysis: &Analysis, reading: &OpenOptions, format: Format) -> Picture {
    let found = &analysis.detection;
    let window = [found.t_start, found.t_end.max(found.t_start + analysis.signal.step())];
    Picture::of(analysis, Timeline::of(&found.source, reading, found.mode, window), format.points())
}

/// Draw pictures, side by side if there are several.
pub fn draw(pictures: &[Picture], format: Format) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Html => html::draw(pictures).into_bytes(),
        Format::Svg => svg::draw(&scene::sheet(pictures)).into_bytes(),
        #[cfg(feature = "png")]
        Format::Png => png::draw(&scene::sheet(pictures))?,
        #[cfg(not(feature = "png"))]
        Format::Png => bail!("this ftio was built without PNG"),
    })
}

/// Draw any sheet; as part of a page, in SVG.
pub fn draw_sheet(sheet: &sheet::Sheet, format: Format) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Html | Format::Svg => svg::draw(sheet).into_bytes(),
        #[cfg(feature = "png")]
        Format::Png => png::draw(sheet)?,
        #[cfg(not(feature = "png"))]
        Format::Png => bail!("this ftio was built without PNG"),
    })
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
