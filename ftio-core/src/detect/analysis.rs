//! A result together with what it was derived from, for pictures and tables.

use crate::detect::detection::Detection;
use crate::estimate::PeriodOf;
use crate::phases::phase::Phase;
use crate::signal::Signal;
use crate::signal::lanes::Lanes;
use crate::signal::step::Stretch;
use crate::spectral::harmonics::Candidates;
use crate::spectral::reconstruct::reconstruct;
use crate::spectral::spectrum::{Spectrum, Wave};
use crate::spectral::wavelet::Scalogram;
use sources::Marked;
use sources::amount::{self, seconds};
use sources::request::Mode;

/// More candidates than this are not listed.
const MAX_LISTED: usize = 32;

/// Periods of two directions that differ by less are one.
const SAME: f64 = 0.025;

/// More than this share of the bytes is not left out without a word.
pub(crate) const LEFT_OUT: f64 = 0.1;

/// A result, with what it was derived from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Analysis {
    /// The result.
    pub detection: Detection,
    /// What is wrong with the trace. The result's notes have these, and then the others.
    pub warnings: Vec<String>,
    /// What else the reader should know.
    pub notes: Vec<String>,
    /// The sampled bandwidth; no samples if the mode is empty.
    pub signal: Signal,
    /// Contribution of the frequencies k = 1, 2, …
    pub contributions: Vec<f64>,
    /// The dominant wave, if there is one.
    pub wave: Option<Wave>,
    /// The requests, if they were to be kept and are not too many.
    pub stretches: Option<Vec<Stretch>>,
    /// How strong which period was when, if asked for.
    pub scalogram: Option<Scalogram>,
    /// What each rank did when, if requests were to be kept.
    pub lanes: Option<Lanes>,
    /// The signal is a sampled quantity other than bytes: where a field says bytes, its unit is meant.
    pub is_quantity: bool,
    /// The phases that were counted, if there is a period by them; here in seconds of job time.
    pub phases: Vec<Phase>,
    /// What the program has marked.
    pub marks: Vec<Marked>,
}

impl Analysis {
    /// A result and what it was derived from, without pictures over time.
    pub fn new(
        detection: Detection,
        warnings: Vec<String>,
        notes: Vec<String>,
        signal: Signal,
        contributions: Vec<f64>,
        wave: Option<Wave>,
        stretches: Option<Vec<Stretch>>,
    ) -> Self {
        Analysis {
            detection,
            warnings,
            notes,
            signal,
            contributions,
            wave,
            stretches,
            scalogram: None,
            lanes: None,
            is_quantity: false,
            phases: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// With what is to be told of the other direction, which has that share of the bytes: its rhythm, if it
    /// has one, or that it is left out.
    pub(crate) fn beside(mut self, other: &Analysis, share: f64) -> Self {
        let Detection { mode, periods, total_bytes, .. } = &other.detection;
        let detection = &mut self.detection;
        let is_known = |one: &PeriodOf| {
            detection.periods.iter().any(|known| (known.period / one.period - 1.0).abs() <= SAME)
        };
        if !periods.is_empty() && periods.iter().all(is_known) {
            detection.reasons.push(format!("{mode}s have the same rhythm"));
        } else if let Some(first) = periods.first() {
            let of = |mode: Mode| move |one: &PeriodOf| PeriodOf { mode: Some(mode), ..*one };
            detection.periods = detection.periods.iter().map(of(detection.mode)).collect();
            detection.periods.extend(periods.iter().map(of(*mode)));
            let period = seconds(first.period);
            detection.reasons.push(format!("{mode}s have a rhythm of their own, every {period}"));
        } else if share > LEFT_OUT {
            let amount = match self.is_quantity {
                true => format!("{total_bytes} units"),
                false => amount::bytes(*total_bytes as f64),
            };
            let note = format!("mode {mode} is left out: {amount} ({:.0} % of all)", 100.0 * share);
            detection.notes.push(note.clone());
            self.notes.push(note);
        }
        self
    }

    /// With the signal rebuilt from its strongest waves, if a number of them is asked for.
    pub fn reconstructed(mut self, spectrum: &Spectrum, count: Option<usize>) -> Self {
        self.detection.reconstruction = count.map(|count| reconstruct(spectrum, count));
        self
    }
}

/// The candidates kept, strongest first.
pub(crate) fn listed<T>(
    candidates: &Candidates,
    contributions: &[f64],
    describe: impl Fn(usize, f64) -> T,
) -> Vec<T> {
    let power = |k: usize| contributions.get(k - 1).copied().unwrap_or(0.0);
    let mut kept = candidates.kept.clone();
    kept.sort_by(|&a, &b| power(b).total_cmp(&power(a)));
    kept.into_iter().take(MAX_LISTED).map(|k| describe(k, power(k))).collect()
}
