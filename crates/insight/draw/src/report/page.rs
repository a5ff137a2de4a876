//! The page: one file that needs nothing else.

use super::sections;
use crate::Result;
use crate::canvas::{Format, escaped};
use crate::plot::html::{CHART, DRAWINGS, STYLE, THEME};
use crate::plot::{Picture, picture};
use crate::report::Subject;

const PAGE: &str = include_str!("report.html");
const OWN_STYLE: &str = include_str!("report.css");
const OWN_SCRIPT: &str = include_str!("report.js");

/// The page about one job.
pub fn page(study: &Subject<'_>) -> Result<String> {
    let body = sections::all(study);
    whole(&study.title(), &body, &[drawn(study)])
}

/// What the charts are drawn from; `None` where there is no bandwidth over time.
pub fn drawn(study: &Subject<'_>) -> Option<Picture> {
    let analysis = study.analysis.ok().filter(|analysis| !analysis.signal.samples.is_empty())?;
    Some(picture(analysis, Format::Html))
}

/// A page with this body; pictures are drawn into the elements that name them.
pub fn whole(title: &str, body: &str, pictures: &[Option<Picture>]) -> Result<String> {
    // `<` could end the script element.
    let data = serde_json::to_string(pictures)?.replace('<', "\\u003c");
    let scripts = [CHART, DRAWINGS, OWN_SCRIPT, THEME].concat();
    // Body and data last: they may hold anything.
    let page = PAGE
        .replace("{{style}}", &[STYLE, OWN_STYLE].concat())
        .replace("{{script}}", &scripts)
        .replace("{{title}}", &escaped(title));
    let (head, rest) = page.split_once("{{body}}").unwrap_or((&page, ""));
    let (middle, tail) = rest.split_once("{{data}}").unwrap_or((rest, ""));
    Ok([head, body, middle, &data, tail].concat())
}
