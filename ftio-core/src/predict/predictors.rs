//! From the events of one trace to predictions: a predictor for each of its signals.

use super::{PredictOptions, Prediction, Predictor};
use crate::signal::Signal;
use sources::follow::Event;

/// The predictors of one trace, numbered as its signals are.
#[derive(Debug)]
pub struct Predictors {
    options: PredictOptions,
    predictors: Vec<Predictor>,
    /// Job time 0 on the clock, where it is known.
    origins: Vec<Option<i64>>,
}

impl Predictors {
    /// For a trace of which nothing is known yet.
    pub fn new(options: PredictOptions) -> Self {
        Predictors { options, predictors: Vec::new(), origins: Vec::new() }
    }

    /// Take in an event. A flush gives a prediction for the signal of this number.
    pub fn take(&mut self, event: &Event<'_>) -> Option<(usize, Prediction)> {
        match event {
            Event::Restarted => {
                self.predictors.clear();
                self.origins.clear();
            }
            Event::Stream(stream) => {
                let mut predictor = Predictor::new(&stream.name, self.options.clone());
                predictor.set_per_unit(stream.per_unit);
                if let Some(start) = stream.begins {
                    predictor.begins_at(start);
                }
                self.predictors.push(predictor);
                self.origins.push(None);
            }
            Event::Requests { stream, requests } => {
                if let Some(predictor) = self.predictors.get_mut(*stream) {
                    predictor.add(requests);
                }
            }
            Event::Flush { stream, until } => {
                let mut prediction = self.predictors.get_mut(*stream)?.predict(*until);
                let origin = self.origins.get(*stream).copied().flatten();
                prediction.next_phase = prediction.next_phase.map(|next| next.on_clock(origin));
                return Some((*stream, prediction));
            }
            Event::Clock { stream, origin } => {
                if let Some(known) = self.origins.get_mut(*stream) {
                    *known = Some(*origin);
                }
            }
            Event::Warning(_) => {}
        }
        None
    }

    /// The signal that the last prediction of a stream looked at, for pictures.
    pub fn signal(&self, stream: usize) -> Option<&Signal> {
        self.predictors.get(stream).map(Predictor::signal)
    }
}
