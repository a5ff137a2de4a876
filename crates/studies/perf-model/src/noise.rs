//! How much measurements scatter, and whether that grows with the value.
//!
//! A point with R repetitions of mean m and squared deviations q has R − 1 degrees of freedom. Pooled over
//! all points, Σ q / Σ (R − 1) is the variance of a run if noise is the same everywhere, Σ (q/m²) / Σ (R − 1)
//! its relative variance if noise grows with the value; the mean of R runs has 1/R of it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::points::Points;

/// How the scatter of a measurement depends on its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseKind {
    /// Proportional to the value, as run times scatter: each point counts by its relative error.
    Relative,
    /// The same everywhere: each point counts by its error.
    Absolute,
}

/// An estimate of the scatter of a single run.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Noise {
    /// Whether the level is a share of the value or a quantity.
    pub kind: NoiseKind,
    /// Standard deviation of one run: a share of the value (0.05 for 5 %), or in the unit of the metric.
    pub level: f64,
    /// Degrees of freedom of the estimate: repetitions beyond the first, over all points.
    pub degrees: usize,
}

/// What the repetitions add to the residuals of a fit, in the fit's own scale.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Replicates {
    /// Degrees of freedom.
    pub degrees: f64,
    /// Degrees of freedom times the variance of a point's mean.
    pub squares: f64,
    /// Variance of a single run.
    pub run: f64,
}

/// Fewest repetitions that say anything about the kind of noise.
const FEWEST_DEGREES: usize = 3;

/// The kind of noise, if the data say: absolute if values change sign or vanish, and otherwise the one of the
/// two normal distributions with standard deviation r·|mean| or s that makes the repetitions likelier. `None`
/// with too few repetitions.
pub(crate) fn known_kind(points: &Points) -> Option<NoiseKind> {
    let positive = points.values.iter().all(|value| *value > 0.0);
    let negative = points.values.iter().all(|value| *value < 0.0);
    if !positive && !negative {
        return Some(NoiseKind::Absolute);
    }
    let (mut degrees, mut relative, mut absolute, mut logs) = (0, 0.0, 0.0, 0.0);
    for (value, repetitions) in points.values.iter().zip(&points.repetitions) {
        let own = repetitions.count.saturating_sub(1);
        degrees += own;
        relative += repetitions.squares / (value * value);
        absolute += repetitions.squares;
        logs += own as f64 * value.abs().ln();
    }
    if degrees < FEWEST_DEGREES || absolute <= 0.0 {
        return None;
    }
    let half = degrees as f64 / 2.0;
    let relative_is_likelier = half * relative.ln() + logs <= half * absolute.ln();
    Some(if relative_is_likelier { NoiseKind::Relative } else { NoiseKind::Absolute })
}

/// The kind of noise, relative if nothing is known: so run times scatter.
pub(crate) fn kind(points: &Points) -> NoiseKind {
    known_kind(points).unwrap_or(NoiseKind::Relative)
}

/// What the repetitions say about a single run, if there are any.
pub(crate) fn estimate(points: &Points, kind: NoiseKind) -> Option<Noise> {
    let scale: Vec<f64> = match kind {
        NoiseKind::Relative => points.values.clone(),
        NoiseKind::Absolute => vec![1.0; points.len()],
    };
    let replicates = replicates(points, &scale);
    (replicates.degrees > 0.0).then(|| Noise {
        kind,
        level: replicates.run.sqrt(),
        degrees: replicates.degrees as usize,
    })
}

/// The repetitions, each point's in units of its scale.
pub(crate) fn replicates(points: &Points, scale: &[f64]) -> Replicates {
    let (mut degrees, mut squares, mut shares) = (0.0, 0.0, 0.0);
    for (repetitions, scale) in points.repetitions.iter().zip(scale) {
        let own = repetitions.count.saturating_sub(1) as f64;
        degrees += own;
        squares += repetitions.squares / (scale * scale);
        shares += 1.0 / repetitions.count.max(1) as f64;
    }
    if degrees == 0.0 {
        return Replicates::default();
    }
    let run = squares / degrees;
    // A mean of R runs has 1/R of their variance.
    Replicates { degrees, squares: squares * shares / points.repetitions.len() as f64, run }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Repetitions;

    fn points(sets: &[&[f64]]) -> Points {
        Points {
            dimensions: 1,
            coordinates: (1..=sets.len()).map(|p| p as f64).collect(),
            values: sets.iter().map(|values| crate::experiment::mean(values)).collect(),
            repetitions: sets.iter().map(|values| Repetitions::of(values)).collect(),
            not_means: false,
        }
    }

    #[test]
    fn tells_relative_from_absolute() {
        let relative = points(&[&[0.9, 1.1], &[9.0, 11.0], &[90.0, 110.0]]);
        assert_eq!(kind(&relative), NoiseKind::Relative);
        let noise = estimate(&relative, NoiseKind::Relative).unwrap();
        assert!((noise.level - 0.02f64.sqrt()).abs() < 1e-12, "{noise:?}");
        assert_eq!(noise.degrees, 3);
        assert_eq!(kind(&points(&[&[0.9, 1.1], &[9.9, 10.1], &[99.9, 100.1]])), NoiseKind::Absolute);
        assert_eq!(kind(&points(&[&[0.0], &[1.0]])), NoiseKind::Absolute);
        assert_eq!(kind(&points(&[&[1.0], &[1.0]])), NoiseKind::Relative);
    }
}
