//! What `ftio schedule` would give each running job: the priority of earlier runs of its application, until
//! its own period is known. For `/api/v1/schedule`, and in a directory from which `ftio arbiter` takes them.

use crate::config::Config;
use crate::job::{Origin, State};
use crate::live::LiveJob;
use crate::service::Service;
use crate::store::{JobFilter, JobRow, Sort};
use crate::viewer::Viewer;
use io_sets::configfs::{Configfs, ConfigfsError};
use io_sets::scheduler::{Options, Scheduler};
use io_sets::standing::Standing;
use std::collections::BTreeSet;

/// So many earlier runs are looked at.
const EARLIER: usize = 20;

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

    /// Bring everything up to date with the jobs that run now.
    pub fn look(&mut self, service: &Service) {
        let followed = |job: &&LiveJob| matches!(job.row.origin, Origin::Trace | Origin::Push);
        let new = |job: &LiveJob| (!self.known.contains(&job.row.id)).then(|| job.row.clone());
        let period = |job: &LiveJob| job.detection.as_ref().and_then(|found| found.period);
        // Nobody waits for a disk while holding the running jobs.
        let jobs: Vec<(i64, Option<f64>, Option<JobRow>)> = {
            let running = service.running();
            let all = running.jobs.values().filter(followed);
            all.map(|job| (job.row.id, period(job), new(job))).collect()
        };
        let here: BTreeSet<i64> = jobs.iter().map(|(id, ..)| *id).collect();
        let mut problem = None;
        for id in self.known.difference(&here) {
            self.unwritten.remove(id);
            problem = problem.or(self.scheduler.ended(*id as usize).err());
        }
        for (id, period, new) in jobs {
            let run = id as usize;
            let done = match new {
                Some(row) => self.scheduler.started_after(run, &row.desc.jobid, &earlier(service, &row)),
                None if self.unwritten.remove(&id) => self.scheduler.write_again(run),
                None => Ok(()),
            };
            match done.and_then(|()| self.scheduler.predicted(run, period)) {
                // A directory cannot have this name: no arbiter asks for it either.
                Ok(()) | Err(ConfigfsError::Job(_)) => {}
                Err(error) => {
                    self.unwritten.insert(id);
                    problem = Some(error);
                }
            }
        }
        self.known = here;
        let text = problem.map(|error| format!("a priority cannot be written: {error}"));
        service.stats.problem("priorities", text);
    }

    /// Where a job stands, and on which period that is based.
    pub fn standing(&self, id: i64) -> Option<&Standing> {
        self.scheduler.standing(id as usize).map(|(_, standing)| standing)
    }
}

/// The periods of earlier runs of the application, of the same user.
fn earlier(service: &Service, job: &JobRow) -> Vec<f64> {
    if job.app.is_empty() {
        return Vec::new();
    }
    let filter = JobFilter {
        state: Some(State::Finished),
        owner: job.owner,
        app: Some(job.app.clone()),
        sort: Sort::End,
        limit: EARLIER,
        ..JobFilter::default()
    };
    let rows = service.reader().jobs(&filter, &Viewer::ALL);
    service.stored(rows).unwrap_or_default().into_iter().filter_map(|row| row.period).collect()
}
