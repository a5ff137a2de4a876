//! Samples: what the servers logged while the application ran, and which of them are of use.

use crate::outliers::outliers;
use crate::settings::Settings;
use crate::statistics::median;
use schemars::JsonSchema;
use serde::Serialize;

/// The log during one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What messages call it.
    pub name: String,
    /// When the run began, in seconds on whatever clock the log has.
    pub start: f64,
    /// Seconds between two values.
    pub step: f64,
    /// Bytes per second of each interval of the log.
    pub values: Vec<f64>,
}

impl Sample {
    /// How long it lasts, in seconds.
    pub fn duration(&self) -> f64 {
        self.step * self.values.len() as f64
    }

    /// What it moves.
    pub fn bytes(&self) -> f64 {
        self.step * self.values.iter().sum::<f64>()
    }
}

/// A sample in a result.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Listed {
    /// What messages call it.
    pub name: String,
    /// When the run began.
    pub start: f64,
    /// How long it lasts, in seconds.
    pub duration: f64,
    /// All bytes that the servers moved meanwhile.
    pub bytes: f64,
    /// Is it part of the signature?
    pub used: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How well the signature of the other samples agrees with it (Pearson's correlation), if it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
}

impl Listed {
    /// A run of which there is no sample.
    pub fn dropped(name: String, start: f64, duration: f64, reason: String) -> Self {
        Listed { name, start, duration, bytes: 0.0, used: false, reason: Some(reason), agreement: None }
    }
}

/// What is wrong with each sample, if anything.
pub(crate) fn unusable(samples: &[Sample], settings: &Settings) -> Vec<Option<String>> {
    let mut reasons: Vec<Option<String>> = samples.iter().map(|sample| broken(sample, settings)).collect();
    let usable = |reasons: &[Option<String>]| -> Vec<usize> {
        (0..samples.len()).filter(|&i| reasons[i].is_none()).collect()
    };
    let left = usable(&reasons);
    let usual = median(&left.iter().map(|&i| samples[i].bytes()).collect::<Vec<_>>());
    for &i in &left {
        let bytes = samples[i].bytes();
        if bytes <= settings.idle_share * usual {
            reasons[i] = Some(format!("idle: {bytes:.0} bytes in {:.0} s", samples[i].duration()));
        }
    }
    let left = usable(&reasons);
    let points: Vec<[f64; 2]> = left.iter().map(|&i| [samples[i].duration(), samples[i].bytes()]).collect();
    let middle = |axis: usize| median(&points.iter().map(|point| point[axis]).collect::<Vec<_>>());
    let usual = [middle(0), middle(1)];
    for (place, factor) in outliers(&points, settings) {
        let compared = |axis: usize| 100.0 * (points[place][axis] / usual[axis] - 1.0);
        reasons[left[place]] = Some(format!(
            "unlike the others: run time {:+.0} %, volume {:+.0} % of the median (outlier \
             factor {factor:.1}, limit {})",
            compared(0),
            compared(1),
            settings.outlier_factor
        ));
    }
    reasons
}

/// Are its values what they should be, whatever they say?
pub(crate) fn is_whole(sample: &Sample, settings: &Settings) -> bool {
    broken(sample, settings).is_none()
}

fn broken(sample: &Sample, settings: &Settings) -> Option<String> {
    if !(sample.step.is_finite() && sample.step > 0.0) {
        return Some(format!("expected a positive time between its lines, found {} s", sample.step));
    }
    if (sample.values.len() as f64) < settings.least_points {
        let (count, least) = (sample.values.len(), settings.least_points);
        return Some(format!("too short: {count} lines of the log, expected at least {least}"));
    }
    if let Some(bad) = sample.values.iter().find(|value| !value.is_finite() || **value < 0.0) {
        return Some(format!("expected bandwidths, found {bad}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: Vec<f64>) -> Sample {
        Sample { name: "run".into(), start: 0.0, step: 2.0, values }
    }

    #[test]
    fn every_drop_has_a_reason() {
        let mut samples: Vec<Sample> =
            (0..10).map(|i| sample(vec![1.0 + 0.01 * f64::from(i); 100])).collect();
        samples.push(sample(vec![1.0; 10]));
        samples.push(sample(vec![0.0; 100]));
        samples.push(sample(vec![f64::NAN; 100]));
        samples.push(sample(vec![1.0; 300]));
        samples.push(Sample { step: 0.0, ..sample(vec![1.0; 100]) });
        let reasons = unusable(&samples, &Settings::default());
        assert!(reasons[..10].iter().all(Option::is_none), "{reasons:?}");
        let expected =
            ["too short", "idle", "expected bandwidths", "unlike the others", "expected a positive time"];
        for (reason, expected) in reasons[10..].iter().zip(expected) {
            assert!(reason.as_ref().unwrap().contains(expected), "{reason:?}");
        }
    }

    #[test]
    fn all_idle_is_idle() {
        let samples: Vec<Sample> = (0..6).map(|_| sample(vec![0.0; 100])).collect();
        let reasons = unusable(&samples, &Settings::default());
        assert!(reasons.iter().all(|reason| reason.as_ref().is_some_and(|reason| reason.contains("idle"))));
    }
}
