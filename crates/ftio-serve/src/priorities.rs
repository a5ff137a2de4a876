//! What `ftio schedule` would give each running job: the priority of earlier runs of its application, until
//! its own period is known. For `/api/v1/schedule`, and in a directory from which `ftio arbiter` takes them.

use crate::config::Config;
use crate::job::{Origin, State};
use crate::live::LiveJob;
use crate::running::Running;
use crate::store::{JobFilter, JobRow, Sort};
use io_sets::configfs::{Configfs, ConfigfsError};
use io_sets::scheduler::{Options, Scheduler};
use io_sets::standing::Standing;
use std::collections::BTreeSet;

/// So many earlier runs are looked at.
const EARLIER: usize = 20;

/// A running job.
#[derive(Debug)]
pub struct Seen {
    id: i64,
    period: Option<f64>,
    /// If it was not seen before.
    new: Option<JobRow>,
}

/// The priorities of all running jobs.
#[derive(Debug)]
pub struct Priorities {
    scheduler: Scheduler,
    known: BTreeSet<i64>,
    /// Jobs whose priority could not be written.
    unwritten: BTreeSet<i64>,
}

impl Priorities {
    /// The directory, if there is one, must exist.
    pub fn open(config: &Config) -> Result<Self, ConfigfsError> {
        let directory = config.priorities.as_ref().map(Configfs::open).transpose()?;
        let scheduler = Scheduler::new(directory, Options::default());
        Ok(Priorities { scheduler, known: BTreeSet::new(), unwritten: BTreeSet::new() })
    }

    /// The jobs that run now.
    pub fn seen(&self, running: &Running) -> Vec<Seen> {
        let followed = |job: &&LiveJob| matches!(job.row.origin, Origin::Trace | Origin::Push);
        let seen = |job: &LiveJob| Seen {
            id: job.row.id,
            period: job.detection.as_ref().and_then(|found| found.period),
            new: (!self.known.contains(&job.row.id)).then(|| job.row.clone()),
        };
        running.jobs.values().filter(followed).map(seen).collect()
    }

    /// Bring everything up to date with the jobs that run now. `earlier` tells the periods of earlier runs of
    /// a job's application.
    pub fn look(
        &mut self,
        jobs: Vec<Seen>,
        earlier: impl Fn(&JobRow) -> Vec<f64>,
    ) -> Result<(), ConfigfsError> {
        let here: BTreeSet<i64> = jobs.iter().map(|job| job.id).collect();
        let mut problem = None;
        for id in self.known.difference(&here) {
            self.unwritten.remove(id);
            problem = problem.or(serious(self.scheduler.ended(*id as usize)).err());
        }
        for Seen { id, period, new } in jobs {
            let run = id as usize;
            let done = match new {
                Some(row) => self.scheduler.started_after(run, &row.desc.jobid, &earlier(&row)),
                None if self.unwritten.remove(&id) => self.scheduler.write_again(run),
                None => Ok(()),
            };
            let done = serious(done).and_then(|()| serious(self.scheduler.predicted(run, period)));
            if let Err(error) = done {
                self.unwritten.insert(id);
                problem = Some(error);
            }
        }
        self.known = here;
        problem.map_or(Ok(()), Err)
    }

    /// Where a job stands, and on which period that is based.
    pub fn standing(&self, id: i64) -> Option<&Standing> {
        self.scheduler.standing(id as usize).map(|(_, standing)| standing)
    }
}

/// A directory cannot have the name of every job: no arbiter asks for such a one either.
fn serious(done: Result<(), ConfigfsError>) -> Result<(), ConfigfsError> {
    done.or_else(|error| if matches!(error, ConfigfsError::Job(_)) { Ok(()) } else { Err(error) })
}

/// The user's earlier runs of a job's application.
pub fn earlier_runs(job: &JobRow) -> JobFilter {
    JobFilter {
        state: Some(State::Finished),
        owner: job.owner,
        app: Some(job.app.clone()),
        sort: Sort::End,
        limit: EARLIER,
        ..JobFilter::default()
    }
}
