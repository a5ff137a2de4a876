//! Decisions are carried out.

use super::record::Record;
use super::staging::Staging;
use io_stage::copier::keep_name;
use io_stage::holders::{Held, held_below};
use io_stage::plan::{Action, Copy, Decision, Direction};
use io_stage::stamp::Stamp;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// More decisions than this at once are left for the next time.
const MOST: usize = 10_000;

impl Staging {
    /// Ask what to do, and do it, until there is nothing.
    pub fn decide(&mut self) -> anyhow::Result<()> {
        // Who has which file open is looked up once.
        let mut held: Option<Vec<Held>> = None;
        for _ in 0..MOST {
            let now = self.state.clock.now();
            let Some(decision) = self.planner.decide(now) else { break };
            self.act(now, decision, &mut held)?;
        }
        Ok(())
    }

    fn act(&mut self, now: f64, decision: Decision, held: &mut Option<Vec<Held>>) -> anyhow::Result<()> {
        if let Action::Start(copy) = &decision.action
            && self.is_written(copy, held)
        {
            let record = Record::new(&self.source.clone(), now, "held", &self.planner).about(copy);
            let version = format!("{} {:?}", copy.path.display(), copy.stamp);
            self.planner.is_held(now);
            // Once for each version: it is tried again and again.
            return if self.state.complained.insert(version) { self.say(record) } else { Ok(()) };
        }
        self.say(Record::decision(&self.source.clone(), &decision, &self.planner))?;
        match decision.action {
            Action::Start(copy) => self.mover.begin(copy, now),
            Action::Suspend => self.mover.suspend(now),
            Action::Resume => self.mover.resume(now),
            Action::Cancel => self.mover.cancel(),
            Action::Evict { path, stamp, .. } => self.evict(now, &path, stamp, held)?,
        }
        Ok(())
    }

    /// Does a process of this host have the file open for writing? After the end of the job that does not
    /// matter: a copy is verified anyway.
    fn is_written(&self, copy: &Copy, held: &mut Option<Vec<Held>>) -> bool {
        let Some(stamp) = copy.stamp.filter(|_| copy.direction == Direction::Out) else { return false };
        self.state.ended.is_none() && self.holds(held, stamp, true)
    }

    fn holds(&self, held: &mut Option<Vec<Held>>, stamp: Stamp, writing: bool) -> bool {
        let held = held.get_or_insert_with(|| held_below(&self.folders.buffer));
        let is = |held: &Held| (held.device, held.inode) == (stamp.device, stamp.inode);
        held.iter().any(|held| is(held) && (held.writable || !writing))
    }

    /// Remove a file from the buffer, if it still is what was copied and its copy what was verified.
    fn evict(
        &mut self,
        now: f64,
        path: &Path,
        stamp: Stamp,
        held: &mut Option<Vec<Held>>,
    ) -> anyhow::Result<()> {
        if self.is_dry() {
            self.state.pretended.insert(path.to_owned());
            self.planner.evicted(path);
            return Ok(());
        }
        let (place, copy) = (self.folders.buffer.join(path), self.folders.storage.join(path));
        let version = |path: &Path| fs::symlink_metadata(path).ok().map(|meta| Stamp::of(&meta));
        let kept = if version(&place) != Some(stamp) {
            Some("it is not the file that was copied".to_owned())
        } else if version(&copy).is_none() || version(&copy) != self.state.copies.get(path).copied() {
            self.planner.copy_lost(path);
            Some("its copy is not what was verified any more".to_owned())
        } else if self.holds(held, stamp, false) {
            Some("a process has it open".to_owned())
        } else {
            keep_name(&copy).and_then(|()| fs::remove_file(&place)).err().map(|error| error.to_string())
        };
        let event = if kept.is_some() { "kept" } else { "evicted" };
        if kept.is_none() {
            self.state.last_change = Some(Instant::now());
            self.planner.evicted(path);
            if let Some(journal) = &self.journal {
                let mut journal = journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                journal.evicted(path)?;
            }
        }
        let mut record = Record::new(&self.source.clone(), now, event, &self.planner);
        record.path = Some(path.display().to_string());
        record.bytes = Some(stamp.size);
        record.message = kept;
        self.say(record)
    }
}
