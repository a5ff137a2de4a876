//! From a record to the slot of its thread.
//!
//! A thread with room in its slot stores and is done. One whose slot is full writes it out as a block
//! first; one without a slot takes a free one, one of a thread that is gone, or a new one; and when
//! the buffer is used up, the one that all such threads share.

use crate::buffers::{self, BLOCK_MEMORY, Buffers};
use crate::clock;
use crate::interrupting;
use crate::process::Call;
use crate::record::Record;
use crate::shield::{Errno, NoSignals};
use crate::slot::Slot;
use crate::system;
use crate::thread::{self, ThreadState};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use tmio_trace::spool::{ASYNC_WORDS, LONGEST_RECORD, MARK_BYTES, SYNC_WORDS, pack_identity};
use tmio_trace::{Flags, Metadata, OpKind};

/// Stores a record where its thread has room for it. `false`: there is none.
#[inline(always)]
pub(crate) fn store_in_slot(thread: &ThreadState, record: &Record, file: u32) -> bool {
    let words = record.words(thread, file);
    if record.kind.is_nonblocking() {
        thread.in_slot(|slot| slot.push(words))
    } else {
        let [a, b, c, d, e, ..] = words;
        thread.in_slot(|slot| slot.push::<SYNC_WORDS>([a, b, c, d, e]))
    }
}

/// The same for a blocking call of another layer than MPI-IO.
#[inline(always)]
pub(crate) fn store_call(thread: &ThreadState, call: &Call, file: u32) -> bool {
    let identity = pack_identity(file, call.kind, call.flags, thread.number());
    let words = [call.start, call.end, call.offset as u64, call.bytes, identity];
    thread.in_slot(|slot| slot.push::<SYNC_WORDS>(words))
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

impl Buffers {
    pub(crate) fn store_here(&self, record: &Record, file: u32) {
        thread::with(|thread| self.store(thread, record, file));
    }

    pub(crate) fn store(&self, thread: &ThreadState, record: &Record, file: u32) {
        if store_in_slot(thread, record, file) {
            return;
        }
        let words = record.words(thread, file);
        let length = if record.kind.is_nonblocking() { ASYNC_WORDS } else { SYNC_WORDS };
        self.push_slowly(thread, words.get(..length).unwrap_or_default());
    }

    /// Stores a mark: a record that is followed by its text.
    pub(crate) fn store_mark(&self, text: &str, ticks: u64) {
        let mut words = [0u64; LONGEST_RECORD];
        let length =
            (0..=text.len().min(MARK_BYTES)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        let text = text.as_bytes().get(..length).unwrap_or_default();
        for (place, bytes) in words.iter_mut().skip(SYNC_WORDS).zip(text.chunks(8)) {
            let mut word = [0u8; 8];
            word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            *place = u64::from_ne_bytes(word);
        }
        thread::with(|thread| {
            let kind = OpKind::metadata(Metadata::Mark);
            let identity = pack_identity(0, kind, Flags::default(), thread.number());
            if let Some(head) = words.first_chunk_mut::<SYNC_WORDS>() {
                *head = [ticks, ticks, 0, length as u64, identity];
            }
            let words = words.get(..SYNC_WORDS + length.div_ceil(8)).unwrap_or_default();
            if !thread.in_slot(|slot| slot.push_words(words)) {
                self.push_slowly(thread, words);
            }
        });
    }

    #[cold]
    fn push_slowly(&self, thread: &ThreadState, words: &[u64]) {
        if thread.is_interrupted() {
            if !interrupting::keep(words) {
                self.lose(1);
            }
            return;
        }
        let _signals = NoSignals::new();
        // Keeps the application's allocator and error number out of it as far as possible.
        let errno = Errno::save();
        self.take_interrupting();
        let since = words.first().copied().unwrap_or(0);
        let stored = match self.slot_with_room(thread, words.len(), since) {
            Some(slot) => {
                self.settle(thread, slot);
                slot.push_words(words)
            }
            None => self.push_shared(words, since),
        };
        if !stored {
            self.lose(1);
        }
        drop(errno);
    }

    /// Stores what signal handlers have kept because they had interrupted somebody.
    pub(crate) fn take_interrupting(&self) {
        interrupting::take(|words| {
            if !self.push_shared(words, words.first().copied().unwrap_or(0)) {
                self.lose(1);
            }
        });
    }

    /// A thread without a slot begins an operation: it gets one now, or is counted among those without, so
    /// that whoever flushes knows that there is something under way.
    #[cold]
    pub(crate) fn begin_without_slot(&self, thread: &ThreadState, ticks: u64) {
        if thread.is_interrupted() {
            return;
        }
        let _signals = NoSignals::new();
        let errno = Errno::save();
        self.without_slot.enter(thread, ticks);
        if let Some(slot) = self.slot_with_room(thread, ASYNC_WORDS, ticks) {
            self.settle(thread, slot);
        }
        drop(errno);
    }

    /// The thread's operation goes on in a slot.
    fn settle(&self, thread: &ThreadState, slot: Slot) {
        thread.set_slot(Some(slot));
        if let Some(since) = thread.homeless_since() {
            slot.begin(since);
            self.without_slot.leave(thread);
        }
    }

    /// A slot of the calling thread's own with room for a record of so many words. `None`: there are more
    /// threads than slots, or all slots are full and cannot be written out. `since`: when the operation began
    /// that it is for.
    fn slot_with_room(&self, thread: &ThreadState, words: usize, since: u64) -> Option<Slot> {
        if let Some(own) = thread.slot() {
            if own.has_room(words) || self.make_room(&own, since) {
                return Some(own);
            }
            // It is being written out by the flush thread, or cannot be: leave it, and take another.
            let under_way = own.in_flight_since();
            if under_way != 0 {
                self.without_slot.enter(thread, under_way);
                own.end();
            }
            thread.set_slot(None);
            own.release();
        }
        if !system::has_memory(BLOCK_MEMORY) {
            return None;
        }
        let id = system::thread_id();
        let _turn = self.claiming.lock();
        let buffers = buffers::get()?;
        let spool = buffers.begin()?;
        for slot in spool.own_slots() {
            let owner = slot.owner_id();
            let free = owner == 0 && slot.claim(id);
            // A thread that is gone cannot have a slot; nor can an earlier one of the same id.
            let left =
                owner != 0 && (owner == id || system::thread_is_gone(owner)) && slot.inherit(owner, id);
            if !(free || left) {
                continue;
            }
            if left {
                slot.end();
            }
            // What is in it stays there: a record knows its thread.
            if slot.has_room(words) || buffers.make_room(slot, since) {
                return Some(*slot);
            }
            slot.release();
        }
        let slot = spool.grow()?;
        slot.claim(id).then_some(*slot)
    }

    /// Writes a slot's records out and empties it, to make room for the record of an operation that began at
    /// `since`. The caller owns it. `false`: somebody else is at it, or they could not be written.
    fn make_room(&self, slot: &Slot, since: u64) -> bool {
        slot.try_lock() && {
            let emptied = self.empty_locked(slot, since);
            slot.unlock();
            emptied
        }
    }

    fn empty_locked(&self, slot: &Slot, since: u64) -> bool {
        let before = self.covered.load(Relaxed);
        // With one slot in use, all that this rank did before is in it.
        let since = [since, thread::split_since()].into_iter().filter(|&since| since != 0).min().unwrap_or(0);
        let alone = self.spool().is_some_and(|spool| spool.len() == 1);
        let covered = if alone { thread::before(since, clock::scale()).max(before) } else { before };
        self.empty(slot, covered)
    }

    fn push_shared(&self, words: &[u64], since: u64) -> bool {
        let mut shared = self.shared.lock();
        let slot = match *shared {
            Some(slot) => slot,
            None => match buffers::get().and_then(|buffers| buffers.spool()?.shared()) {
                Some(slot) => *shared.insert(slot),
                None => return false,
            },
        };
        if slot.push_words(words) {
            return true;
        }
        // The flush thread may be at it, but not for ever.
        let began = clock::monotonic();
        while !slot.try_lock() {
            if clock::monotonic() - began > 1_000_000_000 {
                return false;
            }
            std::thread::yield_now();
        }
        let emptied = self.empty_locked(slot, since);
        slot.unlock();
        emptied && slot.push_words(words)
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
