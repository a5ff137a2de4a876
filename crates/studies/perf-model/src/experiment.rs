//! Measurements: at which parameter values, of what, how often, and what came out.

use std::collections::HashMap;

/// Measurements of one application at several scales.
#[derive(Debug, Clone, Default)]
pub struct Experiment {
    /// Names of the parameters, in the order of the coordinates.
    pub parameters: Vec<String>,
    /// All points at which something was measured, in order of appearance.
    pub coordinates: Vec<Box<[f64]>>,
    /// One set per callpath and metric, in order of appearance.
    pub sets: Vec<MeasurementSet>,
    /// What was left out of the file, and why.
    pub notes: Vec<String>,
}

/// All measurements of one metric at one callpath.
#[derive(Debug, Clone)]
pub struct MeasurementSet {
    /// Where: levels of a tree, separated by `->`.
    pub callpath: String,
    /// What: a name, usually with its unit.
    pub metric: String,
    /// At each point once, in order of appearance.
    pub measurements: Vec<Measurement>,
}

/// The repetitions at one point.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Index into [`Experiment::coordinates`].
    pub coordinate: usize,
    /// What was measured, once per repetition.
    pub values: Vec<f64>,
}

/// How repetitions become the one value that is modelled.
///
/// ```
/// use perf_model::Measure;
/// assert_eq!(Measure::Median.of(&[1.0, 1.2, 9.0]), 1.2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// Arithmetic mean.
    #[default]
    Mean,
    /// Median: unmoved by a single slow run.
    Median,
    /// The least: the machine at its quietest.
    Minimum,
    /// The greatest.
    Maximum,
}

impl Measure {
    /// The value for some repetitions; NaN for none.
    pub fn of(self, values: &[f64]) -> f64 {
        match self {
            Measure::Mean => mean(values),
            Measure::Median => median(values),
            Measure::Minimum => values.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
            Measure::Maximum => values.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
        }
    }
}

/// Sum in the order NumPy adds (eight running sums for up to 128 values, halves beyond).
///
/// Extra-P takes a series for constant if its residuals are exactly zero, so that the last bit of a mean
/// decides between two models; the same order of additions gives the same bit.
pub(crate) fn sum(values: &[f64]) -> f64 {
    match values.len() {
        0..8 => values.iter().fold(0.0, |sum, value| sum + value),
        8..=128 => {
            let mut sums = [0.0; 8];
            let chunks = values.chunks_exact(8);
            let rest = chunks.remainder();
            for chunk in chunks {
                for (sum, value) in sums.iter_mut().zip(chunk) {
                    *sum += value;
                }
            }
            let [a, b, c, d, e, f, g, h] = sums;
            rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, value| sum + value)
        }
        n => {
            let half = n / 2 - (n / 2) % 8;
            sum(&values[..half]) + sum(&values[half..])
        }
    }
}

/// Arithmetic mean; NaN for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

/// Median; NaN for no values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// Standard deviation of the values themselves (division by their number); NaN for no values.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: Vec<f64> = values.iter().map(|value| (value - centre) * (value - centre)).collect();
    mean(&squares).sqrt()
}

/// Collects measurements in any order; the same callpath, metric and point again is a repetition.
///
/// ```
/// use perf_model::{ExperimentBuilder, Options, model};
///
/// let mut builder = ExperimentBuilder::new(vec!["p".to_owned()]);
/// for p in [2.0, 4.0, 8.0, 16.0] {
///     builder.add("write", "bytes", &[p], &[1024.0 * p]);
/// }
/// let models = model(&builder.build(), &Options::default())?;
/// assert_eq!(models.models[0].evaluate(&[32.0]), 32768.0);
/// # Ok::<(), perf_model::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ExperimentBuilder {
    experiment: Experiment,
    coordinates: HashMap<Vec<u64>, usize>,
    sets: HashMap<String, HashMap<String, usize>>,
    positions: Vec<HashMap<usize, usize>>,
    key: Vec<u64>,
}

impl Experiment {
    /// Keep the last `runs` repetitions at every point: files are appended to, so these are the newest.
    pub fn keep_last(&mut self, runs: usize) {
        for measurement in self.sets.iter_mut().flat_map(|set| &mut set.measurements) {
            let old = measurement.values.len().saturating_sub(runs);
            measurement.values.drain(..old);
        }
    }
}

impl ExperimentBuilder {
    /// An experiment over these parameters with no measurement yet.
    pub fn new(parameters: Vec<String>) -> Self {
        let experiment = Experiment { parameters, ..Experiment::default() };
        ExperimentBuilder { experiment, ..ExperimentBuilder::default() }
    }

    /// Number of parameters.
    pub fn dimensions(&self) -> usize {
        self.experiment.parameters.len()
    }

    /// Adds repetitions at a point. The point must have one value per parameter: the readers see to that.
    pub fn add(&mut self, callpath: &str, metric: &str, point: &[f64], values: &[f64]) {
        debug_assert_eq!(point.len(), self.dimensions());
        let coordinate = self.coordinate(point);
        let set = self.set(callpath, metric);
        let measurements = &mut self.experiment.sets[set].measurements;
        // Files are usually ordered, so that the last point is the likeliest one.
        let position = match measurements.last() {
            Some(last) if last.coordinate == coordinate => measurements.len() - 1,
            _ => *self.positions[set].entry(coordinate).or_insert_with(|| {
                measurements.push(Measurement { coordinate, values: Vec::with_capacity(values.len()) });
                measurements.len() - 1
            }),
        };
        measurements[position].values.extend_from_slice(values);
    }

    /// Registers a point without a measurement, as text files do.
    pub fn coordinate(&mut self, point: &[f64]) -> usize {
        self.key.clear();
        // Adding zero makes -0 and 0 one point.
        self.key.extend(point.iter().map(|value| (value + 0.0).to_bits()));
        if let Some(&index) = self.coordinates.get(&self.key) {
            return index;
        }
        let index = self.experiment.coordinates.len();
        self.experiment.coordinates.push(point.into());
        self.coordinates.insert(self.key.clone(), index);
        index
    }

    fn set(&mut self, callpath: &str, metric: &str) -> usize {
        if let Some(&index) = self.sets.get(callpath).and_then(|metrics| metrics.get(metric)) {
            return index;
        }
        let index = self.experiment.sets.len();
        self.sets.entry(callpath.to_owned()).or_default().insert(metric.to_owned(), index);
        self.experiment.sets.push(MeasurementSet {
            callpath: callpath.to_owned(),
            metric: metric.to_owned(),
            measurements: Vec::new(),
        });
        self.positions.push(HashMap::new());
        index
    }

    /// The experiment.
    pub fn build(self) -> Experiment {
        self.experiment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_pool_in_any_order() {
        let mut builder = ExperimentBuilder::new(vec!["p".into()]);
        builder.add("a", "t", &[4.0], &[1.0]);
        builder.add("a", "t", &[8.0], &[2.0]);
        builder.add("b", "t", &[4.0], &[9.0]);
        builder.add("a", "t", &[4.0], &[3.0, 5.0]);
        let experiment = builder.build();
        assert_eq!(experiment.coordinates.len(), 2);
        assert_eq!(experiment.sets.len(), 2);
        assert_eq!(experiment.sets[0].measurements[0].values, [1.0, 3.0, 5.0]);
    }

    #[test]
    fn the_last_repetitions_are_kept() {
        let mut builder = ExperimentBuilder::new(vec!["p".into()]);
        builder.add("a", "t", &[4.0], &[1.0, 3.0, 5.0]);
        builder.add("a", "t", &[8.0], &[2.0]);
        let mut experiment = builder.build();
        experiment.keep_last(2);
        assert_eq!(experiment.sets[0].measurements[0].values, [3.0, 5.0]);
        assert_eq!(experiment.sets[0].measurements[1].values, [2.0]);
    }

    #[test]
    fn measures() {
        let values = [3.0, 1.0, 10.0, 2.0];
        assert_eq!(Measure::Mean.of(&values), 4.0);
        assert_eq!(Measure::Median.of(&values), 2.5);
        assert_eq!(Measure::Minimum.of(&values), 1.0);
        assert_eq!(Measure::Maximum.of(&values), 10.0);
        assert!(Measure::Median.of(&[]).is_nan());
    }

    #[test]
    fn sums_agree_with_the_plain_sum() {
        for n in [0, 1, 7, 8, 9, 39, 128, 129, 1000] {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            assert_eq!(sum(&values), values.iter().sum::<f64>());
        }
    }
}
