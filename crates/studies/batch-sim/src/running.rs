//! A job that runs: how far it is, and when it should end.

use crate::job::{Job, Kind};

#[derive(Clone, Debug)]
pub(crate) struct Running<'a> {
    pub job: &'a Job,
    /// Its place in the workload.
    pub index: usize,
    pub nodes: u32,
    pub start: f64,
    /// When it will end, if nothing changes.
    pub end: f64,
    /// When it will end by its estimate, if nothing changes.
    pub expected: f64,
    /// Changed since the last start or end of a job.
    pub changed: bool,
    /// Was expanded, and keeps what it got.
    pub kept: bool,
    /// Until when its progress was counted.
    since: f64,
    /// What it has done, in seconds on its preferred nodes.
    done: f64,
    /// Seconds of changes that it has yet to go through.
    owed: f64,
    last_change: Option<f64>,
}

impl<'a> Running<'a> {
    pub fn new(job: &'a Job, index: usize, nodes: u32, now: f64) -> Self {
        let ratio = job.ratio(nodes);
        Running {
            job,
            index,
            nodes,
            start: now,
            end: now + job.time * ratio,
            expected: now + job.estimate * ratio,
            changed: false,
            kept: false,
            since: now,
            done: 0.0,
            owed: 0.0,
            last_change: None,
        }
    }

    fn progress(&self, now: f64) -> (f64, f64) {
        let passed = now - self.since;
        let owed = (self.owed - passed).max(0.0);
        let worked = passed - (self.owed - owed);
        (self.done + worked / self.job.ratio(self.nodes), owed)
    }

    /// Seconds that are left by the estimate.
    pub fn left(&self, now: f64) -> f64 {
        (self.expected - now).max(0.0)
    }

    /// The same if it ran on `nodes` from now on, not counting what the change costs.
    pub fn left_on(&self, nodes: u32, now: f64) -> f64 {
        if nodes == self.nodes {
            return self.left(now);
        }
        let (done, owed) = self.progress(now);
        owed + (self.job.estimate - done).max(0.0) * self.job.ratio(nodes)
    }

    /// Nodes beyond its preferred ones, which it gives back when a job starts on them.
    pub fn lent(&self) -> u32 {
        let may_shrink = self.job.kind == Kind::Malleable && !self.kept;
        if may_shrink { self.nodes.saturating_sub(self.job.preferred) } else { 0 }
    }

    /// When its nodes are free by its estimate, if it gives back now what it was lent.
    pub fn frees(&self, now: f64) -> f64 {
        match self.lent() {
            0 => self.expected.max(now),
            lent => now + self.left_on(self.nodes - lent, now),
        }
    }

    /// Another size. Changes at the same moment are one change, and a change at the start costs nothing. What
    /// it costs is returned.
    pub fn resize(&mut self, nodes: u32, now: f64, cost: f64) -> f64 {
        (self.done, self.owed) = self.progress(now);
        self.since = now;
        let free = self.last_change == Some(now) || self.start == now;
        let cost = if free { 0.0 } else { cost };
        self.owed += cost;
        self.last_change = Some(now);
        self.changed = true;
        self.nodes = nodes;
        let ratio = self.job.ratio(nodes);
        self.end = now + self.owed + (self.job.time - self.done).max(0.0) * ratio;
        self.expected = now + self.owed + (self.job.estimate - self.done).max(0.0) * ratio;
        cost
    }
}
