//! Why there is nothing to analyse.

use std::io;

/// Why there are no requests. The message names the file, the place in it, what was expected and what was
/// found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A trace of this project that cannot be read.
    #[error(transparent)]
    Trace(#[from] tmio_trace::ReadError),
    /// A file of the C++ TMIO that cannot be read.
    #[error(transparent)]
    Digest(#[from] tmio_trace::tmio::DigestError),
    /// A Darshan log that cannot be read.
    #[error(transparent)]
    Darshan(#[from] darshan_log::Error),
    /// The file cannot be opened or read.
    #[error("{name}: {source}")]
    Io {
        /// The input.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is not one byte in it.
    #[error("{name}: is empty")]
    Empty {
        /// The input.
        name: String,
    },
    /// No format fits.
    #[error("{name}: unknown format: expected {expected}, found \"{found}\"")]
    Unknown {
        /// The input.
        name: String,
        /// The formats there are.
        expected: String,
        /// How it begins.
        found: String,
    },
    /// The format is known, and something in the input violates it.
    #[error("{name}: {place}: expected {expected}, found {found}")]
    Malformed {
        /// The input.
        name: String,
        /// Line, byte or key.
        place: String,
        /// What the format asks for.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The input is sound, but holds nothing of what was asked for.
    #[error("{name}: expected {expected}, found {found}")]
    Absent {
        /// The input.
        name: String,
        /// What was looked for.
        expected: String,
        /// What there is instead.
        found: String,
    },
    /// All entries had to be left out.
    #[error("{name}: holds nothing usable; {first}")]
    Unusable {
        /// The input.
        name: String,
        /// The first entry, and what is wrong with it.
        first: String,
    },
    /// A log of counters alone.
    #[error("{name}: does not tell when its I/O took place: expected {expected}, found {found}")]
    NoTimes {
        /// The input.
        name: String,
        /// What would tell.
        expected: String,
        /// What there is.
        found: String,
    },
    /// A folder without any file.
    #[error("{name}: is a directory with no trace in it")]
    EmptyFolder {
        /// The folder.
        name: String,
    },
    /// One input was expected, and it is a folder.
    #[error("{name}: is a directory: expected one input")]
    IsFolder {
        /// The folder.
        name: String,
    },
    /// One quantity was expected, and there are several.
    #[error("{name}: holds several metrics: expected one of {found}")]
    SeveralMetrics {
        /// The input.
        name: String,
        /// Their names.
        found: String,
    },
    /// One result for each rank or file was asked for.
    #[error("{name}: does not tell {what} apart: one result for each cannot be made")]
    NotTold {
        /// The input.
        name: String,
        /// Ranks or files.
        what: &'static str,
    },
    /// Samples cannot be merged with requests.
    #[error("{name}: is a sampled quantity, which cannot be part of a job")]
    SampledPart {
        /// The input.
        name: String,
    },
}

/// A short, printable piece of what was found.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 24;
    let piece = &bytes[..bytes.len().min(MAX_BYTES)];
    let dots = if bytes.len() > MAX_BYTES { "…" } else { "" };
    match std::str::from_utf8(piece) {
        Ok(text) => format!("{}{dots}", text.escape_debug()),
        Err(_) => format!("{}{dots}", piece.escape_ascii()),
    }
}
