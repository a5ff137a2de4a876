//! The results of a simulation for people.

use super::{Result, change};
use crate::terminal::style::Style;
use crate::terminal::width::wrapped;
use io_sets::experiment::{Experiment, Policy, Published};
use io_sets::metrics::Metrics;
use std::fmt::Write;

const MIB: f64 = (1 << 20) as f64;

/// Of a metric: its name, its value and its change.
type Column = (&'static str, fn(&Metrics) -> f64, fn(&Published) -> Option<f64>);

pub const COLUMNS: [Column; 4] = [
    ("max stretch", |m| m.stretch_max, |p| p.stretch_max),
    ("mean stretch", |m| m.stretch_geomean, |p| p.stretch_geomean),
    ("I/O slowdown", |m| m.io_slowdown, |p| p.io_slowdown),
    ("utilisation", |m| m.utilisation, |p| p.utilisation),
];

/// As tables name it.
pub fn title(policy: Policy) -> &'static str {
    match policy {
        Policy::FairShare => "fair share",
        Policy::Fcfs => "exclusive FCFS",
        Policy::Clairvoyant => "Set-10 clairvoyant",
        Policy::Predicted => "Set-10 predicted",
        Policy::Error50 => "Set-10 ±50 % error",
        Policy::Strict => "Set-10 no guess",
    }
}

/// Columns of the names of policies.
const NAMES: usize = 20;

/// Means, changes against fair share, and published changes in brackets, for a terminal of this width:
/// metrics that do not fit next to the others come below.
pub fn table(
    experiment: &Experiment,
    results: &[Result],
    published: bool,
    style: Style,
    columns: Option<usize>,
) -> String {
    let room = columns.unwrap_or(usize::MAX);
    let platform = &experiment.platform;
    let servers = if platform.servers == 1 { "server" } else { "servers" };
    let head = format!(
        "{} applications, {} {servers} of {:.0} MiB/s together ({:.0} MiB/s for one application alone), \
         second {:.0} to {:.0}, mean of {}",
        experiment.applications.len(),
        platform.servers,
        platform.capacity / MIB,
        platform.alone / MIB,
        experiment.frame.begin,
        experiment.frame.end,
        experiment.repetitions
    );
    let mut out = format!("{}\n\n", wrapped(&head, room).join("\n"));
    let width = width_of_a_metric(published);
    let beside = (room.saturating_sub(NAMES) / width).clamp(1, COLUMNS.len());
    for (number, metrics) in COLUMNS.chunks(beside).enumerate() {
        if number > 0 {
            out.push('\n');
        }
        block(&mut out, results, metrics, published, style);
    }
    let note = if published {
        "Changes are against fair share; in brackets the published ones (IPDPS 2024, Inria RR-9537)."
    } else {
        "Changes are against fair share."
    };
    out.push_str(&style.dim(&format!("\n{}\n", wrapped(note, room).join("\n"))));
    out
}

/// Some of the metrics, side by side.
fn block(out: &mut String, results: &[Result], metrics: &[Column], published: bool, style: Style) {
    let width = width_of_a_metric(published);
    // Writing to a string cannot fail.
    let _ = write!(out, "{:NAMES$}", "");
    for (name, _, _) in metrics {
        let _ = write!(out, "{}", style.bold(&format!("{name:>width$}")));
    }
    out.push('\n');
    for result in results {
        let _ = write!(out, "{:NAMES$}", title(result.policy));
        let ours = change(results, result);
        let theirs = result.policy.published();
        for (_, value, of) in metrics {
            let mut cell = format!("{:.3}", value(&result.mean));
            if result.policy != Policy::FairShare {
                let _ = write!(cell, " {:>6}", percent(of(&ours)));
                if published {
                    let _ = write!(
                        cell,
                        " {:>8}",
                        of(&theirs).map_or(String::new(), |c| format!("({})", percent(Some(c))))
                    );
                }
            } else {
                let _ = write!(cell, "{:1$}", "", if published { 16 } else { 7 });
            }
            let _ = write!(out, "{cell:>width$}");
        }
        out.push('\n');
    }
}

fn width_of_a_metric(published: bool) -> usize {
    if published { 24 } else { 15 }
}

fn percent(change: Option<f64>) -> String {
    change.map_or(String::new(), |change| format!("{:+.0} %", 100.0 * change).replace('-', "−"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::width::width;

    #[test]
    fn it_fits_the_terminal() {
        let experiment = Experiment::published();
        let mean = Metrics { stretch_max: 1.4, stretch_geomean: 1.3, io_slowdown: 5.6, utilisation: 0.7 };
        let of = |policy| Result { policy, mean, all: Vec::new() };
        let results: Vec<Result> = Policy::ALL.into_iter().map(of).collect();
        for columns in [60, 80, 200] {
            let text = table(&experiment, &results, true, Style::for_stdout(), Some(columns));
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}:\n{text}");
            assert!(COLUMNS.iter().all(|(name, _, _)| text.contains(name)), "{columns}:\n{text}");
        }
        let whole = table(&experiment, &results, true, Style::for_stdout(), None);
        assert_eq!(whole.matches("fair share").count(), 2, "the table and the note:\n{whole}");
    }
}
