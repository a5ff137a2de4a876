//! Why a run has its categories, in words.

use super::record::Valid;
use crate::category::{Category, Direction, Load, Temporality};
use crate::run::Flow;
use crate::temporality::variation;
use crate::thresholds::Thresholds;

/// A sentence for each category that a rule gave, and one for a direction that no rule fits.
pub(super) fn why(run: &Valid, thresholds: &Thresholds) -> Vec<String> {
    let mut sentences = Vec::new();
    for direction in Direction::ALL {
        let flow = run.findings.flow(direction);
        sentences.push(temporality(direction, flow, thresholds));
        for operation in &flow.periodic {
            sentences.push(format!(
                "{}: {} segments of {} and {} on average, {:.1} % of the time busy",
                Category::magnitude(direction, operation.magnitude).name(),
                operation.segments,
                seconds(operation.period),
                bytes(operation.bytes),
                100.0 * operation.busy_time
            ));
        }
    }
    let metadata = &run.findings.metadata;
    for load in &metadata.loads {
        let name = Category::load(*load).name();
        sentences.push(match load {
            Load::InsignificantLoad => {
                format!("{name}: {} metadata operations by {} ranks", metadata.operations, run.ranks)
            }
            Load::HighSpike => format!("{name}: {} metadata operations in one second", metadata.highest),
            Load::HighDensity => format!("{name}: {:.1} metadata operations a second", metadata.rate),
            Load::MultipleSpikes => {
                format!("{name}: {} seconds with {} or more", metadata.spikes, thresholds.spike)
            }
        });
    }
    sentences
}

fn temporality(direction: Direction, flow: &Flow, thresholds: &Thresholds) -> String {
    let Some(found) = flow.temporality else {
        return format!("{}: no rule fits {}", direction.name(), shares(flow));
    };
    let name = Category::temporality(direction, found).name();
    match found {
        Temporality::Insignificant => {
            format!(
                "{name}: {} of at least {}",
                bytes(flow.bytes as f64),
                bytes(thresholds.significant_bytes)
            )
        }
        Temporality::Steady => {
            let chunks: Vec<f64> = flow.chunks.iter().map(|chunk| *chunk as f64).collect();
            format!("{name}: {}, varying by {:.1} %", shares(flow), 100.0 * variation(&chunks))
        }
        _ => format!("{name}: {}", shares(flow)),
    }
}

/// "the 4 parts of the run hold 97, 1, 0 and 2 % of 3.2 GB"
fn shares(flow: &Flow) -> String {
    let total = flow.chunks.iter().sum::<u64>().max(1) as f64;
    let shares: Vec<String> =
        flow.chunks.iter().map(|chunk| format!("{:.1}", 100.0 * *chunk as f64 / total)).collect();
    format!("the parts of the run hold {} % of {}", shares.join(", "), bytes(flow.bytes as f64))
}

fn bytes(value: f64) -> String {
    for (factor, unit) in [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")] {
        if value >= factor {
            return format!("{:.4} {unit}", value / factor);
        }
    }
    format!("{value} B")
}

fn seconds(value: f64) -> String {
    format!("{value:.3} s")
}
