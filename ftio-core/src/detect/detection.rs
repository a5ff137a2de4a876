//! The result of an analysis, as it is written to JSON.
//!
//! The names and the order of the fields are a contract with callers; new fields may be added at the end.
//! Times are in seconds of job time, frequencies in Hz, sizes in bytes, bandwidths in bytes per second.

use crate::detect::characterize::Characterization;
use crate::detect::listed_phases::ListedPhase;
use crate::detect::next_phase::NextPhase;
use crate::detect::over_time::OverTime;
use crate::estimate::evidence::Evidence;
use crate::estimate::forecast::Provisional;
use crate::estimate::kind::SignalKind;
use crate::estimate::{FirstPhase, PeriodOf};
use crate::spectral::reconstruct::Reconstruction;
use crate::spectral::spectrum::TopFrequency;
use schemars::JsonSchema;
use serde::Serialize;
use sources::request::Mode;
use sources::request::layer::Layer;
use sources::time::ClockTime;

/// The schema that [`Detection`] follows.
pub const SCHEMA: &str = "ftio.detection/1";

/// What was found in one trace, or in the requests of one rank or file of it.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct Detection {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The trace, as the user named it.
    pub source: String,
    /// What was analysed.
    pub mode: Mode,
    /// Ranks of the job, where the input tells.
    pub ranks: Option<u32>,
    /// Bytes transferred in the window.
    pub total_bytes: u64,
    /// Start of the window.
    pub t_start: f64,
    /// End of the window.
    pub t_end: f64,
    /// Samples per second; `None` without a signal.
    pub sampling_frequency: Option<f64>,
    /// Number of samples N.
    pub n_samples: usize,
    /// Relative difference between the volume of the sampled signal and that of the requests.
    pub abstraction_error: f64,
    /// Was a period found?
    pub periodic: bool,
    /// The distance at which phases recur; `None` if not periodic.
    pub period: Option<f64>,
    /// 1/period.
    pub frequency: Option<f64>,
    /// Probability that the period is right ([`score`](crate::estimate::score)); 0 if not periodic. With
    /// `compat`, c_d: how far the dominant frequency stands out.
    pub confidence: f64,
    /// (c_d + c_a + c_s)/3, if the autocorrelation was asked for and found a period.
    pub refined_confidence: Option<f64>,
    /// The frequencies that stand out, without harmonics, strongest first.
    pub candidates: Vec<Candidate>,
    /// What kind of signal it is.
    pub signal: SignalKind,
    /// How the I/O behaves.
    pub characterization: Characterization,
    /// The phase expected next; `None` before the second phase.
    pub next_phase: Option<NextPhase>,
    /// Did the job reach its end, and could all of the trace be read?
    pub complete: bool,
    /// Requests in the window, or samples of a quantity; `None` for a heat map, which does not count them.
    pub requests: Option<u64>,
    /// Distance of neighbouring frequencies of the spectrum, 1/Δt; `None` without a signal.
    pub frequency_resolution: Option<f64>,
    /// Candidates that are multiples of others.
    pub harmonics: Vec<f64>,
    /// The period by autocorrelation, if asked for and found.
    pub autocorrelation: Option<AutocorrelationResult>,
    /// The strongest waves, if asked for.
    pub top_frequencies: Vec<TopFrequency>,
    /// Why the answer is what it is.
    pub reasons: Vec<String>,
    /// What the reader should know about the data.
    pub notes: Vec<String>,
    /// The layer whose requests were analysed ("mpiio", "posix", "stdio", …), where the input has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// The rank, if the ranks were analysed one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The file, if the files were analysed one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The signal made of its strongest waves, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Reconstruction>,
    /// When which period holds, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// All periods: the one above; or two that hold at once, the one with the larger volume first; or two
    /// that follow one another, in which case there is no single one above. Empty with `compat`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<PeriodOf>,
    /// What led to the answer; `None` with `compat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The share of the slots of the period that hold a phase: less than 1 if phases are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<f64>,
    /// The first phase, if it is unlike the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_phase: Option<FirstPhase>,
    /// Mean distance of the starts of the phases: longer than the period if phases are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_mean_distance: Option<f64>,
    /// An answer while there is no period: the mean distance of the phases so far, with its 80 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisional: Option<Provisional>,
    /// The phases that have the period, or all that were found if there is none. Empty with `compat`.
    pub phases: Vec<ListedPhase>,
    /// Job time 0 as a date and time of day, where the clock is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<ClockTime>,
}

/// A frequency that stands out.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// A frequency of the spectrum, k/Δt.
    pub frequency: f64,
    /// c_k.
    pub confidence: f64,
    /// Share of the power of the signal (without its mean).
    pub power: f64,
    /// The Z-score.
    pub z: f64,
}

/// The period by autocorrelation.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[non_exhaustive]
pub struct AutocorrelationResult {
    /// The mean distance of its peaks.
    pub period: f64,
    /// c_a.
    pub confidence: f64,
    /// c_s: how similar its distances and the period of the spectrum are, if there is one.
    pub similarity: Option<f64>,
}
