//! One signal, judged: its spectrum, what stands out of it, and whether there is a dominant frequency.

pub mod autocorrelation;
pub mod fft;
pub mod find_peaks;
pub mod harmonics;
pub mod outlier;
pub mod reconstruct;
pub mod refine;
pub mod spectrum;
pub mod wavelet;

use crate::signal::{CONSTANT_VARIATION, Signal};
use crate::spectral::harmonics::{Candidates, HarmonicRule};
use crate::spectral::outlier::{
    Dbscan, IsolationForest, LocalOutlierFactor, OutlierMethod, Outliers, Peaks, ZScore,
};
use crate::spectral::refine::refine;
use crate::spectral::spectrum::{Measure, Spectrum};

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
pub struct SpectralDetector {
    /// How frequencies that stand out are found.
    pub outlier: Outlier,
    /// A second method that must agree.
    pub second: Option<Outlier>,
    /// How close to the strongest frequency a candidate must come, 0 … 1.
    pub tolerance: f64,
    /// Power or amplitude.
    pub measure: Measure,
}

impl Default for SpectralDetector {
    fn default() -> Self {
        SpectralDetector { outlier: Outlier::ZScore, second: None, tolerance: 0.8, measure: Measure::Power }
    }
}

/// The result.
#[derive(Clone, Debug)]
pub struct SpectralResult {
    /// The DFT.
    pub spectrum: Spectrum,
    /// Contribution of the frequencies k = 1, 2, …
    pub contributions: Vec<f64>,
    /// What stands out.
    pub outliers: Outliers,
    /// Candidates, harmonics, and the dominant one.
    pub candidates: Candidates,
    /// The dominant frequency, refined below the resolution of the spectrum.
    pub frequency: Option<f64>,
}

impl SpectralDetector {
    /// SpectralDetector a signal.
    pub fn detect(&self, signal: &Signal) -> SpectralResult {
        let spectrum = Spectrum::of(&signal.samples, signal.duration());
        let contributions = spectrum.whole_peaks(self.measure);
        let outliers = if signal.variation() < CONSTANT_VARIATION {
            Outliers::default()
        } else {
            self.outliers(&contributions)
        };
        let candidates = Candidates::of(&outliers, &contributions, &spectrum, HarmonicRule::ByIndex)
            .with_neighbours_merged(&contributions)
            .with_fundamental(&outliers, &spectrum)
            .with_enough_periods();
        let frequency = candidates.dominant.map(|k| refine(signal, k));
        SpectralResult { spectrum, contributions, outliers, candidates, frequency }
    }

    fn outliers(&self, contributions: &[f64]) -> Outliers {
        let first = self.outlier.find(contributions, self.tolerance);
        match self.second {
            Some(second) => first.confirmed_by(second.find(contributions, self.tolerance)),
            None => first,
        }
    }
}

impl SpectralResult {
    /// c_d, or 0 without a dominant frequency.
    pub fn confidence(&self) -> f64 {
        self.candidates.dominant.map_or(0.0, |k| self.candidates.confidence(&self.outliers, k))
    }
}
