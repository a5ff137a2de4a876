//! `ftio schedule --configfs DIR TRACE…`: follow jobs, and keep their priorities up to date.

use super::Args;
use crate::exit::{Exit, wrong_usage};
use crate::follow::{Handler, Trace, Until, follow};
use crate::inputs;
use crate::print;
use crate::terminal::text::{Severity, complain, warning};
use crate::terminal::units::seconds;
use ftio_core::detect::Options;
use ftio_core::predict::PredictOptions;
use io_sets::configfs::Configfs;
use io_sets::follow::{History, Record, Scheduling, Told};
use io_sets::scheduler::{self, Scheduler};
use sources::OpenOptions;
use sources::follow::{Event, Status};
use std::path::{Path, PathBuf};

/// Follow until asked to stop, or until all jobs have ended if that is asked for.
pub fn run(args: &Args, directory: &Path) -> anyhow::Result<Exit> {
    if args.job.is_some() && args.traces.len() > 1 {
        let count = args.traces.len();
        return Err(wrong_usage(format!("--job is the id of one trace, but {count} traces were given")));
    }
    let configfs = Configfs::open(directory)?;
    let (min_period, max_period) = (Some(args.min_period), args.max_period);
    let options = Options { mode: args.mode.mode, min_period, max_period, ..Options::default() };
    let reading = args.quantity.options()?;
    let history = history(&args.history, &options, &reading)?;
    let scheduler = Scheduler::new(Some(configfs), scheduler::Options { history, early: args.early });
    let predict = PredictOptions { detect: options, ..PredictOptions::default() };
    let scheduling = Scheduling::new(&args.traces, args.job.as_deref(), &predict, scheduler);
    let mut shown = Shown { scheduling, json: args.json, exit: Exit::Done };
    let mut traces: Vec<Trace> =
        args.traces.iter().map(|path| Trace::new(path, args.mode.mode, &reading)).collect();
    let until = Until { complete: args.until_complete, ..Until::default() };
    let exit = follow(&mut traces, &mut shown, args.poll, &until)?;
    Ok(exit.max(shown.exit))
}

/// The periods of earlier runs. Those that have none, or cannot be read, do not count.
fn history(paths: &[PathBuf], options: &Options, reading: &OpenOptions) -> anyhow::Result<Vec<f64>> {
    let found = History::of(inputs::sources(paths, false, reading), options);
    for name in &found.not_periodic {
        warning!("{name}: not periodic, left out");
    }
    found.problems.iter().for_each(|error| complain(Severity::Warning, &inputs::explained(error)));
    if found.periods.is_empty() && !paths.is_empty() {
        anyhow::bail!("--history: expected at least one trace with a period, found none");
    }
    Ok(found.periods)
}

/// What changes is printed while the traces are followed.
struct Shown {
    scheduling: Scheduling,
    json: bool,
    exit: Exit,
}

impl Shown {
    fn tell(&mut self) -> anyhow::Result<()> {
        for told in self.scheduling.take_told() {
            match told {
                Told::Record(record) => print::result(self.json, &record, line)?,
                Told::Failed(error) => {
                    complain(Severity::Error, &error.to_string());
                    self.exit = Exit::Failed;
                }
                Told::Warning(text) => complain(Severity::Warning, &text),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Handler for Shown {
    fn event(&mut self, trace: usize, event: Event<'_>) {
        self.scheduling.event(trace, event);
    }

    fn looked(&mut self, trace: usize, status: Status) -> anyhow::Result<()> {
        self.scheduling.looked(trace, status);
        self.tell()
    }

    fn failed(&mut self, trace: usize) -> anyhow::Result<()> {
        self.scheduling.failed(trace);
        self.tell()
    }

    fn needs_end(&self, trace: usize) -> bool {
        self.scheduling.needs_end(trace)
    }
}

/// For people.
fn line(record: &Record) -> String {
    let when = record.t.map_or(String::new(), |t| format!(" at {}", seconds(t)));
    let Some(priority) = record.priority else {
        return format!("job {}{when}: over, priority removed\n", record.job);
    };
    let why = match (record.period, record.set) {
        (Some(period), Some(set)) => format!("period {}, set {set}", seconds(period)),
        _ => "period unknown, a set of its own".into(),
    };
    format!("job {}{when}: priority {priority} ({why})\n", record.job)
}
