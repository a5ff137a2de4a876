//! Pictures as one HTML page that works without a network.

use super::picture::Picture;
use crate::canvas::escaped;

/// Points per curve: enough to zoom in.
pub const POINTS: usize = 40_000;

/// The page, with places for title, style, data and script.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 2] = [include_str!("chart.js"), include_str!("page.js")];

/// Write it.
pub fn draw(pictures: &[Picture]) -> anyhow::Result<String> {
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
