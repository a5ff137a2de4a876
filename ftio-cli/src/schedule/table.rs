//! The results of a simulation for people.

use super::simulate::{Result, change};
use crate::terminal::style::Style;
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

/// Means, changes against fair share, and published changes in brackets.
pub fn table(experiment: &Experiment, results: &[Result], published: bool, style: Style) -> String {
    let mut out = String::new();
    let platform = &experiment.platform;
    let servers = if platform.servers == 1 { "server" } else { "servers" };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{} applications, {} {servers} of {:.0} MiB/s together ({:.0} MiB/s for one application alone), \
         second {:.0} to {:.0}, mean of {}\n",
        experiment.applications.len(),
        platform.servers,
        platform.capacity / MIB,
        platform.alone / MIB,
        experiment.frame.begin,
        experiment.frame.end,
        experiment.repetitions
    );
    let width = if published { 24 } else { 15 };
    let _ = write!(out, "{:20}", "");
    for (name, _, _) in COLUMNS {
        let _ = write!(out, "{}", style.bold(&format!("{name:>width$}")));
    }
    out.push('\n');
    for result in results {
        let _ = write!(out, "{:20}", title(result.policy));
        let ours = change(results, result);
        let theirs = result.policy.published();
        for (_, value, of) in COLUMNS {
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
    let note = if published {
        "\nChanges are against fair share; in brackets the published ones (IPDPS 2024, Inria RR-9537).\n"
    } else {
        "\nChanges are against fair share.\n"
    };
    out.push_str(&style.dim(note));
    out
}

fn percent(change: Option<f64>) -> String {
    change.map_or(String::new(), |change| format!("{:+.0} %", 100.0 * change).replace('-', "−"))
}
