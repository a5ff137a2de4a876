//! Who is worked for: questions of one user wait for each other, and not for those of others.
//!
//! A user has two questions worked on at the same time, and one that costs much; those whom the site trusts
//! have more. Others of theirs wait. So the queue of all holds a few questions of each, and is short.

use crate::lock::locked;
use crate::share::{Full, Payer, Standing};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Questions that are worked on at the same time.
pub const WORKERS: usize = 8;
/// Questions that cost much, of all users, worked on at the same time.
const COSTLY: usize = WORKERS / 2;
/// Questions of one that may wait.
const MAX_WAITING_OF_USER: usize = 64;
/// If there are more lanes, those that nobody uses go.
const MAX_LANES: usize = 1024;

/// The questions of one.
#[derive(Debug)]
struct Lane {
    any: Arc<Semaphore>,
    costly: Arc<Semaphore>,
    /// Those that wait; of both kinds apart, so that one who asks much at high cost can still ask something
    /// else.
    waiting: [AtomicUsize; 2],
}

impl Lane {
    fn new(standing: Standing) -> Self {
        let (any, costly) = match standing {
            Standing::User => (2, 1),
            Standing::Trusted => (WORKERS, COSTLY - 1),
        };
        Lane {
            any: Arc::new(Semaphore::new(any)),
            costly: Arc::new(Semaphore::new(costly)),
            waiting: Default::default(),
        }
    }
}

/// All lanes.
#[derive(Debug)]
pub struct Workers {
    lanes: Mutex<HashMap<Payer, Arc<Lane>>>,
    costly: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        Workers { lanes: Mutex::default(), costly: Arc::new(Semaphore::new(COSTLY)) }
    }
}

/// A question may be worked on as long as this is there.
#[derive(Debug)]
pub struct Turn {
    /// It stays as long as somebody has a turn of it.
    _lane: Arc<Lane>,
    _permits: Vec<OwnedSemaphorePermit>,
}

/// One that waits, until it does not.
struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Workers {
    /// Wait until it is the turn of a question.
    pub async fn turn(&self, payer: &Payer, standing: Standing, costly: bool) -> Result<Turn, Full> {
        let lane = self.lane(payer, standing);
        let waiting = &lane.waiting[usize::from(costly)];
        let own = waiting.fetch_add(1, Relaxed);
        let waits = Waits(waiting);
        if own >= MAX_WAITING_OF_USER {
            return Err(Full { what: "questions that wait", own, allowed: MAX_WAITING_OF_USER });
        }
        let mut permits = Vec::with_capacity(3);
        if costly {
            permits.extend(Arc::clone(&lane.costly).acquire_owned().await.ok());
        }
        permits.extend(Arc::clone(&lane.any).acquire_owned().await.ok());
        if costly {
            permits.extend(Arc::clone(&self.costly).acquire_owned().await.ok());
        }
        drop(waits);
        Ok(Turn { _lane: lane, _permits: permits })
    }

    fn lane(&self, payer: &Payer, standing: Standing) -> Arc<Lane> {
        let mut lanes = locked(&self.lanes);
        if lanes.len() >= MAX_LANES {
            lanes.retain(|_, lane| Arc::strong_count(lane) > 1);
        }
        Arc::clone(lanes.entry(payer.clone()).or_insert_with(|| Arc::new(Lane::new(standing))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Whether there is a turn at once.
    async fn at_once(workers: &Workers, uid: u32, costly: bool) -> Option<Turn> {
        let payer = Payer::User(uid);
        let turn = workers.turn(&payer, Standing::User, costly);
        tokio::time::timeout(Duration::from_millis(20), turn).await.ok().and_then(Result::ok)
    }

    #[test]
    fn who_asks_much_waits_for_himself() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let workers = Workers::default();
            let first = at_once(&workers, 1, true).await.expect("nobody else asks");
            assert!(at_once(&workers, 1, true).await.is_none(), "one that costs much at a time");
            let second = at_once(&workers, 1, false).await.expect("another may be worked on");
            assert!(at_once(&workers, 1, false).await.is_none(), "two in all");
            let other = at_once(&workers, 2, true).await.expect("others do not wait for that");
            drop(first);
            assert!(at_once(&workers, 1, true).await.is_some());
            drop((second, other));
            let lane = workers.lane(&Payer::User(1), Standing::User);
            let waiting = lane.waiting.each_ref().map(|waiting| waiting.load(Relaxed));
            assert_eq!(waiting, [0, 0], "whoever has given up does not wait");
            lane.waiting[1].store(MAX_WAITING_OF_USER, Relaxed);
            let full = workers.turn(&Payer::User(1), Standing::User, true).await.unwrap_err();
            assert_eq!((full.own, full.allowed), (MAX_WAITING_OF_USER, MAX_WAITING_OF_USER));
            assert!(at_once(&workers, 1, false).await.is_some());
        });
    }
}
