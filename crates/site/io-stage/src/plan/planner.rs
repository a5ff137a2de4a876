//! The state machine.

use super::decision::{Action, Copy, Decision, Direction, Outcome};
use super::files::{Entry, Files, Use};
use super::needs::Need;
use super::phases::{Phase, Phases};
use super::settings::Settings;
use super::tally::{Report, Tally};
use super::window::{self, Forecast, Permission, Reason, Situation};
use crate::stamp::Stamp;
use std::path::{Path, PathBuf};

/// How much the speed of the last copy counts for the next.
const LAST_COPY: f64 = 0.3;

/// A phase that was expected has not come: it is waited for.
#[derive(Clone, Copy, Debug)]
struct Late {
    expected: f64,
    until: f64,
}

/// Decides. See the [module](super).
#[derive(Clone, Debug, Default)]
pub struct Planner {
    pub(super) settings: Settings,
    pub(super) phases: Phases,
    pub(super) forecast: Forecast,
    pub(super) files: Files,
    pub(super) needs: Vec<Needed>,
    pub(super) copy: Option<Running>,
    pub(super) ended: bool,
    /// Something was heard of the job: before that, job time is not known.
    follows: bool,
    /// Bytes in the buffer, and how many fit.
    pub(super) used: u64,
    /// How many of them are about to be removed.
    pub(super) leaving: u64,
    pub(super) capacity: Option<u64>,
    /// Above the high mark, and not yet at the low one.
    pub(super) relieving: bool,
    /// A phase that was expected has not come.
    late: Option<Late>,
    /// Bytes per second that copies reached.
    pub(super) speed: Option<f64>,
    /// There was no room for copies after this many phases, and after the end or before.
    pub(super) full: Option<(usize, bool)>,
    pub(super) tally: Tally,
}

#[derive(Clone, Debug)]
pub(super) struct Needed {
    pub need: Need,
    /// It could not be brought for this phase.
    pub failed_for: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Running {
    pub copy: Copy,
    suspended: bool,
    /// Its file has changed or is gone.
    outdated: bool,
    cancelled: bool,
    /// It was begun when the job had ended.
    after_end: bool,
}

impl Planner {
    /// Nothing has happened yet.
    pub fn new(settings: Settings) -> Self {
        Planner { settings, ..Planner::default() }
    }

    /// The constants.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Files that were changed before this job time are not the job's.
    pub fn job_begins(&mut self, time: f64) {
        self.settings.not_before = Some(time);
    }

    /// Files that phases need.
    pub fn set_needs(&mut self, needs: Vec<Need>) {
        self.needs = needs.into_iter().map(|need| Needed { need, failed_for: 0 }).collect();
    }

    /// A copy of this version of a file was verified by an earlier process.
    /// `certain`: every write since then would be told by another version.
    pub fn verified_before(&mut self, path: PathBuf, stamp: Stamp, certain: bool) {
        self.files.verified_before(path, stamp, certain);
    }

    /// A request of the job, in seconds of job time.
    pub fn request(&mut self, start: f64, end: f64, bytes: u64) {
        let noise = self.forecast.bytes.map_or(0.0, |bytes| bytes as f64 * self.settings.noise);
        let guard = self.guard();
        self.phases.request(start, end, bytes, guard, noise);
    }

    /// Everything up to `until` is known, and this is expected.
    pub fn flush(&mut self, until: f64, now: f64, forecast: Forecast) {
        self.follows = true;
        self.phases.flush(until, now);
        self.late = self.lateness(&forecast);
        self.forecast = forecast;
    }

    /// If the phase that was expected has not come, and now the one after it is foretold: until when to wait
    /// for the first.
    fn lateness(&self, new: &Forecast) -> Option<Late> {
        let (period, expected) = (self.forecast.trusted(&self.settings)?, self.forecast.start?);
        let has_come = |expected: f64| {
            let last = self.phases.all().last();
            last.is_some_and(|last| last.start >= expected - period / 2.0)
        };
        if new.start.is_some_and(|next| next > expected + period / 2.0) {
            let latest = self.forecast.start_high.unwrap_or(expected).max(expected) + self.guard();
            return (!has_come(expected)).then_some(Late { expected, until: latest });
        }
        self.late.filter(|late| !has_come(late.expected))
    }

    /// What the job did with a file.
    pub fn used(&mut self, path: &Path, used: Use) {
        self.files.used(path, used);
    }

    /// What is in the buffer now. A file that grows is I/O of the job, whatever its trace has told so far.
    pub fn scanned(&mut self, entries: Vec<Entry>, now: f64) {
        let mut grown = Vec::new();
        self.files.scanned(entries, |time, bytes| grown.push((time, bytes)));
        for (time, bytes) in grown.into_iter().filter(|(_, bytes)| *bytes > 0) {
            let foreign = self.settings.not_before.is_some_and(|begin| time < begin);
            if !foreign && !self.ended && self.follows {
                self.request(time.min(now), time.min(now), bytes);
            }
        }
        if let Some(running) = self.copy.as_mut().filter(|running| running.copy.direction == Direction::Out) {
            let there = self.files.get(&running.copy.path).map(|known| known.entry.stamp);
            running.outdated = there != running.copy.stamp;
        }
    }

    /// How full the buffer is.
    pub fn occupancy(&mut self, used: u64, capacity: Option<u64>) {
        (self.used, self.capacity) = (used, capacity);
        self.tally.report.peak_occupancy = self.tally.report.peak_occupancy.max(used);
        self.relieve();
    }

    /// Has the buffer to be relieved, with what is about to be removed?
    pub(super) fn relieve(&mut self) {
        let used = self.used.saturating_sub(self.leaving) as f64;
        self.relieving = match self.capacity {
            Some(capacity) if used > self.settings.high * capacity as f64 => true,
            Some(capacity) => self.relieving && used > self.settings.low * capacity as f64,
            None => false,
        };
    }

    /// Another run of the job begins under the same name: its phases count from 1 again.
    pub fn job_restarted(&mut self) {
        (self.phases, self.forecast, self.ended) = (Phases::default(), Forecast::default(), false);
        self.late = None;
        self.follows = false;
        self.needs.iter_mut().for_each(|needed| needed.failed_for = 0);
        self.full = None;
    }

    /// The copy that was to begin does not: somebody has the file open. Not now, then.
    pub fn is_held(&mut self, now: f64) {
        let until = now + self.guard();
        let Some(running) = self.copy.take() else { return };
        self.tally.rests(now);
        if let Some(known) = self.files.get_mut(&running.copy.path) {
            known.not_before = until;
        }
    }

    /// The job is over: there will be no more phases.
    pub fn job_ended(&mut self, now: f64) {
        if !self.ended {
            self.files.doubt();
        }
        self.ended = true;
        self.tally.ended.get_or_insert(now);
    }

    /// A file was removed from the buffer.
    pub fn evicted(&mut self, path: &Path) {
        self.stays(path);
        if let Some(known) = self.files.remove(path) {
            self.tally.report.files_evicted += 1;
            self.tally.report.bytes_evicted += known.entry.stamp.size;
            self.files.gone(&known);
            self.occupancy(self.used.saturating_sub(known.room()), self.capacity);
        }
    }

    /// A file that was to be removed stays in the buffer.
    pub fn kept(&mut self, path: &Path) {
        self.stays(path);
        if let Some(known) = self.files.get_mut(path).filter(|_| self.ended) {
            known.kept += 1;
        }
        self.relieve();
    }

    fn stays(&mut self, path: &Path) {
        if let Some(known) = self.files.get_mut(path).filter(|known| known.leaving) {
            known.leaving = false;
            let room = known.room();
            self.leaving = self.leaving.saturating_sub(room);
        }
    }

    /// A file has another version with the same content; with `others`, all its names have.
    pub fn restamped(&mut self, path: &Path, before: Stamp, after: Stamp, others: bool) {
        self.files.restamped(path, before, after, others);
    }

    /// The copy of a file is not what was verified any more: it has to be copied again.
    pub fn copy_lost(&mut self, path: &Path) {
        if let Some(known) = self.files.get_mut(path) {
            known.staged = None;
        }
    }

    /// How the copy under way has ended.
    pub fn copied(&mut self, now: f64, outcome: &Outcome) -> Option<Copy> {
        let Running { copy, after_end, .. } = self.copy.take()?;
        self.tally.rests(now);
        let guard = self.guard();
        let phases = self.phases.count();
        match outcome {
            Outcome::Verified { stamp, copy: made, seconds, certain } => {
                self.tally.verified(&copy);
                if *seconds > 0.0 && copy.bytes > 0 && copy.same_as.is_none() {
                    let speed = copy.bytes as f64 / seconds;
                    let before = self.speed.unwrap_or(speed);
                    self.speed = Some(before + LAST_COPY * (speed - before));
                }
                match (copy.direction, self.files.get_mut(&copy.path)) {
                    (Direction::In, _) => self.has_arrived(&copy, *made, now, *certain),
                    (Direction::Out, Some(known)) => {
                        // Begun before the end of the job, it may be out of date by now.
                        let counts = *certain || after_end || !self.ended;
                        known.staged = counts.then_some((*stamp, now));
                        known.certain = *certain;
                    }
                    (Direction::Out, None) => {}
                }
            }
            Outcome::Confirmed => {
                if let (Some(known), Some(stamp)) = (self.files.get_mut(&copy.path), copy.stamp) {
                    known.staged = (after_end || !self.ended).then_some((stamp, now));
                }
            }
            Outcome::Changed | Outcome::Cancelled => {
                self.tally.report.discarded += 1;
                if let Some(known) = self.files.get_mut(&copy.path) {
                    known.not_before = now + guard;
                    // Somebody else goes on writing when the job has ended: not for ever.
                    known.failed.0 += u32::from(self.ended);
                }
                self.has_failed_to_come(&copy);
            }
            Outcome::Exists => {
                self.tally.report.discarded += 1;
                self.has_failed_to_come(&copy);
            }
            Outcome::Vanished => {
                self.tally.report.discarded += 1;
                if copy.direction == Direction::Out {
                    self.files.remove(&copy.path);
                }
                self.has_failed_to_come(&copy);
            }
            Outcome::Full => {
                self.tally.report.failed += 1;
                if copy.direction == Direction::Out {
                    self.full = Some((phases, self.ended));
                }
                self.has_failed_to_come(&copy);
            }
            Outcome::Failed(_) => {
                self.tally.report.failed += 1;
                if let Some(known) =
                    self.files.get_mut(&copy.path).filter(|_| copy.direction == Direction::Out)
                {
                    known.failed = (known.failed.0 + 1, phases);
                }
                self.has_failed_to_come(&copy);
            }
        }
        Some(copy)
    }

    fn has_arrived(&mut self, copy: &Copy, stamp: Stamp, now: f64, certain: bool) {
        let (path, kind, room) = (copy.path.clone(), copy.kind, stamp.size);
        self.files.arrived(Entry { path, stamp, kind, names: 1, room, written: now }, now, certain);
        self.occupancy(self.used.saturating_add(room), self.capacity);
    }

    fn has_failed_to_come(&mut self, copy: &Copy) {
        if copy.direction == Direction::In {
            let needed = self.needs.iter_mut().filter(|needed| needed.need.path == copy.path);
            needed.for_each(|needed| needed.failed_for = copy.phase);
        }
    }

    /// What to do next; `None`: nothing for now. Whatever is said counts as done, except that removing a file
    /// may fail and a copy ends when [`copied`](Self::copied) says so.
    pub fn decide(&mut self, now: f64) -> Option<Decision> {
        let outwards = window::outwards(now, self.situation());
        let inwards = window::inwards(now, self.situation());
        if self.copy.is_some() {
            return self.about_copy(now, outwards, inwards).or_else(|| self.evict(now));
        }
        if let Some(decision) = self.evict(now) {
            return Some(decision);
        }
        let next = self.next_in(now, inwards).or_else(|| self.next_out(now, outwards));
        let (copy, permission, reason) = next?;
        self.tally.runs(now);
        self.copy = Some(Running {
            copy: copy.clone(),
            suspended: false,
            outdated: false,
            cancelled: false,
            after_end: self.ended,
        });
        Some(self.decision(now, Action::Start(copy), reason, permission))
    }

    /// When to ask again if nothing else happens.
    pub fn look_again(&self, now: f64) -> Option<f64> {
        if self.ended {
            return None;
        }
        let situation = self.situation();
        let (outwards, inwards) =
            (window::outwards(now, situation).end(), window::inwards(now, situation).end());
        let ends = [outwards, inwards].into_iter().flatten().filter(|end| end.is_finite() && *end > now);
        let late = self.late.map(|late| late.until).filter(|until| *until > now);
        ends.chain(self.phases.look_again(now, self.guard())).chain(late).min_by(f64::total_cmp)
    }

    /// The job is over, and everything that can be done was done.
    pub fn is_finished(&self) -> bool {
        // Files that have to wait for a moment count as well.
        let waits = || self.candidates(f64::INFINITY).next().is_some();
        self.ended && self.copy.is_none() && self.leaving_none() && (self.is_full() || !waits())
    }

    /// Nothing is about to be removed.
    fn leaving_none(&self) -> bool {
        !self.files.iter().any(|known| known.leaving)
    }

    /// The numbers so far.
    pub fn report(&self, now: f64) -> Report {
        let mut report = self.tally.report(self.phases.all(), now);
        for known in self.files.iter().filter(|known| !known.is_staged()) {
            if known.is_older_than(self.settings.not_before) {
                report.files_older += 1;
                continue;
            }
            report.files_left += 1;
            report.bytes_left += known.entry.stamp.size;
        }
        report
    }

    /// The phases so far.
    pub fn phases(&self) -> &[Phase] {
        self.phases.all()
    }

    /// What is expected, as of the last flush.
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// Bytes in the buffer, and how many fit.
    pub fn buffer(&self) -> (u64, Option<u64>) {
        (self.used, self.capacity)
    }

    /// May files leave the buffer now?
    pub fn permission(&self, now: f64) -> Permission {
        window::outwards(now, self.situation())
    }

    /// The copy under way, and whether it rests: suspended, or given up.
    pub fn copying(&self) -> Option<(&Copy, bool)> {
        self.copy.as_ref().map(|running| (&running.copy, running.suspended || running.cancelled))
    }

    pub(super) fn situation(&self) -> Situation<'_> {
        Situation {
            settings: &self.settings,
            phases: &self.phases,
            forecast: &self.forecast,
            ended: self.ended,
            above_mark: self.relieving,
            late_until: self.late.map(|late| late.until),
        }
    }

    pub(super) fn guard(&self) -> f64 {
        self.settings.guard(self.forecast.trusted(&self.settings))
    }

    pub(super) fn decision(
        &self,
        time: f64,
        action: Action,
        reason: Reason,
        permission: Permission,
    ) -> Decision {
        let quiet_until = permission.end().filter(|end| end.is_finite());
        Decision { time, action, reason, quiet_until }
    }

    fn about_copy(&mut self, now: f64, outwards: Permission, inwards: Permission) -> Option<Decision> {
        let running = self.copy.as_ref()?;
        let permission = if running.copy.direction == Direction::Out { outwards } else { inwards };
        let allowed = permission.end().is_some();
        let fits = permission.end().is_some_and(|end| running.suspended && end > now);
        if running.cancelled {
            return None;
        }
        if running.outdated {
            self.copy.as_mut()?.cancelled = true;
            return Some(self.decision(now, Action::Cancel, permission.reason(), permission));
        }
        if !running.suspended && !allowed {
            self.copy.as_mut()?.suspended = true;
            self.tally.rests(now);
            self.tally.report.suspended += 1;
            return Some(self.decision(now, Action::Suspend, permission.reason(), permission));
        }
        if fits {
            self.copy.as_mut()?.suspended = false;
            self.tally.runs(now);
            return Some(self.decision(now, Action::Resume, permission.reason(), permission));
        }
        None
    }
}
