//! Are the categories right? A page on which people say so, and the share that they agree with.

use super::page::{text, timeline};
use crate::exit::Exit;
use crate::terminal::units::{bytes, counted, percent, seconds};
use anyhow::{Context, bail};
use clap::ValueHint;
use mosaic::archive::Summary;
use mosaic::archive::site::SiteRow;
use seeded_random::Random;
use serde_json::Value;
use std::path::PathBuf;

const PAGE: &str = include_str!("judge.html");

/// How often people agree with the categories, from the file that the page of --judge saves
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 done, 1 failed, 2 wrong usage.")]
pub struct AccuracyArgs {
    /// What was saved; several files of several people are added up
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
}

/// A page with a sample of the applications.
pub fn page(summary: &Summary, count: usize, seed: u64) -> String {
    let rows: String = drawn(&summary.applications, count, seed).into_iter().map(row).collect();
    PAGE.replace("{{rows}}", &rows)
}

/// So many rows, each as likely as any other, in their order.
fn drawn(rows: &[SiteRow], count: usize, seed: u64) -> Vec<&SiteRow> {
    let mut random = Random::new(seed);
    let mut places: Vec<usize> = (0..rows.len()).collect();
    for at in 0..count.min(rows.len()) {
        let other = at + random.below(rows.len() - at);
        places.swap(at, other);
    }
    places.truncate(count);
    places.sort_unstable();
    places.into_iter().map(|place| &rows[place]).collect()
}

fn row(row: &SiteRow) -> String {
    let periods: Vec<String> = row.periods.iter().map(|period| seconds(*period)).collect();
    let periods = if periods.is_empty() { String::new() } else { format!(", period {}", periods.join(", ")) };
    format!(
        "<div class=\"case\" data-source=\"{}\">{}<div><b>{}</b> {}{periods}<br><code>{}</code><br>\
         <span>{}</span></div><div class=\"say\"><button data-right=\"true\">right</button>\
         <button data-right=\"false\">wrong</button></div></div>",
        text(&row.heaviest),
        timeline(&row.read, &row.write),
        text(if row.application.is_empty() { "unknown application" } else { &row.application }),
        bytes(row.bytes as f64),
        text(&row.heaviest),
        row.categories.join(", ")
    )
}

/// Read judgements and print the share.
pub fn accuracy(args: &AccuracyArgs) -> anyhow::Result<Exit> {
    let (mut right, mut judged) = (0u64, 0u64);
    for path in &args.files {
        let name = || path.display().to_string();
        let content = std::fs::read_to_string(path).with_context(name)?;
        let value: Value = serde_json::from_str(&content).with_context(name)?;
        let Some(list) = value["judged"].as_array() else {
            bail!("{}: expected what the page of --judge saves, found no \"judged\"", path.display());
        };
        let said: Vec<bool> = list.iter().filter_map(|one| one["right"].as_bool()).collect();
        judged += said.len() as u64;
        right += said.iter().filter(|right| **right).count() as u64;
    }
    if judged == 0 {
        bail!("nothing was judged");
    }
    let [low, high] = interval(right, judged);
    println!(
        "{} of {} judged right (95 % interval {} to {}); the paper: 92 % of 512",
        percent(right as f64 / judged as f64),
        counted(judged, "application"),
        percent(low),
        percent(high)
    );
    Ok(Exit::Done)
}

/// Wilson's interval of a share with 95 %.
fn interval(right: u64, judged: u64) -> [f64; 2] {
    const Z: f64 = 1.959_964;
    let (n, share) = (judged as f64, right as f64 / judged as f64);
    let centre = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [centre - half, centre + half].map(|end| (end / (1.0 + Z * Z / n)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_share_by_the_book() {
        let [low, high] = interval(471, 512);
        assert!((low - 0.8933).abs() < 1e-3 && (high - 0.9404).abs() < 1e-3, "{low} {high}");
        assert_eq!(interval(5, 5)[1], 1.0);
    }
}
