//! What the planner says, and what it is told about copies.

use super::files::Kind;
use super::window::Reason;
use crate::stamp::Stamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which way a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Out of the buffer.
    Out,
    /// Into the buffer.
    In,
}

/// A file to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Which way.
    pub direction: Direction,
    /// Its path below the folder.
    pub path: PathBuf,
    /// The version that is meant; `None` for a file that comes in, whose version the copier finds.
    pub stamp: Option<Stamp>,
    /// File or link.
    pub kind: Kind,
    /// How large it is.
    pub bytes: u64,
    /// The phase that wrote it, or that needs it.
    pub phase: usize,
    /// Another name of the same file whose copy was verified: a link to that copy is enough.
    pub same_as: Option<PathBuf>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Begin to copy.
    Start(Copy),
    /// The copy under way is suspended at once.
    Suspend,
    /// It goes on.
    Resume,
    /// It is given up: its file has changed, or is gone.
    Cancel,
    /// A file is removed from the buffer, if it still is the version whose copy was verified.
    Evict {
        /// Its path below the folder.
        path: PathBuf,
        /// File or link.
        kind: Kind,
        /// The version.
        stamp: Stamp,
        /// Room that this makes.
        bytes: u64,
    },
}

/// A decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// When, in seconds of job time.
    pub time: f64,
    /// What to do.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// Until when it is expected to stay quiet, if that is known.
    pub quiet_until: Option<f64>,
}

/// How a copy ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was verified and has its final name.
    Verified {
        /// The version that was copied.
        stamp: Stamp,
        /// The version that the copy is.
        copy: Stamp,
        /// Seconds that it took, without those in which it was suspended.
        seconds: f64,
        /// Every later write to the file will be told by another version.
        certain: bool,
    },
    /// The copy that was made before is still like the file.
    Confirmed,
    /// The file changed under the copy, which was thrown away.
    Changed,
    /// The file is gone, and so is the copy.
    Vanished,
    /// There is a file of that name where the copy should go, and it stays.
    Exists,
    /// There is no room where the copy should go.
    Full,
    /// Anything else, in words.
    Failed(String),
    /// It was given up because the planner said so.
    Cancelled,
}
