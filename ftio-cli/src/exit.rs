//! How the command ends.

use crate::terminal::text;
use std::io;
use std::process::ExitCode;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All went well; also if a mode had no data.
    Done = 0,
    /// Something could not be read or written.
    Failed = 1,
    /// Wrong arguments.
    Usage = 2,
    /// Not periodic; only with `--exit-status`.
    NotPeriodic = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Say what went wrong, if anything did. A closed pipe is no error: whoever reads has seen enough.
pub fn report(result: anyhow::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) if is_broken_pipe(&error) => Exit::Done,
        Err(error) => {
            text::complain("", &format!("{error:#}"));
            Exit::Failed
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
