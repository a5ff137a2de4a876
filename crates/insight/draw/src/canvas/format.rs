//! The formats of pictures.

use crate::{Error, Result};
use std::path::Path;

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
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Format::Svg),
            Some("html" | "htm") => Ok(Format::Html),
            Some("png") if cfg!(feature = "png") => Ok(Format::Png),
            Some("png") => Err(Error::NoPngFor { name: path.display().to_string() }),
            _ => Err(Error::UnknownFormat { name: path.display().to_string() }),
        }
    }
}
