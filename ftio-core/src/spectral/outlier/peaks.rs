//! Outliers as peaks of the spectrum.

use super::{OutlierMethod, Outliers};
use crate::spectral::find_peaks::{PeakRules, find_peaks};

/// Local maxima at least `tolerance` times as high as the largest contribution, as in the published tool.
///
/// The lowest and the highest frequency have only one neighbour and are never peaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peaks {
    /// How close to the largest contribution a peak must come.
    pub tolerance: f64,
}

impl Default for Peaks {
    fn default() -> Self {
        Peaks { tolerance: 0.8 }
    }
}

impl Peaks {
    /// The frequencies of the peaks.
    pub fn places(&self, contributions: &[f64]) -> Vec<usize> {
        let largest = contributions.iter().copied().fold(0.0, f64::max);
        let rules = PeakRules { height: Some(self.tolerance * largest), ..PeakRules::default() };
        find_peaks(contributions, &rules).into_iter().map(|i| i + 1).collect()
    }
}

impl OutlierMethod for Peaks {
    fn find(&self, contributions: &[f64]) -> Outliers {
        let peaks = self.places(contributions);
        Outliers::above_mean(contributions, contributions.to_vec(), &peaks, self.tolerance)
    }
}
