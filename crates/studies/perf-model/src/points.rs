//! What a modeler sees of one set: points, one value each, and what the repetitions say.
//!
//! Coordinates are stored one point after the other, as in the rows of a table: points of one parameter are a
//! plain list of its values.

use crate::experiment::{Experiment, Measure, MeasurementSet};

/// The points of one set, each with its value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Points {
    /// Number of parameters.
    pub dimensions: usize,
    /// Row-major: `dimensions` values a point.
    pub coordinates: Vec<f64>,
    /// The value that is modelled.
    pub values: Vec<f64>,
    /// Repetitions of each point; empty if unknown.
    pub repetitions: Vec<Repetitions>,
    /// The values are not means of the repetitions, so that these say nothing about how far the values
    /// scatter.
    pub not_means: bool,
}

/// Repetitions of one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Repetitions {
    pub count: usize,
    /// Σ (value − mean)².
    pub squares: f64,
}

impl Points {
    pub(crate) fn of(experiment: &Experiment, set: &MeasurementSet, measure: Measure) -> Self {
        let not_means = measure != Measure::Mean;
        let mut points = Points { dimensions: experiment.parameters.len(), not_means, ..Points::default() };
        for measurement in &set.measurements {
            points.coordinates.extend_from_slice(&experiment.coordinates[measurement.coordinate]);
            points.values.push(measure.of(&measurement.values));
            points.repetitions.push(Repetitions::of(&measurement.values));
        }
        points
    }

    /// Points of a single parameter without repetitions.
    pub(crate) fn single(coordinates: &[f64], values: &[f64]) -> Self {
        Points {
            dimensions: 1,
            coordinates: coordinates.to_vec(),
            values: values.to_vec(),
            ..Points::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn point(&self, index: usize) -> &[f64] {
        &self.coordinates[index * self.dimensions..(index + 1) * self.dimensions]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> + Clone {
        self.coordinates.chunks_exact(self.dimensions.max(1)).zip(self.values.iter().copied())
    }

    /// The values of one parameter.
    pub(crate) fn parameter(&self, parameter: usize) -> impl Iterator<Item = f64> + '_ {
        self.coordinates.iter().copied().skip(parameter).step_by(self.dimensions.max(1))
    }

    /// Least and greatest value of each parameter.
    pub(crate) fn ranges(&self) -> Vec<(f64, f64)> {
        (0..self.dimensions)
            .map(|parameter| {
                self.parameter(parameter)
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
            })
            .collect()
    }

    /// The points with these indices, in this order.
    pub(crate) fn select(&self, indices: impl IntoIterator<Item = usize>) -> Points {
        let mut points =
            Points { dimensions: self.dimensions, not_means: self.not_means, ..Points::default() };
        for index in indices {
            points.coordinates.extend_from_slice(self.point(index));
            points.values.push(self.values[index]);
            points.repetitions.extend(self.repetitions.get(index));
        }
        points
    }

    /// Indices in ascending order of the first parameter.
    pub(crate) fn ascending(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|a, b| self.point(*a)[0].total_cmp(&self.point(*b)[0]));
        order
    }
}

impl Repetitions {
    pub(crate) fn of(values: &[f64]) -> Self {
        let mean = crate::experiment::mean(values);
        Repetitions { count: values.len(), squares: values.iter().map(|value| (value - mean).powi(2)).sum() }
    }
}

/// Values from `low` to `high`, evenly spaced in the logarithm if both are positive.
pub fn spaced(low: f64, high: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count)
        .map(|step| {
            let along = step as f64 / last;
            match step {
                0 => low,
                _ if step + 1 == count => high,
                _ if low > 0.0 && high > 0.0 => low * (high / low).powf(along),
                _ => low + (high - low) * along,
            }
        })
        .collect()
}

/// The values of a function at five scales of each of two parameters, for tests.
#[cfg(test)]
pub(crate) fn grid(function: impl Fn(f64, f64) -> f64) -> Points {
    let mut points = Points { dimensions: 2, ..Points::default() };
    for x in [2.0, 4.0, 8.0, 16.0, 32.0] {
        for y in [10.0, 20.0, 30.0, 40.0, 50.0] {
            points.coordinates.extend([x, y]);
            points.values.push(function(x, y));
        }
    }
    points
}
