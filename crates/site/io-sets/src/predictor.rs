//! ftio as the predictor of a simulation: what `ftio predict` would say at the end of each I/O phase.

use crate::observed::Observed;
use crate::queue::{JobId, Nanoseconds};
use crate::simulate::{Predictor, Transfer};
use ftio_core::detect::{Method, Options, detect};
use ftio_core::predict::{self, PredictOptions};
use sources::request::{Class, Request};
use sources::time::seconds;
use sources::{InMemory, Job};

/// The engine of `ftio predict`, fed from a simulation.
#[derive(Debug)]
pub struct Online {
    engine: predict::Predictor,
    observed: Observed,
    start: Nanoseconds,
}

impl Online {
    /// `frequency` is that of sampling, in Hz; `None`: as `ftio predict` chooses it.
    pub fn new(job: JobId, start: Nanoseconds, frequency: Option<f64>) -> Self {
        let options = PredictOptions {
            detect: Options { frequency, ..Options::default() },
            ..PredictOptions::default()
        };
        let engine = predict::Predictor::new(&job.to_string(), options);
        Online { engine, observed: Observed::new(0.0), start }
    }
}

impl Predictor for Online {
    fn flush(&mut self, transfers: &[Transfer], now: Nanoseconds) -> Option<f64> {
        let requests: Vec<Request> = transfers.iter().map(|transfer| request(transfer, self.start)).collect();
        self.engine.add(&requests);
        requests.iter().for_each(|request| self.observed.request(seconds(request.start)));
        let prediction = self.engine.predict(job_time(now, self.start));
        prediction.period.filter(|period| self.observed.supports(*period, prediction.t))
    }
}

/// The Python FTIO's method, on all that an application has written so far.
#[derive(Debug)]
pub struct Compat {
    name: String,
    start: Nanoseconds,
    requests: Vec<Request>,
    frequency: f64,
}

impl Compat {
    /// `frequency` is that of sampling, in Hz.
    pub fn new(job: JobId, start: Nanoseconds, frequency: f64) -> Self {
        Compat { name: job.to_string(), start, requests: Vec::new(), frequency }
    }
}

impl Predictor for Compat {
    fn flush(&mut self, transfers: &[Transfer], now: Nanoseconds) -> Option<f64> {
        self.requests.extend(transfers.iter().map(|transfer| request(transfer, self.start)));
        let job =
            Job { ranks: Some(1), start: Some(0), end: Some(job_time(now, self.start)), ..Job::default() };
        let options =
            Options { method: Method::Compat, frequency: Some(self.frequency), ..Options::default() };
        let source = InMemory { requests: &self.requests, job };
        detect(&self.name, source, &options).ok()?.detection.period
    }
}

fn request(transfer: &Transfer, start: Nanoseconds) -> Request {
    let bytes = transfer.bytes.round() as u64;
    Request::new(job_time(transfer.start, start), job_time(transfer.end, start), bytes, Class::WriteSync)
}

fn job_time(time: Nanoseconds, start: Nanoseconds) -> i64 {
    time.saturating_sub(start) as i64
}
