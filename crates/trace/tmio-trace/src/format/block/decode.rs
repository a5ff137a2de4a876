//! From the columns of a block back to its operations.

use super::merge::Merged;
use super::{Block, BlockError, Bytes, Columns, MAX_COUNT};
use crate::format::column::ColumnReader;
use crate::format::operation::ReadAs;
use crate::format::times::TimesReader;
use crate::{AsyncTimes, Flags, OpKind, Operation};

impl Block<'_> {
    /// Decodes the operations, on the rank's clock, into `operations` (which is emptied first).
    pub fn decode_into(&self, operations: &mut Vec<Operation>) -> Result<(), BlockError> {
        self.decode_shifted(0, operations)
    }

    /// Decodes the operations with `shift` nanoseconds added to all times, which costs nothing here.
    pub fn decode_shifted(&self, shift: i64, operations: &mut Vec<Operation>) -> Result<(), BlockError> {
        self.decode_pieces(shift, usize::MAX, operations, |_| ())
    }

    /// The same, but hands out at most `most` operations at a time, all in `operations`: few enough stay in
    /// the processor's cache. What came before an error has been handed out.
    pub fn decode_pieces<T: ReadAs>(
        &self,
        shift: i64,
        most: usize,
        operations: &mut Vec<T>,
        mut visit: impl FnMut(&mut [T]),
    ) -> Result<(), BlockError> {
        operations.clear();
        if self.count > MAX_COUNT {
            return Err(BlockError::TooMany(self.count));
        }
        let mut columns = Readers::new(&self.columns);
        let mut state = State { end: shift, ..State::default() };
        let mut left = u64::from(self.count);
        while left > 0 {
            if operations.len() >= most {
                visit(operations);
                operations.clear();
            }
            let op = columns.operation(&mut state)?;
            let first = T::of(&op);
            operations.push(first);
            left -= 1;
            // What differs from this one only in its times needs only these.
            let alike = if op.nonblocking.is_none() { columns.alike().min(left) } else { 0 };
            let mut to_come = alike;
            while to_come > 0 {
                if operations.len() >= most {
                    visit(operations);
                    operations.clear();
                }
                let now = to_come.min((most - operations.len()) as u64);
                columns.repeat(&first, now, &mut state, operations)?;
                to_come -= now;
            }
            left -= alike;
        }
        visit(operations);
        Ok(())
    }
}

impl Block<'_> {
    /// What each operation stands for, in a block of merged ones; empty in any other.
    pub fn merged(&self) -> Result<Vec<Merged>, BlockError> {
        if self.columns.merged.is_empty() {
            return Ok(Vec::new());
        }
        if self.count > MAX_COUNT {
            return Err(BlockError::TooMany(self.count));
        }
        let mut counts = ColumnReader::new(self.columns.merged.0);
        let mut durations = ColumnReader::new(self.columns.duration.0);
        (0..self.count)
            .map(|_| {
                let count = next(&mut counts, "merged")?;
                let count = u32::try_from(count).map_err(|_| BlockError::Range("merged"))?;
                Ok(Merged { count, time: next(&mut durations, "duration")? })
            })
            .collect()
    }
}

/// What the columns' differences are differences to.
#[derive(Default)]
struct State {
    kind: i64,
    flags: i64,
    thread: i64,
    file: i64,
    bytes: i64,
    offset: i64,
    stride: i64,
    end: i64,
}

/// The columns of a block as they are read.
struct Readers<'a> {
    kind: ColumnReader<'a>,
    flags: ColumnReader<'a>,
    thread: ColumnReader<'a>,
    file: ColumnReader<'a>,
    bytes: ColumnReader<'a>,
    offset: ColumnReader<'a>,
    times: TimesReader<'a>,
    issued: ColumnReader<'a>,
    deadline: ColumnReader<'a>,
    pending: ColumnReader<'a>,
    tested: ColumnReader<'a>,
}

impl<'a> Readers<'a> {
    fn new(columns: &Columns<'a>) -> Self {
        let column = |bytes: &Bytes<'a>| ColumnReader::new(bytes.0);
        Readers {
            kind: column(&columns.kind),
            flags: column(&columns.flags),
            thread: column(&columns.thread),
            file: column(&columns.file),
            bytes: column(&columns.bytes),
            offset: column(&columns.offset),
            times: TimesReader::new(columns.times.0),
            issued: column(&columns.issued),
            deadline: column(&columns.deadline),
            pending: column(&columns.pending),
            tested: column(&columns.tested),
        }
    }

    /// How many of the next operations are like the one before but for their times.
    #[inline]
    fn alike(&mut self) -> u64 {
        self.kind
            .zeros_ahead()
            .min(self.flags.zeros_ahead())
            .min(self.thread.zeros_ahead())
            .min(self.file.zeros_ahead())
            .min(self.bytes.zeros_ahead())
            .min(self.offset.zeros_ahead())
    }

    /// Reads `count` operations that are like `op` but for their times, and for their offset, which goes on
    /// as before.
    fn repeat<T: ReadAs>(
        &mut self,
        op: &T,
        count: u64,
        state: &mut State,
        operations: &mut Vec<T>,
    ) -> Result<(), BlockError> {
        // Copies, so that they stay in registers.
        let mut times = self.times.clone();
        let (mut offset, mut end) = (state.offset, state.end);
        for _ in 0..count {
            offset = offset.wrapping_add(state.stride);
            let (distance, duration) = times.next_pair().ok_or(BlockError::Short("times"))?;
            let start = end.wrapping_add(distance);
            end = start.wrapping_add(duration);
            operations.push(op.again(offset, start, end));
        }
        self.times = times;
        (state.offset, state.end) = (offset, end);
        self.skip(count);
        Ok(())
    }

    /// Passes over `count` operations in all columns but those of times.
    fn skip(&mut self, count: u64) {
        let identity = [
            &mut self.kind,
            &mut self.flags,
            &mut self.thread,
            &mut self.file,
            &mut self.bytes,
            &mut self.offset,
        ];
        identity.into_iter().for_each(|column| column.skip_zeros(count));
    }

    #[inline]
    fn times(&mut self, state: &mut State) -> Result<(i64, i64), BlockError> {
        let (distance, duration) = self.times.next_pair().ok_or(BlockError::Short("times"))?;
        let start = state.end.wrapping_add(distance);
        state.end = start.wrapping_add(duration);
        Ok((start, state.end))
    }

    fn operation(&mut self, state: &mut State) -> Result<Operation, BlockError> {
        state.kind = state.kind.wrapping_add(next(&mut self.kind, "kind")?);
        state.flags = state.flags.wrapping_add(next(&mut self.flags, "flags")?);
        state.thread = state.thread.wrapping_add(next(&mut self.thread, "thread")?);
        state.file = state.file.wrapping_add(next(&mut self.file, "file")?);
        state.bytes = state.bytes.wrapping_add(next(&mut self.bytes, "bytes")?);
        state.stride = state.stride.wrapping_add(next(&mut self.offset, "offset")?);
        state.offset = state.offset.wrapping_add(state.stride);
        let (start, end) = self.times(state)?;
        let kind = OpKind(u8::try_from(state.kind).map_err(|_| BlockError::Range("kind"))?);
        let nonblocking = if kind.is_nonblocking() {
            let issued = start.wrapping_add(next(&mut self.issued, "issued")?);
            let deadline = end.wrapping_sub(next(&mut self.deadline, "deadline")?);
            let pending_until = issued.wrapping_add(next(&mut self.pending, "pending")?);
            let test_time = next(&mut self.tested, "tested")?;
            Some(AsyncTimes { issued, deadline, pending_until, test_time })
        } else {
            None
        };
        Ok(Operation {
            kind,
            flags: Flags(u8::try_from(state.flags).map_err(|_| BlockError::Range("flags"))?),
            thread: u16::try_from(state.thread).map_err(|_| BlockError::Range("thread"))?,
            file: u32::try_from(state.file).map_err(|_| BlockError::Range("file"))?,
            offset: state.offset,
            bytes: state.bytes as u64,
            start,
            end,
            nonblocking,
        })
    }
}

#[inline(always)]
fn next(column: &mut ColumnReader<'_>, name: &'static str) -> Result<i64, BlockError> {
    column.next_value().ok_or(BlockError::Short(name))
}
