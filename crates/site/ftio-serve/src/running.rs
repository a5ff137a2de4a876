//! Jobs that run, found by their number or by who pushes them; what they take of the memory, by owner; and
//! the journal of what is pushed.

use crate::config::Config;
use crate::job::Origin;
use crate::live::{LiveJob, MIN_BINS};
use crate::series::journal::Journal;
use crate::share::{Full, Payer, Shared, Standing};
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
    /// How many jobs each owner has, and the memory that these take.
    count: Shared,
    memory: Shared,
    /// Bytes of bins of each owner.
    bins: HashMap<Payer, usize>,
}

fn name(job: &LiveJob) -> Name {
    (job.row.origin, job.row.owner, job.row.desc.jobid.clone())
}

impl Running {
    pub fn new(journal: Journal, config: &Config) -> Self {
        Running {
            jobs: BTreeMap::new(),
            by_name: HashMap::new(),
            journal,
            count: Shared::new("running jobs", config.most_running),
            memory: Shared::new("bytes of memory", config.memory_of_jobs()),
            bins: HashMap::new(),
        }
    }

    pub fn insert(&mut self, mut job: LiveJob) {
        let (id, payer) = (job.row.id, Payer::owner(job.row.owner));
        // One that is there already, say because its trace was begun anew.
        self.remove(id);
        self.by_name.insert(name(&job), id);
        self.count.add(&payer, 1);
        job.charged = (0, 0);
        self.jobs.insert(id, job);
        self.settle(id);
    }

    pub fn remove(&mut self, id: i64) -> Option<LiveJob> {
        let job = self.jobs.remove(&id)?;
        let (name, payer) = (name(&job), Payer::owner(job.row.owner));
        if self.by_name.get(&name) == Some(&id) {
            self.by_name.remove(&name);
        }
        self.count.give_back(&payer, 1);
        self.charge(&payer, job.charged, (0, 0));
        Some(job)
    }

    /// An owner paid for memory and bins, and pays for others now.
    fn charge(&mut self, payer: &Payer, before: (usize, usize), now: (usize, usize)) {
        self.memory.add(payer, now.0.saturating_sub(before.0));
        self.memory.give_back(payer, before.0.saturating_sub(now.0));
        let bins = self.bins.get(payer).copied().unwrap_or(0) + now.1 - before.1;
        match bins {
            0 => self.bins.remove(payer),
            bins => self.bins.insert(payer.clone(), bins),
        };
    }

    /// A job has changed: its owner pays for what it takes now.
    pub fn settle(&mut self, id: i64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let (payer, before) = (Payer::owner(job.row.owner), job.charged);
        let now = (job.memory(), job.series.bytes());
        job.charged = now;
        self.charge(&payer, before, now);
    }

    /// One half of what an owner may have is for bins: if there is more, as when there were fewer jobs, these
    /// are folded.
    pub fn make_room(&mut self, payer: &Payer, standing: Standing) {
        let jobs = self.count.own(payer) + 1;
        let most = self.memory.allowed(payer, standing) / 2;
        if self.bins.get(payer).is_none_or(|bins| *bins <= most.max(jobs * MIN_BINS)) {
            return;
        }
        let own: Vec<i64> = self
            .jobs
            .values()
            .filter(|job| Payer::owner(job.row.owner) == *payer)
            .map(|job| job.row.id)
            .collect();
        for id in own {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.series.fit((most / jobs).max(MIN_BINS));
            }
            self.settle(id);
        }
    }

    /// May somebody have one job more, which takes this much memory?
    pub fn room_for_job(&self, payer: &Payer, standing: Standing, memory: usize) -> Result<(), Full> {
        self.count.check(payer, standing, 1)?;
        self.memory.check(payer, standing, memory)
    }

    /// May somebody have this much more memory?
    pub fn room_for(&self, payer: &Payer, standing: Standing, memory: usize) -> Result<(), Full> {
        self.memory.check(payer, standing, memory)
    }

    /// Make room for this much memory, whoever pays, and leave a part for those who come: the largest jobs of
    /// who has most leave. Their numbers.
    pub fn send_away(&mut self, memory: usize) -> Vec<i64> {
        let mut sent = Vec::new();
        while self.memory.taken() + memory > self.memory.most() / 8 * 7 {
            let Some(payer) = self.memory.heaviest() else { break };
            let own = self.jobs.values().filter(|job| Payer::owner(job.row.owner) == payer);
            let Some(id) = own.max_by_key(|job| job.charged.0).map(|job| job.row.id) else { break };
            self.remove(id);
            sent.push(id);
        }
        sent
    }

    /// Bytes of bins for each job of an owner: one half of what they may have is for bins.
    pub fn bins(&self, payer: &Payer, standing: Standing) -> usize {
        let jobs = self.count.own(payer).max(1);
        (self.memory.allowed(payer, standing) / 2 / jobs).max(MIN_BINS)
    }

    /// What is shared.
    pub fn shared(&self) -> [&Shared; 2] {
        [&self.count, &self.memory]
    }

    /// The number of the job that somebody pushes under that id.
    pub fn named(&self, origin: Origin, owner: Option<u32>, jobid: &str) -> Option<i64> {
        self.by_name.get(&(origin, owner, jobid.to_owned())).copied()
    }
}
