//! The sections of a report. One without data says why, and how to get it.

mod access;
mod cost;
mod files;
pub mod findings;
mod job;
mod over_time;
mod ranks;

use crate::canvas::escaped;
use crate::report::Subject;
use crate::units::{bytes, percent, ranks, seconds};
use findings::tally;

/// All of them, with a head and links.
pub fn all(study: &Subject<'_>) -> String {
    let sections: [(&str, &str, String); 9] = [
        ("findings", "Findings", findings::findings(study.findings)),
        ("job", "Job", job::job(study)),
        ("cost", "I/O cost", cost::cost(study)),
        ("time", "Bandwidth over time", over_time::bandwidth(study)),
        ("phases", "Phases", over_time::phases(study)),
        ("sizes", "Access sizes and order", access::access(study)),
        ("files", "Files", files::files(study)),
        ("nonblocking", "Nonblocking I/O", over_time::nonblocking(study)),
        ("ranks", "Ranks", ranks::ranks(study)),
    ];
    let links: String = sections
        .iter()
        .map(|(id, name, _)| format!("<a href=\"#{id}\">{name}</a>"))
        .collect::<Vec<_>>()
        .join("");
    let bodies: String = sections
        .iter()
        .map(|(id, name, body)| format!("<section id=\"{id}\"><h2>{name}</h2>{body}</section>\n"))
        .collect();
    format!(
        "<header><h1>{}</h1><p>{}</p>{}<nav>{links}</nav></header>\n<main class=\"stack\">{bodies}</main>",
        escaped(&study.title()),
        escaped(study.name),
        tiles(study)
    )
}

/// The few numbers that everybody looks for first.
fn tiles(study: &Subject<'_>) -> String {
    let mut tiles = Vec::new();
    if study.usage.run_time > 0.0 {
        tiles.push(("Run time", seconds(study.usage.run_time)));
    }
    if study.usage.ranks.is_some() {
        tiles.push(("Ranks", ranks(study.usage.ranks).replace(" ranks", "").replace(" rank", "")));
    }
    tiles.push(("Written", bytes(study.usage.writes.bytes as f64)));
    tiles.push(("Read", bytes(study.usage.reads.bytes as f64)));
    if let Some(share) = study.summary.io_share {
        tiles.push(("Time in I/O", percent(share.all)));
    }
    if let Ok(analysis) = study.analysis {
        let found = &analysis.detection;
        tiles.push(("Period", found.period.map_or("none".into(), seconds)));
        if found.period.is_some() {
            tiles.push(("Confidence", percent(found.confidence)));
        }
    }
    tiles.push(("Findings", tally(study.findings)));
    let tile =
        |(name, value): (&str, String)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escaped(&value));
    format!("<dl>{}</dl>", tiles.into_iter().map(tile).collect::<String>())
}

/// What sections say of a job of which nothing is there.
const NOTHING: &str = "No I/O was recorded.";

/// Is there nothing at all, in an input that would tell?
fn is_empty(study: &Subject<'_>) -> bool {
    let (usage, summary) = (study.usage, study.summary);
    let tells = summary.coverage.mpi_io_bytes.is_some() || summary.modules.is_some();
    tells && usage.reads.ops + usage.writes.ops == 0 && usage.files.is_empty()
}

/// A paragraph that says what is missing, and why.
fn gap(text: &str) -> String {
    format!("<p class=\"gap\">{}</p>", escaped(text))
}

/// Two columns of names and values.
fn pairs(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| format!("<tr><th>{name}</th><td>{value}</td></tr>");
    format!("<table class=\"pairs\"><tbody>{}</tbody></table>", rows.iter().map(row).collect::<String>())
}

/// A cell with a number that sorts by its value.
fn number(value: f64, text: &str) -> String {
    format!("<td class=\"n\" data-v=\"{value}\">{}</td>", escaped(text))
}

/// The same of one that may not be known; that sorts below all others.
fn perhaps(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    match value {
        Some(value) => number(value, &text(value)),
        None => "<td class=\"n\" data-v=\"-1\">–</td>".into(),
    }
}

/// A table whose headings sort it. Headings that begin with `#` are of numbers.
fn sortable(headings: &[&str], rows: &str) -> String {
    let heading = |name: &&str| match name.strip_prefix('#') {
        Some(name) => format!("<th class=\"n\">{name}</th>"),
        None => format!("<th>{name}</th>"),
    };
    let headings: String = headings.iter().map(heading).collect();
    format!(
        "<div class=\"scroll\"><table class=\"sortable \
            wide\"><thead><tr>{headings}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
}
