//! Versions of the log format, and how a log is recognised.

use std::fmt;

/// The number every log carries after its version, which also tells its byte order.
pub(crate) const MAGIC: u64 = 6_567_223;

/// The version of a log's format, which is not that of the Darshan release that wrote it.
///
/// | format | releases |
/// |---|---|
/// | 1.21, 1.22, 1.24 | 1.x (read only) |
/// | 2.00 – 2.06 | 2.0 – 2.3.1 |
/// | 3.00 | 3.0 |
/// | 3.10 | 3.1 |
/// | 3.20 | 3.2.0 |
/// | 3.21 | 3.2.1 – 3.4.0 |
/// | 3.41 | 3.4.1 – 3.5.0 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Format {
    /// 1, 2 or 3.
    pub major: u8,
    /// The number after the dot: 0 – 6, or 0, 10, 20, 21, 41.
    pub minor: u8,
}

impl Format {
    /// Every format this crate reads and writes.
    pub const ALL: [Format; 12] = [
        Format::new(2, 0),
        Format::new(2, 1),
        Format::new(2, 2),
        Format::new(2, 3),
        Format::new(2, 4),
        Format::new(2, 5),
        Format::new(2, 6),
        Format::V3_00,
        Format::V3_10,
        Format::V3_20,
        Format::V3_21,
        Format::V3_41,
    ];
    /// Formats of Darshan 1, which are read but not written.
    pub(crate) const DARSHAN_1: [Format; 3] = [Format::new(1, 21), Format::new(1, 22), Format::new(1, 24)];
    /// Darshan 3.0.
    pub const V3_00: Format = Format::new(3, 0);
    /// Darshan 3.1.
    pub const V3_10: Format = Format::new(3, 10);
    /// Darshan 3.2.0.
    pub const V3_20: Format = Format::new(3, 20);
    /// Darshan 3.2.1 – 3.4.0.
    pub const V3_21: Format = Format::new(3, 21);
    /// Darshan 3.4.1 and later.
    pub const V3_41: Format = Format::new(3, 41);

    /// What is read, for messages.
    pub(crate) const SUPPORTED: &str = "1.21, 1.22, 1.24, 2.00 to 2.06, 3.00, 3.10, 3.20, 3.21 or 3.41";

    pub(crate) const fn new(major: u8, minor: u8) -> Self {
        Format { major, minor }
    }

    /// Reads `"3.21\0"`: digits, a dot, digits, then NUL or the end. `None` if it is anything else.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Format> {
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        let text = std::str::from_utf8(&bytes[..end]).ok()?;
        let (major, minor) = text.split_once('.')?;
        let number = |s: &str| if s.bytes().all(|b| b.is_ascii_digit()) { s.parse().ok() } else { None };
        Some(Format { major: number(major)?, minor: number(minor)? })
    }

    /// Has a log modules, or one record a file for all interfaces?
    pub(crate) fn has_modules(self) -> bool {
        self.major >= 3
    }

    pub(crate) fn is_supported(self) -> bool {
        Format::ALL.contains(&self) || Format::DARSHAN_1.contains(&self)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_written_alike() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.to_string().as_bytes()), Some(format));
        }
        assert_eq!(Format::parse(b"3.00\0\0\0\0").map(|f| f.to_string()).as_deref(), Some("3.00"));
        for bad in [&b"3"[..], b"", b"3.", b".1", b"+3.1", b"3.x", b"3.999", b"\xff.1"] {
            assert_eq!(Format::parse(bad), None, "{bad:?}");
        }
    }
}
