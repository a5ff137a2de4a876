//! How the command ends.

use crate::terminal::text::{Severity, complain};
use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All went well; also if a mode had no data.
    Done = 0,
    /// Something could not be read or written.
    Failed = 1,
    /// Wrong arguments.
    Usage = 2,
    /// Not periodic, a finding, or a difference: what was asked about. Only with `--exit-status`, and by
    /// `ftio diff`.
    NotPeriodic = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Arguments that the parser accepts and that make no sense together, or for this input.
#[derive(Debug)]
struct WrongUsage(String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

/// An error that ends the command with [`Exit::Usage`].
pub fn wrong_usage(message: impl Into<String>) -> anyhow::Error {
    WrongUsage(message.into()).into()
}

/// Becomes true when the user or the system asks the process to end.
pub fn asked_to_end() -> anyhow::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&asked)).context("cannot wait for signals")?;
    }
    Ok(asked)
}

/// Report what went wrong, if anything did. A closed pipe is not an error: the reader has seen enough.
pub fn report(result: anyhow::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) if is_broken_pipe(&error) => Exit::Done,
        Err(error) => {
            complain(Severity::Error, &told(&error));
            if error.is::<WrongUsage>() { Exit::Usage } else { Exit::Failed }
        }
    }
}

/// What happened and why, each thing once: some errors say their cause themselves.
pub fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(is_pipe)
}

/// Also where the writer of tables has wrapped the cause.
fn is_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(cause) = cause.downcast_ref::<io::Error>() {
        let inner = cause.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
        return cause.kind() == io::ErrorKind::BrokenPipe || inner.is_some_and(is_pipe);
    }
    match cause.downcast_ref::<csv::Error>().map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(cause)) => is_pipe(cause),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let plain: anyhow::Error = Err::<(), _>(missing()).context("a.csv").unwrap_err();
        assert_eq!(told(&plain), format!("a.csv: {}", missing()));
        let twice: anyhow::Error =
            Err::<(), _>(missing()).context(format!("a.csv: {}", missing())).unwrap_err();
        assert_eq!(told(&twice), format!("a.csv: {}", missing()));
    }

    #[test]
    fn the_exit_code_tells_what_went_wrong() {
        assert_eq!(report(Ok(Exit::NotPeriodic)), Exit::NotPeriodic);
        assert_eq!(report(Err(wrong_usage("--ts after --te"))), Exit::Usage);
        assert_eq!(report(Err(wrong_usage("no ending")).context("a.xyz")), Exit::Usage);
        assert_eq!(report(Err(anyhow::anyhow!("no file"))), Exit::Failed);
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(report(Err(closed()).context("stdout")), Exit::Done);
        let of_a_table = csv::Error::from(closed());
        assert_eq!(report(Err(io::Error::from(of_a_table)).context("stdout")), Exit::Done);
    }
}
