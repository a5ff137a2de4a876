//! From slots to block frames on disk.

use crate::buffers::{BLOCK_MEMORY, Buffers, Who};
use crate::parts::Extent;
use crate::shield::{Errno, NoSignals};
use crate::slot::Slot;
use crate::spool::MAX_SLOTS;
use crate::system;
use crate::{clock, message, thread};
use parking_lot::MutexGuard;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tmio_trace::block::BlockEncoder;

/// Makes blocks and knows where they went; whoever writes holds one.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    encoder: BlockEncoder,
    extents: Vec<Extent>,
    operations: u64,
}

/// What becomes of operations in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Each one has its record.
    Operations,
    /// Those of one kind, file and thread become one record for as many nanoseconds.
    Stretches(i64),
}

impl Detail {
    pub(crate) const SECONDS: Detail = Detail::Stretches(1_000_000_000);
    pub(crate) const MINUTES: Detail = Detail::Stretches(60_000_000_000);
    /// One record for the whole block.
    pub(crate) const ONE: Detail = Detail::Stretches(i64::MAX);
}

/// The slots that are locked, without memory of the heap.
struct Locked<'a> {
    slots: [Option<&'a Slot>; MAX_SLOTS],
}

impl<'a> Locked<'a> {
    fn one(slot: &'a Slot) -> Self {
        let mut slots = [None; MAX_SLOTS];
        if let Some(place) = slots.first_mut() {
            *place = Some(slot);
        }
        Self { slots }
    }

    fn iter(&self) -> impl Iterator<Item = &'a Slot> {
        self.slots.iter().copied().flatten()
    }
}

impl Buffers {
    /// Writes out everything that is published, and how far that covers this rank.
    pub(crate) fn flush(&self, who: Who) {
        let _signals = NoSignals::new();
        let errno = Errno::save();
        self.write_out(who, false);
        drop(errno);
    }

    /// As [`flush`](Self::flush); `patiently`: also what another thread is writing just now, if it
    /// ends soon, and however short a while ago a write failed. Returns whether nothing is left.
    pub(crate) fn write_out(&self, who: Who, patiently: bool) -> bool {
        let Some(spool) = self.spool() else { return true };
        self.take_interrupting();
        let Some(mut writer) = self.writer(who, patiently) else { return false };
        // An idle rank has nothing to say by itself.
        if who == Who::FlushThread && !patiently && !spool.slots().any(Slot::has_records) {
            return true;
        }
        // Clock first, then what threads are in, then what they have published: see `Slot::begin`.
        let (now, scale) = (clock::monotonic() - thread::SETTLING, clock::scale());
        let before = self.covered.load(Relaxed);
        let without_slot = self.without_slot.look();
        // An operation is handed over between a thread and the split collectives under way: these are looked
        // at twice.
        let split = thread::split_since();
        let slots = spool.slots().map(Slot::in_flight_since).min_by_key(|&since| since.wrapping_sub(1));
        let since = [split, slots.unwrap_or(0), thread::split_since()];
        let since = since.into_iter().filter(|&since| since != 0).min();
        let covered = since.map_or(now, |ticks| thread::before(ticks, scale).min(now)).max(before);
        let all_have_slots = self.without_slot.nobody_since(without_slot);
        let mut locked = Locked { slots: [None; MAX_SLOTS] };
        let mut all = true;
        for (slot, place) in spool.slots().zip(&mut locked.slots) {
            let tries = if patiently { 1000 } else { 1 };
            let got = (0..tries).any(|attempt| {
                if attempt > 0 {
                    std::thread::sleep(Duration::from_micros(100));
                }
                slot.try_lock()
            });
            if got {
                *place = Some(slot);
            } else {
                all = false;
            }
        }
        if patiently {
            self.note_success(); // try now
        }
        let covered = if all && all_have_slots { covered } else { before };
        let written = self.write_block(&mut writer, &locked, covered);
        if written {
            self.covered.fetch_max(covered, Relaxed);
        }
        locked.iter().for_each(Slot::unlock);
        written && all
    }

    /// Whoever writes takes turns. At the end of the process, nobody waits for long: the lock may be
    /// held by the very thread that a signal has interrupted.
    fn writer(&self, who: Who, bounded: bool) -> Option<MutexGuard<'_, Writer>> {
        let [application, flusher] = &self.writers;
        let writer = match who {
            Who::Application => application,
            Who::FlushThread => flusher,
        };
        if bounded { writer.try_lock_for(Duration::from_secs(1)) } else { Some(writer.lock()) }
    }

    /// Writes a slot's records out and empties it. The caller owns and has locked it.
    pub(crate) fn empty(&self, slot: &Slot, covered: i64) -> bool {
        let [application, _] = &self.writers;
        let mut writer = application.lock();
        let written = !slot.has_records() || self.write_block(&mut writer, &Locked::one(slot), covered);
        if written {
            slot.reset();
        }
        written
    }

    /// Makes a block of the published records of locked slots and appends it to the part. `false`:
    /// that failed; they stay where they are.
    fn write_block(&self, writer: &mut Writer, slots: &Locked<'_>, covered: i64) -> bool {
        let began = clock::monotonic();
        if self.failure().is_some() || began < self.not_before.load(Relaxed) {
            return false;
        }
        let result = self.encode(writer, slots, covered, self.detail()).and_then(|count| {
            let frame = writer.encoder.frame();
            let extent = self.append(frame)?;
            self.reached.fetch_max(extent.end, Relaxed);
            self.own_bytes.fetch_add(frame.len(), Relaxed);
            note_extent(&mut writer.extents, extent);
            writer.operations += count;
            Ok(())
        });
        self.own_time.fetch_add(clock::monotonic() - began, Relaxed);
        match result {
            Ok(()) => {
                slots.iter().for_each(Slot::taken);
                self.note_success();
                true
            }
            Err(error) => {
                self.note_trouble(&error);
                false
            }
        }
    }

    /// Encodes the published records of locked slots; returns the number of operations.
    fn encode(
        &self,
        writer: &mut Writer,
        slots: &Locked<'_>,
        covered: i64,
        detail: Detail,
    ) -> io::Result<u64> {
        let spool = self.spool().ok_or(io::ErrorKind::OutOfMemory)?;
        if !system::has_memory(BLOCK_MEMORY) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let sequence = self.next_sequence(spool);
        let now = clock::scale();
        let records = slots.slots.map(|slot| slot.map(|slot| slot.take(sequence, now)));
        let most = records.iter().flatten().map(|words| words.most()).sum();
        if !writer.encoder.restart(most) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let records = records.into_iter().flatten();
        match detail {
            Detail::Operations => records.for_each(|slot| writer.encoder.extend(slot)),
            Detail::Stretches(width) => {
                if !writer.encoder.extend_merged(records, most, width) {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
            }
        }
        let names = self.files.names(writer.encoder.files());
        let names = names.iter().map(|(number, name)| (*number, &**name)).collect();
        writer.encoder.finish(self.rank, sequence, covered, names).map_err(io::Error::other)?;
        Ok(writer.encoder.operations())
    }

    /// In how much detail a block is written: as the node's share of the largest size allows.
    fn detail(&self) -> Detail {
        let (reached, most) = (self.reached.load(Relaxed), self.most_bytes());
        match most {
            0 => Detail::Operations,
            _ if reached < most => Detail::Operations,
            _ if reached < most.saturating_add(most / 2) => Detail::SECONDS,
            _ => Detail::MINUTES,
        }
    }

    /// Encodes everything that is left, and that nothing more will come, into memory; the slots stay
    /// locked until [`release`](Self::release). Also the number of operations of this rank in all.
    pub(crate) fn last_block(&self, detail: Detail) -> io::Result<(Vec<u8>, u64)> {
        let [application, flusher] = &self.writers;
        let (mut writer, flusher) = (application.lock(), flusher.lock());
        let written = writer.operations + flusher.operations;
        let mut locked = Locked { slots: [None; MAX_SLOTS] };
        for (slot, place) in self.slots().filter(|slot| slot.try_lock()).zip(&mut locked.slots) {
            *place = Some(slot);
        }
        let nothing_new = !locked.iter().any(Slot::has_records);
        let something_written = !writer.extents.is_empty() || !flusher.extents.is_empty();
        if nothing_new && something_written {
            return Ok((Vec::new(), written));
        }
        if self.spool().is_none() {
            return Ok((Vec::new(), 0));
        }
        let count = self.encode(&mut writer, &locked, clock::monotonic(), detail)?;
        let mut frame = Vec::new();
        frame.try_reserve_exact(writer.encoder.frame().len()).map_err(io::Error::other)?;
        frame.extend_from_slice(writer.encoder.frame());
        Ok((frame, written + count))
    }

    /// The last block did not become part of a trace: its records may be written out again.
    pub(crate) fn release(&self) {
        self.slots().for_each(Slot::unlock);
    }

    /// Operations in the blocks that were written.
    pub(crate) fn operations(&self) -> u64 {
        self.writers.iter().filter_map(|writer| Some(writer.try_lock()?.operations)).sum()
    }

    /// Where this rank's blocks lie in the part, in order.
    pub(crate) fn extents(&self) -> Vec<Extent> {
        let mut extents: Vec<Extent> = self.writers.iter().flat_map(|w| w.lock().extents.clone()).collect();
        extents.sort_by_key(|extent| extent.start);
        extents
    }
}

fn note_extent(extents: &mut Vec<Extent>, extent: Extent) {
    if let Some(last) = extents.last_mut().filter(|last| last.end == extent.start) {
        last.end = extent.end;
    } else if extents.try_reserve(1).is_ok() {
        extents.push(extent);
    } else {
        message::debug("no memory for the place of a block");
    }
}
