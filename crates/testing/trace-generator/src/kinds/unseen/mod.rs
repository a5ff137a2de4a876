//! Kinds that the confidence is never fitted on, made by other means: programs as scripts of steps that share
//! a storage.

mod awkward;
mod logs;
mod programs;
mod random_jobs;
mod simulation;
mod storage;
mod wandering;

use super::Kind;

/// Families that are never used for fitting.
pub const FAMILIES: [(&str, &[Kind]); 6] = [
    ("unseen: programs", programs::KINDS),
    ("unseen: logs of servers", logs::KINDS),
    ("unseen: no period", random_jobs::KINDS),
    ("unseen: storage and queues", storage::KINDS),
    ("unseen: awkward rhythms", awkward::KINDS),
    ("unseen: loads that wander", wandering::KINDS),
];
