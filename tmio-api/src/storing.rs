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
use std::sync::atomic::Ordering::Relaxed;
use tmio_trace::spool::pack_identity;

impl Recorder {
    pub(crate) fn store_here(&self, record: &Record, file: u32) {
        thread::with(|thread| self.store(thread, record, file));
    }

    #[inline]
    pub(crate) fn store(&self, thread: &ThreadState, record: &Record, file: u32) {
        let identity = pack_identity(file, record.kind, record.flags, thread.number());
        let common = [record.start, record.end, record.offset as u64, record.bytes, identity];
        if record.kind.is_nonblocking() {
            let [a, b, c, d, e] = common;
            let [f, g, h, i] = record.nonblocking;
            self.push(thread, [a, b, c, d, e, f, g, h, i]);
        } else {
            self.push(thread, common);
        }
    }

    #[inline]
    fn push<const N: usize>(&self, thread: &ThreadState, words: [u64; N]) {
        match thread.slot.get() {
            Some(slot) if slot.push(words) => {}
            _ => self.push_slowly(thread, words),
        }
    }

    #[cold]
    fn push_slowly<const N: usize>(&self, thread: &ThreadState, words: [u64; N]) {
        // Keeps the application's allocator and error number out of it as far as possible.
        let errno = Errno::save();
        if let Some(slot) = self.slot_with_room(thread) {
            thread.slot.set(Some(slot));
            if !slot.push(words) {
                self.lost.fetch_add(1, Relaxed);
            }
        } else if !self.push_shared(words) {
            self.lost.fetch_add(1, Relaxed);
        }
        drop(errno);
    }

    /// The calling thread's slot, emptied, or a new one. `None`: there are more threads than slots.
    fn slot_with_room(&self, thread: &ThreadState) -> Option<&'static Slot> {
        let id = system::thread_id();
        if let Some(full) = thread.slot.get() {
            if full.try_lock() {
                let emptied = self.empty(full);
                full.unlock();
                return emptied.then_some(full);
            }
            // The flush thread is at it: leave the slot to it and take another.
            thread.slot.set(None);
            full.release();
        }
        let _turn = self.claiming.lock();
        let recorder = recorder()?;
        for slot in recorder.spool.slots() {
            let owner = slot.owner_id();
            let free = owner == 0 && slot.claim(id);
            // A thread that is gone cannot have a slot; nor can an earlier one of the same id.
            let left =
                owner != 0 && (owner == id || system::thread_is_gone(owner)) && slot.inherit(owner, id);
            if !(free || left) {
                continue;
            }
            if slot.try_lock() {
                let emptied = recorder.empty(slot);
                slot.unlock();
                if emptied {
                    return Some(slot);
                }
            }
            slot.release();
        }
        let slot = recorder.spool.grow()?;
        slot.claim(id).then_some(slot)
    }

    /// Writes a slot's records out and empties it. The caller owns and has locked it.
    fn empty(&self, slot: &Slot) -> bool {
        let mut writer = self.writers[APPLICATION].lock();
        // With one slot in use, all that this rank did so far is in it.
        let covered = if self.spool.len() == 1 { clock::monotonic() } else { self.covered.load(Relaxed) };
        let written = !slot.has_records() || self.write_block(&mut writer, &[slot], covered);
        if written {
            slot.reset();
        }
        written
    }

    fn push_shared<const N: usize>(&self, words: [u64; N]) -> bool {
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
        let emptied = self.empty(slot);
        slot.unlock();
        emptied && slot.push(words)
    }
}
