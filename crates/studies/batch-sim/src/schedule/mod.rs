//! What the batch system decides whenever something happens.
//!
//! 1. The first of the queue starts if it fits.
//! 2. If it does not, jobs behind it may start, as long as they do not delay it (backfill).
//! 3. If none may, running malleable jobs of lower priority give up nodes for it (shrink).
//! 4. Nodes that nobody in the queue can use are lent to running malleable jobs (expand).
//!
//! FCFS is the first step alone, EASY the first two, MEBF all of them.

mod backfill;
mod balance;
mod resize;

use crate::engine::{Change, Event, EventKind, JobRun, Outcome};
use crate::job::{Job, Kind};
use crate::running::Running;
use crate::settings::{Policy, Settings};
use std::cmp::Ordering;

pub(crate) struct Batch<'a> {
    settings: &'a Settings,
    jobs: &'a [Job],
    pub now: f64,
    pub free: u32,
    pub running: Vec<Running<'a>>,
    /// Places in the workload, the first to start first.
    pub queue: Vec<usize>,
    /// The first of the queue that did not fit, and when it could start when it became the first.
    promise: Option<(usize, f64)>,
    balance: balance::Balance,
    runs: Vec<Option<JobRun>>,
    events: Vec<Event>,
    lost: f64,
}

impl<'a> Batch<'a> {
    pub fn new(jobs: &'a [Job], settings: &'a Settings) -> Self {
        Batch {
            settings,
            jobs,
            now: 0.0,
            free: settings.nodes,
            running: Vec::new(),
            queue: Vec::new(),
            promise: None,
            balance: balance::Balance::default(),
            runs: vec![None; jobs.len()],
            events: Vec::new(),
            lost: 0.0,
        }
    }

    pub fn finish(self) -> Outcome {
        Outcome { jobs: self.runs.into_iter().flatten().collect(), events: self.events, lost: self.lost }
    }

    fn mebf(&self) -> bool {
        self.settings.policy == Policy::Mebf
    }

    /// By priority, then by submission.
    fn order(&self, a: usize, b: usize) -> Ordering {
        let (first, second) = (&self.jobs[a], &self.jobs[b]);
        second.priority.cmp(&first.priority).then(first.submit.total_cmp(&second.submit)).then(a.cmp(&b))
    }

    fn tell(&mut self, kind: EventKind, job: u64, nodes: u32) {
        let (free, queued) = (self.free, self.queue.len());
        self.events.push(Event { time: self.now, kind, job, nodes, free, queued });
    }

    pub fn submit(&mut self, index: usize) {
        let place = self.queue.partition_point(|other| self.order(*other, index) == Ordering::Less);
        self.queue.insert(place, index);
        self.balance.queued(&self.jobs[index]);
        self.tell(EventKind::Submit, self.jobs[index].id, self.jobs[index].preferred);
    }

    /// Take away the jobs that are over.
    pub fn end_jobs(&mut self) {
        let mut over: Vec<usize> =
            (0..self.running.len()).filter(|place| self.running[*place].end <= self.now).collect();
        if over.is_empty() {
            return;
        }
        over.sort_by_key(|place| self.running[*place].index);
        for place in &over {
            let (index, nodes) = (self.running[*place].index, self.running[*place].nodes);
            self.free += nodes;
            self.balance.stopped(&self.jobs[index], nodes);
            if let Some(run) = &mut self.runs[index] {
                run.end = self.now;
            }
            self.tell(EventKind::End, self.jobs[index].id, nodes);
        }
        let now = self.now;
        self.running.retain(|running| running.end > now);
        self.allow_changes();
    }

    /// A start or an end: every job may be changed again.
    fn allow_changes(&mut self) {
        self.running.iter_mut().for_each(|running| running.changed = false);
    }

    /// Free nodes, and those that were only lent.
    fn available(&self) -> u32 {
        let lent = if self.mebf() { self.running.iter().map(Running::lent).sum() } else { 0 };
        self.free + lent
    }

    pub fn schedule(&mut self) {
        loop {
            while let Some((head, size)) = self.head_that_fits() {
                self.start(head, size, EventKind::Start);
            }
            let Some(&head) = self.queue.first() else { break };
            if self.settings.policy == Policy::Fcfs {
                return;
            }
            if self.mebf() && self.promise.is_none_or(|(first, _)| first != head) {
                let need = self.jobs[head].preferred.min(self.settings.nodes);
                self.promise = Some((head, self.reservation(need).time));
            }
            if self.backfill(head) {
                continue;
            }
            if !(self.mebf() && self.make_room()) {
                break;
            }
        }
        if self.mebf() && self.free > 0 {
            self.expand();
        }
        if self.mebf() && self.settings.balance {
            self.rebalance();
        }
    }

    /// The first of the queue and the size at which it starts now.
    fn head_that_fits(&self) -> Option<(usize, u32)> {
        let head = *self.queue.first()?;
        let (job, available) = (&self.jobs[head], self.available());
        if job.preferred <= available {
            return Some((head, job.preferred));
        }
        let smaller = self.mebf() && job.kind != Kind::Rigid && job.min <= available;
        (smaller && self.ends_no_later(job, available)).then_some((head, available))
    }

    /// A job that starts now on fewer nodes than it prefers would end no later than if it waited for them.
    fn ends_no_later(&self, job: &Job, nodes: u32) -> bool {
        let waits = self.reservation(job.preferred.min(self.settings.nodes)).time;
        let larger = job.preferred.min(self.settings.nodes);
        self.now + job.estimate * job.ratio(nodes) <= waits + job.estimate * job.ratio(larger)
    }

    fn start(&mut self, index: usize, nodes: u32, kind: EventKind) {
        if nodes > self.free {
            self.reclaim(nodes - self.free);
        }
        let job = &self.jobs[index];
        self.queue.retain(|other| *other != index);
        self.free -= nodes;
        self.running.push(Running::new(job, index, nodes, self.now));
        self.balance.started(job, nodes);
        let (id, submit, start) = (job.id, job.submit, self.now);
        self.runs[index] = Some(JobRun { id, submit, start, end: f64::NAN, nodes, changes: Vec::new() });
        self.tell(kind, id, nodes);
        self.allow_changes();
    }

    /// Give a running job another size.
    fn resize(&mut self, place: usize, nodes: u32) {
        let running = &mut self.running[place];
        let (before, index, now) = (running.nodes, running.index, self.now);
        let cost = running.resize(nodes, now, self.settings.cost);
        self.lost += cost * f64::from(nodes);
        self.free = self.free + before - nodes;
        self.balance.resized(&self.jobs[index], before, nodes);
        if let Some(run) = &mut self.runs[index] {
            run.changes.retain(|change| change.time != now);
            if now == run.start {
                run.nodes = nodes;
            } else {
                run.changes.push(Change { time: now, nodes });
            }
        }
        let kind = if nodes > before { EventKind::Expand } else { EventKind::Shrink };
        self.tell(kind, self.jobs[index].id, nodes);
    }
}
