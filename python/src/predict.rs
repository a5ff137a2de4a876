//! `predict`: a trace is followed, or replayed, and every flush gives a prediction.

use crate::call::{Problem, call, pause};
use crate::options::Asked;
use ftio_core::predict::Predictors;
use pyo3::prelude::*;
use sources::follow::{Event, Trace};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Follows one trace.
#[derive(Debug)]
#[pyclass(module = "ftio_rs._native", frozen)]
pub struct Predictions {
    path: PathBuf,
    state: Arc<Mutex<Following>>,
    poll: Duration,
}

/// How things stand.
#[derive(Debug)]
struct Following {
    trace: Trace,
    predictors: Predictors,
    ready: VecDeque<String>,
    warnings: Vec<String>,
    /// Wait for more where nothing says that the job has ended.
    follow: bool,
    timeout: Option<Duration>,
    last_news: Instant,
    over: bool,
}

#[pymethods]
impl Predictions {
    #[new]
    #[pyo3(signature = (path, asked, follow, timeout, poll))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        asked: &str,
        follow: Option<bool>,
        timeout: Option<f64>,
        poll: f64,
    ) -> PyResult<Self> {
        Self::open(path, asked, follow, timeout, poll).map_err(|problem| problem.raise(py))
    }

    /// The next prediction as JSON, when there is one; `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<String>> {
        loop {
            let state = Arc::clone(&self.state);
            let (ready, over) = call(py, move || {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                if state.ready.is_empty() && !state.over {
                    state.look()?;
                }
                Ok((state.ready.pop_front(), state.over))
            })?;
            if ready.is_some() || over {
                return Ok(ready);
            }
            pause(py, self.poll)?;
        }
    }

    /// What could not be used, since the last time.
    fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).warnings)
    }

    fn __repr__(&self) -> String {
        format!("<predictions of {}>", self.path.display())
    }
}

impl Predictions {
    fn open(
        path: PathBuf,
        asked: &str,
        follow: Option<bool>,
        timeout: Option<f64>,
        poll: f64,
    ) -> Result<Self, Problem> {
        let asked = Asked::parse(asked)?;
        let options = asked.prediction()?;
        let time = |name: &str, seconds: f64| {
            let wrong = || Problem::usage(format!("{name}: expected seconds above 0, found {seconds}"));
            Some(seconds)
                .filter(|time| *time > 0.0 && *time <= 1e9)
                .map(Duration::from_secs_f64)
                .ok_or_else(wrong)
        };
        let timeout = timeout.map(|seconds| time("timeout", seconds)).transpose()?;
        let poll = time("poll", poll)?;
        let mut parts = path.as_os_str().to_owned();
        parts.push(".parts");
        let is_there = path.exists() || PathBuf::from(parts).exists();
        if !is_there && follow != Some(true) {
            let name = path.display().to_string();
            return Err(Problem::system(&name, &std::io::ErrorKind::NotFound.into()));
        }
        let trace = Trace::new(&path, options.detect.mode, &asked.reading()?);
        let following = Following {
            trace,
            predictors: Predictors::new(options),
            ready: VecDeque::new(),
            warnings: Vec::new(),
            follow: follow.unwrap_or(timeout.is_some()),
            timeout,
            last_news: Instant::now(),
            over: false,
        };
        Ok(Predictions { path, state: Arc::new(Mutex::new(following)), poll })
    }
}

impl Following {
    /// Take in what is new, and see whether that was all.
    fn look(&mut self) -> Result<(), Problem> {
        let Following { trace, predictors, ready, warnings, .. } = self;
        let mut failed = None;
        let mut visit = |event: Event<'_>| {
            if let Event::Warning(text) = &event {
                warnings.push((*text).to_owned());
            }
            if let Some((_, prediction)) = predictors.take(&event) {
                match serde_json::to_string(&prediction) {
                    Ok(json) => ready.push_back(json),
                    Err(error) => failed = Some(error),
                }
            }
        };
        let status = match trace.look(true, &mut visit) {
            Ok(status) => status,
            Err(error) => {
                self.over = true;
                return Err(error.into());
            }
        };
        if status.grew {
            self.last_news = Instant::now();
        }
        let is_quiet = |timeout: Duration| self.last_news.elapsed() >= timeout;
        // A file that others append to does not say when it is complete.
        let is_all = status.found && !trace.tells_end() && !self.follow;
        let nothing_yet = !status.found && !self.follow;
        if status.ended || is_all || nothing_yet || self.timeout.is_some_and(is_quiet) {
            trace.settle(&mut visit);
            self.over = true;
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}
