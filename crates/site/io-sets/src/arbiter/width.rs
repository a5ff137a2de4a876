//! How many jobs at a time fill the file system.
//!
//! Exclusivity pays only where one job can fill the file system: where it cannot, one at a time is worse than
//! no scheduling. So it is measured, and until it has been measured everybody goes.
//!
//! What the file system takes is the most that all jobs together have got; what a job can use is what it got
//! while it was alone. Jobs are admitted until they can fill it. Three trials find that out:
//!
//! - *all*: twice as many want to as were ever seen together: everybody goes for a moment, to see what the
//!   file system takes. If a few got no more than one alone gets, that is left to *more*;
//! - *one*: it is not known what a job can use, or several go at a time and others wait: from time to time
//!   one goes alone for a moment. What it got alone before may have been a bad moment of the file system;
//! - *more*: somebody waits: from time to time, and less and less often if it does not help, a few more go
//!   for a moment. If more gets through, the file system takes more than was known.

use crate::arbiter::job::Usage;
use crate::arbiter::window::Window;

/// Over how many seconds the bandwidth of all jobs is a mean.
const WINDOW: f64 = 0.6;
/// Those who hold report every 250 ms.
const LAG: f64 = 0.3;
/// What was seen long ago counts less: per second in which somebody waits.
const CAPACITY_KEPT: f64 = 0.998;
/// Seconds between two trials of a kind, at first and at most.
const PAUSES: (f64, f64) = (5.0, 300.0);
/// Where one job alone reaches what all together got, more can hardly help: so much longer until it is tried.
const FILLED: (f64, f64) = (0.9, 30.0);
/// How long trials last: longer than the window where it has to show what all get.
const TRIAL_OF_ALL: f64 = 0.9;
const TRIAL_OF_ONE: f64 = 0.75;
const TRIAL_OF_MORE: f64 = 0.7;
/// More have helped if so much more got through.
const HELPED: f64 = 1.05;

/// Which share of the file system `holding` of `wanting` jobs must fill, so that no more need to go.
///
/// Jobs of one size, `k` at a time, which fill the share f: the n of them end after (n + k) / 2f on average.
/// With one more at a time, who fill all of it, after (n + k + 1) / 2. So k are enough from
/// f = (n + k) / (n + k + 1) on. One more is counted for those that come meanwhile: what is wasted while they
/// wait makes all of them late.
fn enough_of(holding: usize, wanting: usize) -> f64 {
    let both = (holding + wanting + 1) as f64;
    both / (both + 1.0)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Trial {
    All { wanting: usize },
    One { instead_of: usize },
    More { by: usize, before: f64 },
}

#[derive(Clone, Debug)]
pub(crate) struct Width {
    window: Window,
    /// The most that all jobs got together, bytes per second.
    capacity: f64,
    looked: f64,
    trial: Option<(Trial, f64)>,
    /// What a job can use: a quarter of those of which it is known can use more.
    typical: Option<f64>,
    /// How many were seen together.
    together: usize,
    /// When to try one alone again, and when to try more again; and how long after that.
    next_one: (f64, f64),
    next_more: (f64, f64),
    step: usize,
}

impl Width {
    pub(crate) fn new() -> Self {
        Width {
            window: Window::new(WINDOW, LAG),
            capacity: 0.0,
            looked: 0.0,
            trial: None,
            typical: None,
            together: 1,
            next_one: (0.0, PAUSES.0),
            next_more: (0.0, PAUSES.0),
            step: 1,
        }
    }

    /// Bytes were transferred.
    pub(crate) fn served(&mut self, from: f64, to: f64, bytes: u64) {
        self.window.add(from, to, bytes);
    }

    /// Bytes per second that all jobs get now.
    pub(crate) fn bandwidth(&mut self, now: f64) -> f64 {
        self.window.rate(now)
    }

    /// What the file system has been seen to take, bytes per second.
    pub(crate) fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Looks at what gets through. `wanting` jobs want to or are at it, `holding` may, `rates` is what jobs
    /// can use. Tells whether another number may go from now on.
    pub(crate) fn look(
        &mut self,
        now: f64,
        wanting: usize,
        holding: usize,
        rates: impl Iterator<Item = f64>,
    ) -> bool {
        let waiting = wanting > holding;
        let elapsed = if waiting { (now - self.looked).max(0.0) } else { 0.0 };
        self.looked = now;
        self.capacity = (self.capacity * CAPACITY_KEPT.powf(elapsed)).max(self.window.rate(now));
        let mut rates: Vec<f64> = rates.collect();
        rates.sort_by(f64::total_cmp);
        self.typical = rates.get(3 * rates.len() / 4).copied().or(self.typical);
        let over = self.trial.filter(|(_, until)| now >= *until || wanting < 2);
        if let Some((trial, _)) = over {
            self.trial = None;
            self.end(trial, now, wanting);
        }
        if self.trial.is_none() && wanting >= 2 {
            self.begin(now, wanting, holding);
        }
        over.is_some() || self.trial.is_some()
    }

    fn begin(&mut self, now: f64, wanting: usize, holding: usize) {
        let waiting = wanting > holding;
        let more = Trial::More { by: self.step, before: self.capacity };
        let filled = self.typical.is_some_and(|typical| typical >= FILLED.0 * self.capacity);
        let patient = if filled { FILLED.1 } else { 0.0 };
        let alone_next = (self.typical.is_none() || waiting && holding > 1) && now >= self.next_one.0;
        // Some were seen together, and what one can use is not known, or is as much as they got.
        let few_are_enough = self.together > 1 && (filled || self.typical.is_none() && alone_next);
        self.trial = match () {
            _ if wanting >= 2 * self.together && !few_are_enough => {
                Some((Trial::All { wanting }, now + TRIAL_OF_ALL))
            }
            _ if alone_next => Some((Trial::One { instead_of: holding }, now + TRIAL_OF_ONE)),
            _ if waiting && now >= self.next_more.0 + patient => Some((more, now + TRIAL_OF_MORE)),
            _ => None,
        };
    }

    fn end(&mut self, trial: Trial, now: f64, wanting: usize) {
        match trial {
            Trial::All { wanting: then } => {
                self.together = self.together.max(then.min(wanting.max(1)));
                self.next_more = (now + PAUSES.0, PAUSES.0);
            }
            Trial::One { instead_of } => {
                // The more had to wait for it, the less often, and the less likely is it that one is enough.
                let cost = (instead_of * instead_of.saturating_sub(1)).max(1) as f64;
                self.next_one.0 = now + (cost * self.next_one.1).min(PAUSES.1);
                self.next_one.1 = (2.0 * self.next_one.1).min(PAUSES.1);
            }
            Trial::More { by, before } if self.capacity > HELPED * before => {
                self.step = (2 * by).min(1024);
                self.next_more = (now, PAUSES.0);
            }
            Trial::More { .. } => {
                self.step = 1;
                self.next_more = (now + self.next_more.1, (2.0 * self.next_more.1).min(PAUSES.1));
            }
        }
    }

    /// How many of these jobs, which can use so many bytes per second each (`None`: not known), may go.
    pub(crate) fn admit(&self, usages: &[Option<Usage>]) -> usize {
        // Until something is known, everybody goes. A job that is not known is as others are.
        let enough = self.typical.map_or(usages.len(), |typical| {
            let mut sum = 0.0;
            let mut fills = |place: usize| {
                sum += usages[place].unwrap_or_default().beside(typical);
                sum >= enough_of(place + 1, usages.len()) * self.capacity
            };
            (0..usages.len()).find(|place| fills(*place)).map_or(usages.len(), |place| place + 1)
        });
        let number = match self.trial {
            Some((Trial::All { .. }, _)) => usages.len(),
            Some((Trial::One { .. }, _)) => 1,
            Some((Trial::More { by, .. }, _)) => enough + by,
            None => enough,
        };
        number.min(usages.len()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_to_fill_what_is_known() {
        let mut width = Width::new();
        assert_eq!(width.admit(&[None, None]), 2, "nothing is known: everybody goes");
        width.served(0.0, 1.0, 400);
        width.look(1.3, 1, 1, [100.0, 100.0].into_iter());
        assert_eq!(width.capacity(), 400.0);
        let known = |most: f64| Some(Usage { most, seconds: 10.0 });
        let hardly = |most: f64| Some(Usage { most, seconds: 0.5 });
        assert_eq!(width.admit(&[known(400.0); 5]), 1);
        assert_eq!(width.admit(&[known(100.0); 9]), 4);
        assert_eq!(width.admit(&[known(340.0); 2]), 1, "both end earlier in turn");
        assert_eq!(width.admit(&[known(340.0); 9]), 2, "nine would lose 15 % each time");
        assert_eq!(width.admit(&[known(280.0); 2]), 2);
        assert_eq!(width.admit(&[None, known(100.0), known(100.0)]), 3, "as the others are");
        assert_eq!(width.admit(&[known(1.0); 3]), 3, "everybody passes");
        assert_eq!(width.admit(&[hardly(1.0); 9]), 4, "it may have been a bad moment");
    }

    /// How many were tried at once, where two and then eight want to and get 400 in all; alone, one gets
    /// `rate`.
    fn tried_at_once(rate: f64) -> Vec<usize> {
        let (mut width, mut tried, mut alone) = (Width::new(), Vec::new(), false);
        for tick in 0..120 {
            let (now, wanting) = (f64::from(tick) * 0.1, if tick < 30 { 2 } else { 8 });
            width.served(now - 0.1, now, 40);
            width.look(now, wanting, 2, alone.then_some(rate).into_iter());
            match width.trial {
                Some((Trial::All { wanting }, _)) if tried.last() != Some(&wanting) => tried.push(wanting),
                Some((Trial::One { .. }, _)) => alone = true,
                _ => {}
            }
        }
        tried
    }

    #[test]
    fn where_two_get_no_more_than_one_more_are_not_tried_at_once() {
        assert_eq!(tried_at_once(400.0), [2]);
        assert_eq!(tried_at_once(100.0), [2, 8]);
    }

    #[test]
    fn trials_become_rare_where_they_do_not_help() {
        let mut width = Width::new();
        let (mut trials, mut was) = (Vec::new(), None);
        for tick in 0..4000 {
            let now = f64::from(tick) * 0.25;
            width.served(now - 0.25, now, 100);
            width.look(now, 3, 1, [400.0].into_iter());
            if width.trial.is_some() && was.is_none() {
                trials.push(now);
            }
            was = width.trial;
        }
        assert!((5..=12).contains(&trials.len()), "{trials:?}");
        assert!(trials.windows(3).skip(1).all(|t| t[2] - t[1] > t[1] - t[0] - 0.5), "{trials:?}");
    }
}
