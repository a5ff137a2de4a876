//! Outliers and their confidence, as the Python FTIO 0.0.9 has them.

use crate::spectral::Outlier;
use crate::spectral::outlier::{
    Dbscan, IsolationForest, LocalOutlierFactor, OutlierMethod, Outliers, Peaks, ZScore,
};

/// Outliers, with a confidence for each frequency unless it follows from the scores.
pub struct Published {
    pub found: Outliers,
    confidence: Option<Vec<f64>>,
}

impl Published {
    /// The confidence in frequency k, where those in `harmonics` (ascending) are multiples of others.
    pub fn confidence(&self, k: usize, harmonics: &[usize]) -> f64 {
        match &self.confidence {
            Some(confidence) => k.checked_sub(1).and_then(|i| confidence.get(i)).copied().unwrap_or(0.0),
            None => self.found.confidence(k, harmonics),
        }
    }
}

/// Apply a method.
pub fn find(method: Outlier, contributions: &[f64], tolerance: f64) -> Published {
    let fixed = |candidates: Vec<usize>, confidence: Vec<f64>| Published {
        found: Outliers {
            scores: confidence.clone(),
            outliers: candidates.clone(),
            near_largest: candidates.clone(),
            candidates,
            second: None,
        },
        confidence: Some(confidence),
    };
    let sound = !contributions.is_empty() && contributions.iter().all(|p| p.is_finite());
    match method {
        Outlier::ZScore => {
            let method = ZScore { tolerance, as_published: true, ..ZScore::default() };
            Published { found: method.find(contributions), confidence: None }
        }
        _ if !sound || contributions.iter().all(|p| *p == 0.0) => {
            fixed(Vec::new(), vec![0.0; contributions.len()])
        }
        Outlier::Dbscan => {
            let largest = contributions.iter().copied().fold(0.0, f64::max);
            let noise = Dbscan { tolerance, ..Dbscan::default() }.noise(contributions);
            fixed(noise, contributions.iter().map(|p| p / largest).collect())
        }
        Outlier::IsolationForest => {
            let (candidates, scores) = IsolationForest::default().as_published(contributions);
            fixed(candidates, normalised(&scores))
        }
        Outlier::LocalOutlierFactor => {
            let (candidates, scores) = LocalOutlierFactor::default().as_published(contributions);
            fixed(candidates, normalised(&scores))
        }
        Outlier::Peaks => {
            let peaks = Peaks { tolerance }.places(contributions);
            let mut confidence = vec![0.0; contributions.len()];
            peaks.iter().for_each(|k| confidence[k - 1] = 1.0);
            fixed(peaks, confidence)
        }
    }
}

/// Apply a method as it is printed: signed scores, limits that count themselves.
pub fn as_printed(method: Outlier, contributions: &[f64], tolerance: f64) -> Published {
    Published { found: method.find(contributions, tolerance), confidence: None }
}

/// 1 for the lowest (least normal) score, 0 for the highest.
fn normalised(scores: &[f64]) -> Vec<f64> {
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = highest - lowest;
    scores.iter().map(|score| if range > 0.0 { (highest - score) / range } else { 0.0 }).collect()
}
