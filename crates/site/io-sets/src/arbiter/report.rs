//! Who holds, who waits: as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of an arbiter.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Report {
    /// `ftio.arbiter/1`
    pub schema: String,
    /// Seconds since the arbiter began.
    pub time: f64,
    /// How many jobs at a time: a number, or `auto`.
    pub leases: String,
    /// How many may hold now, of those who want to.
    pub width: usize,
    /// What the file system has been seen to take, bytes per second.
    pub capacity: f64,
    /// What all jobs get now, bytes per second.
    pub bandwidth: f64,
    /// Jobs that hold a lease.
    pub holding: usize,
    /// Jobs that wait for one.
    pub waiting: usize,
    /// The jobs that whoever asks may see, those that hold first.
    pub jobs: Vec<JobReport>,
    /// Jobs of others, as numbers; absent for who sees all jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// What has happened so far.
    pub totals: Totals,
}

/// Jobs of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Others {
    /// How many.
    pub jobs: usize,
    /// Of these, how many hold a lease.
    pub holding: usize,
    /// Of these, how many wait for one.
    pub waiting: usize,
    /// Their nodes.
    pub nodes: usize,
    /// Their ranks.
    pub ranks: u64,
    /// What they get now, bytes per second.
    pub bandwidth: f64,
}

impl Report {
    /// As a user sees it: his own jobs, and others as numbers; `None`: somebody who is not known.
    pub fn seen_by(&self, user: Option<u32>) -> Self {
        let mut others = Others::default();
        let own = |job: &&JobReport| user.is_some() && job.user == user;
        for job in self.jobs.iter().filter(|job| !own(job)) {
            others.jobs += 1;
            others.holding += usize::from(job.state == "holding");
            others.waiting += usize::from(job.state == "waiting");
            others.nodes += job.nodes;
            others.ranks += job.ranks;
            others.bandwidth += job.bandwidth;
        }
        let jobs = self.jobs.iter().filter(own).cloned().collect();
        let (schema, leases) = (self.schema.clone(), self.leases.clone());
        Report { schema, leases, jobs, others: Some(others), ..*self }
    }
}

/// Counts since the arbiter began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Totals {
    /// Questions of nodes.
    pub questions: u64,
    /// Leases given to jobs.
    pub grants: u64,
    /// Leases asked back.
    pub revocations: u64,
    /// Leases given back because the job was idle.
    pub yields: u64,
    /// Jobs that went because they had waited for long.
    pub passes: u64,
    /// Holders that were not heard of any more.
    pub silent: u64,
    /// Messages that made no sense, and nodes that were refused.
    pub refused: u64,
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct JobReport {
    /// Its id.
    pub job: String,
    /// The number of its run, in hexadecimal.
    pub run: String,
    /// Its user's number, where the kernel tells.
    pub user: Option<u32>,
    /// `holding`, `waiting`, `paused` (within a phase) or `computing`.
    pub state: String,
    /// Its nodes that are connected.
    pub nodes: usize,
    /// Their ranks.
    pub ranks: u64,
    /// The order of magnitude of its period.
    pub set: i32,
    /// The priority of the set.
    pub priority: f64,
    /// For how long it has been waiting now, seconds.
    pub waiting: f64,
    /// Bytes per second over the last second.
    pub bandwidth: f64,
    /// Bytes so far.
    pub bytes: u64,
    /// The mean time between the starts of its phases, seconds.
    pub period: Option<f64>,
    /// Seconds until its next phase, if it goes on like that.
    pub next_phase: Option<f64>,
    /// Phases so far.
    pub phases: u64,
    /// Seconds with a lease.
    pub held: f64,
    /// Seconds of waiting.
    pub waited: f64,
    /// Leases asked back.
    pub revocations: u64,
    /// Phases that went on because the job had waited for long.
    pub passes: u64,
    /// Its phases are so short that it need not wait.
    pub short: bool,
}

/// A phase that is over: one line of the arbiter's log.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct PhaseReport {
    /// `ftio.phase/1`
    pub schema: String,
    /// The job's id.
    pub job: String,
    /// The number of its run, in hexadecimal.
    pub run: String,
    /// The order of magnitude of its period.
    pub set: i32,
    /// When it asked, and when its last operation ended: seconds since the arbiter began.
    pub asked: f64,
    /// See `asked`.
    pub ended: f64,
    /// Seconds with a lease.
    pub held: f64,
    /// Seconds of waiting.
    pub waited: f64,
    /// Bytes.
    pub bytes: u64,
    /// Leases asked back.
    pub revocations: u32,
    /// It went on because it had waited for long.
    pub passed: bool,
}
