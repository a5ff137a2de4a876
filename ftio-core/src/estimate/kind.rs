//! What kind of signal it is, in a word, and why, in sentences.

use crate::signal::{CONSTANT_VARIATION, Signal};
use crate::spectral::harmonics::{Candidates, Reason};
use crate::spectral::spectrum::Spectrum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A multiple of the dominant frequency is a harmonic if it has this share of its contribution, and is no
/// noise.
const HARMONIC_SHARE: f64 = 0.05;

/// The kind of a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    /// No bytes were transferred.
    #[default]
    Empty,
    /// The same bandwidth all the time.
    Constant,
    /// Periodic, with harmonics: short phases of I/O between pauses.
    Bursts,
    /// Periodic without harmonics: the bandwidth swells and falls like a cosine.
    Wave,
    /// None of these: no period was found.
    Irregular,
    /// Bursts of two periods at once.
    Interleaved,
    /// Bursts whose period changes on the way.
    Changing,
}

impl fmt::Display for SignalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SignalKind::Empty => "empty",
            SignalKind::Constant => "constant",
            SignalKind::Bursts => "bursts",
            SignalKind::Wave => "wave",
            SignalKind::Irregular => "irregular",
            SignalKind::Interleaved => "interleaved",
            SignalKind::Changing => "changing",
        })
    }
}

/// Name the kind of a signal and give the reasons.
pub fn kind(
    signal: &Signal,
    spectrum: &Spectrum,
    contributions: &[f64],
    candidates: &Candidates,
) -> (SignalKind, Vec<String>) {
    if signal.mean() <= 0.0 {
        return (SignalKind::Empty, vec!["no bytes were transferred".into()]);
    }
    let variation = signal.variation();
    if variation < CONSTANT_VARIATION {
        let reason = format!("the bandwidth varies by {:.2} % of its mean", 100.0 * variation);
        return (SignalKind::Constant, vec![reason]);
    }
    let mut reasons = vec![why(candidates)];
    let Some(dominant) = candidates.dominant else {
        return (SignalKind::Irregular, reasons);
    };
    let (kind, shape) = shape(spectrum, contributions, dominant);
    reasons.push(shape);
    (kind, reasons)
}

/// Name the kind of a signal with, or without, a period in seconds, given the reasons for it.
pub fn kind_with(
    signal: &Signal,
    spectrum: &Spectrum,
    contributions: &[f64],
    period: Option<f64>,
    mut reasons: Vec<String>,
) -> (SignalKind, Vec<String>) {
    if signal.mean() <= 0.0 {
        return (SignalKind::Empty, vec!["no bytes were transferred".into()]);
    }
    let variation = signal.variation();
    if variation < CONSTANT_VARIATION {
        let reason = format!("the bandwidth varies by {:.2} % of its mean", 100.0 * variation);
        return (SignalKind::Constant, vec![reason]);
    }
    let Some(period) = period else {
        return (SignalKind::Irregular, reasons);
    };
    let k = (spectrum.duration / period).round() as usize;
    let (kind, shape) = shape(spectrum, contributions, k.clamp(1, contributions.len().max(1)));
    reasons.push(shape);
    (kind, reasons)
}

/// Bursts or a wave, by the multiples of the dominant frequency.
fn shape(spectrum: &Spectrum, contributions: &[f64], dominant: usize) -> (SignalKind, String) {
    // Harmonics may be much weaker than candidates must be: look for them one by one.
    let position = spectrum.peak_position(dominant);
    let mean = 1.0 / contributions.len() as f64;
    let contribution = |k: usize| contributions.get(k - 1).copied().unwrap_or(0.0);
    let enough = (HARMONIC_SHARE * contribution(dominant)).max(3.0 * mean);
    let stands_out = |multiple: usize| {
        let k = (multiple as f64 * position).round() as usize;
        (k - 1..=k + 1).any(|k| contribution(k) >= enough)
    };
    let harmonics: Vec<String> =
        (2..=8).filter(|&multiple| stands_out(multiple)).map(|multiple| multiple.to_string()).collect();
    if harmonics.is_empty() {
        return (SignalKind::Wave, "no multiple of it stands out: the shape of a cosine".into());
    }
    (SignalKind::Bursts, format!("its multiples {} stand out as well: short bursts", harmonics.join(", ")))
}

fn why(candidates: &Candidates) -> String {
    match candidates.reason {
        Reason::Single => "one frequency stands out".into(),
        Reason::StrongerOfTwo => "two frequencies stand out; the stronger one is taken".into(),
        Reason::Comb => "the frequencies that stand out are all multiples of one".into(),
        Reason::NoCandidate => "no frequency stands out".into(),
        Reason::TooMany => format!("{} frequencies stand out, none of them dominant", candidates.kept.len()),
        Reason::TooFewPeriods => {
            "the frequency that stands out fits only once or twice into the window".into()
        }
    }
}
