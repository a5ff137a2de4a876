//! Who copies and removes: the copier and the evictor, or, where nothing is really done, nobody.

use crate::copier::{Copier, Done};
use crate::evictor::{Event, Evictor};
use crate::plan::{Copy, Outcome};

/// Copies and removes, or pretends to.
#[derive(Debug)]
pub enum Mover {
    /// Copies and removes.
    Real {
        /// One copy at a time.
        copier: Copier,
        /// Removes what was copied.
        evictor: Evictor,
    },
    /// Only takes the time.
    Pretended(Pretended),
}

/// A copy that takes the time that it would take.
#[derive(Debug)]
pub struct Pretended {
    /// Bytes per second.
    rate: f64,
    copy: Option<Copy>,
    done: f64,
    /// Since when it goes on.
    since: Option<f64>,
    cancelled: bool,
}

impl Pretended {
    /// At so many bytes per second.
    pub fn new(rate: f64) -> Self {
        Pretended { rate, copy: None, done: 0.0, since: None, cancelled: false }
    }

    /// Bytes that are copied at a time.
    fn done(&self, now: f64) -> f64 {
        self.done + self.since.map_or(0.0, |since| (now - since).max(0.0) * self.rate)
    }

    /// When the copy will have ended, if nothing comes in between.
    fn ends(&self) -> Option<f64> {
        let (copy, since) = (self.copy.as_ref()?, self.since?);
        Some(since + (copy.bytes as f64 - self.done).max(0.0) / self.rate)
    }

    fn ended(&mut self, now: f64) -> Option<Outcome> {
        if self.cancelled && self.copy.is_some() {
            (self.copy, self.cancelled) = (None, false);
            return Some(Outcome::Cancelled);
        }
        let bytes = self.copy.as_ref()?.bytes;
        // What is left is less than a byte.
        if self.done(now) + 1.0 < bytes as f64 {
            return None;
        }
        let copy = self.copy.take()?;
        let stamp = copy.stamp.unwrap_or_default();
        let seconds = bytes as f64 / self.rate;
        Some(Outcome::Verified { stamp, copy: stamp, seconds, certain: true })
    }
}

impl Mover {
    pub(super) fn begin(&mut self, copy: Copy, now: f64) {
        match self {
            Mover::Real { copier, .. } => copier.begin(copy),
            Mover::Pretended(pretended) => {
                *pretended =
                    Pretended { copy: Some(copy), since: Some(now), ..Pretended::new(pretended.rate) };
            }
        }
    }

    pub(super) fn suspend(&mut self, now: f64) {
        match self {
            Mover::Real { copier, .. } => copier.suspend(),
            Mover::Pretended(pretended) => {
                pretended.done = pretended.done(now);
                pretended.since = None;
            }
        }
    }

    pub(super) fn resume(&mut self, now: f64) {
        match self {
            Mover::Real { copier, .. } => copier.resume(),
            Mover::Pretended(pretended) => pretended.since = Some(now),
        }
    }

    pub(super) fn cancel(&mut self) {
        match self {
            Mover::Real { copier, .. } => copier.cancel(),
            Mover::Pretended(pretended) => pretended.cancelled = true,
        }
    }

    /// How the copy has ended, once.
    pub(super) fn ended(&mut self, now: f64) -> Option<Done> {
        match self {
            Mover::Real { copier, .. } => copier.ended(),
            Mover::Pretended(pretended) => {
                pretended.ended(now).map(|outcome| Done { outcome, lost: Vec::new() })
            }
        }
    }

    /// What has become of files that were to be removed, since the last time.
    pub(super) fn evictions(&self) -> Vec<Event> {
        match self {
            Mover::Real { evictor, .. } => evictor.events().collect(),
            Mover::Pretended(_) => Vec::new(),
        }
    }

    /// Bytes of the copy under way that are copied.
    pub(super) fn progress(&self, now: f64) -> u64 {
        match self {
            Mover::Real { copier, .. } => copier.progress(),
            Mover::Pretended(pretended) => pretended.done(now) as u64,
        }
    }

    /// When it has to be asked again, if it does not call by itself.
    pub(super) fn ends(&self) -> Option<f64> {
        match self {
            Mover::Real { .. } => None,
            Mover::Pretended(pretended) => pretended.ends(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Direction, Kind};

    #[test]
    fn a_pretended_copy_takes_its_time() {
        let mut mover = Mover::Pretended(Pretended::new(10.0));
        let copy = Copy {
            direction: Direction::Out,
            path: "a".into(),
            stamp: None,
            kind: Kind::File,
            bytes: 100,
            phase: 1,
            same_as: None,
        };
        mover.begin(copy.clone(), 5.0);
        assert_eq!((mover.ends(), mover.progress(7.0)), (Some(15.0), 20));
        mover.suspend(8.0);
        assert!(mover.ended(100.0).is_none());
        assert_eq!((mover.ends(), mover.progress(100.0)), (None, 30));
        mover.resume(100.0);
        assert!(mover.ends() == Some(107.0) && mover.ended(106.0).is_none());
        assert!(matches!(mover.ended(107.0).unwrap().outcome, Outcome::Verified { .. }));
        assert!(mover.ended(200.0).is_none());
        mover.begin(copy, 0.0);
        mover.cancel();
        assert_eq!(mover.ended(1.0).unwrap().outcome, Outcome::Cancelled);
    }
}
