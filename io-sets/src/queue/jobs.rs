//! One set: its jobs, one at a time.

use super::{JobId, Nanoseconds};
use std::collections::{BTreeMap, VecDeque};

/// The jobs of a set.
#[derive(Clone, Debug)]
pub struct Jobs<R> {
    /// What is waiting, by how many turns a job has had and by its id: the first one is served.
    waiting: BTreeMap<(u64, JobId), VecDeque<R>>,
    /// Jobs that were served lately.
    served: BTreeMap<JobId, Served>,
    /// Who was served last, when, and whether others were waiting then.
    last: Option<(JobId, Nanoseconds, bool)>,
    /// How long a turn is.
    turn: Option<Nanoseconds>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Served {
    /// Turns it has had.
    turns: u64,
    /// How long it has been served in this turn while others waited.
    held: Nanoseconds,
    /// When it was served last.
    at: Nanoseconds,
}

impl<R> Jobs<R> {
    pub fn new(turn: Option<Nanoseconds>) -> Self {
        Jobs { waiting: BTreeMap::new(), served: BTreeMap::new(), last: None, turn }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn push(&mut self, job: JobId, request: R, now: Nanoseconds) {
        let turns = self.turns(job, now);
        self.waiting.entry((turns, job)).or_default().push_back(request);
    }

    /// The next request, and whose it is.
    pub fn pop(&mut self, now: Nanoseconds) -> Option<(JobId, R)> {
        self.count(now);
        let mut first = self.waiting.first_entry()?;
        let (_, job) = *first.key();
        let request = first.get_mut().pop_front()?;
        if first.get().is_empty() {
            first.remove();
        }
        if self.turn.is_some() {
            self.served.entry(job).or_default().at = now;
            let others = self.waiting.range(..).any(|((_, other), _)| *other != job);
            self.last = Some((job, now, others));
        }
        Some((job, request))
    }

    /// Count the time since the last request against who was served; at the end of its turn it goes to the end of the line.
    fn count(&mut self, now: Nanoseconds) {
        let (Some(turn), Some((job, since, true))) = (self.turn, self.last) else { return };
        let Some(served) = self.served.get_mut(&job) else { return };
        served.held += now.saturating_sub(since);
        if served.held >= turn {
            let before = served.turns;
            *served = Served { turns: before + 1, held: 0, at: now };
            if let Some(requests) = self.waiting.remove(&(before, job)) {
                self.waiting.insert((before + 1, job), requests);
            }
        }
    }

    /// How many turns a job with a new request has had. Who has not been served for a whole turn begins with those that
    /// have had fewest.
    fn turns(&mut self, job: JobId, now: Nanoseconds) -> u64 {
        let Some(turn) = self.turn else { return 0 };
        if let Some(served) = self.served.get(&job) {
            let lately = now.saturating_sub(served.at) <= turn;
            if lately || self.waiting.contains_key(&(served.turns, job)) {
                return served.turns;
            }
        }
        let fewest = self.waiting.first_key_value().map(|((turns, _), _)| *turns);
        let turns = fewest.unwrap_or_else(|| {
            // Nobody is waiting: forget those of long ago.
            self.served.retain(|_, served| now.saturating_sub(served.at) <= turn);
            self.served.values().map(|served| served.turns).min().unwrap_or(0)
        });
        self.served.insert(job, Served { turns, held: 0, at: now });
        turns
    }
}
