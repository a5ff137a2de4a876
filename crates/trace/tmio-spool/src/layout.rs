//! Where things are in the file of a spool.
//!
//! | bytes | what |
//! |---|---|
//! | 0 … | words that tell about the process, see the constants |
//! | [`TEXT_OFFSET`] … | what the process knows of itself: `name=value` strings, each ended by a zero |
//! | [`IDENTITY_OFFSET`] … | the part that the records belong to, and the frames that come first there |
//! | [`FRONT_OFFSET`] … | the frames that come first in the finished trace |
//! | [`RING_HEADS_OFFSET`] … | [`RING_WORDS`] words for each ring |
//! | [`IN_FLIGHT_OFFSET`] … | a word for each thread: when the operation began that it is in |
//! | [`RINGS_OFFSET`] … | the cells of the rings |
//!
//! All numbers are in the order of bytes of the machine: a spool never leaves it.

/// First word of a spool; changes with the layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"tmioSPL4");

/// Index of the word that says what the process is about to do: one of the states below.
pub const STATE: usize = 1;
/// Process id.
pub const PID: usize = 2;
/// Wall-clock time at which the spool was made, nanoseconds since 1970 …
pub const MADE_REAL: usize = 3;
/// … the same on the monotonic clock …
pub const MADE_NS: usize = 4;
/// … and a reading of the clock that stamps records.
pub const MADE_TICKS: usize = 5;
/// What a tick is: [`CLOCK_NS`] or [`CLOCK_COUNTER`].
pub const CLOCK: usize = 6;
/// Cells of a ring, a power of two.
pub const RING_CELLS: usize = 7;
/// One bit for each ring that was ever used.
pub const RINGS: usize = 8;
/// Operations that could be kept nowhere.
pub const LOST: usize = 9;
/// The rank, or the number of the process in its run; [`NO_RANK`] until that is known.
pub const RANK: usize = 10;
/// Bits that begin with `FLAG_`.
pub const FLAGS: usize = 11;
/// Bytes that were seen and are in no record: read …
pub const BESIDE_READ: usize = 12;
/// … and written.
pub const BESIDE_WRITTEN: usize = 13;
/// What the kernel had counted when the process ended: bytes read by system calls, …
pub const IO_READ: usize = 14;
/// … written, …
pub const IO_WRITTEN: usize = 15;
/// … fetched from devices, …
pub const IO_DEVICE_READ: usize = 16;
/// … and sent to them.
pub const IO_DEVICE_WRITTEN: usize = 17;
/// How often the process has asked that everything be written out.
pub const FLUSHES: usize = 18;
/// Which of these requests have been met.
pub const FLUSHED: usize = 19;
/// Bytes of text.
pub const TEXT_LENGTH: usize = 20;
/// Bytes of the identity.
pub const IDENTITY_LENGTH: usize = 21;
/// Bytes of the front.
pub const FRONT_LENGTH: usize = 22;
/// Threads that are in an operation and have no word for it.
pub const WITHOUT_WORD: usize = 23;
/// When the oldest split collective under way began, in ticks; 0: there is none.
pub const SPLIT_SINCE: usize = 24;
/// One more than the number of the next block. It is stored after the heads of the rings tell which records
/// the block before has, and before any of these is freed.
pub const NEXT_BLOCK: usize = 25;
/// When the process ended, on the monotonic clock.
pub const ENDED_NS: usize = 26;
/// Id of the process that started it.
pub const PARENT: usize = 27;
/// A later reading of the clock that stamps records …
pub const LATER_TICKS: usize = 28;
/// … and of the monotonic clock at the same moment: with the first ones they tell how long a tick is.
pub const LATER_NS: usize = 29;
/// Nanoseconds that the process has spent on its own spool, beside storing records.
pub const OWN_NS: usize = 30;
/// Bytes of records from which on a process is of interest, however short it is.
pub const MIN_BYTES: usize = 31;
/// Bytes that its records have moved.
pub const BYTES: usize = 32;
/// Nanoseconds that storing one record takes, as a `f64`.
pub const RECORD_NS: usize = 33;
/// The namespace in which the process has its id; 0: nobody knows.
pub const NAMESPACE: usize = 34;

/// The process records.
pub const RECORDING: u64 = 1;
/// The process has ended, or will not do anything more that is recorded.
pub const ENDED: u64 = 2;
/// The process is trying to become another program.
pub const BECOMING: u64 = 3;
/// All that it had recorded is written out, and nothing more is expected.
pub const WRITTEN: u64 = 4;
/// It is not wanted.
pub const REFUSED: u64 = 5;
/// The rank waits in `MPI_Finalize` until its records are part of the trace.
pub const FINALIZING: u64 = 6;
/// The process goes on, as another user: what it does then is not here.
pub const LEFT: u64 = 7;

/// Ticks are nanoseconds of the monotonic clock.
pub const CLOCK_NS: u64 = 0;
/// Ticks are those of the processor's time stamp counter.
pub const CLOCK_COUNTER: u64 = 1;

/// Nobody knows the rank yet.
pub const NO_RANK: u64 = u64::MAX;

/// The process is kept, however little it does: it is the command that `ftio trace` was asked to run.
pub const FLAG_ASKED_FOR: u64 = 1;
/// It is a rank of MPI: who ended how is told by all ranks together.
pub const FLAG_RANK: u64 = 2;
/// It has done enough to be kept.
pub const FLAG_KEPT: u64 = 4;
/// Some operation is not one of MPI-IO.
pub const FLAG_LAYERS: u64 = 8;
/// The process has another root directory: it cannot start a helper.
pub const FLAG_ELSEWHERE: u64 = 16;
/// It takes orphans, and no helper survives it where it is the first process: it ends when all that others
/// have left is written.
pub const FLAG_LAST: u64 = 32;
/// The helper could not write what it holds when it tried last: nobody waits for that.
pub const FLAG_UNWRITTEN: u64 = 64;

/// Words at the beginning.
pub const HEAD_WORDS: usize = 64;
/// What the process knows of itself.
pub const TEXT_OFFSET: usize = 4 << 10;
/// Room for it.
pub const TEXT_BYTES: usize = 12 << 10;
/// The part, and what comes first there.
pub const IDENTITY_OFFSET: usize = 16 << 10;
/// Room for it.
pub const IDENTITY_BYTES: usize = 8 << 10;
/// What comes first in the finished trace.
pub const FRONT_OFFSET: usize = 24 << 10;
/// Room for it.
pub const FRONT_BYTES: usize = 8 << 10;
/// The heads of all rings.
pub const RING_HEADS_OFFSET: usize = 32 << 10;
/// Words of a ring's head.
pub const RING_WORDS: usize = 16;
/// Rings at most.
pub const MAX_RINGS: usize = 64;
/// The threads' words.
pub const IN_FLIGHT_OFFSET: usize = RING_HEADS_OFFSET + MAX_RINGS * RING_WORDS * 8;
/// As many threads have one.
pub const MAX_IN_FLIGHT: usize = 512;
/// The cells.
pub const RINGS_OFFSET: usize = 48 << 10;

const _: () = assert!(IN_FLIGHT_OFFSET + MAX_IN_FLIGHT * 8 <= RINGS_OFFSET);
const _: () = assert!(OWN_NS < HEAD_WORDS && NAMESPACE < HEAD_WORDS);

/// Index in a ring's head: how many cells were ever reserved.
pub const RESERVED: usize = 0;
/// How many cells were freed. In another line of the cache: only the reader writes it.
pub const TAIL: usize = 8;
/// Up to where records are being written out …
pub const FLUSH_TO: usize = 9;
/// … and in which block. Once that is written, [`TAIL`] follows.
pub const FLUSH_BLOCK: usize = 10;

/// Cells of a ring, if there is memory enough: what it takes to wake the helper is shared by half of them.
const USUAL_RING: usize = 1 << 12;
/// Cells of the smallest ring, where files are not short.
pub const SMALLEST_RING: usize = 1 << 10;

/// Cells of each ring, and how many rings there are, for so many bytes of records.
pub const fn rings_for(bytes: usize, most: usize) -> (usize, usize) {
    let mut cells = USUAL_RING;
    let bytes = if bytes < most { bytes } else { most };
    // Where files are short, rings are.
    while 2 * cells * crate::cell::CELL_BYTES > if cells > SMALLEST_RING { bytes } else { most } && cells > 64
    {
        cells /= 2;
    }
    while cells * crate::cell::CELL_BYTES * MAX_RINGS < bytes && cells < 1 << 20 {
        cells *= 2;
    }
    let rings = bytes / (cells * crate::cell::CELL_BYTES);
    let rings = if rings < 2 { 2 } else { rings };
    (cells, if rings > MAX_RINGS { MAX_RINGS } else { rings })
}

/// Bytes of a spool with these rings.
pub const fn length(cells: usize, rings: usize) -> usize {
    RINGS_OFFSET + rings * cells * crate::cell::CELL_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CELL_BYTES;

    #[test]
    fn rings_fill_the_memory_that_is_allowed_and_no_more() {
        for bytes in [64 << 10, 1 << 20, 4 << 20, 64 << 20, 1 << 30, 1 << 36] {
            let (cells, rings) = rings_for(bytes, usize::MAX);
            assert!(cells.is_power_of_two() && (2..=MAX_RINGS).contains(&rings), "{bytes}: {cells}, {rings}");
            assert!((cells * CELL_BYTES).is_multiple_of(4096), "rings begin with a page");
            assert!(rings == 2 || cells * rings * CELL_BYTES <= bytes, "{bytes}: {cells}, {rings}");
        }
        assert_eq!(rings_for(4 << 20, usize::MAX), (4096, 25));
        // A short file has short rings.
        for most in [5120, 20_000, 52_000, 100_000, 1 << 20] {
            let (cells, rings) = rings_for(4 << 20, most);
            assert!(
                rings >= 2 && rings * cells * crate::cell::CELL_BYTES <= most,
                "{most}: {rings} of {cells}"
            );
        }
    }
}
