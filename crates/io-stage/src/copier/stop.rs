//! Why a copy was not made.

use crate::plan::Outcome;
use rustix::io::Errno;
use std::io;
use std::path::Path;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Changed,
    Vanished,
    Full,
    Cancelled,
    Failed(String),
}

impl Stop {
    /// Something is wrong with the file that is read.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Stop::Vanished,
            _ => Stop::Failed(format!("{}: {error}", path.display())),
        }
    }

    /// Something is wrong with the copy.
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        let full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG].map(Errno::raw_os_error);
        match error.raw_os_error() {
            Some(code) if full.contains(&code) => Stop::Full,
            _ => Stop::Failed(format!("{}: {error}", path.display())),
        }
    }
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Changed => Outcome::Changed,
            Stop::Vanished => Outcome::Vanished,
            Stop::Full => Outcome::Full,
            Stop::Cancelled => Outcome::Cancelled,
            Stop::Failed(why) => Outcome::Failed(why),
        }
    }
}
