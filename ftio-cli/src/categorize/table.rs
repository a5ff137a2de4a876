//! The summary as text.

use super::paper::sections;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{counted, grouped, percent};
use crate::terminal::width::{columns, labelled};
use mosaic::Direction;
use mosaic::archive::Summary;
use mosaic::archive::view::{Agreement, View};
use std::fmt::Write as _;

/// Bad logs that are listed; --bad-logs has all.
const MAX_BAD_LOGS: usize = 5;
/// Pairs of categories that are listed.
const MAX_PAIRS: usize = 12;

pub fn table(summary: &Summary, style: Style) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{}: {}, {}, {} invalid",
        style.bold(&counted(summary.logs, "log")),
        counted(summary.ok, "application"),
        counted(summary.duplicate, "further run"),
        grouped(summary.invalid)
    );
    if let Some(share) = summary.like_the_heaviest {
        let _ = writeln!(out, "{} of the further runs have the categories of the heaviest", percent(share));
    }
    let resemblance = &summary.resemblance;
    if let (Some(mean), Some(nearly_all)) = (resemblance.mean, resemblance.nearly_all) {
        let _ = writeln!(
            out,
            "{} with ten runs or more: {} of the further runs on average; nine in ten for {} of them",
            counted(resemblance.applications, "application"),
            percent(mean),
            percent(nearly_all)
        );
    }
    let _ = writeln!(
        out,
        "\n{}{:>14}{:>14}{}",
        style.bold(&format!("{:<38}", "")),
        style.bold(&format!("{:>14}", "applications")),
        style.bold(&format!("{:>14}", "all runs")),
        style.dim("   Blue Waters 2019 (paper)")
    );
    for row in sections(summary).into_iter().flat_map(|section| section.rows) {
        if row.is_part && row.shares[0] == 0.0 {
            continue;
        }
        let paper = match row.paper {
            ["", ""] => String::new(),
            ["", second] => format!("{second:>15}"),
            [first, ""] => format!("{first:>8}"),
            [first, second] => format!("{first:>8}, {second:>4}"),
        };
        let indent = if row.is_part { "  " } else { "" };
        line(&mut out, &format!("{indent}{}", row.name), row.shares, &style.dim(&paper));
    }
    let described = [summary.unique.described, summary.all_runs.described];
    line(&mut out, "described (not only insignificant)", described, "");
    witness(&mut out, summary, style);
    pairs(&mut out, &summary.unique, style);
    bad_logs(&mut out, summary, style);
    out
}

/// What is said of logs of which none could be used: shares of nothing are nothing.
pub fn unusable(summary: &Summary, style: Style) -> String {
    let mut out = format!("{}: none could be used\n", style.bold(&counted(summary.logs, "log")));
    bad_logs(&mut out, summary, style);
    out
}

fn line(out: &mut String, name: &str, shares: [f64; 2], paper: &str) {
    let [unique, all_runs] = shares.map(percent);
    let _ = writeln!(out, "{name:<42}{unique:>10}{all_runs:>14}{paper}");
}

fn witness(out: &mut String, summary: &Summary, style: Style) {
    for direction in Direction::ALL {
        let agreement: &Agreement = summary.unique.witness.get(direction);
        let Some(share) = agreement.share() else { continue };
        let text = format!(
            "ftio says the same of {} of {} with significant {}s: {} periodic ({} with the same period), \
             {} not; only segments {}, only FTIO {}",
            percent(share),
            counted(agreement.asked, "application"),
            direction.name(),
            grouped(agreement.both),
            grouped(agreement.same_period),
            grouped(agreement.neither),
            grouped(agreement.only_mosaic),
            grouped(agreement.only_ftio)
        );
        *out += "\n";
        *out += &labelled(&style.bold("Second witness:"), &text, columns());
    }
}

/// Categories that go together most.
fn pairs(out: &mut String, view: &View, style: Style) {
    let names = &view.jaccard.categories;
    let mut pairs: Vec<(f64, usize, usize)> = (0..names.len())
        .flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)))
        .map(|(a, b)| (view.jaccard.matrix[a][b], a, b))
        // That a period of minutes is a period needs no saying.
        .filter(|&(index, a, b)| index >= 0.01 && !names[b].starts_with(&format!("{}_", names[a])))
        .collect();
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)).then(x.2.cmp(&y.2)));
    if pairs.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style.bold("What goes together (Jaccard index, applications)"));
    for (index, a, b) in pairs.iter().take(MAX_PAIRS) {
        let _ = writeln!(out, "{:>8}  {} and {}", percent(*index), names[*a], names[*b]);
    }
    if pairs.len() > MAX_PAIRS {
        let _ = writeln!(
            out,
            "          and {}: --summary or --html",
            counted((pairs.len() - MAX_PAIRS) as u64, "more pair")
        );
    }
}

fn bad_logs(out: &mut String, summary: &Summary, style: Style) {
    if summary.invalid == 0 {
        return;
    }
    let kinds: Vec<String> = summary
        .invalid_kinds
        .iter()
        .map(|(kind, count)| format!("{} {}", grouped(*count), kind.words()))
        .collect();
    let _ = writeln!(out, "\n{}: {}", style.bold("Invalid logs"), kinds.join(", "));
    for bad in summary.bad_logs.iter().take(MAX_BAD_LOGS) {
        // Reasons name their log first.
        let _ = writeln!(out, "  {}", printable(&bad.reason));
    }
    let more = summary.invalid.saturating_sub(MAX_BAD_LOGS as u64);
    if more > 0 {
        let _ = writeln!(out, "  and {}: --bad-logs FILE lists all", counted(more, "more log"));
    }
}
