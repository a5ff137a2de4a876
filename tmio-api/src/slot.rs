//! A slot: the records of one thread that have not left in a block yet.
//!
//! Its memory is a shared mapping of the spool (see [`tmio_trace::spool`] for the layout). The
//! owner appends and publishes; whoever holds the slot's lock may take published records away;
//! only the owner, with the lock held, empties the slot.

use crate::clock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use tmio_trace::spool::{
    ANCHOR_NS, ANCHOR_TICKS, FLUSH_SEQ, FLUSH_TO, FLUSHED, GENERATION, IN_FLIGHT, LOCK, OWNER, PUBLISHED,
    RATE, RawRecords, SLOT_WORDS, SYNC_WORDS, TickScale,
};

/// The words that tell about a slot, and those that hold its records.
pub(crate) type Head = [AtomicU64; SLOT_WORDS];
pub(crate) type Records = &'static [AtomicU64];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    head: &'static Head,
    records: Records,
}

macro_rules! head_words {
    ($($name:ident = $index:ident;)*) => {
        $(
            #[inline]
            fn $name(&self) -> &AtomicU64 {
                const { assert!($index < SLOT_WORDS) };
                #[allow(clippy::indexing_slicing)] // checked above, when this is compiled
                &self.head[$index]
            }
        )*
    };
}

impl Slot {
    head_words! {
        generation = GENERATION;
        published = PUBLISHED;
        flushed = FLUSHED;
        flush_seq = FLUSH_SEQ;
        flush_to = FLUSH_TO;
        in_flight = IN_FLIGHT;
        anchor_ticks = ANCHOR_TICKS;
        anchor_ns = ANCHOR_NS;
        rate = RATE;
        owner = OWNER;
        lock = LOCK;
    }

    /// A slot over zeroed memory. `None`: there is no room for a record.
    pub(crate) fn new(memory: &'static [AtomicU64]) -> Option<Self> {
        let (head, records) = memory.split_first_chunk::<SLOT_WORDS>()?;
        let slot = Self { head, records };
        slot.anchor();
        (!records.is_empty()).then_some(slot)
    }

    #[inline(always)]
    pub(crate) fn of(head: &'static Head, records: Records) -> Self {
        Self { head, records }
    }

    #[inline(always)]
    pub(crate) fn parts(self) -> (&'static Head, Records) {
        (self.head, self.records)
    }

    /// Where the next record goes in the slot of this head.
    pub(crate) fn place_in(head: &'static Head) -> u64 {
        Self { head, records: &[] }.published().load(Relaxed)
    }

    /// Takes the slot for the thread `id` if nobody has it.
    pub(crate) fn claim(&self, id: u64) -> bool {
        self.owner().compare_exchange(0, id, AcqRel, Relaxed).is_ok()
    }

    /// Takes the slot from a thread that is gone.
    pub(crate) fn inherit(&self, from: u64, id: u64) -> bool {
        self.owner().compare_exchange(from, id, AcqRel, Relaxed).is_ok()
    }

    pub(crate) fn release(&self) {
        self.owner().store(0, Release);
    }

    pub(crate) fn owner_id(&self) -> u64 {
        self.owner().load(Acquire)
    }

    /// Notes that the owner is inside an operation since `ticks`.
    #[inline]
    pub(crate) fn begin(&self, ticks: u64) {
        self.in_flight().store(ticks, Relaxed);
    }

    /// The owner's operation is over and recorded.
    #[inline]
    pub(crate) fn end(&self) {
        self.in_flight().store(0, Release);
    }

    /// When the operation began that the owner is in; 0 outside.
    pub(crate) fn in_flight_since(&self) -> u64 {
        self.in_flight().load(Acquire)
    }

    /// Appends a record. `false`: the slot is full.
    #[inline(always)]
    pub(crate) fn push<const N: usize>(&self, record: [u64; N]) -> bool {
        let used = self.published().load(Relaxed);
        let Some(places) = self.records.get(used as usize..).and_then(|rest| rest.first_chunk::<N>()) else {
            return false;
        };
        for (place, word) in places.iter().zip(record) {
            place.store(word, Relaxed);
        }
        self.published().store(used + N as u64, Release);
        true
    }

    /// Appends a record of any length. `false`: there is no room.
    pub(crate) fn push_words(&self, record: &[u64]) -> bool {
        let used = self.published().load(Relaxed);
        let places = self.records.get(used as usize..).and_then(|rest| rest.get(..record.len()));
        let Some(places) = places else { return false };
        for (place, &word) in places.iter().zip(record) {
            place.store(word, Relaxed);
        }
        self.published().store(used + record.len() as u64, Release);
        true
    }

    /// Whether a record of so many words fits.
    pub(crate) fn has_room(&self, words: usize) -> bool {
        self.published().load(Relaxed) as usize + words <= self.records.len()
    }

    /// Takes the right to take records away; whoever has it must [`unlock`](Self::unlock).
    pub(crate) fn try_lock(&self) -> bool {
        self.lock().compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    pub(crate) fn unlock(&self) {
        self.lock().store(0, Release);
    }

    /// Whether there are records that have not left.
    pub(crate) fn has_records(&self) -> bool {
        self.published().load(Acquire) > self.flushed().load(Acquire)
    }

    /// How many operations there are that have not left, if nobody is at the slot.
    pub(crate) fn operations(&self) -> u64 {
        if !self.try_lock() {
            return 0;
        }
        let operations = RawRecords::new(self.words_left().0, TickScale::NANOSECONDS).count() as u64;
        self.unlock();
        operations
    }

    /// The words of the records that have not left, and up to where. The lock is held.
    fn words_left(&self) -> (&'static [u64], u64) {
        let from = self.flushed().load(Relaxed) as usize;
        let to = self.published().load(Acquire);
        let words = self.records.get(from..to as usize).unwrap_or_default();
        // SAFETY: AtomicU64 has the layout of u64. Published words are not written again before the
        // slot is emptied, which needs the lock that the caller holds.
        (unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u64>(), words.len()) }, to)
    }

    /// Begins taking records away in block `seq`. The lock is held.
    pub(crate) fn take(&self, seq: u64, now: TickScale) -> RawRecords<'static> {
        let (words, to) = self.words_left();
        self.flush_seq().store(seq, Relaxed);
        self.flush_to().store(to, Release);
        let first = TickScale {
            ticks: self.anchor_ticks().load(Relaxed),
            ns: self.anchor_ns().load(Relaxed) as i64,
            rate: f64::from_bits(self.rate().load(Relaxed)),
        };
        RawRecords::new(words, clock::between(first, now))
    }

    /// What [`take`](Self::take) gave is on the disk.
    pub(crate) fn taken(&self) {
        self.flushed().store(self.flush_to().load(Relaxed), Release);
    }

    /// Empties the slot. The lock is held, the caller owns the slot and nothing is left to take.
    pub(crate) fn reset(&self) {
        // A reader of a killed process's spool sees an empty slot from the first store on.
        self.published().store(0, Release);
        self.flushed().store(0, Release);
        self.flush_to().store(0, Release);
        self.generation().fetch_add(1, Release);
        self.anchor();
    }

    fn anchor(&self) {
        let now = clock::scale();
        self.anchor_ticks().store(now.ticks, Relaxed);
        self.anchor_ns().store(now.ns as u64, Relaxed);
        self.rate().store(now.rate.to_bits(), Relaxed);
    }
}

/// Nanoseconds that stamping and storing a record takes on this machine.
pub(crate) fn measure_record() -> f64 {
    const TIMES: usize = 256;
    let memory = [const { AtomicU64::new(0) }; SYNC_WORDS];
    let began = clock::monotonic();
    for _ in 0..TIMES {
        let words = [clock::now(), clock::now(), 0, 0, 0];
        for (place, word) in memory.iter().zip(words) {
            std::hint::black_box(place).store(word, Release);
        }
    }
    (clock::monotonic() - began) as f64 / TIMES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_taken_once_and_the_slot_is_reused() {
        let memory: &'static [AtomicU64] =
            Box::leak((0..SLOT_WORDS + 12).map(|_| AtomicU64::new(0)).collect::<Vec<_>>().into_boxed_slice());
        let slot = Slot::new(memory).unwrap();
        let starts = |seq| slot.take(seq, clock::scale()).map(|op| op.bytes).collect::<Vec<_>>();
        assert!(slot.push([1, 2, 0, 77, 0]) && slot.push([1, 2, 0, 78, 0]));
        assert!(!slot.push([0; 5]), "12 words hold two records");
        assert!(slot.try_lock() && !slot.try_lock());
        assert_eq!(starts(0), [77, 78]);
        assert!(slot.has_records(), "not on the disk yet");
        slot.unlock();
        assert_eq!(slot.operations(), 2);
        assert!(slot.try_lock());
        slot.taken();
        assert!(!slot.has_records());
        slot.reset();
        slot.unlock();
        assert!(slot.push([1, 2, 0, 79, 0]));
        assert_eq!(starts(1), [79]);
    }
}
