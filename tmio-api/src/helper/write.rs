//! From spools to parts.

use super::frames::{encode, rank_in, with_rank};
use super::member::{Member, Place};
use super::target::Target;
use super::{Helper, PAUSE, process, trace};
use crate::place::parts;
use crate::process::message;
use crate::process::surroundings::Surroundings;
use crate::process::thread::{SETTLING, before};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tmio_spool::layout;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{Beside, liveness};

impl Helper {
    /// Whether the part of a member was not tried in vain just now.
    pub(super) fn may_write(&self, index: usize) -> bool {
        let Some(place) = self.members.get(index).and_then(|member| member.place.as_ref()) else {
            return true;
        };
        let target = self.targets.get(&place.destination.part);
        target.and_then(|target| target.not_before).is_none_or(|time| Instant::now() >= time)
    }

    /// Finds out where the records of a member belong, if nobody knows. `false`: that cannot be said now.
    pub(super) fn place(&mut self, index: usize) -> bool {
        let Some(member) = self.members.get_mut(index) else { return false };
        if let Some(place) = &member.place {
            if !self.targets.contains_key(&place.destination.part) {
                let resumed = self.control.writing(|| process::resume(place));
                let Ok(()) = resumed else { return false };
                self.add_target(index);
            }
            return true;
        }
        let place = match member.source.told() {
            Some((destination, greeting)) => {
                let info = rank_in(&greeting).unwrap_or_default();
                // An earlier helper may have found it out for a process that is no rank.
                let ends_alone = !member.is_rank && process::ends_alone(&member.source);
                Some(Place { destination, greeting, info, greeted: false, ends_alone })
            }
            None => {
                let found = self.control.writing(|| process::identify(&member.source));
                match found {
                    Ok(Some(found)) => {
                        let identity = found.destination.encode(&found.greeting);
                        if let Err(error) =
                            member.source.memory.identify(&member.source.path, found.info.rank, &identity)
                        {
                            message::debug(format_args!("{}: {error}", member.source.path.display()));
                        }
                        let process::Member { destination, info, greeting, ends_alone } = found;
                        Some(Place { destination, greeting, info, greeted: false, ends_alone })
                    }
                    Ok(None) => {
                        member.source.memory.set_state(layout::REFUSED);
                        let _ = std::fs::remove_file(&member.source.path);
                        None
                    }
                    // The place cannot be written: perhaps later, else when the process has ended for good.
                    Err(error) => {
                        if parts::is_permanent(&error) && !member.alive {
                            let _ = std::fs::remove_file(&member.source.path);
                            member.source.memory.set_state(layout::REFUSED);
                        }
                        None
                    }
                }
            }
        };
        let Some(mut place) = place else { return false };
        // An earlier helper may have made the trace of the run, and was killed before it could say so.
        let resumed = self.control.writing(|| process::resume(&place));
        let Ok(()) = resumed else { return false };
        place.info.spool = member.source.path.to_string_lossy().into_owned();
        let destination = &place.destination;
        member.source.go_on(&destination.part, place.info.rank, &destination.filter);
        member.place = Some(place);
        self.add_target(index);
        true
    }

    /// The part of a member is one that is written to.
    fn add_target(&mut self, index: usize) {
        let Some(member) = self.members.get(index) else { return };
        let Some(place) = &member.place else { return };
        let part = &place.destination.part;
        if !self.targets.contains_key(part) {
            let around = Surroundings::told(member.source.text(), member.source.pid);
            let is_seen = liveness::is_namespace_of(member.source.memory.word(layout::NAMESPACE));
            let target = self.control.writing(|| Target::new(place, &around, is_seen));
            self.targets.insert(part.clone(), target);
        }
        if let Some(target) = self.targets.get_mut(part) {
            target.ranks += 1;
        }
    }

    /// Enters a member in its part, so that whoever reads that knows of its spool. `false`: that was not
    /// possible now.
    pub(super) fn enter(&mut self, index: usize) -> bool {
        let entered = self.place(index).then(|| self.greet(index));
        match entered {
            Some(Err(error)) => {
                self.note_trouble(index, &error);
                false
            }
            other => other.is_some(),
        }
    }

    /// Writes what a member has recorded to its part, and if it was asked for, up to when that is all, even
    /// if there is nothing. `false`: that was not possible now.
    pub(super) fn write(&mut self, index: usize, asked_for: bool) -> bool {
        if !self.enter(index) {
            return false;
        }
        // So much fits into a block that there may be several.
        for number in 0..1000 {
            match self.write_block(index, asked_for && number == 0) {
                // What has come meanwhile waits until it is a block.
                Ok(true) if self.members.get(index).is_some_and(|member| !member.is_full()) => return true,
                Ok(true) => {}
                Ok(false) => return true,
                Err(error) => {
                    self.note_trouble(index, &error);
                    return false;
                }
            }
        }
        true
    }

    pub(super) fn note_trouble(&mut self, index: usize, error: &io::Error) {
        let Some(place) = self.members.get(index).and_then(|member| member.place.as_ref()) else { return };
        let Some(target) = self.targets.get_mut(&place.destination.part) else { return };
        if target.failure.is_some() {
            target.not_before = Some(Instant::now() + PAUSE);
            return;
        }
        let text = format!("cannot write {}: {}", target.part.path().display(), message::plain(error));
        if parts::is_permanent(error) && target.reached == 0 {
            target.failure = Some(text.clone());
        }
        target.trouble = Some(text);
        target.not_before = Some(Instant::now() + PAUSE);
    }

    pub(super) fn greet(&mut self, index: usize) -> io::Result<()> {
        let Some(place) = self.members.get_mut(index).and_then(|member| member.place.as_mut()) else {
            return Ok(());
        };
        let Some(target) = self.targets.get_mut(&place.destination.part).filter(|_| !place.greeted) else {
            return Ok(());
        };
        if let Some(failure) = &target.failure {
            return Err(io::Error::other(failure.clone()));
        }
        let greeting = with_rank(&place.greeting, &place.info)?;
        self.control.writing(|| target.append(&greeting))?;
        place.greeted = true;
        Ok(())
    }

    /// Writes one block of a member's records. `false`: there are none more.
    pub(super) fn write_block(&mut self, index: usize, even_empty: bool) -> io::Result<bool> {
        let Some(member) = self.members.get_mut(index) else { return Ok(false) };
        let Some(place) = &mut member.place else { return Ok(false) };
        let Some(target) = self.targets.get_mut(&place.destination.part) else {
            // The trace of its run is made: what comes now is too late for it.
            let taken = member.source.take(&place.destination.filter, true);
            member.source.free(&taken);
            return Ok(false);
        };
        if let Some(failure) = &target.failure {
            return Err(io::Error::other(failure.clone()));
        }
        let source = &mut member.source;
        // Clock first, then what threads are in, then what they have stored.
        let now = source.now() - SETTLING;
        let scale = source.memory.scale();
        let covered = match source.memory.in_flight() {
            Some(u64::MAX) => now,
            Some(ticks) => before(ticks, scale).min(now),
            None => source.covered,
        };
        let covered = covered.max(source.covered);
        let taken = source.take(&place.destination.filter, !member.alive);
        if taken.is_empty() && !even_empty {
            return Ok(false);
        }
        if taken.words.is_empty() && !taken.is_empty() && source.unwritten.is_empty() {
            source.free(&taken);
            return Ok(true);
        }
        let sequence = source.begin_block(&taken);
        let detail = trace::detail(target.reached, taken.cells(), place.destination.most_bytes);
        let count = encode(&mut self.encoder, &taken.words, scale, detail)?;
        let names = source.names_for(self.encoder.files());
        let rank = place.info.rank;
        let frame = self.encoder.finish(rank, sequence, covered, names).map_err(io::Error::other)?;
        let extent = self.control.writing(|| target.append(frame))?;
        target.not_before = None;
        target.operations += count;
        source.covered = covered;
        source.operations += count;
        match source.extents.last_mut().filter(|last| last.end == extent.start) {
            Some(last) => last.end = extent.end,
            None => source.extents.push(extent),
        }
        source.free(&taken);
        Ok(!taken.is_empty())
    }

    /// A process that waits for it is told that everything is written.
    pub(super) fn tell(&mut self, index: usize, state: u64) {
        if !self.append_info(index, state, false) {
            return;
        }
        let Some(member) = self.members.get_mut(index) else { return };
        member.told = true;
        let ends_alone = member.place.as_ref().is_some_and(|place| place.ends_alone);
        // The last one of its run sees the trace where it is to be.
        if ends_alone {
            self.end_runs();
        }
        let Some(member) = self.members.get_mut(index) else { return };
        let memory = &member.source.memory;
        if memory.word(layout::STATE) == state {
            memory.set_state(layout::WRITTEN);
        }
    }

    /// A process is gone, and all that it had recorded is written: its spool goes.
    pub(super) fn finish(&mut self, index: usize, state: u64) {
        let refused = self.members.get(index).is_none_or(Member::is_refused);
        let told = self.members.get(index).is_some_and(|member| member.told);
        if !refused && !told && !self.append_info(index, state, true) {
            return;
        }
        if let Some(member) = self.members.get_mut(index) {
            let _ = std::fs::remove_file(&member.source.path);
            member.source.memory.set_state(layout::REFUSED);
            member.told = true;
        }
    }

    /// Says in the part how a process has ended.
    pub(super) fn append_info(&mut self, index: usize, state: u64, gone: bool) -> bool {
        let Some(member) = self.members.get_mut(index) else { return false };
        let (source, Some(place)) = (&member.source, &mut member.place) else { return true };
        let word = |index: usize| source.memory.word(index);
        let mut info = place.info.clone();
        let ended = matches!(state, layout::ENDED | layout::BECOMING | layout::WRITTEN);
        info.finished = !member.is_rank && ended;
        info.salvaged = !info.finished;
        if gone || info.salvaged {
            info.spool = String::new();
        }
        info.operations = source.operations;
        info.lost = word(layout::LOST);
        info.overhead_per_op = self.record_time;
        info.overhead = word(layout::OWN_NS) as i64 + (source.operations as f64 * self.record_time) as i64;
        (info.process_read, info.process_written) = (word(layout::IO_READ), word(layout::IO_WRITTEN));
        let [read, written] = source.left_out;
        info.beside = ended.then(|| Beside {
            read: word(layout::BESIDE_READ) + read,
            written: word(layout::BESIDE_WRITTEN) + written,
            device_read: word(layout::IO_DEVICE_READ),
            device_written: word(layout::IO_DEVICE_WRITTEN),
        });
        let Some(target) = self.targets.get_mut(&place.destination.part) else { return false };
        let Ok(frame) = frame::encode(FrameKind::Rank, &info) else { return true };
        match self.control.writing(|| target.append(&frame)) {
            Ok(_) => {
                place.info = info;
                true
            }
            Err(error) => {
                self.note_trouble(index, &error);
                false
            }
        }
    }

    /// Makes traces of the parts of runs that have ended, where nobody else does.
    pub(super) fn end_runs(&mut self) {
        if !self.targets.values().any(|target| target.ends_alone && target.ranks > 0) {
            return;
        }
        let unfinished = || self.members.iter().filter(|member| !member.told);
        let parts: HashSet<&Path> = unfinished()
            .filter_map(|member| Some(member.place.as_ref()?.destination.part.as_path()))
            .collect();
        // Whose place nobody knows yet may be of these runs.
        let roots: HashSet<Option<String>> =
            unfinished().filter(|member| member.place.is_none()).map(Member::root).collect();
        // The program itself, if all that it did is written.
        let told: HashSet<Option<String>> =
            self.members.iter().filter(|member| member.told && member.is_root()).map(Member::root).collect();
        let has_ended = |part: &Path, target: &Target| {
            target.ends_alone
                && target.ranks > 0
                && !parts.contains(part)
                && !roots.contains(&target.root)
                && !target.goes_on(&told)
        };
        let ended = self.targets.iter().filter(|(part, target)| has_ended(part, target));
        let ended: Vec<PathBuf> = ended.map(|(part, _)| part.clone()).collect();
        for part in ended {
            if let Some(target) = self.targets.remove(&part) {
                self.control.writing(|| trace::end_run(&target));
            }
        }
    }
}
