//! Decisions are carried out.

use super::mover::Mover;
use super::record::Record;
use super::staging::Staging;
use crate::evictor::{Event, Order};
use crate::holders::Seen;
use crate::plan::{Action, Copy, Decision, Direction};
use crate::protocol::evict::Kept;
use std::path::Path;
use std::time::Instant;

/// More decisions than this at once are left for the next time.
const MAX_DECISIONS: usize = 10_000;

impl Staging {
    /// Ask what to do, and do it, until there is nothing.
    pub(super) fn decide(&mut self) {
        // Who has which file open is looked up once.
        let mut seen: Option<Seen> = None;
        for _ in 0..MAX_DECISIONS {
            let now = self.state.clock.now();
            let Some(decision) = self.planner.decide(now) else { break };
            self.act(now, decision, &mut seen);
        }
    }

    fn act(&mut self, now: f64, decision: Decision, seen: &mut Option<Seen>) {
        if let Action::Start(copy) = &decision.action
            && self.is_written(copy, seen)
        {
            let record = Record::new(&self.source, now, "held", &self.planner).about(copy);
            let version = format!("{} {:?}", copy.path.display(), copy.stamp);
            self.planner.is_held(now);
            // Once for each version: it is tried again and again.
            if self.state.complained.insert(version) {
                self.say(record);
            }
            return;
        }
        self.say(Record::decision(&self.source, &decision, &self.planner));
        match decision.action {
            Action::Start(copy) => self.mover.begin(copy, now),
            Action::Suspend => self.mover.suspend(now),
            Action::Resume => self.mover.resume(now),
            Action::Cancel => self.mover.cancel(),
            Action::Evict { path, kind, stamp, .. } => match &self.mover {
                Mover::Real { evictor, .. } => {
                    self.state.leaving.insert(path.clone(), stamp.size);
                    evictor.remove(Order { path, kind, stamp });
                }
                Mover::Pretended(_) => {
                    self.planner.evicted(&path);
                    self.state.pretended.insert(path);
                }
            },
        }
    }

    /// Does a process of this host have the file open for writing? After the end of the job that does not
    /// matter: a copy is verified anyway.
    fn is_written(&self, copy: &Copy, seen: &mut Option<Seen>) -> bool {
        let Some(stamp) = copy.stamp.filter(|_| copy.direction == Direction::Out) else { return false };
        if self.state.ended.is_some() {
            return false;
        }
        let seen = seen.get_or_insert_with(|| Seen::below(&self.folders.buffer));
        seen.is_written((stamp.device, stamp.inode))
    }

    /// What has become of files that were to be removed.
    pub(super) fn take_evictions(&mut self) {
        for event in self.mover.evictions() {
            // A look that began before this is out of date.
            self.state.last_change = Some(Instant::now());
            match event {
                Event::Restamped { path, before, after, others } => {
                    self.planner.restamped(&path, before, after, others);
                }
                Event::Removed(path) => {
                    self.planner.evicted(&path);
                    self.say_of("evicted", &path, None);
                }
                Event::Kept(path, why) => {
                    self.planner.kept(&path);
                    // Its content is another one, perhaps without another time: what was copied is out of
                    // date.
                    if matches!(why, Kept::CopyLost | Kept::Changed) {
                        self.planner.copy_lost(&path);
                    }
                    self.say_of("kept", &path, Some(why.to_string()));
                }
            }
        }
    }

    fn say_of(&mut self, event: &'static str, path: &Path, message: Option<String>) {
        let now = self.state.clock.now();
        let mut record = Record::new(&self.source, now, event, &self.planner);
        record.path = Some(path.display().to_string());
        record.bytes = self.state.leaving.remove(path);
        record.message = message;
        self.say(record);
    }
}
