//! A prediction, as it is written to JSON.
//!
//! The names and the order of the fields are a contract with callers; new fields may be added at the end.
//! Times are in seconds of job time, frequencies in Hz, sizes in bytes.

use super::change::Change;
use super::intervals::Interval;
use super::trend::Trend;
use crate::detect::characterize::Characterization;
use crate::detect::next_phase::NextPhase;
use crate::estimate::kind::SignalKind;
use schemars::JsonSchema;
use serde::Serialize;
use sources::request::Mode;

/// The schema that [`Prediction`] follows.
pub const SCHEMA: &str = "ftio.prediction/1";

/// What is expected, as of a flush.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Prediction {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// What is followed, as the user named it.
    pub source: String,
    /// Up to when everything was known: the time of the flush.
    pub t: f64,
    /// The period; `None` if there is none in the window.
    pub period: Option<f64>,
    /// Probability that the period is right; 0 without a period.
    pub confidence: f64,
    /// What was looked at, from and to.
    pub window: [f64; 2],
    /// The phase expected next; `None` without a period.
    pub next_phase: Option<NextPhase>,
    /// Which periods were predicted so far, and how often.
    pub intervals: Vec<Interval>,
    /// Did the behaviour change, so that the window was reset?
    pub changed: bool,
    /// The number of this prediction, from 1.
    pub n: u64,
    /// 1/period.
    pub frequency: Option<f64>,
    /// With a second opinion from the autocorrelation, if asked for and found.
    pub refined_confidence: Option<f64>,
    /// Share of the predictions so far that found a period.
    pub probability_periodic: f64,
    /// Where the period is going; `None` with fewer than three.
    pub trend: Option<Trend>,
    /// What changed, if the behaviour did.
    pub change: Option<Change>,
    /// Periods found since the window was last shortened or reset.
    pub hits: u32,
    /// What is analysed.
    pub mode: Mode,
    /// What kind of signal the window holds.
    pub signal: SignalKind,
    /// Bytes transferred since the beginning.
    pub total_bytes: u64,
    /// How the I/O behaves in the window.
    pub characterization: Characterization,
}
