//! What is known about one job.

use crate::arbiter::bursts::Bursts;
use crate::arbiter::settings::{PATIENCE, PATIENCE_AT_FIRST, SHORT, Settings, TURN};
use crate::arbiter::window::Window;
use crate::rules::{DEFAULT, Priority, Set};
use std::collections::{BTreeMap, BTreeSet};

/// The number of a connection.
pub type NodeId = u64;

/// The jobs that take turns: a priority, and the order of magnitude of their periods. Two numbers, because
/// what is only guessed must not raise a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SetKey {
    pub(crate) priority: Priority,
    pub(crate) magnitude: i32,
}

impl SetKey {
    pub(crate) fn weight(self) -> f64 {
        self.priority.value()
    }
}

/// An I/O phase that is not over.
#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub(crate) start: f64,
    pub(crate) bytes: u64,
    /// Seconds with a lease.
    pub(crate) held: f64,
    /// Seconds with a lease since its last turn ended, and how many turns have.
    pub(crate) turn: f64,
    pub(crate) turns: u32,
    /// Seconds of waiting that are over.
    pub(crate) waited: f64,
    pub(crate) revocations: u32,
    /// It has waited for too long: it goes in any case.
    pub(crate) passes: bool,
    /// It is expected to be too short to wait, and has not been longer yet.
    pub(crate) short: bool,
}

impl Phase {
    /// It needs no lease of its own.
    pub(crate) fn goes_anyway(&self) -> bool {
        self.passes || self.short
    }

    /// So many more seconds with a lease. Tells whether that made it longer than a short one may be: from
    /// then on it takes turns as others do.
    pub(crate) fn hold(&mut self, seconds: f64) -> bool {
        self.held += seconds;
        self.turn += seconds;
        self.short && {
            self.short = self.held <= TURN;
            !self.short
        }
    }
}

/// Over how many seconds without anybody else what a job gets is a mean.
const USAGE_WINDOW: f64 = 0.2;
/// What was seen long ago counts less: per second without anybody else.
const USAGE_KEPT: f64 = 0.9;
/// After how many seconds without anybody else it is known what a job can use.
const SURE: f64 = 2.0;

/// What a job can use: the most that it has got for a moment while nobody else had a lease. The bandwidth of
/// a file system varies. What all jobs together can get is the most they ever got, and so a job must have
/// had its chance to get the most that it can.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    /// Bytes per second.
    pub(crate) most: f64,
    /// Seconds without anybody else.
    pub(crate) seconds: f64,
}

impl Usage {
    /// As long as little is known of it, it is at least as other jobs are.
    pub(crate) fn beside(self, typical: f64) -> f64 {
        if self.seconds >= SURE { self.most } else { self.most.max(typical) }
    }
}

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) run: u64,
    pub(crate) user: Option<u32>,
    /// When `MPI_Init` returned.
    began: f64,
    pub(crate) nodes: BTreeSet<NodeId>,
    pub(crate) ranks: u64,
    /// How many of its nodes want to do I/O or are at it.
    pub(crate) wanting: usize,
    pub(crate) holds: bool,
    pub(crate) slice_end: f64,
    pub(crate) waiting_since: Option<f64>,
    pub(crate) phase: Option<Phase>,
    pub(crate) phases: u64,
    pub(crate) bursts: Bursts,
    /// What it gets without anybody else, bytes per second.
    pub(crate) rate: Option<f64>,
    /// Bytes and seconds without anybody else.
    alone: (f64, f64),
    /// The same, at most: what it can use.
    pub(crate) usage: Option<Usage>,
    /// Bytes and seconds of the moment that is being looked at.
    moment: (f64, f64),
    pub(crate) window: Window,
    /// Said by somebody who knows.
    pub(crate) told: Option<Priority>,
    pub(crate) bytes: u64,
    pub(crate) held: f64,
    pub(crate) waited: f64,
    pub(crate) revocations: u64,
    pub(crate) passes: u64,
    /// By file: the highest number of a collective call that a rank has entered.
    pub(crate) entered: BTreeMap<u32, u32>,
    /// What follows from all that, kept because the order needs it often.
    pub(crate) set: SetKey,
    pub(crate) typical_bytes: Option<f64>,
    /// The period, and when the last phase began.
    pub(crate) period: Option<(f64, f64)>,
    /// How long it may have to wait at a time.
    pub(crate) patience: f64,
}

impl Job {
    pub(crate) fn new(name: &str, run: u64, user: Option<u32>, began: f64, settings: &Settings) -> Self {
        let set = Set::of_period(1.0).map(Set::priority).unwrap_or_else(default);
        let mut job = Job {
            name: name.to_owned(),
            run,
            user,
            began,
            nodes: BTreeSet::new(),
            ranks: 0,
            wanting: 0,
            holds: false,
            slice_end: 0.0,
            waiting_since: None,
            phase: None,
            phases: 0,
            bursts: Bursts::default(),
            rate: None,
            alone: (0.0, 0.0),
            usage: None,
            moment: (0.0, 0.0),
            window: Window::new(1.0, 0.0),
            told: None,
            bytes: 0,
            held: 0.0,
            waited: 0.0,
            revocations: 0,
            passes: 0,
            entered: BTreeMap::new(),
            set: SetKey { priority: set, magnitude: 0 },
            typical_bytes: None,
            period: None,
            patience: PATIENCE_AT_FIRST,
        };
        job.classify(began, settings);
        job
    }

    /// The job asks after it was idle.
    pub(crate) fn begin_burst(&mut self, now: f64, settings: &Settings) -> Option<Phase> {
        let first = self.bursts.begin(now) || self.phase.is_none();
        let over = if first { self.end_phase() } else { None };
        if self.phase.is_none() {
            self.phases += 1;
            self.phase = Some(Phase {
                start: now,
                bytes: 0,
                held: 0.0,
                turn: 0.0,
                turns: 0,
                waited: 0.0,
                revocations: 0,
                passes: false,
                short: self.is_short(),
            });
            self.classify(now, settings);
        }
        over
    }

    /// The phase is over.
    pub(crate) fn end_phase(&mut self) -> Option<Phase> {
        self.look();
        self.phase.take()
    }

    /// What it got in company may be more than what it was seen to use alone. If it is less, that says
    /// nothing.
    pub(crate) fn look(&mut self) {
        let phase = self.phase.as_ref().filter(|phase| phase.held > 0.3);
        let Some(got) = phase.map(|phase| phase.bytes as f64 / phase.held) else { return };
        self.rate = self.rate.map(|rate| rate.max(got));
        if let Some(usage) = &mut self.usage {
            usage.most = usage.most.max(got);
        }
    }

    /// It got these bytes while nobody else had a lease.
    pub(crate) fn got_alone(&mut self, bytes: f64, seconds: f64) {
        self.alone.0 += bytes;
        self.alone.1 += seconds;
        if self.alone.1 >= 0.2 {
            self.rate = Some(self.alone.0 / self.alone.1);
        }
        // What was long ago counts less and less.
        if self.alone.1 > 2.0 {
            self.alone = (self.alone.0 / 2.0, self.alone.1 / 2.0);
        }
        self.moment.0 += bytes;
        self.moment.1 += seconds;
        if self.moment.1 >= USAGE_WINDOW {
            let (got, length) = (self.moment.0 / self.moment.1, self.moment.1);
            let before = self.usage.unwrap_or_default();
            let most = got.max(before.most * USAGE_KEPT.powf(length));
            self.usage = Some(Usage { most, seconds: before.seconds + length });
            self.moment = (0.0, 0.0);
        }
    }

    /// Finds its set. Changes only when a phase begins, or when it is told.
    pub(crate) fn classify(&mut self, now: f64, settings: &Settings) {
        self.typical_bytes = self.bursts.typical_bytes();
        self.period = self.bursts.period();
        self.patience = settings.patience.unwrap_or_else(|| match self.period {
            Some((period, _)) => (2.0 * period).clamp(PATIENCE.0, PATIENCE.1),
            None => PATIENCE_AT_FIRST,
        });
        let scaled = |period: f64| Set::of_period(period * settings.time_scale);
        let of = |set: Set| SetKey { priority: set.priority(), magnitude: set.number() };
        let told = self.told.and_then(|priority| Set::of_priority(priority).map(of));
        let seen = self.period.and_then(|(period, _)| scaled(period)).map(of);
        // Its period is at least as long as it has been without I/O. If that is short, it says nothing.
        let guessed = || {
            let guess = scaled((now - self.began).max(1e-3)).map(of);
            guess.map(|guess| SetKey { priority: guess.priority.min(default()), ..guess })
        };
        if let Some(set) = told.or(seen).or_else(guessed) {
            self.set = set;
        }
    }

    /// A phase that has held for longer than a period of its set says that the set is wrong. It is in the one
    /// of its phase's length from then on, until the phase is over: nobody goes first for ever because of a
    /// period that was short once. What others have told of a job counts more. Tells whether that is so.
    pub(crate) fn outlasts(&mut self, settings: &Settings) -> bool {
        if self.told.is_some() {
            return false;
        }
        let held = self.phase.as_ref().map_or(0.0, |phase| phase.held);
        let Some(longer) = Set::of_period(held * settings.time_scale) else { return false };
        if longer.number() <= self.set.magnitude {
            return false;
        }
        let priority = longer.priority().min(self.set.priority);
        self.set = SetKey { priority, magnitude: longer.number() };
        true
    }

    /// Bytes that are left of its phase, as far as one can tell from earlier ones.
    pub(crate) fn rest(&self) -> Option<f64> {
        let typical = self.typical_bytes?;
        let done = self.phase.as_ref().map_or(0.0, |phase| phase.bytes as f64);
        Some((typical - done).max(0.02 * typical))
    }

    /// Its phases are so short that taking turns costs more than it gains. While one is under way, what it
    /// was expected to be counts, until it is longer.
    pub(crate) fn is_short(&self) -> bool {
        if let Some(phase) = &self.phase {
            return phase.short;
        }
        self.typical_bytes.zip(self.rate).is_some_and(|(bytes, rate)| bytes / rate < SHORT)
    }

    /// It does not wait any longer.
    pub(crate) fn stop_waiting(&mut self, now: f64) {
        if let Some(since) = self.waiting_since.take() {
            let waited = (now - since).max(0.0);
            self.waited += waited;
            if let Some(phase) = &mut self.phase {
                phase.waited += waited;
            }
        }
    }
}

/// The highest priority of a job of which no period is known.
fn default() -> Priority {
    Priority::from_stored(DEFAULT).unwrap_or_else(|| Priority::default_for("", |_| false))
}
