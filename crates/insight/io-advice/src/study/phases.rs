//! The phases of a job, with what the ranks do in each.

use ftio_core::detect::Analysis;
use ftio_core::detect::listed_phases::ListedPhase;
use inspect::participation::{Participation, participation, participation_in_heat};
use schemars::JsonSchema;
use serde::Serialize;
use sources::time::ClockTime;
use sources::{Kind, Opened, SourceError};

/// One phase. What the input does not tell is `None`.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PhaseRow {
    /// When it begins, in seconds of job time.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// The start as a date and time of day.
    pub start_time: Option<ClockTime>,
    /// Bytes from its start to the start of the next phase.
    pub bytes: u64,
    /// Bytes over the time from start to end.
    pub bandwidth: Option<f64>,
    /// Ranks that move bytes in it.
    pub ranks: Option<u32>,
    /// Seconds in which ranks could do nothing else, over all ranks: in blocking calls, and in calls that
    /// issue, test and wait for nonblocking requests.
    pub lost_time: Option<f64>,
    /// Seconds between the first and the last of these ranks to begin.
    pub spread: Option<f64>,
}

/// The phases of an analysis; the input is read once more for what its ranks did.
pub fn rows(opened: Opened, analysis: &Analysis) -> Result<Vec<PhaseRow>, SourceError> {
    let found = &analysis.detection;
    let heat = match &opened.kind {
        Kind::Darshan(log) => Some(log.clone()),
        _ => None,
    };
    let mut told = participation(opened.into_source()?, found)?;
    if let Some(log) = heat.filter(|_| told.iter().all(|phase| phase.ranks.is_none())) {
        told = participation_in_heat(&log, found);
    }
    Ok(found.phases.iter().zip(told).map(|(phase, told)| row(phase, told)).collect())
}

fn row(phase: &ListedPhase, told: Participation) -> PhaseRow {
    PhaseRow {
        start: phase.start,
        end: phase.end,
        start_time: phase.start_time,
        bytes: phase.bytes,
        bandwidth: phase.bandwidth(),
        ranks: told.ranks,
        lost_time: told.lost_time,
        spread: told.spread,
    }
}
