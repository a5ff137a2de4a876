//! Pictures: the bandwidth with its dominant wave above, the spectrum with its candidates below.

mod axis;
mod html;
mod picture;
mod svg;

use anyhow::bail;
use ftio_core::detect::Analysis;
use picture::Picture;
use std::path::Path;

/// What a picture is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A drawing.
    Svg,
    /// One page that needs no network, with zoom and hover.
    Html,
}

impl Format {
    /// The format that the ending of a file name asks for.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Format::Svg),
            Some("html" | "htm") => Ok(Format::Html),
            _ => bail!("{}: expected a name that ends in .html or .svg", path.display()),
        }
    }
}

/// Draw an analysis.
pub fn draw(analysis: &Analysis, format: Format) -> String {
    match format {
        Format::Svg => svg::draw(&Picture::of(analysis, svg::POINTS)),
        Format::Html => html::draw(&Picture::of(analysis, html::POINTS)),
    }
}

/// Text for XML and HTML.
fn escaped(text: &str) -> String {
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
