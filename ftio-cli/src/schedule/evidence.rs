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

    /// A job of which nothing was seen for 360 s; it has written since, and now somebody sees a period.
    fn after_silence(t: f64, period: Option<f64>) -> (Evidence, Prediction) {
        let mut evidence = Evidence::new(0);
        evidence.add(&[Request::new(380 * SECOND, 390 * SECOND, 1, Class::WriteSync)]);
        evidence.add(&[Request::new(360 * SECOND, 370 * SECOND, 1, Class::WriteSync)]);
        let prediction = Predictor::new("job", PredictOptions::default()).predict(1);
        (evidence, Prediction { t, period, ..prediction })
    }

    #[test]
    fn a_short_period_after_long_silence_must_show_itself() {
        for (t, expected) in [(540.0, None), (1079.0, None), (1081.0, Some(20.3))] {
            let (evidence, prediction) = after_silence(t, Some(20.3));
            assert_eq!(evidence.period(&prediction), expected, "at {t} s");
        }
    }

    #[test]
    fn a_usual_silence_does_not_matter() {
        let (evidence, prediction) = after_silence(540.0, Some(384.0));
        assert_eq!(evidence.period(&prediction), Some(384.0));
        assert_eq!(Evidence::new(0).period(&prediction), None, "nothing was written");
        let (evidence, prediction) = after_silence(2000.0, None);
        assert_eq!(evidence.period(&prediction), None);
    }
}
