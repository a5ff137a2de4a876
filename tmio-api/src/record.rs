//! What the wrappers hand over: one operation.

use tmio_trace::spool::{ASYNC_WORDS, SYNC_WORDS};
use tmio_trace::{Flags, Metadata, OpKind};

/// One operation, with its times in ticks of [`clock::now`](crate::clock::now).
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Which operation it was.
    pub kind: OpKind,
    /// How it ended.
    pub flags: Flags,
    /// The file's handle.
    pub file: usize,
    /// The offset argument, or −1.
    pub offset: i64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Entry of the call.
    pub start: u64,
    /// Return of the call that completed it.
    pub end: u64,
    /// Issued, deadline, pending until, time in unsuccessful tests; for nonblocking ones.
    pub nonblocking: [u64; ASYNC_WORDS - SYNC_WORDS],
}

impl Record {
    /// An operation that moves no data.
    pub(crate) fn metadata(operation: Metadata, file: usize, start: u64, end: u64) -> Self {
        Record {
            kind: OpKind::metadata(operation),
            flags: Flags::default(),
            file,
            offset: -1,
            bytes: 0,
            start,
            end,
            nonblocking: [0; ASYNC_WORDS - SYNC_WORDS],
        }
    }
}
