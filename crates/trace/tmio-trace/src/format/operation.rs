//! One operation of the application: the unit of a trace.

use crate::{Flags, OpKind};
use serde::{Deserialize, Serialize};

/// One completed MPI-IO operation of one rank.
///
/// Times are nanoseconds. Whoever writes a block gives them on the rank's own monotonic clock;
/// [`Trace`](crate::Trace) hands them out in job time, where 0 is rank 0's `MPI_Init`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Which operation it was.
    pub kind: OpKind,
    /// How it ended.
    pub flags: Flags,
    /// Number of the thread within its process, in order of first use.
    pub thread: u16,
    /// Number of the file within its process; 0 is a file that tmio did not see opened.
    pub file: u32,
    /// The offset argument, in units of the view's elementary type (bytes in the default view);
    /// −1 where the call used a file pointer.
    pub offset: i64,
    /// Bytes transferred, as MPI's status says; for metadata operations 0.
    pub bytes: u64,
    /// Entry of the call (of the `i…` call, of `_begin`).
    pub start: i64,
    /// Return of the call that completed it (of the Wait or Test, of `_end`).
    pub end: i64,
    /// The further times of a nonblocking operation.
    pub nonblocking: Option<AsyncTimes>,
}

/// What "required" and "actual" bandwidth of a nonblocking operation are derived from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsyncTimes {
    /// Return of the `i…` call.
    pub issued: i64,
    /// Entry of the call that completed it: the I/O would have been hidden, had it been done then.
    pub deadline: i64,
    /// The last moment at which it was seen unfinished: return of the last unsuccessful Test, else
    /// `issued`.
    pub pending_until: i64,
    /// Time spent inside unsuccessful calls of the Test family.
    pub test_time: i64,
}

/// What an operation moved, and when: all that bandwidth needs, in half the memory of an [`Operation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Which operation it was.
    pub kind: OpKind,
    /// Bytes transferred.
    pub bytes: u64,
    /// Entry of the call.
    pub start: i64,
    /// Return of the call that completed it.
    pub end: i64,
    /// Entry of the call that completed it, if it is nonblocking; else the same as `end`.
    pub deadline: i64,
}

/// What the operations of a trace are read as: all of each, or less, which is faster.
pub trait ReadAs: Copy {
    /// Of an operation.
    fn of(op: &Operation) -> Self;

    /// The same for a blocking operation that differs from this one in its place and times only.
    fn again(&self, offset: i64, start: i64, end: i64) -> Self;

    /// Entry of the call.
    fn start(&self) -> i64;

    /// Moves every time by `shift` nanoseconds.
    fn shifted(self, shift: i64) -> Self;
}

impl ReadAs for Operation {
    #[inline]
    fn of(op: &Operation) -> Self {
        *op
    }

    #[inline]
    fn again(&self, offset: i64, start: i64, end: i64) -> Self {
        Operation { offset, start, end, ..*self }
    }

    fn start(&self) -> i64 {
        self.start
    }

    fn shifted(self, shift: i64) -> Self {
        Operation::shifted(self, shift)
    }
}

impl ReadAs for Transfer {
    #[inline]
    fn of(op: &Operation) -> Self {
        let deadline = op.nonblocking.map_or(op.end, |times| times.deadline);
        Transfer { kind: op.kind, bytes: op.bytes, start: op.start, end: op.end, deadline }
    }

    #[inline]
    fn again(&self, _: i64, start: i64, end: i64) -> Self {
        Transfer { start, end, deadline: end, ..*self }
    }

    fn start(&self) -> i64 {
        self.start
    }

    fn shifted(self, shift: i64) -> Self {
        let moved = |time: i64| time.saturating_add(shift);
        Transfer { start: moved(self.start), end: moved(self.end), deadline: moved(self.deadline), ..self }
    }
}

impl Operation {
    /// Time that the application lost to this operation: everything for a blocking call; for a
    /// nonblocking one the time inside the issuing call and, if it was waited for, inside the
    /// wait, or else in unsuccessful tests.
    pub fn lost_time(&self) -> i64 {
        match self.nonblocking {
            None => self.end.saturating_sub(self.start),
            Some(times) if self.flags.contains(Flags::TESTED) => times.test_time,
            Some(times) => times
                .issued
                .saturating_sub(self.start)
                .saturating_add(self.end.saturating_sub(times.deadline)),
        }
    }

    /// Moves every time by `shift` nanoseconds.
    pub fn shifted(mut self, shift: i64) -> Self {
        self.start = self.start.saturating_add(shift);
        self.end = self.end.saturating_add(shift);
        if let Some(times) = &mut self.nonblocking {
            times.issued = times.issued.saturating_add(shift);
            times.deadline = times.deadline.saturating_add(shift);
            times.pending_until = times.pending_until.saturating_add(shift);
        }
        self
    }
}

/// A text that the program has put into the trace with `iotrace_mark`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When it was set; in a block on the rank's clock.
    pub time: i64,
    /// Number of the thread within its process.
    pub thread: u16,
    /// The text.
    pub text: String,
}
