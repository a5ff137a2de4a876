//! The spool: where the current block of a running rank lives, so that a killed process leaves it.
//!
//! A spool file is written through a shared mapping by one process and read by nobody while all
//! goes well. Everything in it is 64-bit words in the byte order of the machine; a reader on
//! another kind of machine sees the wrong magic number and leaves it alone.
//!
//! ```text
//! 0                 SPOOL_MAGIC, rank, process id, bytes per slot, number of slots, bytes of names,
//!                   number of the next block and one more, bytes of the identity, operations that were lost
//! IDENTITY_OFFSET   the part that its records belong to: (length: u32, the path), and then the header
//!                   and rank frames with which they begin there: the spool can be understood alone
//! NAMES_OFFSET      names of files: (number: u32, length: u32, the name), one after the other
//! SLOTS_OFFSET      slots, each SLOT_WORDS words of head and then raw records
//! ```
//!
//! A slot belongs to one thread. Its [`PUBLISHED`] word is stored with release order after each
//! record, so that what it covers is always whole. Times are ticks of the clock that the slot
//! names: `nanoseconds = ANCHOR_NS + (ticks − ANCHOR_TICKS) × RATE`.
//!
//! A record has [`SYNC_WORDS`] words, that of a nonblocking operation [`ASYNC_WORDS`]. The record of a
//! mark is followed by its text, of as many bytes as its fourth word says.

use crate::block::Mark;
use crate::{AsyncTimes, Flags, Metadata, OpKind, Operation};

/// First word of a spool file.
pub const SPOOL_MAGIC: u64 = u64::from_le_bytes(*b"TMIOSPL1");
/// Words of the file head, in order after the magic number.
pub const HEAD_RANK: usize = 1;
/// Process that writes the spool.
pub const HEAD_PID: usize = 2;
/// Bytes per slot.
pub const HEAD_SLOT_BYTES: usize = 3;
/// Number of slots that the file has room for by now.
pub const HEAD_SLOTS: usize = 4;
/// Bytes of names that are published.
pub const HEAD_NAMES: usize = 5;
/// Number of the next block and one more; 0: not told. Stored before a block's records are taken.
pub const HEAD_NEXT: usize = 6;
/// Bytes of the identity.
pub const HEAD_IDENTITY: usize = 7;
/// Operations that could be kept nowhere.
pub const HEAD_LOST: usize = 8;
/// Where the identity begins.
pub const IDENTITY_OFFSET: usize = 512;
/// Where the names begin.
pub const NAMES_OFFSET: usize = 4096;
/// Where the slots begin.
pub const SLOTS_OFFSET: usize = 64 << 10;
/// Room for names.
pub const NAMES_BYTES: usize = SLOTS_OFFSET - NAMES_OFFSET;

/// Words of a slot's head: number of times the slot was emptied.
pub const GENERATION: usize = 0;
/// Words of records that may be read.
pub const PUBLISHED: usize = 1;
/// Words of records that left in a block already.
pub const FLUSHED: usize = 2;
/// Number of the block that is being, or was last, written from this slot …
pub const FLUSH_SEQ: usize = 3;
/// … and how many words it takes away. Beyond `FLUSHED` while that block is being written.
pub const FLUSH_TO: usize = 4;
/// Ticks at which the operation began that the thread is in; 0 outside.
pub const IN_FLIGHT: usize = 5;
/// A reading of the clock in ticks …
pub const ANCHOR_TICKS: usize = 6;
/// … and the same moment on the monotonic clock.
pub const ANCHOR_NS: usize = 7;
/// Nanoseconds per tick, the bits of an `f64`.
pub const RATE: usize = 8;
/// System's id of the thread that owns the slot; 0: free.
pub const OWNER: usize = 9;
/// Held by whoever takes records out of the slot.
pub const LOCK: usize = 10;
/// Words before the first record.
pub const SLOT_WORDS: usize = 16;

/// Words of a record of a blocking operation.
pub const SYNC_WORDS: usize = 5;
/// Words of a record of a nonblocking operation.
pub const ASYNC_WORDS: usize = 9;

/// Longest text of a mark; longer ones are cut.
pub const MARK_BYTES: usize = 1024;
/// Words of the longest record.
pub const LONGEST_RECORD: usize = SYNC_WORDS + MARK_BYTES / 8;

/// Last word of the common part of a record: file, kind, flags, thread.
#[inline]
pub const fn pack_identity(file: u32, kind: OpKind, flags: Flags, thread: u16) -> u64 {
    file as u64 | (kind.0 as u64) << 32 | (flags.0 as u64) << 40 | (thread as u64) << 48
}

/// How ticks become nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickScale {
    /// A reading of the clock …
    pub ticks: u64,
    /// … and the same moment in nanoseconds.
    pub ns: i64,
    /// Nanoseconds per tick.
    pub rate: f64,
}

impl TickScale {
    /// The scale of a clock that counts nanoseconds.
    pub const NANOSECONDS: TickScale = TickScale { ticks: 0, ns: 0, rate: 1.0 };

    /// Nanoseconds for a reading of the clock.
    #[inline]
    pub fn to_ns(&self, ticks: u64) -> i64 {
        Converter::new(*self).to_ns(ticks)
    }
}

/// A scale made ready for many readings: the rate is a fixed-point number, whose error over a day
/// is below a microsecond.
#[derive(Clone, Copy, Debug)]
struct Converter {
    ticks: u64,
    ns: i64,
    rate: i64,
}

impl Converter {
    const FRACTION: u32 = 40;

    fn new(scale: TickScale) -> Self {
        // Out of range only in a damaged spool; the conversion saturates then.
        let rate = (scale.rate * (1u64 << Self::FRACTION) as f64).round() as i64;
        Self { ticks: scale.ticks, ns: scale.ns, rate }
    }

    #[inline(always)]
    fn to_ns(self, ticks: u64) -> i64 {
        self.ns.wrapping_add(self.span(ticks.wrapping_sub(self.ticks) as i64))
    }

    #[inline(always)]
    fn span(self, ticks: i64) -> i64 {
        const HALF: i128 = 1 << (Converter::FRACTION - 1);
        ((i128::from(ticks) * i128::from(self.rate) + HALF) >> Self::FRACTION) as i64
    }
}

/// Reads the raw records of a slot one after the other.
#[derive(Clone, Debug)]
pub struct RawRecords<'a> {
    words: &'a [u64],
    scale: Converter,
}

impl<'a> RawRecords<'a> {
    /// `words` begins with a record and ends after one.
    pub fn new(words: &'a [u64], scale: TickScale) -> Self {
        Self { words, scale: Converter::new(scale) }
    }

    /// Start and end of the next record if it is a blocking operation and, but for its times, is what is
    /// expected.
    #[inline(always)]
    pub(crate) fn next_if(&mut self, identity: u64, bytes: u64, offset: i64) -> Option<(i64, i64)> {
        let (&[start, end, its_offset, its_bytes, its_identity], rest) =
            self.words.split_first_chunk::<SYNC_WORDS>()?;
        if its_identity != identity || its_bytes != bytes || its_offset != offset as u64 {
            return None;
        }
        self.words = rest;
        Some((self.scale.to_ns(start), self.scale.to_ns(end)))
    }

    /// There are at most so many records.
    pub fn most(&self) -> usize {
        self.words.len() / SYNC_WORDS
    }
}

/// One record of a slot.
#[derive(Clone, Copy, Debug)]
pub enum RawRecord<'a> {
    /// An operation.
    Operation(Operation),
    /// A mark: when, by which thread, and its text as words and bytes.
    Mark {
        /// When it was set.
        time: i64,
        /// Number of the thread within its process.
        thread: u16,
        /// The text in words of eight bytes, the last one filled up.
        words: &'a [u64],
        /// Length of the text in bytes.
        length: usize,
    },
}

impl<'a> RawRecords<'a> {
    /// The next record of any kind.
    #[inline]
    pub fn next_record(&mut self) -> Option<RawRecord<'a>> {
        let (&[start, end, offset, bytes, identity], rest) = self.words.split_first_chunk::<SYNC_WORDS>()?;
        let kind = OpKind((identity >> 32) as u8);
        let thread = (identity >> 48) as u16;
        if kind == OpKind::metadata(Metadata::Mark) {
            let length = usize::try_from(bytes).ok().filter(|&length| length <= MARK_BYTES)?;
            let (words, rest) = rest.split_at_checked(length.div_ceil(8))?;
            self.words = rest;
            return Some(RawRecord::Mark { time: self.scale.to_ns(start), thread, words, length });
        }
        let (nonblocking, rest) = if kind.is_nonblocking() {
            const EXTRA: usize = ASYNC_WORDS - SYNC_WORDS;
            let (&[issued, deadline, pending_until, test_time], rest) = rest.split_first_chunk::<EXTRA>()?;
            let times = AsyncTimes {
                issued: self.scale.to_ns(issued),
                deadline: self.scale.to_ns(deadline),
                pending_until: self.scale.to_ns(pending_until),
                test_time: self.scale.span(test_time as i64),
            };
            (Some(times), rest)
        } else {
            (None, rest)
        };
        self.words = rest;
        Some(RawRecord::Operation(Operation {
            kind,
            flags: Flags((identity >> 40) as u8),
            thread,
            file: identity as u32,
            offset: offset as i64,
            bytes,
            start: self.scale.to_ns(start),
            end: self.scale.to_ns(end),
            nonblocking,
        }))
    }
}

/// The operations among the records.
impl Iterator for RawRecords<'_> {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        loop {
            if let RawRecord::Operation(operation) = self.next_record()? {
                return Some(operation);
            }
        }
    }
}

/// The text of a mark; bytes that are not UTF-8 are replaced.
pub fn mark_text(words: &[u64], length: usize) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take(length).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a dead (or live) process's spool file holds.
#[derive(Debug)]
pub struct Spool {
    /// Rank that wrote it.
    pub rank: u32,
    /// Process that wrote it.
    pub pid: u32,
    /// Number of the next block, if the spool tells: records here are in no block from it on.
    pub next_block: Option<u64>,
    /// Path of the part that the records belong to, if the spool tells.
    pub part: Option<Vec<u8>>,
    /// The header and rank frames with which they begin there.
    pub greeting: Vec<u8>,
    /// Operations that could be kept nowhere.
    pub lost: u64,
    /// Numbers and names of files.
    pub names: Vec<(u32, String)>,
    /// The slots that hold records.
    pub slots: Vec<Slot>,
}

/// Records of one slot that have not left it, or may not have.
#[derive(Debug)]
pub struct Slot {
    words: Vec<u64>,
    scale: TickScale,
    flushed: usize,
    flush_to: usize,
    /// Block that was being written last.
    pub flush_seq: u64,
}

impl Slot {
    /// Records that are in no block; `was_written` tells whether a block of that number is there.
    pub fn records(&self, was_written: impl FnOnce(u64) -> bool) -> RawRecords<'_> {
        let in_flight = self.flush_to > self.flushed;
        let from = if in_flight && was_written(self.flush_seq) { self.flush_to } else { self.flushed };
        RawRecords::new(self.words.get(from..).unwrap_or_default(), self.scale)
    }

    /// The operations and marks of [`records`](Self::records), on the rank's clock.
    pub fn contents(&self, was_written: impl FnOnce(u64) -> bool) -> (Vec<Operation>, Vec<Mark>) {
        let (mut operations, mut marks) = (Vec::new(), Vec::new());
        let mut records = self.records(was_written);
        while let Some(record) = records.next_record() {
            match record {
                RawRecord::Operation(operation) => operations.push(operation),
                RawRecord::Mark { time, thread, words, length } => {
                    marks.push(Mark { time, thread, text: mark_text(words, length) });
                }
            }
        }
        (operations, marks)
    }
}

impl Spool {
    /// Reads the bytes of a spool file. `None`: it is not one (or of another kind of machine).
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |index: usize| word_at(bytes, index * 8);
        if word(0)? != SPOOL_MAGIC {
            return None;
        }
        let slot_bytes = usize::try_from(word(HEAD_SLOT_BYTES)?).ok()?;
        if slot_bytes <= SLOT_WORDS * 8 || slot_bytes % 8 != 0 {
            return None;
        }
        let names = bytes.get(NAMES_OFFSET..SLOTS_OFFSET.min(bytes.len())).unwrap_or_default();
        let published = usize::try_from(word(HEAD_NAMES)?).unwrap_or(0).min(names.len());
        let slots = bytes
            .get(SLOTS_OFFSET..)
            .unwrap_or_default()
            .chunks_exact(slot_bytes)
            .take(usize::try_from(word(HEAD_SLOTS)?).unwrap_or(0))
            .filter_map(parse_slot)
            .collect();
        let length = usize::try_from(word(HEAD_IDENTITY)?).unwrap_or(0);
        let identity = bytes.get(IDENTITY_OFFSET..NAMES_OFFSET).and_then(|all| all.get(..length));
        let identity = identity.and_then(|identity| {
            let (&length, rest) = identity.split_first_chunk::<4>()?;
            rest.split_at_checked(u32::from_ne_bytes(length) as usize)
        });
        Some(Spool {
            next_block: word(HEAD_NEXT)?.checked_sub(1),
            part: identity.map(|(part, _)| part.to_vec()),
            greeting: identity.map(|(_, greeting)| greeting.to_vec()).unwrap_or_default(),
            rank: u32::try_from(word(HEAD_RANK)?).ok()?,
            pid: u32::try_from(word(HEAD_PID)?).ok()?,
            lost: word(HEAD_LOST)?,
            names: parse_names(names.get(..published).unwrap_or_default()),
            slots,
        })
    }
}

fn word_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().map(|&word| u64::from_ne_bytes(word))
}

fn parse_slot(bytes: &[u8]) -> Option<Slot> {
    let word = |index: usize| word_at(bytes, index * 8);
    let published = usize::try_from(word(PUBLISHED)?).ok()?;
    let records = bytes.get(SLOT_WORDS * 8..)?.get(..published.checked_mul(8)?)?;
    let (words, _) = records.as_chunks::<8>();
    let flushed = usize::try_from(word(FLUSHED)?).ok()?;
    if published == 0 || flushed > published {
        return None;
    }
    Some(Slot {
        words: words.iter().map(|&word| u64::from_ne_bytes(word)).collect(),
        scale: TickScale {
            ticks: word(ANCHOR_TICKS)?,
            ns: word(ANCHOR_NS)? as i64,
            rate: f64::from_bits(word(RATE)?),
        },
        flushed,
        flush_to: usize::try_from(word(FLUSH_TO)?).ok()?.min(published),
        flush_seq: word(FLUSH_SEQ)?,
    })
}

fn parse_names(mut bytes: &[u8]) -> Vec<(u32, String)> {
    let mut names = Vec::new();
    while let Some((&number, rest)) = bytes.split_first_chunk::<4>() {
        let Some((&length, rest)) = rest.split_first_chunk::<4>() else { break };
        let Some((name, rest)) = rest.split_at_checked(u32::from_ne_bytes(length) as usize) else { break };
        names.push((u32::from_ne_bytes(number), String::from_utf8_lossy(name).into_owned()));
        bytes = rest;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, FilePointer};
    use proptest::prelude::*;

    fn spool_with(slot_head: &[(usize, u64)], records: &[u64]) -> Vec<u8> {
        const SLOT: usize = 4096;
        let mut words = vec![0u64; (SLOTS_OFFSET + SLOT) / 8];
        words[0] = SPOOL_MAGIC;
        words[HEAD_RANK] = 3;
        words[HEAD_PID] = 99;
        words[HEAD_SLOT_BYTES] = SLOT as u64;
        words[HEAD_SLOTS] = 1;
        let slot = SLOTS_OFFSET / 8;
        words[slot + RATE] = 1.0f64.to_bits();
        words[slot + PUBLISHED] = records.len() as u64;
        for &(index, value) in slot_head {
            words[slot + index] = value;
        }
        words[slot + SLOT_WORDS..][..records.len()].copy_from_slice(records);
        words.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    fn record(start: u64) -> [u64; SYNC_WORDS] {
        let kind = OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false);
        [start, start + 10, 64, 8, pack_identity(5, kind, Flags::default(), 2)]
    }

    #[test]
    fn records_that_left_in_a_block_are_not_read_again() {
        let records = [record(100), record(200), record(300)].concat();
        let starts = |head: &[(usize, u64)], written: bool| -> Vec<i64> {
            let spool = Spool::parse(&spool_with(head, &records)).unwrap();
            spool.slots[0].records(|seq| seq == 7 && written).map(|op| op.start).collect()
        };
        assert_eq!(starts(&[], false), [100, 200, 300]);
        assert_eq!(starts(&[(FLUSHED, 5), (FLUSH_TO, 5)], false), [200, 300]);
        let in_flight = [(FLUSHED, 5), (FLUSH_TO, 10), (FLUSH_SEQ, 7)];
        assert_eq!(starts(&in_flight, false), [200, 300], "the block never reached the disk");
        assert_eq!(starts(&in_flight, true), [300], "the block is on the disk");
    }

    #[test]
    fn a_record_keeps_every_field() {
        let spool =
            Spool::parse(&spool_with(&[(ANCHOR_TICKS, 50), (ANCHOR_NS, 1000)], &record(100))).unwrap();
        let op = spool.slots[0].records(|_| false).next().unwrap();
        assert_eq!((spool.rank, spool.pid, spool.lost), (3, 99, 0));
        assert_eq!((op.start, op.end, op.offset, op.bytes), (1050, 1060, 64, 8));
        assert_eq!((op.file, op.thread, op.kind.to_string().as_str()), (5, 2, "write_at"));
    }

    #[test]
    fn what_was_lost_is_told() {
        let mut bytes = spool_with(&[], &record(100));
        bytes[HEAD_LOST * 8..][..8].copy_from_slice(&7u64.to_ne_bytes());
        assert_eq!(Spool::parse(&bytes).unwrap().lost, 7);
    }

    #[test]
    fn ticks_become_nanoseconds_to_the_nearest() {
        let scale = TickScale { ticks: 1000, ns: 5_000_000, rate: 0.4 };
        assert_eq!(scale.to_ns(1000), 5_000_000);
        assert_eq!(scale.to_ns(1005), 5_000_002);
        assert_eq!(scale.to_ns(996), 4_999_998);
        let day = 86_400_000_000_000u64;
        assert!((scale.to_ns(1000 + day * 5 / 2) - 5_000_000 - day as i64).abs() < 1000);
        assert_eq!(TickScale::NANOSECONDS.to_ns(u64::MAX >> 1), i64::MAX);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
            let mut bytes = spool_with(&[], &record(1));
            for (at, value) in flips { let i = at.index(bytes.len()); bytes[i] = value; }
            if let Some(spool) = Spool::parse(&bytes) {
                for slot in &spool.slots { let _ = slot.records(|_| true).count(); }
            }
        }
    }
}
