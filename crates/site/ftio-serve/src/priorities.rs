//! What `ftio schedule` would give each running job: the priority of earlier runs of its application, until
//! its own period is known. For `/api/v1/schedule`, and in a directory from which `ftio arbiter` takes them.

use crate::job::{Origin, State};
use crate::live::LiveJob;
use crate::running::Running;
use crate::store::{JobFilter, JobRow, Sort};
use io_sets::rules::Priority;
use io_sets::scheduler::{Options, Scheduler};
use io_sets::standing::Standing;
use std::collections::{BTreeMap, BTreeSet};

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
}

impl Default for Priorities {
    fn default() -> Self {
        // The directory has a thread of its own: it may hang.
        Priorities { scheduler: Scheduler::new(None, Options::default()), known: BTreeSet::new() }
    }
}

impl Priorities {
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
    pub fn look(&mut self, jobs: Vec<Seen>, earlier: impl Fn(&JobRow) -> Vec<f64>) {
        let here: BTreeSet<i64> = jobs.iter().map(|job| job.id).collect();
        // Without a directory nothing can go wrong.
        for id in self.known.difference(&here) {
            let _ = self.scheduler.ended(*id as usize);
        }
        for Seen { id, period, new } in jobs {
            if let Some(row) = new {
                let _ = self.scheduler.started_after(id as usize, &row.desc.jobid, &earlier(&row));
            }
            let _ = self.scheduler.predicted(id as usize, period);
        }
        self.known = here;
    }

    /// Where a job stands, and on which period that is based.
    pub fn standing(&self, id: i64) -> Option<&Standing> {
        self.scheduler.standing(id as usize).map(|(_, standing)| standing)
    }

    /// The priority of each job id.
    pub fn all(&self) -> BTreeMap<String, Priority> {
        self.scheduler.priorities()
    }
}

/// The user's earlier runs of a job's application.
pub fn earlier_runs(job: &JobRow) -> JobFilter {
    JobFilter {
        state: Some(State::Finished),
        owner: job.owner,
        app: Some(job.app.clone()),
        sort: Sort::END,
        limit: EARLIER,
        ..JobFilter::default()
    }
}
