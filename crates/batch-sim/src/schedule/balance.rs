//! How much I/O the machine does beside how much the workload wants to do.
//!
//! The intensity of a job is its share of I/O time times its bandwidth, for each of its nodes. That of the
//! machine is the mean over the nodes of the running jobs, that of the workload over those of running and
//! queued jobs; each job counts as far as its numbers are to be trusted.

use crate::job::Job;

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

    /// Intensity of the running jobs if this one ran as well.
    pub fn with(&self, job: &Job, nodes: u32) -> f64 {
        let mut sum = self.running;
        sum.add(job, nodes, 1.0);
        sum.intensity()
    }
}
