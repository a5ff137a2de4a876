//! The summary as one HTML page that needs no network: shares, the heat map of categories, examples.

use super::paper::{Row, Section, sections};
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, counted, grouped, percent, seconds};
use draw::escaped;
use mosaic::Direction;
use mosaic::archive::Summary;
use mosaic::archive::site::SiteRow;
use mosaic::archive::summary::Example;
use mosaic::thresholds::TABLE;
use std::fmt::Write as _;

const PAGE: &str = include_str!("page.html");

/// Bad logs that are listed.
const MAX_BAD_LOGS: usize = 50;
/// Lower Jaccard indices are left blank, as in the paper's figure 5.
const MIN_SHOWN: f64 = 0.01;
/// A colour this strong needs white text.
const MIN_FOR_WHITE_TEXT: f64 = 0.55;

/// The page.
pub fn page(summary: &Summary) -> String {
    let (unique, all_runs) = (&summary.unique, &summary.all_runs);
    let heat = format!(
        "{}{}{}{}",
        heat_map(&unique.jaccard.categories, &unique.jaccard.matrix, "unique", "", " and "),
        heat_map(&all_runs.jaccard.categories, &all_runs.jaccard.matrix, "all", " hidden", " and "),
        heat_map(&unique.jaccard.categories, &unique.conditional, "unique-given", " hidden", ", of these "),
        heat_map(&all_runs.jaccard.categories, &all_runs.conditional, "all-given", " hidden", ", of these ")
    );
    PAGE.replace("{{subtitle}}", &subtitle(summary))
        .replace("{{numbers}}", &numbers(summary))
        .replace("{{tables}}", &tables(summary))
        .replace("{{heat}}", &heat)
        .replace("{{site}}", &summary.applications.iter().map(site_row).collect::<String>())
        .replace("{{examples}}", &examples(summary))
        .replace("{{bad}}", &bad_logs(summary))
        .replace("{{thresholds}}", &thresholds(summary))
}

pub fn text(from_outside: &str) -> String {
    escaped(&printable(from_outside))
}

fn subtitle(summary: &Summary) -> String {
    format!(
        "{}, sorted by the method of MOSAIC (Jolivel et al., PDSW 2024).",
        counted(summary.logs, "Darshan log")
    )
}

fn numbers(summary: &Summary) -> String {
    let mut numbers = vec![
        ("Applications", grouped(summary.ok)),
        ("Further runs", grouped(summary.duplicate)),
        ("Invalid logs", grouped(summary.invalid)),
    ];
    if let Some(share) = summary.like_the_heaviest {
        numbers.push(("Runs like their heaviest", percent(share)));
    }
    numbers.push(("Described", percent(summary.unique.described)));
    for (direction, label) in
        [(Direction::Read, "FTIO agrees on reads"), (Direction::Write, "FTIO agrees on writes")]
    {
        if let Some(share) = summary.unique.witness.get(direction).share() {
            numbers.push((label, percent(share)));
        }
    }
    numbers.iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>")).collect()
}

fn tables(summary: &Summary) -> String {
    let row = |row: &Row| {
        let name = if row.is_part { format!("– {}", row.name) } else { row.name.clone() };
        let [unique, all_runs] = row.shares.map(percent);
        let [first, second] = row.paper.map(escaped);
        format!(
            "<tr><td>{name}</td><td>{unique}</td><td>{all_runs}</td><td class=\"paper\">{first}</td>\
             <td class=\"paper\">{second}</td></tr>"
        )
    };
    let table = |section: Section| {
        format!(
            "<table><thead><tr><th>{}</th><th>applications</th><th>all runs</th>\
             <th class=\"paper\" colspan=\"2\">paper</th></tr></thead><tbody>{}</tbody></table>",
            section.title,
            section.rows.iter().map(row).collect::<String>()
        )
    };
    sections(summary).into_iter().map(table).collect()
}

/// A row of the table of applications; `data-` values are what it is sorted by.
fn site_row(row: &SiteRow) -> String {
    let application = if row.application.is_empty() { "unknown" } else { &row.application };
    let periods: Vec<String> = row.periods.iter().map(|period| seconds(*period)).collect();
    let alike = row.like_the_heaviest.map(percent).unwrap_or_default();
    let cell = |value: f64, shown: &str| format!("<td data-value=\"{value}\">{shown}</td>");
    format!(
        "<tr><td>{}</td><td>{}</td>{}{}{}{}<td class=\"words\">{}</td></tr>",
        text(application),
        row.user,
        cell(row.runs as f64, &grouped(row.runs)),
        cell(row.bytes as f64, &bytes(row.bytes as f64)),
        cell(row.like_the_heaviest.unwrap_or(-1.0), &alike),
        cell(row.periods.first().copied().unwrap_or(-1.0), &periods.join(", ")),
        row.categories.join(", ")
    )
}

fn heat_map(names: &[&str], matrix: &[Vec<f64>], view: &str, hidden: &str, between: &str) -> String {
    let mut out = format!("<table class=\"heat\" data-view=\"{view}\"{hidden}><thead><tr><th></th>");
    for name in names {
        let _ = write!(out, "<th><div>{name}</div></th>");
    }
    out += "</tr></thead><tbody>";
    for (a, row) in names.iter().zip(matrix) {
        let _ = write!(out, "<tr><th>{a}</th>");
        for (b, index) in names.iter().zip(row) {
            let title = format!("{a}{between}{b}: {}", percent(*index));
            if *index < MIN_SHOWN {
                let _ = write!(out, "<td class=\"none\" title=\"{title}\"></td>");
            } else {
                let strong = if *index >= MIN_FOR_WHITE_TEXT { " class=\"strong\"" } else { "" };
                let _ = write!(
                    out,
                    "<td{strong} style=\"background: rgba(var(--heat), {:.3})\" title=\"{title}\">{:.0}</td>",
                    0.06 + 0.94 * index,
                    100.0 * index
                );
            }
        }
        out += "</tr>";
    }
    out + "</tbody></table>"
}

fn examples(summary: &Summary) -> String {
    let mut out = String::new();
    for (number, name) in summary.unique.jaccard.categories.iter().enumerate() {
        let Some(examples) = summary.examples.get(name) else { continue };
        let count = summary.unique.categories.get(name).copied().unwrap_or(0);
        let open = if number == 0 { " open" } else { "" };
        let _ = write!(
            out,
            "<details{open}><summary><b>{name}</b> {}</summary>{}</details>",
            counted(count, "application"),
            examples.iter().map(example).collect::<String>()
        );
    }
    out
}

fn example(example: &Example) -> String {
    let application =
        if example.application.is_empty() { "unknown application" } else { &example.application };
    format!(
        "<div class=\"example\">{}<div><b>{}</b> {} on {} in \
         {}<br><code>{}</code><br><span>{}</span></div></div>",
        timeline(&example.read, &example.write),
        text(application),
        bytes(example.bytes as f64),
        counted(example.ranks, "rank"),
        seconds(example.run_time),
        text(&example.source),
        example.categories.join(", ")
    )
}

/// Reads upwards, writes downwards; a column for each digit.
pub fn timeline(read: &str, write: &str) -> String {
    let mut out = String::from("<svg viewBox=\"0 0 48 20\" preserveAspectRatio=\"none\" role=\"img\">");
    for (class, profile) in [("read", read), ("write", write)] {
        for (at, digit) in profile.bytes().enumerate().filter(|(_, digit)| *digit > b'0') {
            let height = u32::from(digit - b'0');
            let y = if class == "read" { 10 - height } else { 10 };
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{at}\" y=\"{y}\" width=\"0.9\" height=\"{height}\"/>"
            );
        }
    }
    out + "</svg>"
}

fn bad_logs(summary: &Summary) -> String {
    if summary.invalid == 0 {
        return String::new();
    }
    let items: String = summary
        .bad_logs
        .iter()
        .take(MAX_BAD_LOGS)
        .map(|bad| format!("<li>{}</li>", text(&bad.reason)))
        .collect();
    let more = summary.invalid.saturating_sub(MAX_BAD_LOGS as u64);
    let more = if more > 0 { format!("<p>and {}.</p>", counted(more, "more log")) } else { String::new() };
    format!(
        "<h2>Invalid logs</h2><details><summary>{}</summary><ul>{items}</ul>{more}</details>",
        counted(summary.invalid, "log")
    )
}

fn thresholds(summary: &Summary) -> String {
    let mut used = summary.settings.thresholds.clone();
    let mut out = String::from(
        "<thead><tr><th>option</th><th>used</th><th>default</th><th \
         style=\"text-align:left\">meaning</th><th style=\"text-align:left\">source of the \
         default</th></tr></thead><tbody>",
    );
    for row in TABLE {
        let value = used.get_mut(row.name).map_or(row.default, |value| *value);
        let _ = write!(
            out,
            "<tr><td>--{}</td><td>{value}</td><td class=\"paper\">{}</td><td \
             style=\"text-align:left\">{}</td><td class=\"paper\" style=\"text-align:left\">{}</td></tr>",
            row.name,
            row.default,
            escaped(row.meaning),
            escaped(row.source)
        );
    }
    out + "</tbody>"
}
