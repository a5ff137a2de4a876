//! Why a copy was not made.

use crate::plan::Outcome;
use files::{Error, Why};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// Why a copy was not made.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// The file changed under the copy.
    Changed,
    /// It is gone.
    Vanished,
    /// There is something of that name where it should go.
    Exists,
    /// There is no room.
    Full,
    /// It was given up.
    Cancelled,
    /// Anything else, in words that can be printed.
    Failed(String),
}

impl Stop {
    /// Something is wrong with the file that is read.
    pub fn reading(error: Error) -> Self {
        match error.errno() {
            Some(Errno::NOENT | Errno::NOTDIR) => Stop::Vanished,
            // A lease of somebody else's: it is being written.
            Some(Errno::AGAIN) => Stop::Changed,
            _ => Stop::Failed(error.to_string()),
        }
    }

    /// Something is wrong with the copy.
    pub fn writing(error: Error) -> Self {
        match error.errno() {
            Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => Stop::Full,
            _ => Stop::Failed(error.to_string()),
        }
    }

    /// The same, of data.
    pub(crate) fn reading_at(path: &Path, error: io::Error) -> Self {
        Stop::reading(Error::new(path, error))
    }

    pub(crate) fn writing_at(path: &Path, error: io::Error) -> Self {
        Stop::writing(Error::new(path, error))
    }

    /// A name that cannot be used, and why.
    pub(crate) fn why(path: &Path, why: Why) -> Self {
        Stop::Failed(Error::new(path, why).to_string())
    }
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Changed => Outcome::Changed,
            Stop::Vanished => Outcome::Vanished,
            Stop::Exists => Outcome::Exists,
            Stop::Full => Outcome::Full,
            Stop::Cancelled => Outcome::Cancelled,
            Stop::Failed(why) => Outcome::Failed(why),
        }
    }
}
