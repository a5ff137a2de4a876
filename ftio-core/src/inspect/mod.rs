//! What an input holds: `ftio info` and the measurements of `ftio scale`.

pub mod darshan;
pub mod module;
pub mod profile;
pub mod summary;
pub mod waiting;

use crate::source::{Kind, Opened, SourceError};
use summary::{Summary, summarize_source, summarize_trace};

/// Sum up an input, whatever it is.
///
/// # Errors
///
/// It cannot be read.
pub fn summarize(opened: Opened) -> Result<Summary, SourceError> {
    match opened.kind {
        Kind::Ours(trace) => summarize_trace(&opened.name, trace),
        Kind::Darshan(log) => darshan::summarize(log),
        _ => summarize_source(&opened.name.clone(), opened.into_source()?),
    }
}
