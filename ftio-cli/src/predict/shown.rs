//! What the screen remembers of a signal.

use ftio_core::predict::{Change, Prediction};
use ftio_core::signal::Signal;
use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

/// How many predictions are remembered.
const MAX_PREDICTIONS: usize = 32;

/// What there is to show of a signal.
#[derive(Clone, Debug)]
pub struct Shown {
    pub name: String,
    pub last: Option<Prediction>,
    /// When it was made.
    pub at: Instant,
    /// Bandwidth in the window.
    pub signal: Signal,
    /// Times and periods of the predictions so far.
    pub before: VecDeque<(f64, Option<f64>)>,
    /// The last change of behaviour.
    pub change: Option<Change>,
    /// The job has ended.
    pub ended: bool,
}

impl Shown {
    pub fn new(name: &str) -> Self {
        Shown {
            name: from_here(name),
            last: None,
            at: Instant::now(),
            signal: Signal { start: 0, bin: 1, samples: Vec::new(), abstraction_error: 0.0 },
            before: VecDeque::new(),
            change: None,
            ended: false,
        }
    }

    pub fn take(&mut self, prediction: &Prediction, signal: &Signal) {
        (self.at, self.signal) = (Instant::now(), signal.clone());
        self.change = prediction.change.or(self.change);
        self.before.push_back((prediction.t, prediction.period));
        if self.before.len() > MAX_PREDICTIONS {
            self.before.pop_front();
        }
        self.last = Some(prediction.clone());
    }
}

/// A path without the folder that we are in.
fn from_here(name: &str) -> String {
    let here = std::env::current_dir().ok();
    let inside = here.and_then(|here| Path::new(name).strip_prefix(here).ok().map(Path::to_path_buf));
    inside.map_or(name.to_owned(), |inside| inside.display().to_string())
}
