//! From a call to a record, and where records go.

use crate::page::{self, PAGE, mode};
use crate::thread::{self, ThreadState};
use crate::{clock, helper, load, rings, settings, spool};
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use tmio_spool::cell;
use tmio_spool::kind::{Direction, FilePointer, Flags, Metadata, OpKind, TraceLayer};
use tmio_spool::layout;
use tmio_spool::ring::{Ring, Stored};

/// Whether a call is to be recorded now; the first one makes the spool.
#[inline(always)]
pub(crate) fn is_recording() -> bool {
    match PAGE.mode.load(Acquire) {
        mode::RECORDING => true,
        mode::ARMED | mode::STARTING | mode::BECOMING => spool::begin(),
        _ => false,
    }
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kind: OpKind,
    pub(crate) flags: Flags,
    /// The offset argument, or −1.
    pub(crate) offset: i64,
    pub(crate) bytes: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A call that moved data.
#[inline(always)]
pub(crate) fn data(
    layer: TraceLayer,
    direction: Direction,
    offset: Option<i64>,
    result: i64,
    start: u64,
    end: u64,
) -> Call {
    let pointer = if offset.is_some() { FilePointer::Explicit } else { FilePointer::Individual };
    Call {
        kind: OpKind::data(direction, pointer, false, false, false).at(layer),
        flags: if result < 0 { Flags::FAILED } else { Flags(0) },
        offset: offset.unwrap_or(-1),
        bytes: result.max(0) as u64,
        start,
        end,
    }
}

/// A call that moved none.
pub(crate) fn metadata(layer: TraceLayer, operation: Metadata, start: u64, end: u64) -> Call {
    let kind = OpKind::metadata(operation).at(layer);
    Call { kind, flags: Flags(0), offset: -1, bytes: 0, start, end }
}

/// Keeps a call on a file.
#[inline(always)]
pub(crate) fn record(thread: &ThreadState, file: u32, call: &Call) {
    let identity = cell::identity(file, call.kind, call.flags, thread::number(thread));
    store(thread, [identity, call.start, call.end, call.offset as u64, call.bytes]);
    if PAGE.kept.load(Relaxed) == 0 {
        weigh(call.bytes, call.end);
    }
}

#[inline(always)]
fn store(thread: &ThreadState, words: [u64; cell::CELL_WORDS]) {
    match ring_of(thread) {
        Some(ring) => match ring.push(words) {
            Stored::Yes => {}
            Stored::HalfFull => rings::half_full(ring),
            Stored::No => rings::store_slowly(thread, words, None),
        },
        None => rings::store_slowly(thread, words, None),
    }
}

/// The ring of a thread, if something is recorded now and it is one of this spool.
#[inline(always)]
pub(crate) fn ring_of(thread: &ThreadState) -> Option<&'static Ring> {
    let is_of_now = PAGE.mode.load(Relaxed) == mode::RECORDING
        && thread.generation.get() == page::GENERATION.load(Relaxed);
    if is_of_now { thread.ring.get() } else { None }
}

/// A process that has moved enough bytes, or has been at it for a second, is kept.
#[cold]
#[inline(never)]
fn weigh(bytes: u64, now: u64) {
    let moved = PAGE.bytes.fetch_add(bytes, Relaxed) + bytes;
    if moved >= settings::min_bytes() || is_long(now) {
        PAGE.worth.store(1, Relaxed);
        if !may_become_a_rank() {
            helper::keep();
        }
    }
}

/// Whether what the process has done may turn out to be a rank's, and so belong to the trace of its job: the
/// start of MPI takes long. Not for ever, as somebody may want to read it.
fn may_become_a_rank() -> bool {
    const FOR_SO_LONG: i64 = 60_000_000_000;
    let made = page::head_word(layout::MADE_NS).map_or(0, |word| word.load(Relaxed) as i64);
    load::may_be_rank() && clock::monotonic() - made < FOR_SO_LONG
}

fn is_long(now: u64) -> bool {
    const SECOND: i64 = 1_000_000_000;
    let Some(head) = page::head() else { return false };
    let word = |index: usize| head.get(index).map_or(0, |word| word.load(Relaxed));
    // A tick is a nanosecond at most, so fewer than these are no second.
    now.wrapping_sub(word(layout::MADE_TICKS)) > SECOND as u64
        && clock::monotonic() - word(layout::MADE_NS) as i64 >= SECOND
}

/// Stores a text: the name of a file, or a mark.
pub(crate) fn store_text(thread: &ThreadState, file: u32, kind: OpKind, time: u64, text: &[u8]) {
    let number = thread::number(thread);
    let ring = ring_of(thread);
    let push = |ring: &Ring| ring.push_text(file, kind, number, time, text);
    match (ring.map_or(Stored::No, push), ring) {
        (Stored::Yes, _) => {}
        (Stored::HalfFull, Some(ring)) => rings::half_full(ring),
        _ => rings::store_slowly(thread, [0; cell::CELL_WORDS], Some((file, kind, time, text))),
    }
}
