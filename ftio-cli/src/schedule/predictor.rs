//! ftio as the predictor of a simulation.

use ftio_core::detect::{Options, detect};
use ftio_core::request::{Class, Request};
use ftio_core::source::{InMemory, Job};
use io_sets::queue::{JobId, Nanoseconds};
use io_sets::simulate::{Predictor, Transfer};

/// Detects the period in all that an application has written so far.
pub struct Detecting {
    name: String,
    start: Nanoseconds,
    requests: Vec<Request>,
    options: Options,
}

impl Detecting {
    pub fn new(job: JobId, start: Nanoseconds, compat: bool) -> Self {
        let options = Options { compat, frequency: compat.then_some(1.0), ..Options::default() };
        Detecting { name: job.to_string(), start, requests: Vec::new(), options }
    }
}

impl Predictor for Detecting {
    fn flush(&mut self, transfers: &[Transfer], now: Nanoseconds) -> Option<f64> {
        self.requests.extend(transfers.iter().map(|transfer| request(transfer, self.start)));
        let job = Job { ranks: 1, start: Some(0), end: Some(job_time(now, self.start)), ..Job::default() };
        let source = InMemory { requests: &self.requests, job };
        detect(&self.name, source, &self.options).ok()?.detection.period
    }
}

fn request(transfer: &Transfer, start: Nanoseconds) -> Request {
    let bytes = transfer.bytes.round() as u64;
    Request::new(job_time(transfer.start, start), job_time(transfer.end, start), bytes, Class::WriteSync)
}

fn job_time(time: Nanoseconds, start: Nanoseconds) -> i64 {
    time.saturating_sub(start) as i64
}
