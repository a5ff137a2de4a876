//! What an operation was: direction, blocking or not, collective or not, which file pointer.

use core::fmt;

/// Kind of an operation in one byte, as it stands in the trace.
///
/// Data access (bit 7 clear): bit 0 write, bit 1 nonblocking, bit 2 collective, bits 3–4 file
/// pointer ([`FilePointer`]), bit 5 split collective. Metadata (bit 7 set): bits 0–4 are a
/// [`Metadata`] code. Bit 6 is set if the call was not one of MPI-IO; bit 5 then tells which
/// [`TraceLayer`] it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpKind(pub u8);

/// Whether data flows to or from the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the file into memory.
    Read,
    /// From memory into the file.
    Write,
}

/// Which file pointer positions the access (MPI 4.1, section 14.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilePointer {
    /// `_at`: the offset is an argument.
    Explicit = 0,
    /// The process's own file pointer.
    Individual = 1,
    /// The file pointer shared by all processes (`_shared`; with collective set, `_ordered`).
    Shared = 2,
}

/// Operations on a file that move no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are those of the MPI functions
pub enum Metadata {
    Open = 0,
    Close = 1,
    Delete = 2,
    Sync = 3,
    SetView = 4,
    SetSize = 5,
    Preallocate = 6,
    Seek = 7,
    SeekShared = 8,
    SetInfo = 9,
    SetAtomicity = 10,
    /// `iotrace_mark`: only in a spool; in a block, marks are records of their own.
    Mark = 11,
}

impl Metadata {
    /// Every metadata operation, in the order of their codes.
    pub const ALL: [Metadata; 12] = [
        Metadata::Open,
        Metadata::Close,
        Metadata::Delete,
        Metadata::Sync,
        Metadata::SetView,
        Metadata::SetSize,
        Metadata::Preallocate,
        Metadata::Seek,
        Metadata::SeekShared,
        Metadata::SetInfo,
        Metadata::SetAtomicity,
        Metadata::Mark,
    ];

    /// The name used in output, e.g. `set_view`.
    pub fn name(self) -> &'static str {
        match self {
            Metadata::Open => "open",
            Metadata::Close => "close",
            Metadata::Delete => "delete",
            Metadata::Sync => "sync",
            Metadata::SetView => "set_view",
            Metadata::SetSize => "set_size",
            Metadata::Preallocate => "preallocate",
            Metadata::Seek => "seek",
            Metadata::SeekShared => "seek_shared",
            Metadata::SetInfo => "set_info",
            Metadata::SetAtomicity => "set_atomicity",
            Metadata::Mark => "mark",
        }
    }
}

/// The four classes that operations are summed up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Blocking writes, including split collectives and ordered ones.
    WriteSync,
    /// Blocking reads.
    ReadSync,
    /// Nonblocking writes (`MPI_File_iwrite…`).
    WriteAsync,
    /// Nonblocking reads.
    ReadAsync,
}

impl Class {
    /// All classes, in the order in which they are reported.
    pub const ALL: [Class; 4] = [Class::WriteSync, Class::ReadSync, Class::WriteAsync, Class::ReadAsync];

    /// The name used in options and JSON, e.g. `write_sync`.
    pub fn name(self) -> &'static str {
        match self {
            Class::WriteSync => "write_sync",
            Class::ReadSync => "read_sync",
            Class::WriteAsync => "write_async",
            Class::ReadAsync => "read_async",
        }
    }
}

const WRITE: u8 = 1;
const NONBLOCKING: u8 = 1 << 1;
const COLLECTIVE: u8 = 1 << 2;
const POINTER_SHIFT: u8 = 3;
const SPLIT: u8 = 1 << 5;
const METADATA: u8 = 1 << 7;
/// Not MPI-IO.
const OTHER: u8 = 1 << 6;
/// Of these: stdio. (Of MPI-IO, the same bit is [`SPLIT`].)
const STDIO: u8 = 1 << 5;
const CODE: u8 = OTHER - 1 - STDIO;

/// The layer of the I/O stack at which a call was seen. Each call is recorded at one of them: what MPI-IO
/// does by POSIX, or stdio by the system, is not recorded again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraceLayer {
    /// `MPI_File_…`
    #[default]
    MpiIo,
    /// `read`, `pwrite`, … called by the program or one of its libraries.
    Posix,
    /// `fread`, `fprintf`, …: what went between the stream's buffer and the system.
    Stdio,
}

impl TraceLayer {
    /// Every layer, the highest first.
    pub const ALL: [TraceLayer; 3] = [TraceLayer::MpiIo, TraceLayer::Posix, TraceLayer::Stdio];

    /// The name used in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            TraceLayer::MpiIo => "mpiio",
            TraceLayer::Posix => "posix",
            TraceLayer::Stdio => "stdio",
        }
    }
}

impl OpKind {
    /// A data access with these properties.
    pub const fn data(
        direction: Direction,
        pointer: FilePointer,
        nonblocking: bool,
        collective: bool,
        split: bool,
    ) -> Self {
        let mut bits = (pointer as u8) << POINTER_SHIFT;
        if matches!(direction, Direction::Write) {
            bits |= WRITE;
        }
        if nonblocking {
            bits |= NONBLOCKING;
        }
        if collective {
            bits |= COLLECTIVE;
        }
        if split {
            bits |= SPLIT;
        }
        OpKind(bits)
    }

    /// An operation that moves no data.
    pub const fn metadata(operation: Metadata) -> Self {
        OpKind(METADATA | operation as u8)
    }

    /// The same operation, called at another layer.
    pub const fn at(self, layer: TraceLayer) -> Self {
        let plain = if self.0 & OTHER == 0 { self.0 } else { self.0 & !(OTHER | STDIO) };
        match layer {
            TraceLayer::MpiIo => OpKind(plain),
            TraceLayer::Posix => OpKind((plain & !STDIO) | OTHER),
            TraceLayer::Stdio => OpKind(plain | OTHER | STDIO),
        }
    }

    /// The layer at which it was called.
    #[inline]
    pub const fn layer(self) -> TraceLayer {
        match self.0 & (OTHER | STDIO) {
            OTHER => TraceLayer::Posix,
            bits if bits & OTHER != 0 => TraceLayer::Stdio,
            _ => TraceLayer::MpiIo,
        }
    }

    /// `None` for metadata operations.
    pub const fn direction(self) -> Option<Direction> {
        if self.0 & METADATA != 0 {
            None
        } else if self.0 & WRITE != 0 {
            Some(Direction::Write)
        } else {
            Some(Direction::Read)
        }
    }

    /// Nonblocking: the operation has further times.
    #[inline]
    pub const fn is_nonblocking(self) -> bool {
        self.0 & (METADATA | NONBLOCKING) == NONBLOCKING
    }

    /// Every process of the communicator takes part.
    pub const fn is_collective(self) -> bool {
        self.0 & (METADATA | COLLECTIVE) == COLLECTIVE
    }

    /// A `_begin` … `_end` pair, recorded as one operation.
    pub const fn is_split(self) -> bool {
        self.0 & (METADATA | OTHER | SPLIT) == SPLIT
    }

    /// How the access was positioned; `None` for metadata and for codes of a later version.
    pub fn pointer(self) -> Option<FilePointer> {
        if self.0 & METADATA != 0 {
            return None;
        }
        match (self.0 >> POINTER_SHIFT) & 3 {
            0 => Some(FilePointer::Explicit),
            1 => Some(FilePointer::Individual),
            2 => Some(FilePointer::Shared),
            _ => None,
        }
    }

    /// Which metadata operation, if it is one that this version knows.
    pub fn as_metadata(self) -> Option<Metadata> {
        if self.0 & METADATA == 0 {
            return None;
        }
        let code = if self.0 & OTHER == 0 { self.0 & !METADATA } else { self.0 & CODE };
        Metadata::ALL.get(usize::from(code)).copied()
    }

    /// The class it is summed up in; `None` for metadata operations.
    #[inline]
    pub fn class(self) -> Option<Class> {
        Some(match (self.direction()?, self.is_nonblocking()) {
            (Direction::Write, false) => Class::WriteSync,
            (Direction::Read, false) => Class::ReadSync,
            (Direction::Write, true) => Class::WriteAsync,
            (Direction::Read, true) => Class::ReadAsync,
        })
    }
}

impl fmt::Display for OpKind {
    /// The MPI function without its prefix, e.g. `iwrite_at` or `read_ordered` or `set_view`; for other
    /// layers a function of the C library that stands for all of its kind, e.g. `pwrite` or `fread`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(direction) = self.direction() else {
            return f.write_str(self.as_metadata().map_or("unknown", Metadata::name));
        };
        let is_write = direction == Direction::Write;
        match (self.layer(), self.pointer()) {
            (TraceLayer::MpiIo, _) => {}
            (TraceLayer::Posix, Some(FilePointer::Explicit)) => {
                return f.write_str(if is_write { "pwrite" } else { "pread" });
            }
            (TraceLayer::Posix, _) => return f.write_str(if is_write { "write" } else { "read" }),
            (TraceLayer::Stdio, _) => return f.write_str(if is_write { "fwrite" } else { "fread" }),
        }
        if self.is_nonblocking() {
            f.write_str("i")?;
        }
        f.write_str(if is_write { "write" } else { "read" })?;
        match (self.pointer(), self.is_collective()) {
            (Some(FilePointer::Explicit), false) => f.write_str("_at"),
            (Some(FilePointer::Explicit), true) => f.write_str("_at_all"),
            (Some(FilePointer::Individual), true) => f.write_str("_all"),
            (Some(FilePointer::Shared), false) => f.write_str("_shared"),
            (Some(FilePointer::Shared), true) => f.write_str("_ordered"),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpKind({self})")
    }
}

/// How an operation ended, where that is not "it completed".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// The MPI call returned an error; bytes are 0.
    pub const FAILED: Flags = Flags(1);
    /// Completed by a call of the Test family: nobody blocked on it.
    pub const TESTED: Flags = Flags(1 << 1);
    /// Freed with `MPI_Request_free`: when and whether it completed is unknown.
    pub const FREED: Flags = Flags(1 << 2);
    /// Cancelled before it completed.
    pub const CANCELLED: Flags = Flags(1 << 3);
    /// The status could not be had: bytes are those asked for.
    pub const REQUESTED_BYTES: Flags = Flags(1 << 4);

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn names_follow_the_mpi_functions() {
        use Direction::*;
        use FilePointer::*;
        let name = |d, p, n, c| OpKind::data(d, p, n, c, false).to_string();
        assert_eq!(name(Write, Explicit, false, false), "write_at");
        assert_eq!(name(Read, Explicit, true, true), "iread_at_all");
        assert_eq!(name(Write, Individual, false, false), "write");
        assert_eq!(name(Write, Shared, false, true), "write_ordered");
        assert_eq!(name(Read, Shared, true, false), "iread_shared");
        assert_eq!(OpKind::metadata(Metadata::SetView).to_string(), "set_view");
    }

    #[test]
    fn a_layer_is_part_of_the_kind_and_changes_nothing_else() {
        use Direction::*;
        use FilePointer::*;
        for (direction, pointer, posix, stdio) in
            [(Write, Explicit, "pwrite", "fwrite"), (Read, Individual, "read", "fread")]
        {
            let plain = OpKind::data(direction, pointer, false, false, false);
            for layer in TraceLayer::ALL {
                let kind = plain.at(layer);
                assert_eq!(
                    (kind.layer(), kind.class(), kind.pointer()),
                    (layer, plain.class(), Some(pointer))
                );
                assert!(!kind.is_split() && !kind.is_collective());
                assert_eq!(kind.at(TraceLayer::MpiIo), plain);
            }
            assert_eq!(plain.at(TraceLayer::Posix).to_string(), posix);
            assert_eq!(plain.at(TraceLayer::Stdio).to_string(), stdio);
        }
        for operation in Metadata::ALL {
            for layer in TraceLayer::ALL {
                let kind = OpKind::metadata(operation).at(layer);
                assert_eq!((kind.as_metadata(), kind.layer()), (Some(operation), layer));
            }
        }
        let split = OpKind::data(Write, Individual, false, true, true);
        assert!(split.is_split() && split.layer() == TraceLayer::MpiIo);
    }

    #[test]
    fn every_byte_is_read_without_contradiction() {
        for code in 0..=255u8 {
            let kind = OpKind(code);
            assert_eq!(kind.class().is_none(), code >= 128);
            assert_eq!(kind.direction().is_none(), code >= 128);
            let _ = kind.to_string();
        }
    }
}
