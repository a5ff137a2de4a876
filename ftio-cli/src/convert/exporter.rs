//! What a format does that a trace is written in.

use std::io;
use tmio_trace::Event;

/// A format that a trace can be written in.
pub trait Exporter {
    /// Take in the next part of the trace.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// Write what comes last.
    fn finish(&mut self) -> io::Result<()>;
}
