//! Charts of models as one HTML page that needs no network.

use super::chart::Chart;
use super::svg::{HEIGHT, STYLE, WIDTH, escaped, panel};
use crate::text::printable;
use crate::units::counted;
use std::fmt::Write;

/// The page, with places for style and charts.
const PAGE: &str = include_str!("page.html");

/// Draw it.
pub fn draw(charts: &[Chart]) -> String {
    let mut figures = String::new();
    for (i, chart) in charts.iter().enumerate() {
        let name = printable(&format!("{} {}", chart.data.callpath, chart.data.metric)).to_lowercase();
        // Writing to a string cannot fail.
        let _ = writeln!(
            figures,
            "<figure data-name=\"{}\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n{}</svg></figure>",
            escaped(&name),
            panel(chart, i)
        );
    }
    PAGE.replace("{{style}}", STYLE)
        .replace("{{subtitle}}", &format!("{}.", counted(charts.len() as u64, "model")))
        .replace("{{charts}}", &figures)
}
