//! One signal, judged: its spectrum, what stands out of it, and whether there is a dominant frequency.

use crate::candidates::{HarmonicRule, Verdict};
use crate::kind::{CONSTANT_VARIATION, variation};
use crate::outlier::{Dbscan, IsolationForest, LocalOutlierFactor, OutlierMethod, Outliers, Peaks, ZScore};
use crate::refine::refine;
use crate::signal::Signal;
use crate::spectrum::{Measure, Spectrum};

/// How the outliers of the spectrum are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outlier {
    /// Standard deviations above the mean, as in the paper.
    #[default]
    ZScore,
    /// What belongs to no cluster.
    Dbscan,
    /// What random cuts separate early.
    IsolationForest,
    /// What lies in emptier surroundings than its neighbours.
    LocalOutlierFactor,
    /// Local maxima near the highest.
    Peaks,
}

impl Outlier {
    /// Apply the method.
    pub fn find(self, contributions: &[f64], tolerance: f64) -> Outliers {
        match self {
            Outlier::ZScore => ZScore { tolerance, ..ZScore::default() }.find(contributions),
            Outlier::Dbscan => Dbscan { tolerance, ..Dbscan::default() }.find(contributions),
            Outlier::IsolationForest => {
                IsolationForest { tolerance, ..IsolationForest::default() }.find(contributions)
            }
            Outlier::LocalOutlierFactor => {
                LocalOutlierFactor { tolerance, ..LocalOutlierFactor::default() }.find(contributions)
            }
            Outlier::Peaks => Peaks { tolerance }.find(contributions),
        }
    }
}

/// How a signal is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judge {
    /// How frequencies that stand out are found.
    pub outlier: Outlier,
    /// A second method that must agree.
    pub second: Option<Outlier>,
    /// How close to the strongest frequency a candidate must come, 0 … 1.
    pub tolerance: f64,
    /// Power or amplitude.
    pub measure: Measure,
}

impl Default for Judge {
    fn default() -> Self {
        Judge { outlier: Outlier::ZScore, second: None, tolerance: 0.8, measure: Measure::Power }
    }
}

/// The result.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The DFT.
    pub spectrum: Spectrum,
    /// Contribution of the frequencies k = 1, 2, …
    pub contributions: Vec<f64>,
    /// What stands out.
    pub outliers: Outliers,
    /// Candidates, harmonics, and the dominant one.
    pub verdict: Verdict,
    /// The dominant frequency, refined below the resolution of the spectrum.
    pub frequency: Option<f64>,
}

impl Judge {
    /// Judge a signal.
    pub fn judge(&self, signal: &Signal) -> Judgement {
        let spectrum = Spectrum::of(&signal.samples, signal.duration());
        let contributions = spectrum.whole_peaks(self.measure);
        let outliers = if variation(signal) < CONSTANT_VARIATION {
            Outliers::default()
        } else {
            self.outliers(&contributions)
        };
        let verdict = Verdict::of(&outliers, &contributions, &spectrum, HarmonicRule::ByIndex)
            .with_neighbours_merged(&contributions)
            .with_fundamental(&outliers, &spectrum)
            .with_enough_periods();
        let frequency = verdict.dominant.map(|k| refine(signal, k));
        Judgement { spectrum, contributions, outliers, verdict, frequency }
    }

    fn outliers(&self, contributions: &[f64]) -> Outliers {
        let first = self.outlier.find(contributions, self.tolerance);
        match self.second {
            Some(second) => first.confirmed_by(second.find(contributions, self.tolerance)),
            None => first,
        }
    }
}

impl Judgement {
    /// c_d, or 0 without a dominant frequency.
    pub fn confidence(&self) -> f64 {
        self.verdict.dominant.map_or(0.0, |k| self.verdict.confidence(&self.outliers, k))
    }
}
