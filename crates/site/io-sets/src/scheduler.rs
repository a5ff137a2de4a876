//! Keeps the priorities of running jobs up to date: told what starts, what is predicted and what ends.
//!
//! What is followed is a *run*: a trace, in most cases a job's only one. If a job has several (steps), it has
//! the highest priority of its runs.

use crate::configfs::{Configfs, ConfigfsError};
use crate::rules::{Priority, Set};
use crate::simulate::early_guess;
use crate::standing::Standing;
use std::collections::BTreeMap;

/// How to schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Periods of earlier runs of the application.
    pub history: Vec<f64>,
    /// Lower the priority of those that do I/O seldom before their period is known.
    pub early: bool,
}

/// The scheduler.
#[derive(Debug)]
pub struct Scheduler {
    configfs: Option<Configfs>,
    options: Options,
    runs: BTreeMap<usize, Run>,
}

#[derive(Debug)]
struct Run {
    job: String,
    standing: Standing,
    /// Has a period been predicted, or is it known from earlier runs?
    conclusive: bool,
}

impl Run {
    /// A period that is known counts more than that none is.
    fn rank(&self) -> (bool, Priority) {
        (self.standing.period().is_some(), self.standing.priority())
    }
}

impl Scheduler {
    /// Priorities go to this directory, if there is one.
    pub fn new(configfs: Option<Configfs>, options: Options) -> Self {
        Scheduler { configfs, options, runs: BTreeMap::new() }
    }

    /// A run of a job has been found. Another run of that number is over.
    pub fn started(&mut self, run: usize, job: &str) -> Result<(), ConfigfsError> {
        let history = self.options.history.clone();
        self.started_after(run, job, &history)
    }

    /// The same; earlier runs of its application had these periods.
    pub fn started_after(&mut self, run: usize, job: &str, history: &[f64]) -> Result<(), ConfigfsError> {
        self.ended(run)?;
        let taken = |priority: Priority| {
            self.runs.values().any(|other| other.job != job && other.standing.priority() == priority)
        };
        let standing = Standing::from_history(history).unwrap_or_else(|| Standing::unknown(job, taken));
        let conclusive = standing.period().is_some();
        self.runs.insert(run, Run { job: job.to_owned(), standing, conclusive });
        self.write(job)
    }

    /// There is a prediction for a run: its period, if it has one.
    pub fn predicted(&mut self, run: usize, period: Option<f64>) -> Result<(), ConfigfsError> {
        let Some(known) = self.runs.get_mut(&run) else { return Ok(()) };
        known.conclusive |= period.is_some_and(|period| Set::of_period(period).is_some());
        if !known.standing.predicted(period) {
            return Ok(());
        }
        let job = known.job.clone();
        self.write(&job)
    }

    /// So far a run has had so many I/O phases in so many seconds. Counts only as long as nothing else is
    /// known.
    pub fn observed(&mut self, run: usize, seconds: f64, phases: u64) -> Result<(), ConfigfsError> {
        let Some(known) = self.runs.get_mut(&run) else { return Ok(()) };
        if !self.options.early || known.conclusive {
            return Ok(());
        }
        if !known.standing.predicted(early_guess(seconds, phases)) {
            return Ok(());
        }
        let job = known.job.clone();
        self.write(&job)
    }

    /// A run is over.
    pub fn ended(&mut self, run: usize) -> Result<(), ConfigfsError> {
        let Some(over) = self.runs.remove(&run) else { return Ok(()) };
        self.write(&over.job)
    }

    /// The job of a run, its priority and the period that it is based on, if the run is known.
    pub fn standing(&self, run: usize) -> Option<(&str, &Standing)> {
        self.runs.get(&run).map(|run| (run.job.as_str(), &run.standing))
    }

    /// The priority of each job.
    pub fn priorities(&self) -> BTreeMap<String, Priority> {
        let mut highest = BTreeMap::new();
        for run in self.runs.values() {
            let of = highest.entry(run.job.clone()).or_insert(run.rank());
            *of = run.rank().max(*of);
        }
        highest.into_iter().map(|(job, (_, priority))| (job, priority)).collect()
    }

    /// Bring the directory up to date for a job.
    fn write(&mut self, job: &str) -> Result<(), ConfigfsError> {
        let Some(configfs) = &mut self.configfs else { return Ok(()) };
        let own = self.runs.values().filter(|run| run.job == job);
        let highest = own.map(Run::rank).max();
        match highest {
            Some((_, priority)) => configfs.set(job, priority),
            None => configfs.remove(job),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn scheduler(root: &Path, options: Options) -> Scheduler {
        Scheduler::new(Some(Configfs::open(root).unwrap()), options)
    }

    fn stored(root: &Path, job: &str) -> Option<u32> {
        fs::read_to_string(root.join(job).join("priority")).ok()?.trim().parse().ok()
    }

    #[test]
    fn from_start_to_end() {
        let root = tempfile::tempdir().unwrap();
        let mut scheduler = scheduler(root.path(), Options::default());
        let of = |job| stored(root.path(), job);
        scheduler.started(0, "10").unwrap();
        scheduler.started(1, "11").unwrap();
        assert_eq!((of("10"), of("11")), (Some(200_011), Some(200_012)));
        scheduler.predicted(0, None).unwrap();
        scheduler.observed(0, 4000.0, 1).unwrap();
        assert_eq!(of("10"), Some(200_011), "kept while nothing is known");
        scheduler.predicted(0, Some(19.2)).unwrap();
        assert_eq!((of("10"), of("11")), (Some(1_000_000), Some(200_012)));
        scheduler.predicted(0, None).unwrap();
        assert_eq!(of("10"), Some(1_000_000), "kept until the next conclusive one");
        scheduler.predicted(0, Some(384.0)).unwrap();
        assert_eq!(of("10"), Some(10_000));
        scheduler.ended(0).unwrap();
        assert_eq!((of("10"), of("11")), (None, Some(200_012)));
        scheduler.predicted(0, Some(1.0)).unwrap();
        assert_eq!(of("10"), None, "it is over");
        // Another run under the number of one that is not known to be over.
        scheduler.started(1, "12").unwrap();
        assert_eq!((of("11"), of("12")), (None, Some(200_013)));
        drop(scheduler);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn earlier_runs_count_from_the_start() {
        let root = tempfile::tempdir().unwrap();
        let options = Options { history: vec![380.0, 390.0], early: true };
        let mut scheduler = scheduler(root.path(), options);
        scheduler.started(0, "1").unwrap();
        assert_eq!(stored(root.path(), "1"), Some(10_000));
        scheduler.observed(0, 100.0, 1).unwrap();
        assert_eq!(stored(root.path(), "1"), Some(10_000));
        scheduler.predicted(0, Some(20.0)).unwrap();
        assert_eq!(stored(root.path(), "1"), Some(1_000_000));
    }

    #[test]
    fn a_guess_counts_until_a_period_is_known() {
        let root = tempfile::tempdir().unwrap();
        let mut scheduler = scheduler(root.path(), Options { early: true, ..Options::default() });
        let of = |job| stored(root.path(), job);
        scheduler.started(0, "1").unwrap();
        scheduler.observed(0, 5.0, 1).unwrap();
        assert_eq!(of("1"), Some(200_002), "a guess raises nothing");
        scheduler.observed(0, 500.0, 1).unwrap();
        assert_eq!(of("1"), Some(10_000));
        scheduler.predicted(0, Some(50.0)).unwrap();
        scheduler.observed(0, 5000.0, 1).unwrap();
        assert_eq!(of("1"), Some(100_000));
    }

    #[test]
    fn a_job_has_the_highest_priority_of_its_runs() {
        let root = tempfile::tempdir().unwrap();
        let mut scheduler = scheduler(root.path(), Options::default());
        let of = |job| stored(root.path(), job);
        scheduler.started(0, "1").unwrap();
        scheduler.started(1, "1").unwrap();
        scheduler.predicted(0, Some(384.0)).unwrap();
        assert_eq!(of("1"), Some(10_000), "what is known counts more than a default");
        scheduler.predicted(1, Some(19.2)).unwrap();
        assert_eq!(of("1"), Some(1_000_000));
        let all: Vec<_> = scheduler.priorities().into_iter().collect();
        assert_eq!(all, [("1".to_owned(), Set::of_period(19.2).unwrap().priority())]);
        scheduler.ended(1).unwrap();
        assert_eq!(of("1"), Some(10_000));
        scheduler.ended(0).unwrap();
        assert_eq!(of("1"), None);
    }
}
