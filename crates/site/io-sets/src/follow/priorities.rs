//! The scheduler's priorities, and a record for each change of one.

use super::Told;
use super::record::Record;
use crate::configfs::ConfigfsError;
use crate::scheduler::Scheduler;
use crate::standing::Standing;

/// The scheduler, and what there is to tell of it.
#[derive(Debug)]
pub(super) struct Priorities {
    scheduler: Scheduler,
    pub(super) told: Vec<Told>,
}

/// The job of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobOf<'a> {
    pub(super) number: usize,
    pub(super) source: &'a str,
}

impl Priorities {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Priorities { scheduler, told: Vec::new() }
    }

    /// Do something about a job, and tell it if its priority has changed. What cannot be done for one job
    /// does not stop the others.
    pub(super) fn change(
        &mut self,
        job: JobOf<'_>,
        t: Option<f64>,
        act: impl FnOnce(&mut Scheduler) -> Result<(), ConfigfsError>,
    ) {
        let standing = |scheduler: &Scheduler| {
            scheduler.standing(job.number).map(|(id, standing)| (id.to_owned(), standing.clone()))
        };
        let before = standing(&self.scheduler);
        if let Err(error) = act(&mut self.scheduler) {
            self.told.push(Told::Failed(error));
        }
        let after = standing(&self.scheduler);
        let mut tell = |event, id: &str, standing: &Standing| {
            self.told.push(Told::Record(Record::new(event, id, job.source, t, standing)));
        };
        match (before, after) {
            (Some((id, old)), None) => tell("ended", &id, &old),
            (Some((old_id, old)), Some((id, new))) if old_id != id => {
                tell("ended", &old_id, &old);
                tell("started", &id, &new);
            }
            (None, Some((id, new))) => tell("started", &id, &new),
            (Some((_, old)), Some((id, new))) if old.priority() != new.priority() => {
                tell("changed", &id, &new);
            }
            _ => {}
        }
    }
}
