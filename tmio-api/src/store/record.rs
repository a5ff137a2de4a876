//! One operation, on its way from a wrapper to the spool.

use crate::process::preloaded;
use crate::process::thread::{self, ThreadState};
use std::sync::atomic::Ordering::Relaxed;
use tmio_spool::cell;
use tmio_spool::ring::{Ring, Stored};
use tmio_trace::{Flags, Metadata, OpKind};

/// What the object that is preloaded calls recording.
const RECORDING: u32 = 3;

/// One operation, with its times in ticks of [`clock::now`](crate::process::clock::now).
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
    pub nonblocking: [u64; 4],
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
            nonblocking: [0; 4],
        }
    }

    /// Stores the record of an operation on the file of this number.
    #[inline(always)]
    pub(crate) fn store(&self, thread: &ThreadState, file: u32) {
        let identity = cell::identity(file, self.kind, self.flags, thread::number(thread));
        let words = [identity, self.start, self.end, self.offset as u64, self.bytes];
        let stored = match ring_of(thread) {
            Some(ring) if self.kind.is_nonblocking() => ring.push_two(words, self.nonblocking),
            Some(ring) => ring.push(words),
            None => Stored::No,
        };
        if stored != Stored::Yes {
            self.store_slowly(thread, &words, stored);
        }
    }

    #[cold]
    #[inline(never)]
    fn store_slowly(&self, thread: &ThreadState, words: &[u64; cell::CELL_WORDS], stored: Stored) {
        let Some(core) = preloaded::get() else { return };
        if stored == Stored::HalfFull {
            return (core.helper)(false);
        }
        let more = if self.kind.is_nonblocking() { &raw const self.nonblocking } else { std::ptr::null() };
        // SAFETY: the words live as long as the call.
        unsafe { (core.store)(thread, words, more) };
    }
}

/// The ring of a thread, if something is recorded now and it is one of this spool.
#[inline(always)]
fn ring_of(thread: &ThreadState) -> Option<&'static Ring> {
    let core = preloaded::get()?;
    let is_of_now =
        core.mode.load(Relaxed) == RECORDING && thread.generation.get() == core.generation.load(Relaxed);
    if is_of_now { thread.ring.get() } else { None }
}

/// Nanoseconds that storing a record and reading the clock twice take, measured here: the fastest of some
/// tries.
pub(crate) fn measure() -> f64 {
    use crate::process::clock;
    use std::sync::atomic::AtomicU64;
    use tmio_spool::layout::RING_WORDS;
    const CELLS: usize = 1024;
    let head: &'static [AtomicU64; RING_WORDS] =
        Box::leak(Box::new([const { AtomicU64::new(0) }; RING_WORDS]));
    let zero = || [const { AtomicU64::new(0) }; cell::CELL_WORDS];
    let cells: Vec<[AtomicU64; cell::CELL_WORDS]> = std::iter::repeat_with(zero).take(CELLS).collect();
    let ring = Ring::new(head, cells.leak(), u64::MAX);
    let tries = (0..8).map(|_| {
        let began = clock::monotonic();
        for number in 0..CELLS as u64 / 8 {
            let start = tmio_spool::clock::counter().unwrap_or(number);
            let end = tmio_spool::clock::counter().unwrap_or(number);
            std::hint::black_box(ring.push([1, start, end, number, 0]));
        }
        (clock::monotonic() - began) as f64 / (CELLS / 8) as f64
    });
    tries.fold(f64::INFINITY, f64::min)
}
