//! When a prediction is good enough to act upon.
//!
//! Applications that share a file system leave their mark in each other's bandwidth: during a long I/O phase of one, the short
//! phases of another make dents in it at their period. Seen from within that phase, and nothing else has been seen of a
//! job that has just done its first I/O, the period of the dents is all there is. But a job that was silent for six minutes before does not do I/O
//! every twenty seconds. So a period that is much shorter than the silence before the first request counts only when the job
//! has shown it for twice as long as it had been silent.

use ftio_core::predict::Prediction;
use ftio_core::request::Request;

/// Silence of up to so many periods is nothing unusual.
const USUAL_SILENCE: f64 = 3.0;

/// After more than that, the period must have shown itself so many times as long.
const SHOWN: f64 = 2.0;

/// What there was of a job's I/O so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// When the job began, in nanoseconds.
    pub begins: i64,
    first: Option<i64>,
}

impl Evidence {
    pub fn new(begins: i64) -> Self {
        Evidence { begins, first: None }
    }

    pub fn add(&mut self, requests: &[Request]) {
        let first = requests.iter().map(|request| request.start).min();
        self.first = self.first.into_iter().chain(first).min();
    }

    /// The period that a prediction gives, if there is enough to support it.
    pub fn period(&self, prediction: &Prediction) -> Option<f64> {
        let period = prediction.period?;
        let first = self.first? as f64 * 1e-9;
        let silence = first - self.begins as f64 * 1e-9;
        (silence <= USUAL_SILENCE * period || prediction.t - first >= SHOWN * silence).then_some(period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftio_core::predict::{PredictOptions, Predictor};
    use ftio_core::request::Class;

    const SECOND: i64 = 1_000_000_000;

    /// After 360 s of silence, writing whose rate changes every 10 s.
    fn dented(until: i64) -> (Evidence, Prediction) {
        let mut predictor = Predictor::new("dents", PredictOptions::default());
        let mut evidence = Evidence::new(0);
        for start in (360..until).step_by(20) {
            for (from, bytes) in [(start, 3 << 30), (start + 10, 1 << 30)] {
                let request = Request::new(from * SECOND, (from + 10) * SECOND, bytes, Class::WriteSync);
                predictor.add(&[request]);
                evidence.add(&[request]);
            }
        }
        (evidence, predictor.predict(until * SECOND))
    }

    #[test]
    fn a_short_period_after_long_silence_must_show_itself() {
        let (evidence, prediction) = dented(540);
        assert!(
            prediction.period.is_some_and(|period| (period - 20.0).abs() < 1.0),
            "{:?}",
            prediction.period
        );
        assert_eq!(evidence.period(&prediction), None);
        let (evidence, prediction) = dented(1100);
        assert_eq!(evidence.period(&prediction), prediction.period);
    }

    #[test]
    fn a_usual_silence_does_not_matter() {
        let (_, mut prediction) = dented(540);
        let mut evidence = Evidence::new(0);
        assert_eq!(evidence.period(&prediction), None, "nothing was written");
        evidence.add(&[Request::new(360 * SECOND, 370 * SECOND, 1, Class::WriteSync)]);
        prediction.period = Some(384.0);
        assert_eq!(evidence.period(&prediction), Some(384.0));
        prediction.period = None;
        assert_eq!(evidence.period(&prediction), None);
    }
}
