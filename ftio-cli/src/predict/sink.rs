//! What an output of predictions does.

use ftio_core::predict::Prediction;
use std::io;

/// Takes predictions as they are made.
pub trait Sink {
    /// `json` is the prediction as one line of JSON. An error ends the command.
    fn prediction(&mut self, prediction: &Prediction, json: &str) -> io::Result<()>;
}
