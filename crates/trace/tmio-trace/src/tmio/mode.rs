//! The sections of TMIO's JSON: a class of operations, seen by its actual or its required bandwidth.

use crate::Class;

/// A section of a TMIO file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Blocking reads.
    ReadSync,
    /// Nonblocking reads, actual bandwidth.
    ReadAsyncActual,
    /// Nonblocking reads, required bandwidth.
    ReadAsyncRequired,
    /// Nonblocking writes, actual bandwidth.
    WriteAsyncActual,
    /// Nonblocking writes, required bandwidth.
    WriteAsyncRequired,
    /// Blocking writes.
    WriteSync,
}

impl Mode {
    /// All sections in the order in which TMIO writes them.
    pub const ALL: [Mode; 6] = [
        Mode::ReadSync,
        Mode::ReadAsyncActual,
        Mode::ReadAsyncRequired,
        Mode::WriteAsyncActual,
        Mode::WriteAsyncRequired,
        Mode::WriteSync,
    ];

    /// TMIO's name of the section.
    pub fn name(self) -> &'static str {
        match self {
            Mode::ReadSync => "read_sync",
            Mode::ReadAsyncActual => "read_async_t",
            Mode::ReadAsyncRequired => "read_async_b",
            Mode::WriteAsyncActual => "write_async_t",
            Mode::WriteAsyncRequired => "write_async_b",
            Mode::WriteSync => "write_sync",
        }
    }

    /// The section of that name; `read_async` and `write_async`, which hand-made files use, are the
    /// actual ones.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"read_async" => Some(Mode::ReadAsyncActual),
            b"write_async" => Some(Mode::WriteAsyncActual),
            _ => Self::ALL.into_iter().find(|mode| mode.name().as_bytes() == name),
        }
    }

    /// The operations that it is about.
    pub fn class(self) -> Class {
        match self {
            Mode::ReadSync => Class::ReadSync,
            Mode::ReadAsyncActual | Mode::ReadAsyncRequired => Class::ReadAsync,
            Mode::WriteAsyncActual | Mode::WriteAsyncRequired => Class::WriteAsync,
            Mode::WriteSync => Class::WriteSync,
        }
    }

    /// Whether its bandwidths are required ones.
    pub fn is_required(self) -> bool {
        matches!(self, Mode::ReadAsyncRequired | Mode::WriteAsyncRequired)
    }

    /// The section of a class by actual bandwidth.
    pub fn actual(class: Class) -> Self {
        match class {
            Class::ReadSync => Mode::ReadSync,
            Class::ReadAsync => Mode::ReadAsyncActual,
            Class::WriteAsync => Mode::WriteAsyncActual,
            Class::WriteSync => Mode::WriteSync,
        }
    }

    /// The section of a class by required bandwidth; blocking classes have none.
    pub fn required(class: Class) -> Option<Self> {
        match class {
            Class::ReadAsync => Some(Mode::ReadAsyncRequired),
            Class::WriteAsync => Some(Mode::WriteAsyncRequired),
            Class::ReadSync | Class::WriteSync => None,
        }
    }
}
