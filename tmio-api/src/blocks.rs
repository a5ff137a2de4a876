//! From slots to block frames on disk.

use crate::parts::Extent;
use crate::recorder::Recorder;
use crate::slot::Slot;
use crate::system::Errno;
use crate::{clock, message};
use std::sync::atomic::Ordering::Relaxed;
use tmio_trace::block::BlockEncoder;

/// Makes blocks and knows where they went; whoever writes holds one.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    encoder: BlockEncoder,
    extents: Vec<Extent>,
    operations: u64,
}

impl Recorder {
    /// Writes out everything that is published, and how far that covers this rank.
    pub(crate) fn flush(&self, who: usize) {
        let errno = Errno::save();
        self.write_out(who, false);
        drop(errno);
    }

    /// As [`flush`](Self::flush); `patiently`: also what another thread is writing just now, if it
    /// ends soon. Returns whether nothing is left.
    pub(crate) fn write_out(&self, who: usize, patiently: bool) -> bool {
        let Some(writer) = self.writers.get(who) else { return false };
        let mut writer = writer.lock();
        // Clock first, then what threads are in, then what they have published: see `Slot::begin`.
        let (now, scale) = (clock::monotonic(), clock::scale());
        let before = self.covered.load(Relaxed);
        let without_slot = self.without_slot.look();
        let since = self.spool.slots().map(Slot::in_flight_since).filter(|&since| since != 0).min();
        let covered = since.map_or(now, |ticks| scale.to_ns(ticks).min(now)).max(before);
        let all_have_slots = self.without_slot.nobody_since(without_slot);
        let mut locked = Vec::new();
        let mut all = locked.try_reserve(self.spool.len()).is_ok();
        for slot in self.spool.slots() {
            let tries = if patiently { 1000 } else { 1 };
            let got = (0..tries).any(|attempt| {
                if attempt > 0 {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
                slot.try_lock()
            });
            if got && locked.len() < locked.capacity() {
                locked.push(slot);
            } else {
                all = false;
            }
        }
        let covered = if all && all_have_slots { covered } else { before };
        let written = self.write_block(&mut writer, &locked, covered);
        if written {
            self.covered.fetch_max(covered, Relaxed);
        }
        locked.iter().for_each(|slot| slot.unlock());
        written && all
    }

    /// Makes a block of the published records of locked slots and appends it to the part.
    pub(crate) fn write_block(&self, writer: &mut Writer, slots: &[&Slot], covered: i64) -> bool {
        if self.failed.get().is_some() {
            return false;
        }
        let began = clock::monotonic();
        let sequence = self.sequence.fetch_add(1, Relaxed);
        let result = self.encode(writer, slots, sequence, covered).and_then(|count| {
            let frame = writer.encoder.frame();
            let extent = self.part.append(frame).map_err(|error| {
                format!("cannot write {}: {}", self.part.path().display(), message::plain(&error))
            })?;
            self.own_bytes.fetch_add(frame.len(), Relaxed);
            note_extent(&mut writer.extents, extent);
            writer.operations += count;
            Ok(())
        });
        self.own_time.fetch_add(clock::monotonic() - began, Relaxed);
        match result {
            Ok(()) => {
                slots.iter().for_each(|slot| slot.taken());
                true
            }
            Err(reason) => {
                self.give_up(&reason);
                false
            }
        }
    }

    /// Encodes the published records of locked slots; returns their number.
    fn encode(
        &self,
        writer: &mut Writer,
        slots: &[&Slot],
        sequence: u64,
        covered: i64,
    ) -> Result<u64, String> {
        let now = clock::scale();
        let records: Vec<_> = slots.iter().map(|slot| slot.take(sequence, now)).collect();
        let most = records.iter().map(|words| words.most()).sum();
        if !writer.encoder.restart(most) {
            return Err("no memory for a block".to_owned());
        }
        records.into_iter().for_each(|slot| writer.encoder.extend(slot));
        let names = self.files.names(writer.encoder.files());
        let names = names.iter().map(|(number, name)| (*number, &**name)).collect();
        writer.encoder.finish(self.rank, sequence, covered, names).map_err(|error| error.to_string())?;
        Ok(u64::from(writer.encoder.count()))
    }

    /// Encodes everything that is left, and that nothing more will come, into memory.
    pub(crate) fn last_block(&self) -> Result<(Vec<u8>, u64), String> {
        let [application, flusher] = &self.writers;
        let (mut writer, flusher) = (application.lock(), flusher.lock());
        let slots: Vec<&Slot> = self.spool.slots().filter(|slot| slot.try_lock()).collect();
        let sequence = self.sequence.fetch_add(1, Relaxed);
        let count = self.encode(&mut writer, &slots, sequence, clock::monotonic())?;
        let total = writer.operations + flusher.operations + count;
        Ok((writer.encoder.frame().to_vec(), total))
    }

    /// Where this rank's blocks lie in the part, in order.
    pub(crate) fn extents(&self) -> Vec<Extent> {
        let mut extents: Vec<Extent> = self.writers.iter().flat_map(|w| w.lock().extents.clone()).collect();
        extents.sort_by_key(|extent| extent.start);
        extents
    }

    /// Why this rank's records could not be kept.
    pub(crate) fn failure(&self) -> Option<&String> {
        self.failed.get()
    }
}

fn note_extent(extents: &mut Vec<Extent>, extent: Extent) {
    match extents.last_mut() {
        Some(last) if last.end == extent.start => last.end = extent.end,
        _ => extents.push(extent),
    }
}
