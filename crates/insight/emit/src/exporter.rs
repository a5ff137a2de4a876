//! What a format does that a trace is written in.

use std::io;
use tmio_trace::{Event, Outcome, ReadError, Trace};

/// A format that a trace can be written in.
pub trait Exporter {
    /// Take in the next part of the trace.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// Write what comes last.
    fn finish(&mut self) -> io::Result<()>;
}

/// Why a trace could not be written in another format.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The output cannot be written. The cause is kept: a closed pipe is no error for a command.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// Write all of a trace. Memory does not grow with it.
pub fn export(trace: Trace, mut exporter: impl Exporter) -> Result<Outcome, ExportError> {
    let mut problem = Ok(());
    let outcome = trace.read(|event| {
        if problem.is_ok() {
            problem = exporter.event(&event);
        }
    })?;
    problem?;
    exporter.finish()?;
    Ok(outcome)
}
