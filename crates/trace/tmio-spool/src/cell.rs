//! A cell: five words that are stored at once, as far as a reader can tell.
//!
//! The first word of a cell is stored last, and is never 0: a reader that finds it there finds the others as
//! well. It says what the cell is: file, kind, flags and thread of an operation, packed by [`identity`]. An
//! operation is one cell, a nonblocking one has a second cell for its further times, and a text fills as many
//! as it needs. All cells of a record but the first are stored before the first one is.

use crate::kind::{Flags, OpKind};

/// Words of a cell.
pub const CELL_WORDS: usize = 5;
/// Bytes of a cell.
pub const CELL_BYTES: usize = CELL_WORDS * 8;

/// Set in every cell that is stored.
const PRESENT: u64 = 1 << 47;

/// Kinds that are no operations: a cell that goes on with the record before it, …
pub const CONTINUED: OpKind = OpKind(0x9f);
/// … and the name of a file.
pub const NAME: OpKind = OpKind(0x9e);

/// Bytes of a text that are in its first cell (the first of its words holds a time or nothing, the second the
/// length of the text), …
pub const FIRST_TEXT: usize = 16;
/// … and in each further one.
pub const MORE_TEXT: usize = 32;
/// No text is longer.
pub const LONGEST_TEXT: usize = 4096;

/// The first word of a cell.
#[inline]
pub const fn identity(file: u32, kind: OpKind, flags: Flags, thread: u16) -> u64 {
    file as u64 | (kind.0 as u64) << 32 | (flags.0 as u64) << 40 | (thread as u64) << 48 | PRESENT
}

/// The file of a cell.
pub const fn file(identity: u64) -> u32 {
    identity as u32
}

/// What it is.
pub const fn kind(identity: u64) -> OpKind {
    OpKind((identity >> 32) as u8)
}

/// How the operation ended.
pub const fn flags(identity: u64) -> Flags {
    Flags((identity >> 40) as u8 & 0x7f)
}

/// Who did it.
pub const fn thread(identity: u64) -> u16 {
    (identity >> 48) as u16
}

/// Cells of a text of this length.
pub const fn cells_of_text(length: usize) -> usize {
    1 + length.saturating_sub(FIRST_TEXT).div_ceil(MORE_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_keeps_its_fields_and_is_never_zero() {
        let word = identity(u32::MAX, OpKind(0x8b), Flags(0x1f), u16::MAX);
        assert_eq!(
            (file(word), kind(word), flags(word), thread(word)),
            (u32::MAX, OpKind(0x8b), Flags(0x1f), u16::MAX)
        );
        assert_ne!(identity(0, OpKind(0), Flags(0), 0), 0);
        assert_eq!(flags(identity(0, OpKind(0), Flags(0), 0)), Flags(0));
    }

    #[test]
    fn a_text_fills_whole_cells() {
        assert_eq!([0, 16, 17, 48, 49].map(cells_of_text), [1, 1, 2, 2, 3]);
    }
}
