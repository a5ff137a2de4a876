//! What the service counts about itself.

use crate::damage::Damages;
use crate::lock::locked;
use crate::refusals::Refusals;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that only grows, or that is set.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// The value before.
    pub fn add(&self, value: u64) -> u64 {
        self.0.fetch_add(value, Relaxed)
    }

    pub fn take(&self, value: u64) {
        self.0.fetch_sub(value, Relaxed);
    }

    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Upper edges of the histogram of prediction times, in seconds.
pub const EDGES: [f64; 7] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// All of it.
#[derive(Debug, Default)]
pub struct Stats {
    pub events: Count,
    pub journal_bytes: Count,
    pub traces_read: Count,
    pub trace_errors: Count,
    pub pushes: Count,
    pub push_errors: Count,
    pub predictions: Count,
    /// Jobs that were too old to be kept.
    pub forgotten: Count,
    /// How many took how long: one more than [`EDGES`].
    pub prediction_times: [Count; EDGES.len() + 1],
    pub prediction_micros: Count,
    pub connections: Count,
    pub refused_connections: Count,
    pub watchers: Count,
    pub followed: Count,
    /// Milliseconds that the last look through all directories took.
    pub scan_millis: Count,
    pub scanned_files: Count,
    /// What was refused because somebody has enough.
    pub refusals: Refusals,
    /// Data that were found to be damaged.
    pub damage: Damages,
    /// Requests by route and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// What is wrong right now, by what it is about.
    problems: Mutex<BTreeMap<String, String>>,
}

impl Stats {
    pub fn request(&self, route: &'static str, status: u16) {
        *locked(&self.requests).entry((route, status)).or_default() += 1;
    }

    pub fn requests(&self) -> Vec<((&'static str, u16), u64)> {
        let requests = locked(&self.requests);
        requests.iter().map(|(key, count)| (*key, *count)).collect()
    }

    pub fn prediction(&self, seconds: f64) {
        self.predictions.add(1);
        let bucket = EDGES.iter().position(|edge| seconds <= *edge).unwrap_or(EDGES.len());
        self.prediction_times[bucket].add(1);
        self.prediction_micros.add((seconds * 1e6) as u64);
    }

    /// Something is wrong, or right again. A problem is told once in the log, and in `/readyz` as long as it
    /// lasts.
    pub fn problem(&self, about: &str, problem: Option<String>) {
        let mut problems = locked(&self.problems);
        match problem {
            Some(text) => {
                if problems.get(about) != Some(&text) {
                    tracing::error!(about, "{text}");
                    problems.insert(about.to_owned(), text);
                }
            }
            None => {
                if problems.remove(about).is_some() {
                    tracing::info!(about, "{about}: works again");
                }
            }
        }
    }

    pub fn problems(&self) -> Vec<String> {
        locked(&self.problems).values().cloned().collect()
    }
}
