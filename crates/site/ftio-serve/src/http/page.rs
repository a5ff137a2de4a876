//! The page and its parts: compiled in, so that nothing is loaded from anywhere else.

use super::context::{Answer, Context, Result};
use draw::plot::html;

const INDEX: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("../page/basics.js"),
    include_str!("../page/compare.js"),
    include_str!("../page/now.js"),
    include_str!("../page/jobs.js"),
    include_str!("../page/apps.js"),
];
const START: &str = include_str!("../page/start.js");

/// `/`.
pub fn index(_: &Context) -> Result {
    Ok(Answer::text("text/html; charset=utf-8", INDEX))
}

/// A script or a style. They tell nothing about anybody.
pub fn asset(path: &str) -> Option<Answer> {
    let (kind, text) = match path {
        "/page.css" => ("text/css; charset=utf-8", [html::STYLE, STYLE].concat()),
        "/page.js" => {
            let scripts = [html::CHART, &SCRIPTS.concat(), html::THEME, START].concat();
            ("text/javascript; charset=utf-8", scripts)
        }
        _ => return None,
    };
    Some(Answer { cacheable: true, ..Answer::text(kind, text) })
}
