//! The period while the job runs: requests go in as they become known, a [`Prediction`] comes out for every
//! flush.
//!
//! ```
//! use ftio_core::predict::{PredictOptions, Predictor};
//! use sources::request::{Class, Request};
//!
//! let second = 1_000_000_000;
//! let mut predictor = Predictor::new("job 17", PredictOptions::default());
//! let mut last = None;
//! for i in 0..10 {
//!     // Every 10 s, 2 s of writing; flushed at its end.
//!     let (start, end) = ((10 * i + 8) * second, (10 * i + 10) * second);
//!     predictor.add(&[Request::new(start, end, 1 << 30, Class::WriteSync)]);
//!     last = Some(predictor.predict(end));
//! }
//! let last = last.unwrap();
//! assert!((last.period.unwrap() - 10.0).abs() < 0.1);
//! assert!((last.next_phase.unwrap().start - 108.0).abs() < 0.5);
//! ```
//!
//! # For callers
//!
//! * [`Predictor::add`] takes requests in any order, each once; it costs some nanoseconds a request.
//! * [`Predictor::predict`] says what is expected, given that everything up to a job time is known (a flush).
//!   It costs one detection in the current window (milliseconds), however long the job has run.
//! * Nothing here reads files or clocks; reading traces that grow is another subject. The same calls give the
//!   same answers.
//! * One predictor per signal. A new run under the same name is a new predictor.
//!
//! # How
//!
//! Requests go into bins (see [`volume`](crate::signal::bins)), of the whole job and, once the window is much
//! shorter, of the recent past as well ([`history`]). At a flush the signal of the [`window`] is analysed as
//! [`detect`](mod@crate::detect) analyses a finished trace. After that: has the behaviour [changed](change)?
//! which [`intervals`] do the predictions so far fall into? is there a [`trend`]?

pub mod change;
pub mod history;
pub mod intervals;
pub mod prediction;
mod predictors;
pub mod trend;
pub mod window;

pub use change::Change;
pub use intervals::Interval;
pub use prediction::{Prediction, SCHEMA};
pub use predictors::Predictors;
pub use trend::{Direction, Trend};
pub use window::WindowRule;

use crate::detect::{Analysis, Options, analyse};
use crate::estimate::kind::SignalKind;
use crate::phases::phase::Phase;
use crate::signal::collect::width;
use crate::signal::{AUTO_MIN_SAMPLES, Signal};
use change::ChangeDetector;
use history::History;
use intervals::Past;
use sources::Job;
use sources::request::Request;
use window::Window;

/// How to predict.
#[derive(Clone, Debug, Default)]
pub struct PredictOptions {
    /// How a window is analysed. Its `from` is the earliest start of any window; `to` and what concerns
    /// pictures is not used.
    pub detect: Options,
    /// How the window follows the job.
    pub window: WindowRule,
}

/// Follows one signal. See the [module](self).
#[derive(Clone, Debug)]
pub struct Predictor {
    name: String,
    options: PredictOptions,
    job: Job,
    history: History,
    window: Window,
    change: ChangeDetector,
    past: Past,
    predictions: u64,
    signal: Signal,
    /// The phases of the last prediction, in seconds of job time.
    phases: Vec<Phase>,
    /// Lengths of the samples of a quantity, as far as they were looked at.
    steps: Vec<i64>,
}

/// Where a window begins instead of within a phase: half-way between that phase and the one before, so that
/// the phase is seen whole. Never before `earliest`.
fn before_phase(phases: &[Phase], from: i64, earliest: i64) -> i64 {
    let at = seconds(from);
    let within = phases.iter().position(|phase| (phase.start..phase.end).contains(&at));
    let quiet = within.and_then(|i| {
        let before = phases[i.checked_sub(1)?];
        Some(nanoseconds((before.end.min(phases[i].start) + phases[i].start) / 2.0))
    });
    quiet.unwrap_or(from).max(earliest)
}

/// Samples whose lengths are looked at to know the distance of samples.
const STEPS: usize = 255;

impl Predictor {
    /// For a job that begins at job time 0. `name` is what predictions call it.
    pub fn new(name: &str, options: PredictOptions) -> Self {
        let first = options.detect.from.map_or(0, nanoseconds);
        Predictor {
            name: name.to_owned(),
            history: History::new(options.detect.mode, options.detect.frequency),
            window: Window::new(options.window, first),
            change: ChangeDetector::default(),
            past: Past::default(),
            predictions: 0,
            steps: Vec::new(),
            phases: Vec::new(),
            signal: Signal { start: first, bin: 1, samples: Vec::new(), abstraction_error: 0.0 },
            job: Job { start: Some(first), ..Job::default() },
            options,
        }
    }

    /// The job began at another time than 0: idle time before it does not count. Only before the first
    /// prediction.
    pub fn begins_at(&mut self, start: i64) {
        let start = self.options.detect.from.map_or(start, |from| nanoseconds(from).max(start));
        self.job.start = Some(start);
        self.window = Window::new(self.options.window, start);
    }

    /// The signal is a sampled quantity, of which one unit is so many bytes of a request (see
    /// [`Job::per_unit`]).
    pub fn set_per_unit(&mut self, per_unit: Option<f64>) {
        self.job.per_unit = per_unit;
    }

    /// Take in requests.
    pub fn add(&mut self, requests: &[Request]) {
        if self.job.per_unit.is_some() && self.steps.len() < STEPS {
            self.learn_sampling(requests);
        }
        self.history.add(requests);
    }

    /// A sample is a request that ends where the next one begins: the usual length is the distance of samples
    /// (see [`Job::sampled`]).
    fn learn_sampling(&mut self, requests: &[Request]) {
        let lengths = requests.iter().map(|request| request.end - request.start).filter(|length| *length > 0);
        self.steps.extend(lengths.take(STEPS - self.steps.len()));
        self.steps.sort_unstable();
        self.job.sampled = self.steps.get(self.steps.len() / 2).copied();
    }

    /// Everything up to `until` (nanoseconds of job time) is known: what is to be expected?
    pub fn predict(&mut self, until: i64) -> Prediction {
        let before = self.window.begins();
        let mut start = self.window.start(until);
        if start > before && self.options.window.may_move() {
            start = before_phase(&self.phases, start, before);
        }
        let mut start = self.aligned(start, until);
        let mut found = self.analyse_window(start, until);
        // Too little may have been kept for the period to be seen: take back what was given up. Or too much:
        // silence before the first request hides it, if that is not most of what there is.
        let silence = |first: &i64| *first > start && first - start <= until - first;
        let others = [self.window.before_shortening(), self.history.begins().filter(silence)];
        for other in others.into_iter().flatten() {
            let other = self.aligned(other, until);
            // That one period follows another is an answer as well.
            if found.detection.period.is_none() && found.detection.signal != SignalKind::Changing {
                let analysed = self.analyse_window(other, until);
                if analysed.detection.period.is_some() {
                    (start, found) = (other, analysed);
                }
            }
        }
        let changed = self.look_for_change(start, until, &found);
        if let Some((from, replaced)) = &changed {
            start = *from;
            found = match replaced {
                Some(replaced) => replaced.clone(),
                None => self.analyse_window(start, until),
            };
        }
        let period = found.detection.period;
        self.window.estimated(start, until, period, changed.is_some());
        self.past.push(until, (until - start).max(1), period);
        self.predictions += 1;
        let change = changed.and_then(|_| self.change.last());
        let prediction = self.describe(start, until, &found, change);
        self.signal = found.signal;
        self.phases = found.phases;
        prediction
    }

    /// The signal of the window of the last prediction, for pictures.
    pub fn signal(&self) -> &Signal {
        &self.signal
    }

    /// Bytes taken in so far, in the mode that is followed.
    pub fn total_bytes(&self) -> u64 {
        self.history.total_bytes()
    }

    /// The start of a window, moved on to an edge of all bins in which a window of this length may be
    /// sampled. No bin then reaches beyond the window, and its period is that of a detection that reads
    /// nothing else. As the window grows its start never goes back.
    fn aligned(&self, from: i64, until: i64) -> i64 {
        if self.job.start.is_some_and(|first| from <= first) {
            return from;
        }
        let widest =
            || ((until - from).max(1) as u64 / (AUTO_MIN_SAMPLES as u64 / 2)).next_power_of_two() as i64;
        let width = self.options.detect.frequency.map_or_else(widest, width).max(1);
        let edge = from.div_euclid(width) * width;
        if edge < from { edge + width } else { edge }
    }

    fn analyse_window(&mut self, from: i64, to: i64) -> Analysis {
        let options =
            Options { from: Some(seconds(from)), to: Some(seconds(to)), ..self.options.detect.clone() };
        let job = Job { end: Some(to), ..self.job.clone() };
        let mut analysis = analyse(&self.name, self.history.collected(from, to), &job, &options);
        // Nothing is known after the flush, whatever some rank may have told already.
        analysis.detection.t_end = analysis.detection.t_end.min(seconds(to));
        analysis
    }

    /// `Some` if the behaviour has changed: where the window begins from now on, and what was found in it if
    /// there is a period.
    fn look_for_change(
        &mut self,
        start: i64,
        until: i64,
        found: &Analysis,
    ) -> Option<(i64, Option<Analysis>)> {
        let keep = self.options.window.follows_changes()?;
        let recent = match self.change.tail(start, until, keep) {
            Some(from) => {
                let from = self.aligned(from, until);
                let tail = self.analyse_window(from, until);
                self.change.tail_seen(tail.detection.period.is_some());
                tail.detection.period.map(|period| (period, tail))
            }
            None => found.detection.period.map(|period| (period, found.clone())),
        };
        match recent {
            Some((period, tail)) => {
                self.change.observe(until, period)?;
                let from = before_phase(&tail.phases, until - nanoseconds(keep * period), start);
                let from = self.aligned(from, until);
                let again = self.analyse_window(from, until);
                let analysed = if again.detection.period.is_some() { again } else { tail };
                Some((from, Some(analysed)))
            }
            None => {
                let from = self.change.missed(until)?;
                Some((self.aligned(from.max(start), until), None))
            }
        }
    }

    fn describe(&self, start: i64, until: i64, found: &Analysis, change: Option<Change>) -> Prediction {
        let detection = &found.detection;
        Prediction {
            schema: SCHEMA,
            source: self.name.clone(),
            t: seconds(until),
            period: detection.period,
            confidence: detection.confidence,
            window: [seconds(start), seconds(until)],
            next_phase: detection.next_phase,
            intervals: self.past.intervals(),
            changed: change.is_some(),
            n: self.predictions,
            frequency: detection.frequency,
            refined_confidence: detection.refined_confidence,
            probability_periodic: self.past.probability_periodic(),
            trend: self.past.trend(),
            change,
            hits: self.window.hits(),
            mode: detection.mode,
            signal: detection.signal,
            total_bytes: self.history.total_bytes(),
            characterization: detection.characterization,
        }
    }
}

pub(crate) fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

pub(crate) fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests;
