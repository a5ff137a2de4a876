//! A bandwidth that held for some time: what TMIO calls a phase, and what bandwidth-like inputs consist of.

use crate::request::{Class, Request};
use crate::signal::step::Stretch;

/// A bandwidth from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandwidthPiece {
    /// In seconds of job time.
    pub start: f64,
    /// In seconds of job time.
    pub end: f64,
    /// In bytes per second.
    pub bandwidth: f64,
    /// Bytes, where the input knows them besides the bandwidth.
    pub bytes: Option<u64>,
    /// The rank, where the input knows it.
    pub rank: Option<u32>,
    /// Direction and kind.
    pub class: Class,
}

impl BandwidthPiece {
    /// The bandwidth of a request; `None` if it took no time.
    pub fn of(request: &Request) -> Option<Self> {
        let duration = i128::from(request.end) - i128::from(request.start);
        (duration > 0).then(|| BandwidthPiece {
            start: request.start as f64 * 1e-9,
            end: request.end as f64 * 1e-9,
            bandwidth: request.bytes as f64 / (duration as f64 * 1e-9),
            bytes: Some(request.bytes),
            rank: request.rank,
            class: request.class,
        })
    }
}

impl From<&BandwidthPiece> for Stretch {
    fn from(phase: &BandwidthPiece) -> Self {
        Stretch { start: phase.start, end: phase.end, bandwidth: phase.bandwidth }
    }
}
