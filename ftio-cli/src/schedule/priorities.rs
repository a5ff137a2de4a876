//! The scheduler's priorities, and a line for each change of one.

use super::record::Record;
use crate::exit::Exit;
use crate::terminal::text::{Severity, complain};
use anyhow::Context;
use io_sets::configfs::ConfigfsError;
use io_sets::scheduler::Scheduler;
use io_sets::standing::Standing;
use std::io::Write;

/// The scheduler, and how its changes are printed.
#[derive(Debug)]
pub struct Priorities {
    scheduler: Scheduler,
    json: bool,
    exit: Exit,
}

/// The job of a trace.
#[derive(Clone, Copy, Debug)]
pub struct JobOf<'a> {
    pub number: usize,
    pub source: &'a str,
}

impl Priorities {
    pub fn new(scheduler: Scheduler, json: bool) -> Self {
        Priorities { scheduler, json, exit: Exit::Done }
    }

    /// Was everything written?
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Do something about a job, and print it if its priority has changed. What cannot be done for one job
    /// does not stop the others.
    pub fn change(
        &mut self,
        job: JobOf<'_>,
        t: Option<f64>,
        act: impl FnOnce(&mut Scheduler) -> Result<(), ConfigfsError>,
    ) -> anyhow::Result<()> {
        let standing = |scheduler: &Scheduler| {
            scheduler.standing(job.number).map(|(id, standing)| (id.to_owned(), standing.clone()))
        };
        let before = standing(&self.scheduler);
        if let Err(error) = act(&mut self.scheduler) {
            complain(Severity::Error, &error.to_string());
            self.exit = Exit::Failed;
        }
        let after = standing(&self.scheduler);
        match (before, after) {
            (Some((id, old)), None) => self.print("ended", &id, job.source, t, &old),
            (Some((old_id, old)), Some((id, new))) if old_id != id => {
                self.print("ended", &old_id, job.source, t, &old)?;
                self.print("started", &id, job.source, t, &new)
            }
            (None, Some((id, new))) => self.print("started", &id, job.source, t, &new),
            (Some((_, old)), Some((id, new))) if old.priority() != new.priority() => {
                self.print("changed", &id, job.source, t, &new)
            }
            _ => Ok(()),
        }
    }

    fn print(
        &self,
        event: &'static str,
        id: &str,
        source: &str,
        t: Option<f64>,
        standing: &Standing,
    ) -> anyhow::Result<()> {
        let record = Record::new(event, id, source, t, standing);
        let line = if self.json { serde_json::to_string(&record)? } else { record.line() };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).context("cannot write to standard output")
    }
}
