//! How much I/O the machine does beside how much the workload wants to do.
//!
//! The intensity of a job is its share of I/O time times its bandwidth, for each of its nodes. That of the
//! machine is the mean over the nodes of the running jobs, that of the workload over those of running and
//! queued jobs; each job counts as far as its numbers are to be trusted.

use super::Batch;
use crate::job::{Job, Kind};

/// The machine may be this far from the workload before running jobs are changed.
pub(super) const TOLERANCE: f64 = 0.12;
/// The order of backfilling is changed among this many jobs. Of more, short and narrow ones are chosen most
/// of the time, since they change least, and what is left at the end fills the machine badly: on the
/// workloads of `scripts/bench batch` any choice costs 1.7 % of the utilisation, one of three 0.7 %, for
/// nearly the same variance of the bandwidth.
pub(super) const CHOICE: usize = 3;
/// A change has to leave at most this part of the distance.
const WORTHWHILE: f64 = 0.8;

/// Sums over jobs, each with its reliability: bandwidth, and nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    bandwidth: f64,
    nodes: f64,
}

impl Sum {
    fn add(&mut self, job: &Job, nodes: u32, sign: f64) {
        self.bandwidth += sign * job.reliability * job.mean_bandwidth(nodes);
        self.nodes += sign * job.reliability * f64::from(nodes);
    }

    fn intensity(self) -> f64 {
        if self.nodes > 0.0 { self.bandwidth / self.nodes } else { 0.0 }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Balance {
    running: Sum,
    queued: Sum,
}

impl Balance {
    pub fn queued(&mut self, job: &Job) {
        self.queued.add(job, job.preferred, 1.0);
    }

    pub fn started(&mut self, job: &Job, nodes: u32) {
        self.queued.add(job, job.preferred, -1.0);
        self.running.add(job, nodes, 1.0);
    }

    pub fn resized(&mut self, job: &Job, before: u32, after: u32) {
        self.running.add(job, before, -1.0);
        self.running.add(job, after, 1.0);
    }

    pub fn stopped(&mut self, job: &Job, nodes: u32) {
        self.running.add(job, nodes, -1.0);
    }

    /// Intensity of the running and queued jobs.
    pub fn workload(&self) -> f64 {
        let bandwidth = self.running.bandwidth + self.queued.bandwidth;
        Sum { bandwidth, nodes: self.running.nodes + self.queued.nodes }.intensity()
    }

    /// Intensity of the running jobs.
    pub fn machine(&self) -> f64 {
        self.running.intensity()
    }

    /// How far the machine would be from the workload if running jobs had other sizes: job, nodes before,
    /// nodes after.
    pub fn away_after(&self, changes: &[(&Job, u32, u32)]) -> f64 {
        let mut sum = self.running;
        for (job, before, after) in changes {
            sum.add(job, *before, -1.0);
            sum.add(job, *after, 1.0);
        }
        (sum.intensity() - self.workload()).abs()
    }
}

impl Batch<'_> {
    /// How far the machine is from the workload if this job ran as well, on average over its life: a running
    /// job that ends sooner counts for as long as it lasts. What the machine does at this moment would be
    /// balanced by jobs that go on long after it.
    pub(super) fn away_with(&self, job: &Job, nodes: u32) -> f64 {
        let life = (job.estimate * job.ratio(nodes)).max(1.0);
        let mut sum = Sum::default();
        for running in &self.running {
            sum.add(running.job, running.nodes, (running.left(self.now) / life).min(1.0));
        }
        sum.add(job, nodes, 1.0);
        (sum.intensity() - self.balance.workload()).abs()
    }

    /// With another size of this job, the machine would be no further from the workload, or close to it.
    pub(super) fn helps_balance(&self, place: usize, nodes: u32) -> bool {
        let running = &self.running[place];
        let now = self.balance.away_after(&[]).max(TOLERANCE * self.balance.workload());
        self.balance.away_after(&[(running.job, running.nodes, nodes)]) <= now
    }

    /// Move nodes from one running malleable job to another, if that brings the machine clearly closer to the
    /// workload.
    pub(super) fn rebalance(&mut self) {
        let (machine, workload) = (self.balance.machine(), self.balance.workload());
        if workload <= 0.0 || (machine - workload).abs() < TOLERANCE * workload {
            return;
        }
        let may = |place: &usize| {
            let running = &self.running[*place];
            running.job.kind == Kind::Malleable && !running.changed && !running.kept
        };
        let places: Vec<usize> = (0..self.running.len()).filter(may).collect();
        let mut best: Option<(f64, [(usize, u32); 2])> = None;
        for from in &places {
            let giver = &self.running[*from];
            let least = giver.job.min.max(giver.job.preferred.div_ceil(2));
            let gives = giver.nodes.saturating_sub(least);
            for to in places.iter().filter(|to| *to != from) {
                let taker = &self.running[*to];
                let takes = taker.job.max.min(self.settings.nodes).saturating_sub(taker.nodes);
                let mut moved = gives.min(takes);
                while moved > 0 {
                    let sizes = [(*from, giver.nodes - moved), (*to, taker.nodes + moved)];
                    let changes =
                        [(giver.job, giver.nodes, sizes[0].1), (taker.job, taker.nodes, sizes[1].1)];
                    let away = self.balance.away_after(&changes);
                    if best.is_none_or(|(least, _)| away < least) {
                        best = Some((away, sizes));
                    }
                    moved /= 2;
                }
            }
        }
        let Some((away, sizes)) = best else { return };
        if away < WORTHWHILE * (machine - workload).abs() {
            for (place, nodes) in sizes {
                self.resize(place, nodes);
            }
        }
    }
}
