//! A picture as one HTML page that works without a network.

use super::escaped;
use super::picture::Picture;

/// Points per curve: enough to zoom in.
pub const POINTS: usize = 40_000;

/// The page, with places for title and data.
const PAGE: &str = include_str!("page.html");

/// Draw it.
pub fn draw(picture: &Picture) -> String {
    // Numbers and strings of our own types always serialise; `<` could end the script element.
    let data = serde_json::to_string(picture).unwrap_or_default().replace('<', "\\u003c");
    PAGE.replace("{{title}}", &escaped(&picture.title))
        .replace("{{subtitle}}", &escaped(&picture.subtitle))
        .replace("{{data}}", &data)
}
