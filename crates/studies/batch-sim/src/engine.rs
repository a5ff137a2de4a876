//! The course of time: submissions, ends, and a look now and then.

use crate::job::{Job, Kind};
use crate::running::Running;
use crate::schedule::Batch;
use crate::settings::{Policy, Settings};
use schemars::JsonSchema;
use serde::Serialize;

/// A change of a job's size.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Change {
    /// When, in seconds.
    pub time: f64,
    /// Its nodes from then on.
    pub nodes: u32,
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct JobRun {
    /// Its number.
    pub id: u64,
    /// When it was submitted, in seconds.
    pub submit: f64,
    /// When it started.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// The nodes it started on.
    pub nodes: u32,
    /// Later changes of its size.
    pub changes: Vec<Change>,
}

impl JobRun {
    /// From, to and nodes of each stretch in which its size did not change.
    pub fn stretches(&self) -> Vec<(f64, f64, u32)> {
        let mut out = Vec::with_capacity(self.changes.len() + 1);
        let (mut from, mut nodes) = (self.start, self.nodes);
        for change in &self.changes {
            out.push((from, change.time, nodes));
            (from, nodes) = (change.time, change.nodes);
        }
        out.push((from, self.end, nodes));
        out
    }

    /// Nodes times seconds.
    pub fn node_seconds(&self) -> f64 {
        self.stretches().iter().map(|(from, to, nodes)| (to - from) * f64::from(*nodes)).sum()
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A job came.
    Submit,
    /// The first of the queue started.
    Start,
    /// A job behind it started.
    Backfill,
    /// A running job got more nodes.
    Expand,
    /// A running job gave some up.
    Shrink,
    /// A job was over.
    End,
}

impl EventKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Submit => "submit",
            EventKind::Start => "start",
            EventKind::Backfill => "backfill",
            EventKind::Expand => "expand",
            EventKind::Shrink => "shrink",
            EventKind::End => "end",
        }
    }
}

/// A line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Event {
    /// When, in seconds.
    pub time: f64,
    /// What.
    pub kind: EventKind,
    /// The job's number.
    pub job: u64,
    /// The job's nodes afterwards; those it asks for, or had, where it does not run.
    pub nodes: u32,
    /// Free nodes afterwards.
    pub free: u32,
    /// Jobs in the queue afterwards.
    pub queued: usize,
}

/// The whole course.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What became of each job, in the order of the workload.
    pub jobs: Vec<JobRun>,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
    /// Node-seconds that changes of size cost.
    pub lost: f64,
}

/// A workload that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("job {job}: {problem}")]
pub struct WorkloadError {
    /// The job's number.
    pub job: u64,
    /// What is wrong with it.
    pub problem: String,
}

/// Run a workload.
///
/// # Errors
/// A job that cannot run: its numbers are not what they should be, or it needs more nodes than there are.
pub fn simulate(jobs: &[Job], settings: &Settings) -> Result<Outcome, WorkloadError> {
    for job in jobs {
        let size = if settings.policy == Policy::Mebf { job.least() } else { job.preferred };
        let large = || format!("it needs {size} nodes, and there are {}", settings.nodes);
        if let Some(problem) = job.problem().or_else(|| (size > settings.nodes).then(large)) {
            return Err(WorkloadError { job: job.id, problem });
        }
    }
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|a, b| jobs[*a].submit.total_cmp(&jobs[*b].submit).then(a.cmp(b)));
    let mut batch = Batch::new(jobs, settings);
    let mut next = 0;
    let mut last = f64::NEG_INFINITY;
    let mut wait = settings.tick;
    loop {
        let submit = order.get(next).map_or(f64::INFINITY, |index| jobs[*index].submit);
        let end = batch.running.iter().map(|running| running.end).fold(f64::INFINITY, f64::min);
        let now =
            submit.min(end).min(if worth_a_look(&batch, settings) { last + wait } else { f64::INFINITY });
        if now == f64::INFINITY {
            break;
        }
        batch.now = now;
        batch.end_jobs();
        while let Some(index) = order.get(next).copied().filter(|index| jobs[*index].submit <= now) {
            batch.submit(index);
            next += 1;
        }
        batch.schedule();
        // While nothing happens, looks become rarer.
        wait = if now < submit.min(end) { 2.0 * wait } else { settings.tick };
        last = now;
    }
    Ok(batch.finish())
}

/// Could anything be done with the running jobs while no job comes or ends?
fn worth_a_look(batch: &Batch, settings: &Settings) -> bool {
    let malleable = |running: &Running| running.job.kind == Kind::Malleable;
    let changes = settings.policy == Policy::Mebf && batch.running.iter().any(malleable);
    changes && (batch.free > 0 || !batch.queue.is_empty())
}
