//! The numbers by which jobs are compared.

use crate::report::Subject;
use crate::units::{bytes, grouped, percent, seconds, si};
use io_advice::Severity;

/// What jobs are compared by; what an input does not tell is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    run_time: Option<f64>,
    ranks: Option<f64>,
    bytes_written: Option<f64>,
    bytes_read: Option<f64>,
    requests: Option<f64>,
    io_time: Option<f64>,
    metadata_time: Option<f64>,
    bandwidth: Option<f64>,
    period: Option<f64>,
    confidence: Option<f64>,
    phases: Option<f64>,
    bytes_per_phase: Option<f64>,
    phase_length: Option<f64>,
    files: Option<f64>,
    findings: Option<f64>,
}

/// Which way is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worse {
    More,
    Less,
    /// Neither: a change is a change.
    Either,
    /// Told, and not compared.
    Never,
}

/// One number.
#[derive(Debug)]
pub struct Figure {
    /// In JSON.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    pub worse: Worse,
    pub value: fn(&Figures) -> Option<f64>,
    pub text: fn(f64) -> String,
}

fn rate(value: f64) -> String {
    si(value, "B/s")
}

fn whole(value: f64) -> String {
    grouped(value as u64)
}

macro_rules! figure {
    ($name:ident, $title:literal, $worse:ident, $text:expr) => {
        Figure {
            name: stringify!($name),
            title: $title,
            worse: Worse::$worse,
            value: |figures| figures.$name,
            text: $text,
        }
    };
}

/// All of them, in the order in which they are shown.
pub const FIGURES: &[Figure] = &[
    figure!(run_time, "Run time", More, seconds),
    figure!(ranks, "Ranks", Never, whole),
    figure!(bytes_written, "Written", Either, bytes),
    figure!(bytes_read, "Read", Either, bytes),
    figure!(requests, "Requests", More, whole),
    figure!(io_time, "I/O time, average rank", More, seconds),
    figure!(metadata_time, "of it metadata", More, seconds),
    figure!(bandwidth, "Bandwidth in phases", Less, rate),
    figure!(period, "Period", Either, seconds),
    figure!(confidence, "Confidence", Never, percent),
    figure!(phases, "Phases", Either, whole),
    figure!(bytes_per_phase, "Bytes per phase", Either, bytes),
    figure!(phase_length, "Length of a phase", More, seconds),
    figure!(files, "Files", Either, whole),
    figure!(findings, "Findings above info", More, whole),
];

impl Figures {
    pub fn of(study: &Subject<'_>) -> Self {
        let usage = study.usage;
        let layer = usage.layer.as_deref().and_then(|name| usage.layers.get(name));
        let share = study.summary.io_share;
        let detection = study.analysis.ok().map(|analysis| &analysis.detection);
        let phases = detection.map(|found| &found.phases);
        let mut lengths: Vec<f64> =
            phases.into_iter().flatten().map(|phase| phase.end - phase.start).collect();
        lengths.sort_by(f64::total_cmp);
        let moved = phases.map(|phases| phases.iter().map(|phase| phase.bytes as f64).sum::<f64>());
        let positive = |value: f64| Some(value).filter(|value| *value > 0.0);
        let grave = study.findings.iter().filter(|finding| finding.severity > Severity::Info).count();
        Figures {
            run_time: positive(usage.run_time),
            ranks: usage.ranks.map(f64::from),
            bytes_written: layer.map(|layer| layer.write.bytes as f64),
            bytes_read: layer.map(|layer| layer.read.bytes as f64),
            requests: layer.map(|layer| (layer.read.ops + layer.write.ops) as f64),
            io_time: share.map(|share| share.all * usage.run_time),
            metadata_time: share.map(|share| share.metadata * usage.run_time),
            bandwidth: detection.and_then(|found| found.characterization.b_io),
            period: detection.and_then(|found| found.period),
            confidence: detection.filter(|found| found.periodic).map(|found| found.confidence),
            phases: phases.map(|phases| phases.len() as f64),
            bytes_per_phase: moved
                .zip(phases)
                .filter(|(_, all)| !all.is_empty())
                .map(|(sum, all)| sum / all.len() as f64),
            phase_length: lengths.get(lengths.len() / 2).copied(),
            files: (!usage.files.is_empty()).then_some(usage.files.len() as f64),
            findings: Some(grave as f64),
        }
    }
}
