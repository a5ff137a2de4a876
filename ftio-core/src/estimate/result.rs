//! What was decided about a window.

use crate::estimate::evidence::Evidence;
use crate::estimate::forecast::{Forecast, Provisional};
use crate::estimate::kind::SignalKind;
use crate::phases::phase::Phase;
use crate::signal::Signal;
use schemars::JsonSchema;
use serde::Serialize;
use sources::request::Mode;

/// A period, and the phases that have it.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct PeriodOf {
    /// The period in seconds.
    pub period: f64,
    /// Of which requests it is, where writes and reads each have a rhythm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How many phases have it.
    pub phases: usize,
    /// Start of the first of them, in seconds of job time.
    pub first_start: f64,
    /// Start of the last of them.
    pub last_start: f64,
    /// Bytes of all of them.
    pub bytes: f64,
    /// Probability that it is right.
    pub confidence: f64,
    /// When it holds, in seconds of job time: from the start of the first phase …
    pub from: f64,
    /// … to the end of the last.
    pub to: f64,
}

impl PeriodOf {
    pub(crate) fn of(fine: &Signal, period: f64, confidence: f64, phases: &[Phase]) -> Self {
        let since = fine.start_seconds();
        let start = |phase: Option<&Phase>| since + phase.map_or(0.0, |phase| phase.start);
        PeriodOf {
            period,
            mode: None,
            phases: phases.len(),
            first_start: start(phases.first()),
            last_start: start(phases.last()),
            bytes: phases.iter().map(|phase| phase.volume).sum::<f64>().round(),
            confidence,
            from: start(phases.first()),
            to: since + phases.last().map_or(0.0, |phase| phase.end),
        }
    }
}

impl PeriodOf {
    /// Of a wave that goes through all of a signal.
    pub(crate) fn of_wave(fine: &Signal, period: f64, confidence: f64) -> Self {
        let (from, to) = (fine.start_seconds(), fine.end_seconds());
        PeriodOf {
            period,
            mode: None,
            phases: (fine.duration() / period).round() as usize,
            first_start: from,
            last_start: (to - period).max(from),
            bytes: (fine.mean() * fine.duration()).round(),
            confidence,
            from,
            to,
        }
    }
}

/// A first phase unlike the others.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FirstPhase {
    /// Its start, in seconds of job time.
    pub start: f64,
    /// Its end.
    pub end: f64,
    /// Its bytes.
    pub bytes: f64,
    /// How many times as long as the others it is.
    pub times_as_long: f64,
    /// How many times as large.
    pub times_as_large: f64,
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The period in seconds.
    pub period: Option<f64>,
    /// Probability that it is right; 0 without a period.
    pub confidence: f64,
    /// What led to it.
    pub evidence: Evidence,
    /// The phases, if there is a period.
    pub phases: Vec<Phase>,
    /// All phases that are counted: those that have the period and the others of their list.
    pub listed: Vec<Phase>,
    /// When a phase began after the last one that was counted, in seconds from the start of the window.
    pub begun: Option<f64>,
    /// What kind of signal it is, if the phases tell.
    pub kind: Option<SignalKind>,
    /// All periods: one, two that hold at once (the one with the larger volume first), or two that follow one
    /// another.
    pub periods: Vec<PeriodOf>,
    /// Why, in words.
    pub reasons: Vec<String>,
    /// How many reasons come before what is to be said of the volumes of the phases, if anything is.
    pub(crate) volumes_after: Option<usize>,
    /// The share of the slots of the period that hold a phase, pauses left out; `None` without a period by
    /// phases.
    pub occupancy: Option<f64>,
    /// The first phase, if it is unlike the others.
    pub first_phase: Option<FirstPhase>,
    /// Mean distance of the starts of the phases: larger than the period if some are missing.
    pub mean_distance: Option<f64>,
    /// The next phase: by all hypotheses together, or by each of two rhythms.
    pub forecasts: Vec<Forecast>,
    /// An answer while there is no period.
    pub provisional: Option<Provisional>,
}
