//! What becomes of the traces that `ftio predict` follows: a predictor for each signal, whose predictions go
//! to the sinks and onto the screen.

use super::lines;
use super::shown::Shown;
use super::sinks::Sinks;
use super::tui::{self, Tui};
use crate::follow::Handler;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain};
use ftio_core::predict::PredictOptions;
use ftio_core::predict::Predictors;
use sources::follow::{Event, Status};
use std::io::Write;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Predicts.
pub struct Predicting {
    traces: Vec<Signals>,
    sinks: Sinks,
    tui: Option<Tui>,
}

impl Predicting {
    pub fn new<'a>(
        paths: impl IntoIterator<Item = &'a Path>,
        options: &PredictOptions,
        sinks: Sinks,
        tui: Option<Tui>,
    ) -> Self {
        let traces = paths.into_iter().map(|path| Signals::new(path, options.clone())).collect();
        Predicting { traces, sinks, tui }
    }

    /// The end: the terminal is given back, and everything is out.
    pub fn finish(mut self) -> anyhow::Result<()> {
        if self.tui.take().is_some() {
            // The screen is gone: its last word stays.
            let shown: Vec<&Shown> = self.traces.iter().flat_map(|trace| &trace.shown).collect();
            let named = shown.len() > 1;
            for last in shown.iter().filter_map(|shown| shown.last.as_ref()) {
                let line = lines::line(last, named, Style::for_stdout());
                let _ = writeln!(std::io::stdout(), "{line}");
            }
        }
        self.sinks.flush()
    }
}

impl Handler for Predicting {
    fn event(&mut self, trace: usize, event: Event<'_>) {
        if let Some(signals) = self.traces.get_mut(trace) {
            signals.take(event, &mut self.sinks);
        }
    }

    fn looked(&mut self, trace: usize, status: Status) -> anyhow::Result<()> {
        let shown = self.traces.get_mut(trace).into_iter().flat_map(|signals| &mut signals.shown);
        shown.for_each(|shown| shown.ended = status.ended);
        Ok(())
    }

    fn round(&mut self, news: bool) -> anyhow::Result<()> {
        self.sinks.flush()?;
        match &mut self.tui {
            Some(tui) => {
                let traces: Vec<_> =
                    self.traces.iter().map(|trace| (trace.path.as_path(), &trace.shown[..])).collect();
                tui.draw(&traces, news)
            }
            None => Ok(()),
        }
    }

    fn wakes(&self) -> (Option<BorrowedFd<'_>>, Option<Duration>) {
        (self.tui.as_ref().map(Tui::keys), self.tui.as_ref().map(|_| tui::TICK))
    }

    fn stops(&mut self) -> bool {
        self.tui.as_mut().is_some_and(Tui::pressed)
    }
}

/// The signals of one trace.
#[derive(Debug)]
struct Signals {
    path: PathBuf,
    predictors: Predictors,
    shown: Vec<Shown>,
}

impl Signals {
    fn new(path: &Path, options: PredictOptions) -> Self {
        Signals { path: path.to_owned(), predictors: Predictors::new(options), shown: Vec::new() }
    }

    fn take(&mut self, event: Event<'_>, sinks: &mut Sinks) {
        match event {
            Event::Restarted => {
                self.shown.clear();
                sinks.restarted(&self.path);
            }
            Event::Stream(stream) => self.shown.push(Shown::new(&stream.name)),
            Event::Warning(text) => complain(Severity::Warning, text),
            _ => {}
        }
        if let Some((stream, prediction)) = self.predictors.take(&event) {
            if let (Some(shown), Some(signal)) = (self.shown.get_mut(stream), self.predictors.signal(stream))
            {
                shown.take(&prediction, signal);
            }
            sinks.prediction(&prediction);
        }
    }
}
