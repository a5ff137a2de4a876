//! Pictures as one HTML page that works without a network.

use super::picture::Picture;
use crate::Result;
use crate::canvas::escaped;

/// Points per curve: enough to zoom in.
pub const POINTS: usize = 40_000;

/// The page, with places for title, style, data and script.
const PAGE: &str = include_str!("page.html");
/// Colours, charts, print: reports use them as well.
pub const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 4] = [CHART, DRAWINGS, include_str!("page.js"), THEME];

/// Axes, zoom, legend; the drawings of an analysis; light and dark. Reports use them as well.
pub const CHART: &str = include_str!("chart.js");
pub const DRAWINGS: &str = include_str!("drawings.js");
pub const THEME: &str = include_str!("theme.js");

/// Write it.
pub fn draw(pictures: &[Picture]) -> Result<String> {
    let title = pictures.iter().map(|picture| picture.title.as_str()).collect::<Vec<_>>().join(", ");
    // `<` could end the script element.
    let data = serde_json::to_string(pictures)?.replace('<', "\\u003c");
    // Data last: it may hold anything.
    let page = PAGE
        .replace("{{style}}", STYLE)
        .replace("{{script}}", &SCRIPTS.concat())
        .replace("{{title}}", &escaped(&title))
        .replace("{{data}}", &data);
    Ok(page)
}
