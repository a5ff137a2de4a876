//! `--prometheus`: the exposition in a file, or served over HTTP.

use super::exposition::Exposition;
use super::published::Published;
use super::sink::Sink;
use ftio_core::predict::Prediction;
use std::io;

/// What is published, and where.
#[derive(Debug)]
pub struct Prometheus {
    exposition: Exposition,
    published: Published,
}

impl Prometheus {
    /// At this address, or in this file.
    pub fn open(target: &str) -> anyhow::Result<Self> {
        Ok(Prometheus { exposition: Exposition::default(), published: Published::open(target)? })
    }
}

impl Sink for Prometheus {
    fn prediction(&mut self, prediction: &Prediction, _json: &str) -> io::Result<()> {
        self.exposition.prediction(prediction);
        self.published.publish(self.exposition.text()).map_err(io::Error::other)
    }
}
