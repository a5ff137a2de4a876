//! What can be wrong with a log, said so that somebody can find the place.

use std::borrow::Cow;
use std::fmt;
use std::io;

/// The result of reading a log.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where in a log something was found.
///
/// A Darshan log is a header followed by compressed regions, so that a place has two coordinates: where the
/// region begins in the file, and how far into its *inflated* contents the reader was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `"header"`, `"job"`, `"names"`, or the name of a module (`"POSIX"`, `"DXT_MPIIO"`, …).
    pub region: Cow<'static, str>,
    /// Byte of the file at which the region begins.
    pub start: u64,
    /// Byte within the region, after decompression.
    pub offset: u64,
    /// The record being read, counted from 0, where the region has records.
    pub record: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.region == "header" {
            return write!(f, "header, byte {}", self.offset);
        }
        write!(f, "{} region at file byte {}", self.region, self.start)?;
        if let Some(record) = self.record {
            write!(f, ", record {record}")?;
        }
        write!(f, ", inflated byte {}", self.offset)
    }
}

/// Why a log, or a part of it, could not be read.
///
/// Every variant names the file; those about its contents name the [`Place`], what was expected there and
/// what was found. Iterators over records yield everything that precedes the damage before they yield the
/// error, so a caller may keep what was read and say that it is incomplete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file.
        file: Box<str>,
        /// What was attempted (`"open"`, `"read"`).
        action: &'static str,
        /// The reason given.
        source: io::Error,
    },
    /// The file is not a Darshan log at all.
    #[error("{file}: not a Darshan log: expected {expected}, found {found}")]
    NotALog {
        /// The file.
        file: Box<str>,
        /// What a log would have there.
        expected: Cow<'static, str>,
        /// What is there.
        found: String,
    },
    /// A Darshan log, but of a kind this crate does not read.
    #[error("{file}: {what} is not supported: expected {expected}, found {found}")]
    Unsupported {
        /// The file.
        file: Box<str>,
        /// The thing that is not supported (`"log format"`, `"compression type"`, `"POSIX record version"`).
        what: Cow<'static, str>,
        /// What this crate reads.
        expected: Cow<'static, str>,
        /// What the log has.
        found: String,
    },
    /// The contents contradict the format.
    #[error("{file}: {place}: expected {expected}, found {found}")]
    Corrupt {
        /// The file.
        file: Box<str>,
        /// Where.
        place: Box<Place>,
        /// What the format asks for.
        expected: Cow<'static, str>,
        /// What is there.
        found: String,
    },
    /// The contents end too early: a log cut off in copying, or by a full disk.
    #[error("{file}: {place}: truncated: expected {expected}, found {found}")]
    Truncated {
        /// The file.
        file: Box<str>,
        /// Where the data end.
        place: Box<Place>,
        /// What should have followed.
        expected: Cow<'static, str>,
        /// What was left.
        found: String,
    },
    /// The contents are larger than the [`Limits`](crate::Limits) in force allow.
    #[error("{file}: {place}: {what} exceeds the limit of {limit}")]
    TooLarge {
        /// The file.
        file: Box<str>,
        /// Where.
        place: Box<Place>,
        /// What is too large, with its size where known.
        what: String,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    /// The file the error is about.
    pub fn file(&self) -> &str {
        match self {
            Error::Io { file, .. }
            | Error::NotALog { file, .. }
            | Error::Unsupported { file, .. }
            | Error::Corrupt { file, .. }
            | Error::Truncated { file, .. }
            | Error::TooLarge { file, .. } => file,
        }
    }

    /// The place in the file, where the error has one.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Error::Corrupt { place, .. } | Error::Truncated { place, .. } | Error::TooLarge { place, .. } => {
                Some(place)
            }
            _ => None,
        }
    }
}

/// Shows bytes of an unknown file in a message: as text where they are text, else in hexadecimal.
pub(crate) fn show_bytes(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "an empty file".to_owned();
    }
    let head = &bytes[..bytes.len().min(8)];
    if head.iter().all(|b| b.is_ascii_graphic() || *b == b' ') {
        format!("\"{}\"", String::from_utf8_lossy(head))
    } else {
        let hex: Vec<String> = head.iter().map(|b| format!("{b:02x}")).collect();
        format!("bytes {}", hex.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_file_place_expected_and_found() {
        let error = Error::Corrupt {
            file: "a.darshan".into(),
            place: Box::new(Place { region: "HEATMAP".into(), start: 620, offset: 32, record: Some(1) }),
            expected: "at most 65536 bins".into(),
            found: "-4".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "a.darshan: HEATMAP region at file byte 620, record 1, inflated byte 32: expected at most \
             65536 bins, \
             found -4"
        );
        assert_eq!(error.file(), "a.darshan");
        assert_eq!(error.place().and_then(|p| p.record), Some(1));
    }

    #[test]
    fn unknown_bytes_are_shown_as_what_they_are() {
        assert_eq!(show_bytes(b"#!/bin/sh\n"), "\"#!/bin/s\"");
        assert_eq!(show_bytes(&[0x7f, b'E']), "bytes 7f 45");
        assert_eq!(show_bytes(b""), "an empty file");
    }

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<Error>() <= 104, "{}", size_of::<Error>());
    }
}
