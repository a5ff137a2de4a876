//! A spool that the helper empties, and where its records belong.

use super::source::Source;
use super::{ASK, FULL, PATIENCE};
use crate::place::destination::Destination;
use crate::process::surroundings::Surroundings;
use std::time::Instant;
use tmio_spool::layout;
use tmio_trace::RankInfo;

/// A spool and what becomes of it.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) source: Source,
    /// `None`: nobody knows yet where its records belong.
    pub(super) place: Option<Place>,
    pub(super) is_rank: bool,
    pub(super) alive: bool,
    pub(super) asked: Instant,
    /// Since when the process is known to be gone.
    pub(super) gone_since: Option<Instant>,
    /// The process has been told that everything is written.
    pub(super) told: bool,
    /// Nothing more is done for it.
    pub(super) forgotten: bool,
}

/// Where the records of a member belong.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) destination: Destination,
    pub(super) greeting: Vec<u8>,
    pub(super) info: RankInfo,
    pub(super) greeted: bool,
    pub(super) ends_alone: bool,
}

impl Member {
    pub(super) fn new(source: Source) -> Self {
        let is_rank = source.memory.word(layout::FLAGS) & layout::FLAG_RANK != 0;
        Self {
            source,
            place: None,
            is_rank,
            alive: true,
            asked: Instant::now() - ASK,
            gone_since: None,
            told: false,
            forgotten: false,
        }
    }

    /// The program that it is, or a fork child of: these are one run where there is no job.
    pub(super) fn root(&self) -> Option<String> {
        Surroundings::told(self.source.text(), self.source.pid).text("root")
    }

    /// Whether it is that program itself.
    pub(super) fn is_root(&self) -> bool {
        self.root().is_some_and(|root| root.starts_with(&format!("{:x}:", self.source.pid)))
    }

    /// It is to be told last: all that others have left is to be written before.
    pub(super) fn is_last(&self) -> bool {
        self.source.memory.word(layout::FLAGS) & layout::FLAG_LAST != 0
    }

    /// Has [`Self::ask`] ask at once.
    pub(super) fn doubt(&mut self) {
        self.asked = Instant::now() - ASK;
    }

    /// Asks whether the process is still there, not too often.
    pub(super) fn ask(&mut self) {
        if !self.alive || self.asked.elapsed() < ASK {
            return;
        }
        self.asked = Instant::now();
        let state = self.source.memory.word(layout::STATE);
        let is_another = matches!(state, layout::BECOMING | layout::WRITTEN) && !self.source.is_mapped();
        self.alive = self.source.is_alive() && !is_another && state != layout::LEFT;
        if !self.alive {
            self.gone_since = Some(Instant::now());
        }
        self.is_rank = self.source.memory.word(layout::FLAGS) & layout::FLAG_RANK != 0;
    }

    /// Whether it has enough for a block, or will have no more.
    pub(super) fn is_full(&self) -> bool {
        !self.alive || self.source.waiting().1 >= FULL
    }

    /// Whether the helper stays although somebody may wait for its end.
    pub(super) fn keeps_the_helper(&self) -> bool {
        self.is_waited_for() || self.needs_this_one()
    }

    /// Whether somebody waits for something to be done for it, or it is to be done soon.
    fn is_waited_for(&self) -> bool {
        let word = |index| self.source.memory.word(index);
        let state = word(layout::STATE);
        let ends = matches!(state, layout::ENDED | layout::BECOMING | layout::FINALIZING | layout::WRITTEN);
        !self.alive || self.is_rank || ends || word(layout::FLUSHES) != word(layout::FLUSHED)
    }

    pub(super) fn is_refused(&self) -> bool {
        self.source.memory.word(layout::STATE) == layout::REFUSED
    }

    /// Whether it needs this helper, as it cannot start another one. Whoever waits for all orphans, and so
    /// for the helper, waits for this process as well, unless it is the same.
    fn needs_this_one(&self) -> bool {
        let cannot_start = self.source.memory.word(layout::FLAGS) & layout::FLAG_ELSEWHERE != 0;
        self.alive && cannot_start && self.source.pid != std::os::unix::process::parent_id()
    }

    /// Its process did not want it any more; it may not have been able to take it away.
    pub(super) fn remove_if_refused(&self) {
        if self.is_refused() && !self.alive {
            let _ = std::fs::remove_file(&self.source.path);
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        self.forgotten || (self.is_refused() && (self.told || !self.alive))
    }

    /// What a dead process has left is not tried for ever; nor is what somebody has taken away. Where no
    /// trace can ever be, nobody needs the records.
    pub(super) fn give_up(&mut self, never_works: bool) {
        if never_works && !self.alive {
            let _ = std::fs::remove_file(&self.source.path);
            self.forgotten = true;
        }
        let long_gone = self.gone_since.is_some_and(|since| since.elapsed() > PATIENCE);
        self.forgotten |= !self.alive && (long_gone || !self.source.path.exists());
    }
}
