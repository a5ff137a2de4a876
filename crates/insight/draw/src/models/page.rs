//! Charts of models as one HTML page that needs no network.

use super::chart::Chart;
use super::drawing::{places, sheet};
use super::formula::{amount, number};
use crate::units::counted;
use crate::{Format, Result, draw_sheet, escaped};
use files::printable;
use std::fmt::Write;

/// The page, with places for charts.
const PAGE: &str = include_str!("page.html");

/// Draw it.
pub fn draw(charts: &[Chart]) -> Result<String> {
    let mut figures = String::new();
    for chart in charts {
        let name = printable(&format!("{} {}", chart.data.callpath, chart.data.metric)).to_lowercase();
        let picture = draw_sheet(&sheet(std::slice::from_ref(chart)), Format::Html)?;
        let picture = String::from_utf8_lossy(&picture);
        let open = picture.trim_end().strip_suffix("</svg>").unwrap_or(&picture);
        // Writing to a string cannot fail.
        let _ = writeln!(
            figures,
            "<figure data-name=\"{}\">{open}{}</svg></figure>",
            escaped(&name),
            hints(chart)
        );
    }
    Ok(PAGE
        .replace("{{subtitle}}", &format!("{}.", counted(charts.len() as u64, "model")))
        .replace("{{charts}}", &figures))
}

/// The value of each point, shown where the pointer is.
fn hints(chart: &Chart) -> String {
    let mut out = String::new();
    for ((x, y), [at, value]) in places(chart).zip(&chart.data.points) {
        let _ = writeln!(
            out,
            "<circle class=\"hint\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"><title>{} = {}: {}</title></circle>",
            escaped(&printable(&chart.data.parameter)),
            number(*at),
            escaped(&amount(*value, &chart.data.metric))
        );
    }
    out
}
