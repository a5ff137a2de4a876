//! Which file is next: to leave the buffer, to come in, to be removed.

use super::decision::{Action, Copy, Decision, Direction};
use super::files::{Entry, Kind, Known};
use super::needs::Need;
use super::planner::{Needed, Planner};
use super::window::{self, Permission, Reason};
use std::path::{Path, PathBuf};

impl Planner {
    /// Seconds that a file takes; 0 as long as no speed is known.
    pub(super) fn duration(&self, bytes: u64) -> f64 {
        let speed = match (self.settings.rate, self.speed) {
            (Some(rate), Some(speed)) => Some(rate.min(speed)),
            (rate, speed) => rate.or(speed),
        };
        speed.map_or(0.0, |speed| bytes as f64 / speed)
    }

    pub(super) fn candidates(&self, now: f64) -> impl Iterator<Item = &Known> {
        let guard = self.guard();
        let may_leave = move |known: &&Known| {
            self.files.is_candidate(known, now, self.ended, &self.settings, &self.phases, guard)
        };
        self.files.iter().filter(may_leave)
    }

    /// There was no room, and nothing has changed since.
    pub(super) fn is_full(&self) -> bool {
        self.full.is_some_and(|(phases, ended)| phases >= self.phases.count() && ended == self.ended)
    }

    pub(super) fn next_out(&self, now: f64, permission: Permission) -> Option<(Copy, Permission, Reason)> {
        let end = permission.end()?;
        if self.is_full() {
            return None;
        }
        let guard = self.guard();
        let usual = window::usual_length(&self.settings, &self.phases, &self.forecast);
        let phase = |known: &Known| self.phases.number_at(known.entry.written, guard);
        let rank = |known: &Known| (phase(known), known.entry.stamp.size);
        let mut best: Option<(bool, usize, u64, &Known)> = None;
        for known in self.candidates(now) {
            let seconds = self.duration(known.entry.stamp.size);
            let fits = now + seconds <= end;
            // In no quiet would it fit: it has to be spread over several.
            let never_fits = usual.is_some_and(|usual| seconds > usual);
            if !fits && !never_fits {
                continue;
            }
            let (phase, size) = rank(known);
            let order = (!fits, phase, size);
            if best.is_none_or(|(later, phase, size, _)| order < (later, phase, size)) {
                best = Some((order.0, order.1, order.2, known));
            }
        }
        let (_, phase, _, known) = best?;
        let copy = Copy {
            direction: Direction::Out,
            path: known.entry.path.clone(),
            stamp: Some(known.entry.stamp),
            kind: known.entry.kind,
            bytes: known.entry.stamp.size,
            phase,
            same_as: self.other_name(known),
        };
        Some((copy, permission, permission.reason()))
    }

    /// Another name of the same file, of which there is a verified copy.
    fn other_name(&self, known: &Known) -> Option<PathBuf> {
        let same = |other: &&Known| other.entry.stamp == known.entry.stamp && other.is_staged();
        if known.entry.names < 2 && self.files.gone_name(known.entry.stamp).is_none() {
            return None;
        }
        let there = self.files.iter().find(same).map(|other| other.entry.path.clone());
        there.or_else(|| self.files.gone_name(known.entry.stamp).cloned())
    }

    pub(super) fn next_in(&self, now: f64, permission: Permission) -> Option<(Copy, Permission, Reason)> {
        let end = permission.end()?;
        let next = self.phases.count() + 1;
        let room = |bytes: u64| {
            let limit = self.capacity.map(|capacity| self.settings.high * capacity as f64);
            limit.is_none_or(|limit| (self.used.saturating_add(bytes)) as f64 <= limit)
        };
        let wanted = self.needs.iter().filter(|Needed { need, failed_for }| {
            need.phase.is_none_or(|phase| phase == next)
                && *failed_for < next
                && self.files.get(&need.path).is_none()
                && room(need.bytes)
                && now + self.duration(need.bytes) <= end
        });
        let need = &wanted.min_by_key(|needed| needed.need.bytes)?.need;
        let copy = Copy {
            direction: Direction::In,
            path: need.path.clone(),
            stamp: None,
            kind: Kind::File,
            bytes: need.bytes,
            phase: next,
            same_as: None,
        };
        Some((copy, permission, Reason::Needed))
    }

    /// The oldest file that may be removed, if the buffer has to be relieved.
    pub(super) fn evict(&mut self, now: f64) -> Option<Decision> {
        if !self.settings.evict || !self.relieving {
            return None;
        }
        let next = self.phases.count() + 1;
        let is_needed = |path: &Path| {
            let by = |need: &Need| need.path == path && need.phase.is_none_or(|phase| phase == next);
            self.needs.iter().any(|needed| by(&needed.need))
        };
        let removable = |known: &&Known| {
            let copied = self.copy.as_ref().is_some_and(|running| running.copy.path == known.entry.path);
            let in_vain = known.kept >= self.settings.attempts;
            !copied && !in_vain && self.files.is_removable(known, now) && !is_needed(&known.entry.path)
        };
        let files = self.files.iter().filter(removable);
        let oldest = files.min_by(|a, b| a.entry.written.total_cmp(&b.entry.written))?;
        let Entry { path, kind, stamp, room: bytes, .. } = oldest.entry.clone();
        // Asked for once: if it cannot be removed, the next one has its turn.
        let guard = self.guard();
        if let Some(known) = self.files.get_mut(&path) {
            known.not_before = now + guard;
            known.leaving = true;
            self.leaving = self.leaving.saturating_add(known.room());
            self.relieve();
        }
        let permission = window::outwards(now, self.situation());
        Some(self.decision(now, Action::Evict { path, kind, stamp, bytes }, Reason::AboveMark, permission))
    }
}
