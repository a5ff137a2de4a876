//! What staging reports is printed and published while the trace is followed.

use super::lines::line;
use super::metrics::Metrics;
use super::progress::Progress;
use crate::follow::Handler;
use crate::print;
use crate::terminal::style::Style;
use crate::terminal::text::{Severity, complain};
use io_stage::live::{Record, Staging, Told};
use sources::follow::{Event, FileUse, Status};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Look at everything at least this often.
const TICK: Duration = Duration::from_secs(1);
/// Where somebody watches, more often.
const WATCHED: Duration = Duration::from_millis(250);

/// Staging, and where its reports go.
#[derive(Debug)]
pub struct Shown {
    staging: Staging,
    metrics: Option<Metrics>,
    progress: Progress,
    json: bool,
}

impl Shown {
    pub fn new(staging: Staging, metrics: Option<Metrics>, json: bool) -> Self {
        Shown { staging, metrics, progress: Progress::new(), json }
    }

    /// Print what there is to tell.
    fn tell(&mut self) -> anyhow::Result<()> {
        for told in self.staging.take_told() {
            match told {
                Told::Record(record) => self.print(&record)?,
                Told::Predicted(prediction) => {
                    self.metrics.iter_mut().for_each(|metrics| metrics.prediction(&prediction));
                }
                Told::Warning(text) => self.complain(Severity::Warning, &text),
                Told::Note(text) => self.complain(Severity::Note, &text),
                _ => {}
            }
        }
        Ok(())
    }

    fn complain(&mut self, severity: Severity, text: &str) {
        self.progress.clear();
        complain(severity, text);
    }

    fn print(&mut self, record: &Record) -> anyhow::Result<()> {
        self.progress.clear();
        show(self.json, record)
    }

    fn publish(&mut self) -> anyhow::Result<()> {
        let (source, planner) = (self.staging.source(), self.staging.planner());
        match &mut self.metrics {
            Some(metrics) => metrics.publish(source, planner, self.staging.now()),
            None => Ok(()),
        }
    }

    /// Tell the sums.
    pub fn finish(mut self) -> anyhow::Result<End> {
        let summary = self.staging.summary();
        let left = summary.report.as_ref().map_or(0, |report| report.files_left);
        self.print(&summary)?;
        self.publish()?;
        Ok(End { left, interrupted: !self.staging.is_finished() })
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Files that are left in the buffer.
    pub left: u64,
    /// Not everything was tried.
    pub interrupted: bool,
}

/// One line.
pub fn show(json: bool, record: &Record) -> anyhow::Result<()> {
    Ok(print::result(json, record, |record| line(record, Style::for_stdout()) + "\n")?)
}

impl Handler for Shown {
    fn event(&mut self, _trace: usize, event: Event<'_>) {
        self.staging.event(event);
    }

    fn files(&mut self, _trace: usize, files: &[FileUse]) {
        self.staging.files(files);
    }

    fn looked(&mut self, _trace: usize, status: Status) -> anyhow::Result<()> {
        self.staging.looked(status);
        self.tell()
    }

    fn needs_end(&self, _trace: usize) -> bool {
        self.staging.needs_end()
    }

    fn round(&mut self, _news: bool) -> anyhow::Result<()> {
        self.staging.step();
        self.tell()?;
        self.publish()?;
        self.progress.show(self.staging.planner(), self.staging.copied(), self.staging.now());
        Ok(())
    }

    fn wakes(&self) -> (Option<BorrowedFd<'_>>, Option<Duration>) {
        let (wakeup, soonest) = self.staging.wakes(if self.progress.is_wanted() { WATCHED } else { TICK });
        (Some(wakeup), Some(soonest))
    }

    fn stops(&mut self) -> bool {
        self.staging.is_finished()
    }
}
