//! Why there is nothing to analyse.

use std::io;

/// Why there are no requests. The message names the file, the place in it, what was expected and what was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum SourceError {
    #[error(transparent)]
    Trace(#[from] tmio_trace::ReadError),
    #[error(transparent)]
    Digest(#[from] tmio_trace::tmio::DigestError),
    #[error(transparent)]
    Darshan(#[from] darshan_log::Error),
    #[error("{name}: {source}")]
    Io { name: String, source: io::Error },
    #[error("{name}: is empty")]
    Empty { name: String },
    #[error("{name}: is of no known format: expected {expected}, found \"{found}\"")]
    Unknown { name: String, expected: &'static str, found: String },
    #[error("{name}: {place}: expected {expected}, found {found}")]
    Malformed { name: String, place: String, expected: String, found: String },
    #[error("{name}: {what}")]
    Nothing { name: String, what: String },
}

/// A short, printable piece of what was found.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 24;
    let piece = &bytes[..bytes.len().min(LONGEST)];
    let dots = if bytes.len() > LONGEST { "…" } else { "" };
    match std::str::from_utf8(piece) {
        Ok(text) => format!("{}{dots}", text.escape_debug()),
        Err(_) => format!("{}{dots}", piece.escape_ascii()),
    }
}
