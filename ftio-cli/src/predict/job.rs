//! One trace that is followed, and the predictors of its signals.

use super::Outputs;
use crate::terminal::text::complain;
use ftio_core::follow::{Event, Follower};
use ftio_core::predict::{Change, PredictOptions, Prediction, Predictor};
use ftio_core::signal::Signal;
use ftio_core::source::{OpenOptions, SourceError, Span};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Not all ranks write at the same moment: wait for the others three quarters of the time that it last was from flush to flush, but within these
/// limits.
const LEAST_GRACE: Duration = Duration::from_millis(500);
const MOST_GRACE: Duration = Duration::from_secs(10);

/// A trace that is followed.
#[derive(Debug)]
pub struct Followed {
    follower: Follower,
    signals: Signals,
    /// It cannot be followed.
    pub failed: bool,
    /// Its job has ended.
    pub ended: bool,
    unsettled_since: Option<Instant>,
}

/// The predictors of its signals.
#[derive(Debug)]
struct Signals {
    path: PathBuf,
    options: PredictOptions,
    predictors: Vec<Predictor>,
    shown: Vec<Shown>,
    /// When all ranks had last written.
    last_flush: Option<Instant>,
    grace: Duration,
    settling: bool,
}

impl Followed {
    pub fn new(path: &Path, options: &PredictOptions, reading: &OpenOptions) -> Self {
        let span = options.detect.mode.map_or(Span::Actual, |mode| mode.span());
        let signals = Signals {
            path: path.to_owned(),
            options: options.clone(),
            predictors: Vec::new(),
            shown: Vec::new(),
            last_flush: None,
            grace: Duration::from_secs(1),
            settling: false,
        };
        let follower = Follower::new(path, span, reading.clone());
        Followed { follower, signals, failed: false, ended: false, unsettled_since: None }
    }

    pub fn path(&self) -> &Path {
        self.follower.path()
    }

    /// What is there now is of an earlier run.
    pub fn ignore_present(&mut self) {
        self.follower.ignore_present();
    }

    /// Take in what is new. `true` if there was something.
    pub fn look(&mut self, outputs: &mut Outputs) -> Result<bool, SourceError> {
        let signals = &mut self.signals;
        let status = match self.follower.poll(&mut |event| signals.take(event, outputs)) {
            Ok(status) => status,
            Err(error) => {
                self.failed = true;
                return Err(error);
            }
        };
        self.ended = status.ended;
        self.signals.shown.iter_mut().for_each(|shown| shown.ended = status.ended);
        match (status.unsettled, self.unsettled_since) {
            (false, _) => self.unsettled_since = None,
            (true, None) => self.unsettled_since = Some(Instant::now()),
            (true, Some(since)) if since.elapsed() >= self.signals.grace => self.settle(outputs),
            (true, Some(_)) => {}
        }
        Ok(status.grew)
    }

    /// What was handed out counts, whoever has not said anything.
    pub fn settle(&mut self, outputs: &mut Outputs) {
        self.unsettled_since = None;
        let signals = &mut self.signals;
        signals.settling = true;
        self.follower.settle(&mut |event| signals.take(event, outputs));
        signals.settling = false;
    }

    /// When to look again for those who have not said anything.
    pub fn settles_in(&self) -> Option<Duration> {
        let since = self.unsettled_since?;
        Some(self.signals.grace.saturating_sub(since.elapsed()) + Duration::from_millis(1))
    }

    /// If the job is dead, take what it left.
    pub fn bury(&mut self, outputs: &mut Outputs) {
        let signals = &mut self.signals;
        if !self.ended && self.follower.bury(&mut |event| signals.take(event, outputs)) {
            self.ended = true;
        }
    }

    /// What there is to show of its signals.
    pub fn shown(&self) -> &[Shown] {
        &self.signals.shown
    }
}

impl Signals {
    fn take(&mut self, event: Event<'_>, outputs: &mut Outputs) {
        match event {
            Event::Restarted => {
                self.predictors.clear();
                self.shown.clear();
                self.last_flush = None;
                outputs.restarted(&self.path);
            }
            Event::Stream(stream) => {
                let mut predictor = Predictor::new(&stream.name, self.options.clone());
                predictor.set_per_unit(stream.per_unit);
                if let Some(start) = stream.begins {
                    predictor.begins_at(start);
                }
                self.predictors.push(predictor);
                self.shown.push(Shown::new(&stream.name));
            }
            Event::Requests { stream, requests } => {
                if let Some(predictor) = self.predictors.get_mut(stream) {
                    predictor.add(requests);
                }
            }
            Event::Flush { stream, until } => {
                let now = Instant::now();
                if !self.settling
                    && let Some(last) = self.last_flush.replace(now)
                {
                    self.grace = (now.duration_since(last) * 3 / 4).clamp(LEAST_GRACE, MOST_GRACE);
                }
                if let Some(predictor) = self.predictors.get_mut(stream) {
                    let prediction = predictor.predict(until);
                    self.shown[stream].take(&prediction, predictor.signal());
                    outputs.prediction(&prediction);
                }
            }
            Event::Warning(text) => complain("warning", text),
        }
    }
}

/// Predictions that a picture remembers.
const REMEMBERED: usize = 32;

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
            name: name.to_owned(),
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
        if self.before.len() > REMEMBERED {
            self.before.pop_front();
        }
        self.last = Some(prediction.clone());
    }
}
