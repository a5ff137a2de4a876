//! Jobs that run, found by their number or by who pushes them, and the journal of what is pushed.

use crate::job::Origin;
use crate::live::LiveJob;
use crate::series::journal::Journal;
use std::collections::{BTreeMap, HashMap};

/// What a push names a job by: where it comes from, whose it is, its id.
type Name = (Origin, Option<u32>, String);

/// Running jobs, and the journal of what is pushed.
#[derive(Debug)]
pub struct Running {
    /// By number. [`insert`](Self::insert) and [`remove`](Self::remove) change it.
    pub jobs: BTreeMap<i64, LiveJob>,
    by_name: HashMap<Name, i64>,
    pub journal: Journal,
}

fn name(job: &LiveJob) -> Name {
    (job.row.origin, job.row.owner, job.row.desc.jobid.clone())
}

impl Running {
    pub fn new(journal: Journal) -> Self {
        Running { jobs: BTreeMap::new(), by_name: HashMap::new(), journal }
    }

    pub fn insert(&mut self, job: LiveJob) {
        self.by_name.insert(name(&job), job.row.id);
        self.jobs.insert(job.row.id, job);
    }

    pub fn remove(&mut self, id: i64) -> Option<LiveJob> {
        let job = self.jobs.remove(&id)?;
        let name = name(&job);
        if self.by_name.get(&name) == Some(&id) {
            self.by_name.remove(&name);
        }
        Some(job)
    }

    /// The number of the job that somebody pushes under that id.
    pub fn named(&self, origin: Origin, owner: Option<u32>, jobid: &str) -> Option<i64> {
        self.by_name.get(&(origin, owner, jobid.to_owned())).copied()
    }
}
