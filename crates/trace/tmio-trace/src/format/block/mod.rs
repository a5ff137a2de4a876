//! A block: some operations of one rank as columns.
//!
//! Body of a block frame: `rank`, `seq` (0, 1, 2 … per rank), `count`, `t_min` and `t_max`
//! (earliest start and latest end), `covered_until` (everything that a blocking call of this rank
//! began before then is in this block or an earlier one), `files` (pairs of number and name, all
//! that the block's operations refer to), `columns`.
//!
//! The column `times` holds for each operation `start − end of the operation before` and `end − start`, see
//! [`times`](crate::times). Each other one is a [`column`](crate::column) of `count` numbers, or of as many
//! as there are nonblocking operations for the last four:
//!
//! | column | number |
//! |---|---|
//! | `kind`, `flags`, `thread`, `file`, `bytes` | difference to the operation before |
//! | `offset` | difference of the difference to the operation before |
//! | `issued` | issued − start |
//! | `deadline` | end − deadline |
//! | `pending` | pending_until − issued |
//! | `tested` | test_time |
//!
//! In a block of merged operations, `merged` holds how many operations each one stands for, and `duration`
//! the sum of their durations, see [`merge`].
//!
//! `marks`, where there are any, are triples of time, thread and text.
//!
//! "The operation before" the first one is all zeros. Sums wrap at 64 bits.

mod decode;
pub mod merge;

use self::merge::{Merged, Merger};
use crate::format::column::ColumnWriter;
use crate::format::frame::{self, FrameKind};
use crate::format::operation::Mark;
use crate::format::raw::{RawRecord, RawRecords};
use crate::format::times::TimesWriter;
use crate::{Flags, OpKind, Operation, TraceLayer};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Largest number of operations that a reader accepts in one block.
pub const MAX_COUNT: u32 = 1 << 20;

/// The body of a block frame, its columns still encoded.
#[derive(Debug, Serialize, Deserialize)]
pub struct Block<'a> {
    /// Rank whose operations these are.
    pub rank: u32,
    /// Number of the block within its rank.
    pub seq: u64,
    /// Number of operations.
    pub count: u32,
    /// Earliest start, on the rank's clock; 0 in an empty block.
    pub t_min: i64,
    /// Latest end, on the rank's clock; 0 in an empty block.
    pub t_max: i64,
    /// Everything that a blocking call of this rank began before then is in this block or an earlier one.
    pub covered_until: i64,
    /// Numbers and names of the files that the operations refer to.
    #[serde(borrow)]
    pub files: Vec<(u32, &'a str)>,
    /// The operations.
    #[serde(borrow)]
    pub columns: Columns<'a>,
    /// Marks that the program set: time on the rank's clock, thread, text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// The encoded columns of a block.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs)] // see the table in the module's documentation
pub struct Columns<'a> {
    #[serde(borrow)]
    pub kind: Bytes<'a>,
    #[serde(borrow)]
    pub flags: Bytes<'a>,
    #[serde(borrow)]
    pub thread: Bytes<'a>,
    #[serde(borrow)]
    pub file: Bytes<'a>,
    #[serde(borrow)]
    pub bytes: Bytes<'a>,
    #[serde(borrow)]
    pub offset: Bytes<'a>,
    #[serde(borrow)]
    pub times: Bytes<'a>,
    #[serde(borrow, default, skip_serializing_if = "Bytes::is_empty")]
    pub issued: Bytes<'a>,
    #[serde(borrow, default, skip_serializing_if = "Bytes::is_empty")]
    pub deadline: Bytes<'a>,
    #[serde(borrow, default, skip_serializing_if = "Bytes::is_empty")]
    pub pending: Bytes<'a>,
    #[serde(borrow, default, skip_serializing_if = "Bytes::is_empty")]
    pub tested: Bytes<'a>,
    #[serde(borrow, default, skip_serializing_if = "Bytes::is_empty")]
    pub merged: Bytes<'a>,
    #[serde(borrow, default, skip_serializing_if = "Bytes::is_empty")]
    pub duration: Bytes<'a>,
}

/// What is wrong with the columns of a block whose checksum is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The column ends before the last operation.
    #[error("column '{0}' ends before the last operation")]
    Short(&'static str),
    /// More operations than any writer puts into a block.
    #[error("a block of {0} operations (at most {MAX_COUNT} are allowed)")]
    TooMany(u32),
    /// A number does not fit its column.
    #[error("column '{0}' holds a number out of range")]
    Range(&'static str),
}

impl<'a> Block<'a> {
    /// Reads the body of a block frame.
    pub fn parse(body: &'a [u8]) -> Result<Self, String> {
        rmp_serde::from_slice(body).map_err(|error| error.to_string())
    }
}

/// As many bytes of a body tell whose block it is.
pub(crate) const IDENTITY_BYTES: usize = 32;

/// Rank and number of the block whose body begins with these bytes.
pub(crate) fn identity(body: &[u8]) -> Option<(u32, u64)> {
    // A map of up to 15 entries, of which these two come first.
    let body = body.split_first().filter(|(code, _)| *code & 0xf0 == 0x80)?.1;
    let (rank, body) = unsigned(body.strip_prefix(b"\xa4rank")?)?;
    let (sequence, _) = unsigned(body.strip_prefix(b"\xa3seq")?)?;
    Some((u32::try_from(rank).ok()?, sequence))
}

/// A MessagePack number that is not negative, and what follows it.
fn unsigned(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&code, rest) = bytes.split_first()?;
    let length = match code {
        0..=0x7f => return Some((u64::from(code), rest)),
        0xcc..=0xcf => 1 << (code - 0xcc),
        _ => return None,
    };
    let (digits, rest) = rest.split_at_checked(length)?;
    Some((digits.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)), rest))
}

/// Turns operations into block frames, reusing its memory from block to block.
///
/// All memory is asked for in [`restart`](Self::restart); what follows cannot fail for want of it.
#[derive(Debug, Default)]
pub struct BlockEncoder {
    kind: ColumnWriter,
    flags: ColumnWriter,
    thread: ColumnWriter,
    file: ColumnWriter,
    bytes: ColumnWriter,
    offset: ColumnWriter,
    times: TimesWriter,
    issued: ColumnWriter,
    deadline: ColumnWriter,
    pending: ColumnWriter,
    tested: ColumnWriter,
    merged: ColumnWriter,
    duration: ColumnWriter,
    merger: Merger,
    files: Vec<u32>,
    marks: Vec<Mark>,
    before: Before,
    /// Operations since the last one whose identity differed from that of the one before.
    alike: u64,
    count: u32,
    /// Operations that these stand for.
    stands_for: u64,
    t_min: i64,
    t_max: i64,
    /// Some operation is not of MPI-IO.
    has_layers: bool,
    frame: Vec<u8>,
}

/// Kind, flags, thread, file, bytes, and the distance from the offset before.
type Identity = (OpKind, Flags, u16, u32, u64, i64);

#[derive(Debug)]
struct Before {
    identity: Identity,
    offset: i64,
    end: i64,
}

impl Default for Before {
    fn default() -> Self {
        Before { identity: (OpKind(0), Flags(0), 0, 0, 0, 0), offset: 0, end: 0 }
    }
}

impl BlockEncoder {
    /// Begins a block of at most `count` operations. `false`: there is no memory for it.
    pub fn restart(&mut self, count: usize) -> bool {
        self.before = Before::default();
        (self.count, self.alike, self.stands_for) = (0, 0, 0);
        self.has_layers = false;
        (self.t_min, self.t_max) = (i64::MAX, i64::MIN);
        self.files.clear();
        self.marks.clear();
        let columns = [
            &mut self.kind,
            &mut self.flags,
            &mut self.thread,
            &mut self.file,
            &mut self.bytes,
            &mut self.offset,
            &mut self.issued,
            &mut self.deadline,
            &mut self.pending,
            &mut self.tested,
            &mut self.merged,
            &mut self.duration,
        ];
        let room = columns.into_iter().all(|column| column.restart(count));
        room && self.times.restart(count) && self.files.try_reserve(count).is_ok()
    }

    /// Appends the records of a slot.
    pub fn extend(&mut self, mut records: RawRecords<'_>) {
        loop {
            self.push_alike(&mut records);
            match records.next_record() {
                Some(RawRecord::Operation(operation)) => self.push(&operation),
                Some(RawRecord::Mark(mark)) => self.push_mark(mark),
                Some(RawRecord::Name { .. }) => {}
                None => return,
            }
        }
    }

    /// Appends the records of slots, merged over stretches of `width` nanoseconds. `false`: there is no
    /// memory for that; the block has to be restarted.
    pub fn extend_merged<'r>(
        &mut self,
        slots: impl Iterator<Item = RawRecords<'r>>,
        most: usize,
        width: i64,
    ) -> bool {
        let mut merger = std::mem::take(&mut self.merger);
        let mut room = merger.restart(most, width);
        for mut records in slots {
            while let Some(record) = records.next_record() {
                match record {
                    RawRecord::Operation(operation) => room = room && merger.push(&operation),
                    RawRecord::Mark(mark) => self.push_mark(mark),
                    RawRecord::Name { .. } => {}
                }
            }
        }
        if room {
            merger.finish().for_each(|(op, merged)| self.push_merged(&op, merged));
        }
        self.merger = merger;
        room
    }

    /// Appends an operation that stands for several. In a block, all are appended this way or none.
    pub fn push_merged(&mut self, op: &Operation, merged: Merged) {
        self.push(op);
        self.merged.push(i64::from(merged.count));
        self.duration.push(merged.time);
        self.stands_for += u64::from(merged.count.saturating_sub(1));
    }

    /// Appends a mark; its time is on the rank's clock.
    pub fn push_mark(&mut self, mark: Mark) {
        if self.marks.try_reserve(1).is_ok() {
            self.marks.push(mark);
        }
    }

    /// Appends those next records that differ from the operation before in nothing but their times: regular
    /// access is little else.
    fn push_alike(&mut self, records: &mut RawRecords<'_>) {
        let (kind, flags, thread, file, bytes, stride) = self.before.identity;
        if self.count == 0 || kind.is_nonblocking() {
            return;
        }
        let identity = tmio_spool::cell::identity(file, kind, flags, thread);
        let Before { mut offset, mut end, .. } = self.before;
        let (mut t_min, mut t_max, mut alike) = (self.t_min, self.t_max, 0);
        self.times.extend(|| {
            let following = offset.wrapping_add(stride);
            let (start, its_end) = records.next_if(identity, bytes, following)?;
            let pair = (start.wrapping_sub(end), its_end.wrapping_sub(start));
            (offset, end) = (following, its_end);
            t_min = t_min.min(start);
            t_max = t_max.max(end);
            alike += 1;
            Some(pair)
        });
        (self.before.offset, self.before.end) = (offset, end);
        (self.t_min, self.t_max) = (t_min, t_max);
        self.count += alike;
        self.alike += u64::from(alike);
    }

    /// Appends an operation; its times are on the rank's clock.
    #[inline]
    pub fn push(&mut self, op: &Operation) {
        let before = &mut self.before;
        let stride = op.offset.wrapping_sub(before.offset);
        let identity = (op.kind, op.flags, op.thread, op.file, op.bytes, stride);
        before.offset = op.offset;
        // Regular access differs from the operation before in nothing but its times.
        if identity == before.identity && self.count > 0 {
            self.alike += 1;
        } else {
            self.push_identity(identity);
        }
        self.times.push(op.start.wrapping_sub(self.before.end), op.end.wrapping_sub(op.start));
        self.before.end = op.end;
        if op.kind.is_nonblocking() {
            let times = op.nonblocking.unwrap_or_default();
            self.issued.push(times.issued.wrapping_sub(op.start));
            self.deadline.push(op.end.wrapping_sub(times.deadline));
            self.pending.push(times.pending_until.wrapping_sub(times.issued));
            self.tested.push(times.test_time);
        }
        self.t_min = self.t_min.min(op.start);
        self.t_max = self.t_max.max(op.end);
        self.count += 1;
    }

    fn push_identity(&mut self, identity: Identity) {
        self.end_alike();
        let (kind, flags, thread, file, bytes, stride) = identity;
        let (old_kind, old_flags, old_thread, old_file, old_bytes, old_stride) = self.before.identity;
        self.kind.push(i64::from(kind.0) - i64::from(old_kind.0));
        self.flags.push(i64::from(flags.0) - i64::from(old_flags.0));
        self.thread.push(i64::from(thread) - i64::from(old_thread));
        self.file.push(i64::from(file) - i64::from(old_file));
        self.bytes.push(bytes.wrapping_sub(old_bytes) as i64);
        self.offset.push(stride.wrapping_sub(old_stride));
        self.before.identity = identity;
        self.has_layers |= kind.layer() != TraceLayer::MpiIo;
        let other_file = file != old_file || self.count == 0;
        if other_file && let Err(place) = self.files.binary_search(&file) {
            self.files.insert(place, file);
        }
    }

    fn end_alike(&mut self) {
        let alike = std::mem::take(&mut self.alike);
        for column in [
            &mut self.kind,
            &mut self.flags,
            &mut self.thread,
            &mut self.file,
            &mut self.bytes,
            &mut self.offset,
        ] {
            column.push_zeros(alike);
        }
    }

    /// Number of records so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Number of operations so far, those that were merged included.
    pub fn operations(&self) -> u64 {
        self.stands_for + u64::from(self.count)
    }

    /// Numbers of the files that the block's operations refer to, ascending.
    pub fn files(&self) -> &[u32] {
        &self.files
    }

    /// Ends the block and gives the whole frame. `names` should name every one of [`files`](Self::files).
    pub fn finish(
        &mut self,
        rank: u32,
        seq: u64,
        covered_until: i64,
        names: Vec<(u32, &str)>,
    ) -> Result<&[u8], frame::EncodeError> {
        self.end_alike();
        let (t_min, t_max) = if self.count == 0 { (0, 0) } else { (self.t_min, self.t_max) };
        let name_bytes: usize = names.iter().map(|(_, name)| name.len() + 16).sum();
        let marks = std::mem::take(&mut self.marks);
        let mark_bytes: usize = marks.iter().map(|mark| mark.text.len() + 48).sum();
        let block = Block {
            rank,
            seq,
            count: self.count,
            t_min,
            t_max,
            covered_until,
            files: names,
            columns: Columns {
                kind: Bytes(self.kind.finish()),
                flags: Bytes(self.flags.finish()),
                thread: Bytes(self.thread.finish()),
                file: Bytes(self.file.finish()),
                bytes: Bytes(self.bytes.finish()),
                offset: Bytes(self.offset.finish()),
                times: Bytes(self.times.bytes()),
                issued: Bytes(self.issued.finish()),
                deadline: Bytes(self.deadline.finish()),
                pending: Bytes(self.pending.finish()),
                tested: Bytes(self.tested.finish()),
                merged: Bytes(self.merged.finish()),
                duration: Bytes(self.duration.finish()),
            },
            marks,
        };
        let error = |what: &str| frame::EncodeError(what.to_owned());
        self.frame.clear();
        let room = frame::HEAD + 512 + name_bytes + mark_bytes + block.columns.len();
        self.frame.try_reserve(room).map_err(|_| error("no memory for a block"))?;
        self.frame.extend_from_slice(&[0; frame::HEAD]);
        let mut serializer = rmp_serde::Serializer::new(&mut self.frame).with_struct_map();
        block.serialize(&mut serializer).map_err(|e| frame::EncodeError(e.to_string()))?;
        let (head, body) = self.frame.split_at_mut_checked(frame::HEAD).ok_or_else(|| error("no frame"))?;
        let kind = if self.has_layers { FrameKind::Layers } else { FrameKind::Block };
        let bytes = frame::head(kind, body).ok_or_else(|| error("a block that is too long"))?;
        head.copy_from_slice(&bytes);
        Ok(&self.frame)
    }

    /// The frame that [`finish`](Self::finish) made last.
    pub fn frame(&self) -> &[u8] {
        &self.frame
    }
}

impl Columns<'_> {
    fn len(&self) -> usize {
        [
            &self.kind,
            &self.flags,
            &self.thread,
            &self.file,
            &self.bytes,
            &self.offset,
            &self.times,
            &self.issued,
            &self.deadline,
            &self.pending,
            &self.tested,
            &self.merged,
            &self.duration,
        ]
        .iter()
        .map(|column| column.0.len())
        .sum()
    }
}

/// Bytes that are written as MessagePack `bin` and borrowed when read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = Bytes<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("binary data")
            }
            fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Bytes<'de>, E> {
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_bytes(Borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_identified_by_its_first_bytes() {
        let mut encoder = BlockEncoder::default();
        for rank in [0, 127, 128, 255, 256, 65_535, 65_536, u32::MAX] {
            for sequence in [0, 127, 128, 70_000, u64::MAX] {
                assert!(encoder.restart(0));
                let frame = encoder.finish(rank, sequence, 0, Vec::new()).unwrap();
                let body = &frame[frame::HEAD..];
                assert_eq!(identity(&body[..IDENTITY_BYTES.min(body.len())]), Some((rank, sequence)));
            }
        }
        assert_eq!(identity(b""), None);
        assert_eq!(identity(b"\x88\xa4rank\xcf\x01"), None);
    }
}
