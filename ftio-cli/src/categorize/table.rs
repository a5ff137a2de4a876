//! The summary as text.

use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{counted, grouped, percent};
use crate::terminal::width::{columns, labelled};
use mosaic::Direction;
use mosaic::archive::Summary;
use mosaic::archive::view::{Agreement, Table2, Table3, View};
use std::fmt::Write as _;

/// Bad logs that are listed; --bad-logs has all.
const BAD_LOGS: usize = 5;
/// Pairs of categories that are listed.
const PAIRS: usize = 12;

/// What the paper found on Blue Waters in 2019: Tables II and III, in percent, unique applications and all
/// runs.
pub const PAPER_PERIODIC_WRITES: [u32; 2] = [2, 8];
/// Insignificant, on start or end, steady, others; reads then writes.
pub const PAPER_TABLE_3: [[[u32; 4]; 2]; 2] =
    [[[85, 9, 2, 4], [27, 38, 30, 5]], [[87, 8, 3, 2], [47, 14, 37, 2]]];

/// Figure 4: categories of metadata, all runs.
pub const PAPER_METADATA: [(&str, &str); 4] = [
    ("metadata_high_spike", "60 %"),
    ("metadata_multiple_spikes", "45.9 %"),
    ("metadata_high_density", "13 %"),
    ("metadata_insignificant_load", ""),
];

/// What the paper tells about pairs (IV-D): of the first, the share that is of the second.
pub const PAPER_CONDITIONAL: [(&str, &str, &str); 3] = [
    ("read_insignificant", "write_insignificant", "95 %"),
    ("read_on_start", "write_on_end", "66 %"),
    ("write_periodic", "write_periodic_low_busy_time", "96 %"),
];

/// Of those of one category, the share that is of another; `None` if there are none of the first.
pub fn conditional(view: &View, given: &str, other: &str) -> Option<f64> {
    let place = |name: &str| view.jaccard.categories.iter().position(|category| *category == name);
    let row = view.conditional.get(place(given)?)?;
    Some(place(other).and_then(|place| row.get(place)).copied().unwrap_or(0.0))
}

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
    for direction in Direction::ALL {
        temporality(&mut out, summary, direction, style);
    }
    for direction in Direction::ALL {
        periodicity(&mut out, summary, direction, style);
    }
    for (name, paper) in PAPER_METADATA {
        let share = |view: &View| {
            let count = view.categories.get(name).copied().unwrap_or(0);
            if view.count == 0 { 0.0 } else { count as f64 / view.count as f64 }
        };
        let beside = if paper.is_empty() { String::new() } else { style.dim(&format!("{paper:>15}")) };
        row(&mut out, name, share(&summary.unique), share(&summary.all_runs), &beside);
    }
    row(
        &mut out,
        "described (not only insignificant)",
        summary.unique.described,
        summary.all_runs.described,
        "",
    );
    for (given, other, paper) in PAPER_CONDITIONAL {
        let [unique, all_runs] =
            [&summary.unique, &summary.all_runs].map(|view| conditional(view, given, other));
        let (Some(unique), Some(all_runs)) = (unique, all_runs) else { continue };
        let name = format!("{given}: {}", other.strip_prefix("write_periodic_").unwrap_or(other));
        row(&mut out, &name, unique, all_runs, &style.dim(&format!("{paper:>9}")));
    }
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

fn row(out: &mut String, name: &str, unique: f64, all_runs: f64, paper: &str) {
    let _ = writeln!(out, "{name:<42}{:>10}{:>14}{paper}", percent(unique), percent(all_runs));
}

fn temporality(out: &mut String, summary: &Summary, direction: Direction, style: Style) {
    let [unique, all_runs] = [&summary.unique, &summary.all_runs].map(|view| view.table_3.get(direction));
    let paper = PAPER_TABLE_3[direction as usize];
    let names = ["insignificant", if direction == Direction::Read { "on_start" } else { "on_end" }, "steady"];
    let shares = |t: &Table3| [t.insignificant, t.listed(direction), t.steady, t.otherwise(direction)];
    let (unique, all_runs) = (shares(unique), shares(all_runs));
    for at in 0..4 {
        let name = names.get(at).map_or_else(
            || format!("{} otherwise", direction.name()),
            |name| format!("{}_{name}", direction.name()),
        );
        let beside = style.dim(&format!("   {:>3} %, {:>2} %", paper[0][at], paper[1][at]));
        row(out, &name, unique[at], all_runs[at], &beside);
    }
}

fn periodicity(out: &mut String, summary: &Summary, direction: Direction, style: Style) {
    let [unique, all_runs] = [&summary.unique, &summary.all_runs].map(|view| view.table_2.get(direction));
    let beside = match direction {
        Direction::Write => {
            style.dim(&format!("   {:>3} %, {:>2} %", PAPER_PERIODIC_WRITES[0], PAPER_PERIODIC_WRITES[1]))
        }
        Direction::Read => style.dim("          < 2 %"),
    };
    let name = format!("{}_periodic", direction.name());
    row(out, &name, unique.periodic, all_runs.periodic, &beside);
    type Share = fn(&Table2) -> f64;
    let of: [(&str, Share); 4] = [
        ("second", |t| t.second),
        ("minute", |t| t.minute),
        ("hour", |t| t.hour),
        ("day_or_more", |t| t.day_or_more),
    ];
    for (word, of) in of.into_iter().filter(|(_, of)| of(unique) > 0.0) {
        row(out, &format!("  {name}_{word}"), of(unique), of(all_runs), "");
    }
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
    for (index, a, b) in pairs.iter().take(PAIRS) {
        let _ = writeln!(out, "{:>8}  {} and {}", percent(*index), names[*a], names[*b]);
    }
    if pairs.len() > PAIRS {
        let _ = writeln!(
            out,
            "          and {}: --summary or --html",
            counted((pairs.len() - PAIRS) as u64, "more pair")
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
    for bad in summary.bad_logs.iter().take(BAD_LOGS) {
        // Reasons name their log first.
        let _ = writeln!(out, "  {}", printable(&bad.reason));
    }
    let more = summary.invalid.saturating_sub(BAD_LOGS as u64);
    if more > 0 {
        let _ = writeln!(out, "  and {}: --bad-logs FILE lists all", counted(more, "more log"));
    }
}
