//! The summary as one HTML page that needs no network: shares, the heat map of categories, examples.

use super::table::{PAPER_CONDITIONAL, PAPER_METADATA, PAPER_PERIODIC_WRITES, PAPER_TABLE_3, conditional};
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, counted, grouped, percent, seconds};
use draw::escaped;
use mosaic::Direction;
use mosaic::archive::Summary;
use mosaic::archive::site::SiteRow;
use mosaic::archive::summary::Example;
use mosaic::archive::view::View;
use mosaic::thresholds::TABLE;
use std::fmt::Write as _;

const PAGE: &str = include_str!("page.html");

/// Bad logs that are listed.
const BAD_LOGS: usize = 50;
/// Lower Jaccard indices are left blank, as in the paper's figure 5.
const LEAST_SHOWN: f64 = 0.01;
/// A colour this strong needs white text.
const STRONG: f64 = 0.55;

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
    let views = [&summary.unique, &summary.all_runs];
    let mut out = String::new();
    for direction in Direction::ALL {
        let name = direction.name();
        let shown = if direction == Direction::Read { "on_start" } else { "on_end" };
        let mut rows = String::new();
        let tables = views.map(|view| view.table_3.get(direction));
        let values = tables.map(|t| [t.insignificant, t.listed(direction), t.steady, t.otherwise(direction)]);
        let paper = PAPER_TABLE_3[direction as usize];
        for (at, label) in ["insignificant", shown, "steady", "otherwise"].into_iter().enumerate() {
            let paper = [paper[0][at], paper[1][at]].map(|share| format!("{share} %"));
            rows += &table_row(&format!("{name}_{label}"), [values[0][at], values[1][at]], paper);
        }
        out += &table_of(&format!("When {name}s happen (Table III)"), &rows);
    }
    let mut rows = String::new();
    for direction in Direction::ALL {
        let name = format!("{}_periodic", direction.name());
        let tables = views.map(|view| view.table_2.get(direction));
        let paper = match direction {
            Direction::Write => PAPER_PERIODIC_WRITES.map(|share| format!("{share} %")),
            Direction::Read => [String::new(), "&lt; 2 %".to_owned()],
        };
        rows += &table_row(&name, tables.map(|t| t.periodic), paper);
        let none = || [String::new(), String::new()];
        rows += &table_row(&format!("– {name}_second"), tables.map(|t| t.second), none());
        rows += &table_row(&format!("– {name}_minute"), tables.map(|t| t.minute), none());
        rows += &table_row(&format!("– {name}_hour"), tables.map(|t| t.hour), none());
        rows += &table_row(&format!("– {name}_day_or_more"), tables.map(|t| t.day_or_more), none());
    }
    out += &table_of("Periods (Table II)", &rows);
    let share = |view: &View, name: &str| {
        let count = view.categories.get(name).copied().unwrap_or(0);
        if view.count == 0 { 0.0 } else { count as f64 / view.count as f64 }
    };
    let rows: String = PAPER_METADATA
        .into_iter()
        .map(|(name, paper)| {
            table_row(name, views.map(|view| share(view, name)), ["", paper].map(str::to_owned))
        })
        .collect();
    out += &table_of("Metadata (Figure 4)", &rows);
    let rows: String = PAPER_CONDITIONAL
        .into_iter()
        .filter_map(|(given, other, paper)| {
            let [unique, all_runs] = views.map(|view| conditional(view, given, other));
            let name = format!("{given}: {other}");
            Some(table_row(&name, [unique?, all_runs?], [paper, ""].map(str::to_owned)))
        })
        .collect();
    out + &table_of("Of the first, share of the second (IV-D)", &rows)
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

fn table_of(title: &str, rows: &str) -> String {
    format!(
        "<table><thead><tr><th>{title}</th><th>applications</th><th>all runs</th>\
         <th class=\"paper\" colspan=\"2\">paper</th></tr></thead>\
         <tbody>{rows}</tbody></table>"
    )
}

fn table_row(name: &str, values: [f64; 2], paper: [String; 2]) -> String {
    format!(
        "<tr><td>{name}</td><td>{}</td><td>{}</td><td class=\"paper\">{}</td><td \
         class=\"paper\">{}</td></tr>",
        percent(values[0]),
        percent(values[1]),
        paper[0],
        paper[1]
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
            if *index < LEAST_SHOWN {
                let _ = write!(out, "<td class=\"none\" title=\"{title}\"></td>");
            } else {
                let strong = if *index >= STRONG { " class=\"strong\"" } else { "" };
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
    let items: String =
        summary.bad_logs.iter().take(BAD_LOGS).map(|bad| format!("<li>{}</li>", text(&bad.reason))).collect();
    let more = summary.invalid.saturating_sub(BAD_LOGS as u64);
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
