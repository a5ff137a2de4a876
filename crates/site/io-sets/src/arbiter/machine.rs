//! The rules, without sockets and clocks: told what arrives and when, it says what to send.

mod decide;
mod tell;

use crate::arbiter::job::{Job, NodeId, SetKey};
use crate::arbiter::order::{self, SetFacts, VirtualTime};
use crate::arbiter::report::{PhaseReport, Totals};
use crate::arbiter::settings::{Leases, SLICE, Settings, TICK};
use crate::arbiter::users::{Users, possible, standing};
use crate::arbiter::waits::Waits;
use crate::arbiter::width::Width;
use crate::rules::Priority;
use fair_share::Shared;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use turns::{Hello, Kind, Message};

/// Why a node does not take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It said who it is twice.
    #[error("a node says who it is only once")]
    Again,
    /// It asks without having said who it is.
    #[error("a node says first who it is")]
    Unknown,
    /// Its user has very many jobs.
    #[error("a user has {0} jobs at most, as long as others have theirs")]
    Many(usize),
}

/// A node of a job.
#[derive(Debug)]
struct Node {
    job: usize,
    ranks: u64,
    /// It wants to do I/O, or is at it.
    wants: bool,
    /// Its question was not answered with "go".
    waiting: bool,
    /// The number of its newest question.
    seq: u32,
    /// When it was heard of last, and when it was told to go last.
    heard: f64,
    granted: f64,
    /// Seconds with a lease in which nothing was heard of it. Silence while it waits says nothing.
    silent: f64,
    /// Until when its bytes are accounted for.
    reported: f64,
    /// It is in the queue of those who hear that the arbiter is there.
    hears: bool,
}

/// Who may do I/O on one file system. Times are seconds since it began.
#[derive(Debug)]
pub struct Arbiter {
    settings: Settings,
    jobs: BTreeMap<usize, Job>,
    /// Those that hold, and those that want to or do.
    holders: BTreeSet<usize>,
    wanting: BTreeSet<usize>,
    by_name: HashMap<(String, u64, Option<u32>), usize>,
    nodes: HashMap<NodeId, Node>,
    next_job: usize,
    /// Priorities that others have found, by job.
    told: HashMap<String, Priority>,
    facts: BTreeMap<SetKey, SetFacts>,
    /// What the jobs of a set have in common may have changed.
    stale: bool,
    times: VirtualTime,
    width: Width,
    waits: Waits,
    totals: Totals,
    users: Users,
    /// How many jobs each user has.
    shares: Shared<Option<u32>>,
    /// Nodes that have asked and were not answered yet.
    asked: Vec<NodeId>,
    /// Nodes that have held for longer than they may without a sign, counted over several leases.
    silent: Vec<NodeId>,
    messages: Vec<(NodeId, Message)>,
    phases: Vec<PhaseReport>,
    charged: f64,
    next_tick: f64,
    decided: f64,
    /// Something has changed since it was decided who holds.
    dirty: bool,
    /// How many may hold, as it was decided last.
    admitted: usize,
    /// Since when there has been one holder.
    alone_since: Option<f64>,
}

/// At most so many are told to wait at a time.
const SIGNS: usize = 512;
/// Slices of many holders end at different times: it is not decided anew for each.
const PAUSE: f64 = 0.01;
/// How long operations that were under way go on after a lease was asked back, usually.
const SETTLES: f64 = 0.05;
/// A job of which all nodes are gone may come back.
const FORGOTTEN: f64 = 30.0;
/// More jobs are not taken: they go on without turns.
const MAX_JOBS: usize = 20_000;

impl Arbiter {
    /// Nobody is there yet.
    pub fn new(settings: Settings) -> Self {
        Arbiter {
            settings,
            jobs: BTreeMap::new(),
            holders: BTreeSet::new(),
            wanting: BTreeSet::new(),
            by_name: HashMap::new(),
            nodes: HashMap::new(),
            next_job: 0,
            told: HashMap::new(),
            facts: BTreeMap::new(),
            stale: false,
            times: VirtualTime::default(),
            width: Width::new(),
            waits: Waits::default(),
            totals: Totals::default(),
            users: Users::default(),
            shares: Shared::new("jobs", MAX_JOBS),
            asked: Vec::new(),
            silent: Vec::new(),
            messages: Vec::new(),
            phases: Vec::new(),
            charged: 0.0,
            next_tick: 0.0,
            decided: 0.0,
            dirty: false,
            admitted: 0,
            alone_since: None,
        }
    }

    /// A node says who it is: its job, its ranks, and for how long the job has been running. `user`: what the
    /// kernel says about it. Jobs of different users are different jobs.
    pub fn hello(
        &mut self,
        now: f64,
        node: NodeId,
        hello: &Hello,
        (ranks, running): (u64, f64),
        user: Option<u32>,
    ) -> Result<(), Refusal> {
        if self.nodes.contains_key(&node) {
            self.totals.refused += 1;
            return Err(Refusal::Again);
        }
        let key = (hello.job.clone(), hello.run, user);
        if !self.by_name.contains_key(&key) {
            if let Err(full) = self.shares.check(&user, standing(user), 1) {
                self.totals.refused += 1;
                return Err(Refusal::Many(full.allowed));
            }
            self.shares.add(&user, 1);
        }
        let index = *self.by_name.entry(key).or_insert_with(|| {
            self.next_job += 1;
            let began = now - running.clamp(0.0, 1e9);
            let mut job = Job::new(&hello.job, hello.run, user, began, &self.settings);
            job.told = self.told.get(&hello.job).copied();
            self.jobs.insert(self.next_job, job);
            self.next_job
        });
        let ranks = ranks.min(1 << 20);
        if let Some(job) = self.jobs.get_mut(&index) {
            job.nodes.insert(node);
            job.ranks += ranks;
        }
        let one = Node {
            job: index,
            ranks,
            wants: false,
            waiting: false,
            seq: 0,
            heard: now,
            granted: now,
            silent: 0.0,
            reported: now,
            hears: false,
        };
        self.nodes.insert(node, one);
        self.messages.push((node, Message::new(Kind::Welcome)));
        Ok(())
    }

    /// Somebody was turned away.
    pub fn refused(&mut self) {
        self.totals.refused += 1;
    }

    /// A message of a node, other than its first.
    pub fn receive(&mut self, now: f64, node: NodeId, message: &Message) -> Result<(), Refusal> {
        let Some(one) = self.nodes.get_mut(&node) else {
            self.totals.refused += 1;
            return Err(Refusal::Unknown);
        };
        (one.heard, one.silent) = (now, 0.0);
        match message.kind {
            Kind::Ask => {
                self.account(now, node, message.a, 0);
                self.ask(now, node, message.seq, message.b);
            }
            Kind::Beat => self.account(now, node, message.a, message.b),
            Kind::Yield => {
                let idle = (message.b as f64 * 1e-9).min(1.0);
                self.account(now - idle, node, message.a, 0);
                // One that crossed a newer question is about the past.
                if self.nodes.get(&node).is_some_and(|one| one.wants && one.seq == message.seq) {
                    self.totals.yields += 1;
                    self.idle(now, node, idle);
                }
            }
            Kind::Entered => self.entered(node, message.a as u32, message.b as u32),
            Kind::Bye => {
                self.account(now, node, message.a, 0);
                let job = self.nodes.get(&node).map(|one| one.job);
                self.gone(now, node);
                if let Some(job) = job.filter(|job| self.jobs.get(job).is_some_and(|j| j.nodes.is_empty())) {
                    self.forget(job);
                }
            }
            _ => self.totals.refused += 1,
        }
        Ok(())
    }

    /// A node is gone: its connection has ended.
    pub fn gone(&mut self, now: f64, node: NodeId) {
        self.idle(now, node, 0.0);
        let Some(one) = self.nodes.remove(&node) else { return };
        if let Some(job) = self.jobs.get_mut(&one.job) {
            job.nodes.remove(&node);
            job.ranks = job.ranks.saturating_sub(one.ranks);
            job.bursts.until(now);
        }
    }

    /// Somebody who knows its period says what priority a job has; `None`: nobody does any more.
    pub fn tell_priority(&mut self, now: f64, job: &str, priority: Option<Priority>) {
        if self.told.get(job).copied() == priority {
            return;
        }
        match priority {
            Some(priority) => self.told.insert(job.to_owned(), priority),
            None => self.told.remove(job),
        };
        for one in self.jobs.values_mut().filter(|one| one.name == job && one.told != priority) {
            one.told = priority;
            one.classify(now, &self.settings);
            self.dirty = true;
        }
    }

    /// The names of all jobs, once each.
    pub fn names(&self) -> BTreeSet<String> {
        self.jobs.values().map(|job| job.name.clone()).collect()
    }

    /// What is to be sent, in this order.
    pub fn take_messages(&mut self) -> Vec<(NodeId, Message)> {
        std::mem::take(&mut self.messages)
    }

    /// The phases that have ended since the last time.
    pub fn take_phases(&mut self) -> Vec<PhaseReport> {
        std::mem::take(&mut self.phases)
    }

    /// Nobody will be heard any more: all phases end.
    pub fn close(&mut self, now: f64) {
        let nodes: Vec<NodeId> = self.nodes.keys().copied().collect();
        nodes.into_iter().for_each(|node| self.idle(now, node, 0.0));
        let jobs: Vec<usize> = self.jobs.keys().copied().collect();
        jobs.into_iter().for_each(|job| self.forget(job));
    }

    /// When [`settle`](Self::settle) is to be called again at the latest.
    pub fn next_event(&self) -> f64 {
        if self.dirty || !self.asked.is_empty() {
            return self.charged;
        }
        let slice = match self.wanting.len() > self.holders.len() {
            true => self.slices().fold(f64::INFINITY, f64::min).max(self.decided + PAUSE),
            false => f64::INFINITY,
        };
        self.next_tick.min(slice).min(self.waits.next().unwrap_or(f64::INFINITY))
    }

    /// When the slices of those who hold end.
    fn slices(&self) -> impl Iterator<Item = f64> {
        self.holders.iter().filter_map(|index| Some(self.jobs.get(index)?.slice_end))
    }

    /// Decides what follows from all that was told since the last time, and from the time alone.
    pub fn settle(&mut self, now: f64) {
        self.charge(now);
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            self.tick(now);
        }
        if std::mem::take(&mut self.stale) {
            self.compare();
        }
        let over = self.slices().any(|end| end <= now);
        if self.dirty || (over && now >= self.decided + PAUSE) {
            self.decide(now);
        }
        for node in std::mem::take(&mut self.asked) {
            self.sign(now, node);
        }
        for node in self.waits.take(now, SIGNS) {
            if let Some(one) = self.nodes.get_mut(&node) {
                one.hears = false;
                self.sign(now, node);
            }
        }
    }

    /// Says that it is not this node's turn, if it waits, and that the arbiter is there.
    fn sign(&mut self, now: f64, node: NodeId) {
        let Some(one) = self.nodes.get_mut(&node).filter(|one| one.waiting) else { return };
        let Some(job) = self.jobs.get(&one.job) else { return };
        let waited = job.waiting_since.map_or(0.0, |since| now - since);
        let left = ((job.patience - waited).max(0.0) * 1e3) as u64;
        let wait = Message::new(Kind::Wait).seq(one.seq).with(self.wanting.len() as u64, left);
        self.messages.push((node, wait));
        if !std::mem::replace(&mut one.hears, true) {
            self.waits.told(now, node);
        }
    }
}

impl Arbiter {
    fn is_fixed(&self) -> Option<usize> {
        match self.settings.leases {
            Leases::Auto => None,
            Leases::Fixed(number) => Some(number),
        }
    }

    /// Time goes on: those who hold have held for longer.
    fn charge(&mut self, now: f64) {
        let elapsed = (now - self.charged).max(0.0);
        self.charged = self.charged.max(now);
        let mut users = BTreeSet::new();
        for index in &self.holders {
            let Some(job) = self.jobs.get_mut(index) else { continue };
            job.held += elapsed;
            users.extend(job.user);
            self.times.charge(job.set, elapsed);
            self.dirty |= job.phase.as_mut().is_some_and(|phase| phase.hold(elapsed));
        }
        // However many of his jobs hold at the same time.
        users.into_iter().for_each(|user| self.users.held(user, elapsed));
    }

    /// Bytes of a node since its last message; `under_way`: operations that have not ended.
    fn account(&mut self, now: f64, node: NodeId, bytes: u64, under_way: u64) {
        let Some(one) = self.nodes.get_mut(&node) else { return };
        let Some(job) = self.jobs.get_mut(&one.job) else { return };
        let from = one.reported;
        let bytes = possible(from, now, bytes);
        if bytes > 0 || under_way == 0 {
            one.reported = now;
        }
        if bytes == 0 {
            return;
        }
        job.bytes += bytes;
        job.bursts.add(bytes);
        job.window.add(from, now, bytes);
        let believed = self.users.believed(job.user, from, now, bytes);
        self.width.served(from, now, believed);
        if let Some(phase) = &mut job.phase {
            phase.bytes += bytes;
        }
        if let Some(since) = self.alone_since.filter(|_| job.holds) {
            let (length, alone) = (now - from, now - from.max(since));
            if alone > 0.0 {
                job.got_alone(bytes as f64 * alone / length, alone);
            }
        }
    }

    /// Somebody got a lease, or has none any more.
    fn holders_changed(&mut self, now: f64) {
        self.alone_since = match self.holders.len() {
            // What others had under way ends a moment later.
            1 => self.alone_since.or(Some(now + SETTLES)),
            _ => None,
        };
    }

    /// Refreshes what the jobs of a set have in common.
    fn compare(&mut self) {
        self.facts = order::facts(&self.jobs, &self.settings);
        let facts = &self.facts;
        self.times.keep(|set| facts.contains_key(&set));
    }

    fn give_slice(job: &mut Job, now: f64) {
        job.slice_end = now + SLICE;
    }
}
