//! A stretch of a stream in memory, for parsers that look a few bytes ahead.

use std::fmt;
use std::io::{self, Read};

/// Why a parser cannot go on.
#[derive(Debug)]
pub(super) enum Problem {
    /// The stream could not be read.
    Io(io::Error),
    /// The stream ends in the middle of something.
    Cut { place: Place, expected: &'static str },
    /// There is something else than expected.
    Unexpected { place: Place, expected: String, found: String },
}

/// Where in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub offset: u64,
    /// For text; 0: not counted.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "at byte {}", self.offset),
            line => write!(f, "line {line}, at byte {}", self.offset),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Io(error) => error.fmt(f),
            Problem::Cut { place, expected } => write!(f, "{place}: expected {expected}, found the end"),
            Problem::Unexpected { place, expected, found } => {
                write!(f, "{place}: expected {expected}, found {found}")
            }
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::Io(error)
    }
}

/// Bytes of a stream that have been read and not been used.
pub(super) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are used.
    used: usize,
    /// Offset of the buffer in the stream.
    base: u64,
    ended: bool,
}

impl<R: Read> Window<R> {
    const SIZE: usize = 256 << 10;

    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), used: 0, base: 0, ended: false }
    }

    /// The unused bytes that are in memory.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(self.used..).unwrap_or_default()
    }

    /// Whether no more bytes follow those in memory.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// How many bytes have been used.
    pub fn offset(&self) -> u64 {
        self.base + self.used as u64
    }

    /// Takes away the first `count` unused bytes.
    pub fn advance(&mut self, count: usize) {
        self.used = (self.used + count).min(self.buffer.len());
    }

    /// Sees to it that there are `wanted` unused bytes in memory (at most [`SIZE`](Self::SIZE)); there
    /// are fewer only at the end.
    pub fn fill(&mut self, wanted: usize) -> io::Result<()> {
        if self.buffer.len() - self.used >= wanted || self.ended {
            return Ok(());
        }
        self.buffer.drain(..self.used);
        self.base += self.used as u64;
        self.used = 0;
        while self.buffer.len() < wanted && !self.ended {
            let room = Self::SIZE.saturating_sub(self.buffer.len()).max(1) as u64;
            self.ended = (&mut self.input).take(room).read_to_end(&mut self.buffer)? as u64 != room;
        }
        Ok(())
    }
}

/// Up to eight bytes, for messages.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    match bytes.get(..bytes.len().min(8)).unwrap_or_default() {
        [] => "the end".to_owned(),
        start => {
            let readable = |&byte: &u8| match byte {
                b'"' | b'\'' => char::from(byte).to_string(),
                _ => byte.escape_ascii().to_string(),
            };
            format!("'{}'", start.iter().map(readable).collect::<String>())
        }
    }
}
