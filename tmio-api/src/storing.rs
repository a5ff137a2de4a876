//! From a record to the slot of its thread.
//!
//! A thread with room in its slot stores and is done. One whose slot is full writes it out as a block
//! first; one without a slot takes a free one, one of a thread that is gone, or a new one; and when
//! the buffer is used up, the one that all such threads share.

use crate::clock;
use crate::recorder::{APPLICATION, Record, Recorder, recorder};
use crate::slot::Slot;
use crate::system::{self, Errno};
use crate::thread::{self, ThreadState};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use tmio_trace::spool::{ASYNC_WORDS, SYNC_WORDS, pack_identity};

/// Stores a record where its thread has room for it. `false`: there is none.
#[inline(always)]
pub(crate) fn store_in_slot(thread: &ThreadState, record: &Record, file: u32) -> bool {
    let Some(slot) = thread.slot.get() else { return false };
    let words = record.words(thread, file);
    if record.kind.is_nonblocking() {
        slot.push(words)
    } else {
        let [a, b, c, d, e, ..] = words;
        slot.push::<SYNC_WORDS>([a, b, c, d, e])
    }
}

impl Record {
    /// As they lie in a slot; of a blocking operation, only the first [`SYNC_WORDS`] count.
    #[inline(always)]
    fn words(&self, thread: &ThreadState, file: u32) -> [u64; ASYNC_WORDS] {
        let identity = pack_identity(file, self.kind, self.flags, thread.number());
        let [issued, deadline, pending_until, test_time] = self.nonblocking;
        let Record { start, end, offset, bytes, .. } = *self;
        [start, end, offset as u64, bytes, identity, issued, deadline, pending_until, test_time]
    }
}

impl Recorder {
    pub(crate) fn store_here(&self, record: &Record, file: u32) {
        thread::with(|thread| self.store(thread, record, file));
    }

    pub(crate) fn store(&self, thread: &ThreadState, record: &Record, file: u32) {
        if store_in_slot(thread, record, file) {
            return;
        }
        let words = record.words(thread, file);
        if record.kind.is_nonblocking() {
            self.push_slowly(thread, words);
        } else if let Some(&words) = words.first_chunk::<SYNC_WORDS>() {
            self.push_slowly(thread, words);
        }
    }

    #[cold]
    fn push_slowly<const N: usize>(&self, thread: &ThreadState, words: [u64; N]) {
        // Keeps the application's allocator and error number out of it as far as possible.
        let errno = Errno::save();
        let since = words.first().copied().unwrap_or(0);
        if let Some(slot) = self.slot_with_room(thread, since) {
            self.settle(thread, slot);
            if !slot.push(words) {
                self.lost.fetch_add(1, Relaxed);
            }
        } else if !self.push_shared(words, since) {
            self.lost.fetch_add(1, Relaxed);
        }
        drop(errno);
    }

    /// A thread without a slot begins an operation: it gets one now, or is counted among those without, so that
    /// whoever flushes knows that there is something under way.
    #[cold]
    pub(crate) fn begin_without_slot(&self, thread: &ThreadState, ticks: u64) {
        let errno = Errno::save();
        self.without_slot.enter(thread, ticks);
        if let Some(slot) = self.slot_with_room(thread, ticks) {
            self.settle(thread, slot);
        }
        drop(errno);
    }

    /// The thread's operation goes on in a slot.
    fn settle(&self, thread: &ThreadState, slot: Slot) {
        thread.slot.set(Some(slot));
        if let Some(since) = thread.homeless_since() {
            slot.begin(since);
            self.without_slot.leave(thread);
        }
    }

    /// The calling thread's slot, emptied, or a new one. `None`: there are more threads than slots. `since`: when the
    /// operation began that it is for.
    fn slot_with_room(&self, thread: &ThreadState, since: u64) -> Option<Slot> {
        let id = system::thread_id();
        if let Some(full) = thread.slot.get() {
            if full.try_lock() {
                let emptied = self.empty(&full, since);
                full.unlock();
                return emptied.then_some(full);
            }
            // The flush thread is at it: leave the slot to it and take another.
            let under_way = full.in_flight_since();
            if under_way != 0 {
                self.without_slot.enter(thread, under_way);
                full.end();
            }
            thread.slot.set(None);
            full.release();
        }
        let _turn = self.claiming.lock();
        let recorder = recorder()?;
        for slot in recorder.spool.own_slots() {
            let owner = slot.owner_id();
            let free = owner == 0 && slot.claim(id);
            // A thread that is gone cannot have a slot; nor can an earlier one of the same id.
            let left =
                owner != 0 && (owner == id || system::thread_is_gone(owner)) && slot.inherit(owner, id);
            if !(free || left) {
                continue;
            }
            if slot.try_lock() {
                let emptied = recorder.empty(slot, since);
                slot.unlock();
                if emptied {
                    return Some(*slot);
                }
            }
            slot.release();
        }
        let slot = recorder.spool.grow()?;
        slot.claim(id).then_some(*slot)
    }

    /// Writes a slot's records out and empties it. The caller owns and has locked it, to make room for the record
    /// of an operation that began at `since`.
    fn empty(&self, slot: &Slot, since: u64) -> bool {
        let mut writer = self.writers[APPLICATION].lock();
        let before = self.covered.load(Relaxed);
        // With one slot in use, all that this rank did before is in it.
        let covered = if self.spool.len() == 1 { clock::scale().to_ns(since).max(before) } else { before };
        let written = !slot.has_records() || self.write_block(&mut writer, &[slot], covered);
        if written {
            slot.reset();
        }
        written
    }

    fn push_shared<const N: usize>(&self, words: [u64; N], since: u64) -> bool {
        let mut shared = self.shared.lock();
        let slot = match *shared {
            Some(slot) => slot,
            None => match recorder().and_then(|recorder| recorder.spool.shared()) {
                Some(slot) => *shared.insert(slot),
                None => return false,
            },
        };
        if slot.push(words) {
            return true;
        }
        while !slot.try_lock() {
            std::thread::yield_now();
        }
        let emptied = self.empty(slot, since);
        slot.unlock();
        emptied && slot.push(words)
    }
}

/// Threads that are in an operation and have no slot to note it in.
#[derive(Debug, Default)]
pub(crate) struct WithoutSlot {
    /// Their number, and in the upper half how many there ever were.
    count: AtomicU64,
}

const EVER: u64 = 1 << 32;

impl WithoutSlot {
    fn enter(&self, thread: &ThreadState, ticks: u64) {
        if thread.homeless_since().is_none() {
            self.count.fetch_add(EVER + 1, SeqCst);
        }
        thread.set_homeless(Some(ticks));
    }

    pub(crate) fn leave(&self, thread: &ThreadState) {
        if thread.homeless_since().is_some() {
            thread.set_homeless(None);
            self.count.fetch_sub(1, SeqCst);
        }
    }

    /// For [`nobody_since`](Self::nobody_since).
    pub(crate) fn look(&self) -> u64 {
        self.count.load(SeqCst)
    }

    /// Whether no thread was without a slot at any time since `earlier` was seen.
    pub(crate) fn nobody_since(&self, earlier: u64) -> bool {
        let now = self.look();
        now == earlier && now.is_multiple_of(EVER)
    }
}
