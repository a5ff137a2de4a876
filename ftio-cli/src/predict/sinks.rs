//! All the outputs of predictions. A new one is a file with a [`Sink`], and a line in [`Sinks::open`].

use super::args::OutArgs;
use super::exec::Exec;
use super::lines::{JsonLines, Place, TextLines};
use super::prometheus::Prometheus;
use super::sink::Sink;
use super::socket;
use crate::terminal::text::note;
use anyhow::Context;
use ftio_core::predict::Prediction;
use std::io::{self, Write};
use std::path::Path;

/// All that want to know of predictions.
pub struct Sinks {
    sinks: Vec<Box<dyn Sink>>,
    /// The terminal shows a live picture.
    live: bool,
    /// The first thing that went wrong in writing: the command cannot go on.
    problem: Option<io::Error>,
}

impl Sinks {
    /// Open everything that is asked for; `named` if there are several traces.
    pub fn open(args: &OutArgs, named: bool, place: Place) -> anyhow::Result<Self> {
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        if args.json {
            sinks.push(Box::new(JsonLines));
        } else if !args.tui {
            sinks.push(Box::new(TextLines::open(named, place)));
        }
        if let Some(command) = &args.exec {
            sinks.push(Box::new(Exec::open(command)?));
        }
        if let Some(target) = &args.socket {
            sinks.push(Box::new(socket::open(target)?));
        }
        if let Some(target) = &args.prometheus {
            sinks.push(Box::new(Prometheus::open(target)?));
        }
        Ok(Sinks { sinks, live: args.tui, problem: None })
    }

    /// A prediction for all. What goes wrong is kept until [`flush`](Self::flush).
    pub fn prediction(&mut self, prediction: &Prediction) {
        let result: io::Result<()> =
            serde_json::to_string(prediction).map_err(io::Error::from).and_then(|json| {
                // A sink that fails does not keep the others from hearing of it.
                let results: Vec<_> =
                    self.sinks.iter_mut().map(|sink| sink.prediction(prediction, &json)).collect();
                results.into_iter().collect()
            });
        if let Err(error) = result {
            self.problem.get_or_insert(error);
        }
    }

    /// Another run has begun under the same name.
    pub fn restarted(&self, name: &Path) {
        if !self.live {
            note!("{}: another run has begun", name.display());
        }
    }

    /// Everything so far is out, or an error.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        if let Some(error) = self.problem.take() {
            return Err(error).context("cannot write predictions");
        }
        io::stdout().flush().context("cannot write predictions")
    }
}
