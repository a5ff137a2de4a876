//! `--prometheus`: predictions as metrics, in a file, or served over HTTP.

use super::published::Published;
use super::sink::Sink;
use emit::predictions::Predictions;
use emit::prometheus::Text;
use ftio_core::predict::Prediction;
use std::io;

/// What is published, and where.
#[derive(Debug)]
pub struct Prometheus {
    predictions: Predictions,
    published: Published,
}

impl Prometheus {
    /// At this address, or in this file.
    pub fn open(target: &str) -> anyhow::Result<Self> {
        Ok(Prometheus { predictions: Predictions::default(), published: Published::open(target)? })
    }
}

impl Sink for Prometheus {
    fn prediction(&mut self, prediction: &Prediction, _json: &str) -> io::Result<()> {
        self.predictions.prediction(prediction);
        let mut text = Text::default();
        self.predictions.write(&mut text);
        self.published.publish(text.finish()).map_err(io::Error::other)
    }
}
