//! One set: its jobs, one at a time.

use super::{JobId, Nanoseconds};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The place of jobs that have not waited too long.
const USUAL: u64 = u64::MAX;

/// Being served makes up for waiting this many times as long: a job that gets less than a tenth of the time
/// waits.
const MAKES_UP: u64 = 10;

/// The jobs of a set.
#[derive(Clone, Debug)]
pub struct Jobs<R> {
    /// What is waiting, by the place of its job and the job's id: the first one is served.
    waiting: BTreeMap<(u64, JobId), VecDeque<R>>,
    /// How long a job may wait.
    patience: Option<Nanoseconds>,
    /// What is known about jobs that wait or were served lately. Not used where patience is endless.
    known: BTreeMap<JobId, Known>,
    /// Jobs in their usual place that have something waiting, by since when they have waited.
    patient: BTreeSet<(Nanoseconds, JobId)>,
    /// Who was served last, and when.
    last: Option<(JobId, Nanoseconds)>,
    /// How many have been moved forward so far.
    moved: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// [`USUAL`], or before all of those: who was moved forward first comes first.
    place: u64,
    /// Since when it has waited, later by what being served has made up for.
    since: Nanoseconds,
    /// How long it has been served since it was moved forward, while others waited.
    held: Nanoseconds,
    /// When it last asked for something or was served.
    at: Nanoseconds,
}

impl<R> Jobs<R> {
    pub fn new(patience: Option<Nanoseconds>) -> Self {
        Jobs {
            waiting: BTreeMap::new(),
            patience,
            known: BTreeMap::new(),
            patient: BTreeSet::new(),
            last: None,
            moved: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn push(&mut self, job: JobId, request: R, now: Nanoseconds) {
        let place = match self.patience {
            Some(patience) => self.asks(job, now, patience),
            None => USUAL,
        };
        self.waiting.entry((place, job)).or_default().push_back(request);
    }

    /// The next request, and whose it is.
    pub fn pop(&mut self, now: Nanoseconds) -> Option<(JobId, R)> {
        if let Some(patience) = self.patience {
            self.count(now, patience);
            self.move_forward(now, patience);
        }
        let mut first = self.waiting.first_entry()?;
        let (_, job) = *first.key();
        let request = first.get_mut().pop_front()?;
        if first.get().is_empty() {
            first.remove();
            if let Some(known) = self.known.get(&job) {
                self.patient.remove(&(known.since, job));
            }
        }
        if let Some(known) = self.known.get_mut(&job) {
            known.at = now;
            self.last = Some((job, now));
        }
        Some((job, request))
    }

    /// A job asks for something: its place. Who has asked for nothing for long is as any other.
    fn asks(&mut self, job: JobId, now: Nanoseconds, patience: Nanoseconds) -> u64 {
        let new = Known { place: USUAL, since: now, held: 0, at: now };
        let known = self.known.entry(job).or_insert(new);
        let waits = self.waiting.contains_key(&(known.place, job));
        if !waits && now.saturating_sub(known.at) > patience {
            *known = new;
        }
        known.at = now;
        if !waits && known.place == USUAL {
            self.patient.insert((known.since, job));
        }
        known.place
    }

    /// The time since the last request was given to who was served last.
    fn count(&mut self, now: Nanoseconds, patience: Nanoseconds) {
        let Some((job, at)) = self.last.take() else { return };
        let Some(known) = self.known.get_mut(&job) else { return };
        let time = now.saturating_sub(at);
        let waits = self.waiting.contains_key(&(known.place, job));
        let others = self.waiting.len() > usize::from(waits);
        let place = known.place;
        if place == USUAL {
            self.patient.remove(&(known.since, job));
            known.since = now.min(known.since.saturating_add(MAKES_UP.saturating_mul(time)));
        } else if others {
            known.held += time;
            if known.held < patience {
                return;
            }
            // Its time is over.
            *known = Known { place: USUAL, since: now, held: 0, at: known.at };
            if let Some(requests) = self.waiting.remove(&(place, job)) {
                self.waiting.insert((USUAL, job), requests);
            }
        } else {
            return;
        }
        if waits {
            self.patient.insert((known.since, job));
        }
    }

    /// Who has waited too long comes before all that have not.
    fn move_forward(&mut self, now: Nanoseconds, patience: Nanoseconds) {
        while let Some(&(since, job)) = self.patient.first()
            && now.saturating_sub(since) >= patience
            && self.waiting.len() > 1
        {
            self.patient.pop_first();
            if let Some(known) = self.known.get_mut(&job) {
                (known.place, known.held) = (self.moved, 0);
            }
            if let Some(requests) = self.waiting.remove(&(USUAL, job)) {
                self.waiting.insert((self.moved, job), requests);
            }
            self.moved += 1;
        }
        // Jobs that are over need not be known.
        if self.known.len() > 64 + 2 * self.waiting.len() {
            let waiting = &self.waiting;
            self.known.retain(|job, known| {
                waiting.contains_key(&(known.place, *job)) || now.saturating_sub(known.at) <= patience
            });
        }
    }
}
