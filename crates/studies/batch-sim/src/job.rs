//! A job, as its user submits it.

use crate::scaling::Scaling;
use serde::{Deserialize, Serialize};

/// What may be done with the size of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It runs on the nodes it asks for.
    #[default]
    Rigid,
    /// Its size is chosen when it starts.
    Moldable,
    /// Its size may change while it runs.
    Malleable,
}

/// A job of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Its number.
    pub id: u64,
    /// When it is submitted, in seconds.
    pub submit: f64,
    /// Jobs with a higher one come first.
    pub priority: i64,
    /// What may be done with its size.
    pub kind: Kind,
    /// The fewest nodes that it can run on.
    pub min: u32,
    /// The nodes it asks for.
    pub preferred: u32,
    /// The most nodes that it can use.
    pub max: u32,
    /// How long it takes on its preferred nodes, in seconds.
    pub time: f64,
    /// How long its user says it takes; the scheduler knows no more.
    pub estimate: f64,
    /// How its time depends on the number of nodes.
    pub scaling: Scaling,
    /// Share of its time that is I/O, on its preferred nodes.
    pub io_share: f64,
    /// Its bandwidth while it does I/O, in bytes per second.
    pub bandwidth: f64,
    /// How far its I/O is to be trusted: 1 if measured, 0.5 from earlier runs, 0.25 if the user says so.
    pub reliability: f64,
    /// Of two jobs that could be expanded, the one with the larger factor comes first.
    pub scal_factor: f64,
}

impl Job {
    /// A job that asks for nodes and gets them, and does no I/O.
    pub fn rigid(id: u64, submit: f64, nodes: u32, time: f64) -> Self {
        Job {
            id,
            submit,
            min: nodes,
            preferred: nodes,
            max: nodes,
            time,
            estimate: time,
            reliability: 1.0,
            scal_factor: 1.0,
            ..Job::default()
        }
    }

    /// The same job, malleable from `min` to `max` nodes.
    pub fn malleable(mut self, min: u32, max: u32, scaling: Scaling) -> Self {
        self.kind = Kind::Malleable;
        (self.min, self.max, self.scaling) = (min, max, scaling);
        self.scal_factor = self.efficiency();
        self
    }

    /// How well it uses its largest size: 1 if its speed grows with the nodes.
    pub fn efficiency(&self) -> f64 {
        let nodes = f64::from(self.max) / f64::from(self.preferred.max(1));
        1.0 / (self.ratio(self.max) * nodes)
    }

    /// Its time on `nodes`, beside that on its preferred ones.
    pub fn ratio(&self, nodes: u32) -> f64 {
        self.scaling.ratio(nodes, self.preferred)
    }

    /// Bytes per second over its whole run on `nodes`: what it moves does not depend on its size.
    pub fn mean_bandwidth(&self, nodes: u32) -> f64 {
        self.io_share * self.bandwidth / self.ratio(nodes)
    }

    /// The smallest size at which it may start.
    pub(crate) fn least(&self) -> u32 {
        if self.kind == Kind::Rigid { self.preferred } else { self.min }
    }

    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        let number = |name: &str, value: f64, most: f64| {
            let good = value.is_finite() && (0.0..=most).contains(&value);
            (!good).then(|| format!("its {name} is {value}"))
        };
        if self.min == 0 || self.min > self.preferred || self.preferred > self.max {
            let (min, preferred, max) = (self.min, self.preferred, self.max);
            return Some(format!(
                "its sizes are {min}, {preferred}, {max}: expected 1 ≤ min ≤ preferred ≤ max"
            ));
        }
        if !self.submit.is_finite() {
            return Some(format!("it is submitted at {}", self.submit));
        }
        number("time", self.time, f64::MAX)
            .or_else(|| number("estimate", self.estimate, f64::MAX))
            .or_else(|| number("I/O share", self.io_share, 1.0))
            .or_else(|| number("bandwidth", self.bandwidth, f64::MAX))
            .or_else(|| number("reliability", self.reliability, 1.0))
            .or_else(|| self.scaling.problem(self.min, self.preferred, self.max))
    }
}
