//! What the predictor expects, in the words of staging.

use crate::plan::Forecast;
use crate::simulate::{Oracle, Transfer};
use ftio_core::detect::Options;
use ftio_core::predict::{PredictOptions, Prediction, Predictor};
use sources::request::{Class, Request};

/// The predictor of running jobs, for a job that is played.
#[derive(Debug)]
pub struct Online(Predictor);

impl Online {
    /// For a job of this name.
    pub fn new(name: &str, detect: Options) -> Self {
        Online(Predictor::new(name, PredictOptions { detect, ..PredictOptions::default() }))
    }
}

impl Oracle for Online {
    fn flush(&mut self, requests: &[Transfer], until: f64) -> Forecast {
        let nanoseconds = |seconds: f64| (seconds * 1e9).round() as i64;
        let request = |transfer: &Transfer| {
            let (start, end) = (nanoseconds(transfer.start), nanoseconds(transfer.end));
            Request::new(start, end, transfer.bytes, Class::WriteSync)
        };
        let requests: Vec<Request> = requests.iter().map(request).collect();
        self.0.add(&requests);
        forecast(&self.0.predict(nanoseconds(until)))
    }
}

/// What is expected after a flush.
pub(super) fn forecast(prediction: &Prediction) -> Forecast {
    // Without a period the next phase is a guess, which is not acted upon.
    let next = prediction.next_phase.filter(|next| !next.provisional && prediction.period.is_some());
    Forecast {
        period: prediction.period,
        confidence: prediction.confidence,
        start: next.map(|next| next.start),
        start_low: next.map(|next| next.start_low),
        start_high: next.map(|next| next.start_high),
        bytes: next.map(|next| next.bytes),
    }
}
