//! What many users share, and how much of it one of them may have.
//!
//! There is one rule for everything: a user may have at most a quarter of what the others leave. Somebody who
//! is alone gets a quarter, the next one a quarter of the rest, and so on. So whoever comes last still finds
//! something, however much the others want: after ten who take all that they can, a twentieth is left. Those
//! who are trusted may have three quarters.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

/// How far somebody is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As any user.
    User,
    /// By whoever runs the service.
    Trusted,
}

/// How much of `most` somebody may have if others have this much of it.
pub fn allowance(most: usize, others: usize, standing: Standing) -> usize {
    let left = most.saturating_sub(others);
    match standing {
        Standing::User => left.div_ceil(4),
        Standing::Trusted => left - left / 4,
    }
}

/// Somebody has as much as they may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Full {
    /// Of what.
    pub what: &'static str,
    /// What they have.
    pub own: usize,
    /// What they may have.
    pub allowed: usize,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Full { what, own, allowed } = self;
        write!(f, "{what}: you have {own}, and may have {allowed} as long as others need the rest")
    }
}

/// Something that is shared, and who has how much of it.
#[derive(Debug, Default)]
pub struct Shared<P> {
    what: &'static str,
    most: usize,
    taken: usize,
    by: HashMap<P, usize>,
}

impl<P: Clone + Eq + Hash + Ord> Shared<P> {
    /// Nobody has any of it yet.
    pub fn new(what: &'static str, most: usize) -> Self {
        Shared { what, most, taken: 0, by: HashMap::new() }
    }

    /// What it is.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// How much there is.
    pub fn most(&self) -> usize {
        self.most
    }

    /// What all have together.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// What somebody has.
    pub fn own(&self, payer: &P) -> usize {
        self.by.get(payer).copied().unwrap_or(0)
    }

    /// Who has most.
    pub fn heaviest(&self) -> Option<P> {
        let most = self.by.iter().max_by_key(|(payer, own)| (**own, std::cmp::Reverse(*payer)));
        most.map(|(payer, _)| payer.clone())
    }

    /// What somebody may have now.
    pub fn allowed(&self, payer: &P, standing: Standing) -> usize {
        allowance(self.most, self.taken - self.own(payer), standing)
    }

    /// May they have this much more?
    pub fn check(&self, payer: &P, standing: Standing, more: usize) -> Result<(), Full> {
        let (own, allowed) = (self.own(payer), self.allowed(payer, standing));
        let fits = own.checked_add(more).is_some_and(|sum| sum <= allowed);
        if fits { Ok(()) } else { Err(Full { what: self.what, own, allowed }) }
    }

    /// They have this much more, whether they may or not.
    pub fn add(&mut self, payer: &P, more: usize) {
        if more > 0 {
            self.taken += more;
            match self.by.get_mut(payer) {
                Some(own) => *own += more,
                None => _ = self.by.insert(payer.clone(), more),
            }
        }
    }

    /// They have this much less.
    pub fn give_back(&mut self, payer: &P, less: usize) {
        let Some(own) = self.by.get_mut(payer) else { return };
        let less = less.min(*own);
        *own -= less;
        self.taken -= less;
        if *own == 0 {
            self.by.remove(payer);
        }
    }
}

/// The same for several threads: what is taken comes back when it is dropped.
#[derive(Debug)]
pub struct Pot<P>(Arc<Mutex<Shared<P>>>);

impl<P> Clone for Pot<P> {
    fn clone(&self) -> Self {
        Pot(Arc::clone(&self.0))
    }
}

impl<P: Clone + Eq + Hash + Ord> Pot<P> {
    /// Nobody has any of it yet.
    pub fn new(what: &'static str, most: usize) -> Self {
        Pot(Arc::new(Mutex::new(Shared::new(what, most))))
    }

    /// Who has how much.
    pub fn shared(&self) -> MutexGuard<'_, Shared<P>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Take some of it.
    pub fn take(&self, payer: &P, standing: Standing, amount: usize) -> Result<Part<P>, Full> {
        let mut part = Part { pot: self.clone(), payer: payer.clone(), standing, amount: 0 };
        part.more(amount)?;
        Ok(part)
    }
}

/// What somebody has taken.
#[derive(Debug)]
pub struct Part<P: Clone + Eq + Hash + Ord> {
    pot: Pot<P>,
    payer: P,
    standing: Standing,
    amount: usize,
}

impl<P: Clone + Eq + Hash + Ord> Part<P> {
    /// Take more.
    pub fn more(&mut self, amount: usize) -> Result<(), Full> {
        let mut shared = self.pot.shared();
        shared.check(&self.payer, self.standing, amount)?;
        shared.add(&self.payer, amount);
        self.amount += amount;
        Ok(())
    }

    /// Have this much from now on, if that is possible.
    pub fn set(&mut self, amount: usize) -> Result<(), Full> {
        if amount > self.amount {
            return self.more(amount - self.amount);
        }
        self.pot.shared().give_back(&self.payer, self.amount - amount);
        self.amount = amount;
        Ok(())
    }
}

impl<P: Clone + Eq + Hash + Ord> Drop for Part<P> {
    fn drop(&mut self) {
        self.pot.shared().give_back(&self.payer, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whoever_comes_last_finds_something() {
        let mut shared = Shared::new("places", 1000);
        let greedy = |shared: &mut Shared<u32>, uid: u32, standing: Standing| {
            let payer = uid;
            while shared.check(&payer, standing, 1).is_ok() {
                shared.add(&payer, 1);
            }
            shared.own(&payer)
        };
        assert_eq!(greedy(&mut shared, 1, Standing::User), 250, "alone: a quarter");
        assert_eq!(greedy(&mut shared, 2, Standing::User), 188, "a quarter of the rest");
        assert_eq!(greedy(&mut shared, 0, Standing::Trusted), 422, "three quarters of the rest");
        assert!((10..20).all(|uid| greedy(&mut shared, uid, Standing::User) > 0), "ten more who are greedy");
        assert!(shared.taken() <= 1000);
        shared.give_back(&1, 1_000_000);
        assert_eq!(shared.own(&1), 0);
        assert!(greedy(&mut shared, 99, Standing::User) > 60, "what one gives back others may have");
    }

    #[test]
    fn what_is_dropped_comes_back() {
        let pot = Pot::new("bytes", 100);
        let payer = 7u32;
        let mut part = pot.take(&payer, Standing::User, 20).unwrap();
        assert_eq!(part.more(6), Err(Full { what: "bytes", own: 20, allowed: 25 }));
        part.more(5).unwrap();
        part.set(3).unwrap();
        assert!(part.set(50).is_err());
        assert_eq!(pot.shared().taken(), 3);
        drop(part);
        let shared = pot.shared();
        assert_eq!((shared.taken(), shared.by.len()), (0, 0));
    }

    proptest! {
        /// Whatever is taken and given back by whom: the sum is that of all, nobody ever gets more than is
        /// there, and what is refused changes nothing.
        #[test]
        fn sums_hold(steps in prop::collection::vec((0u32..5, any::<bool>(), 0usize..60), 0..200)) {
            let mut shared = Shared::new("x", 200);
            for (uid, takes, amount) in steps {
                let payer = uid;
                let standing = if uid == 0 { Standing::Trusted } else { Standing::User };
                if !takes {
                    shared.give_back(&payer, amount);
                } else if shared.check(&payer, standing, amount).is_ok() {
                    shared.add(&payer, amount);
                }
                prop_assert_eq!(shared.taken(), shared.by.values().sum::<usize>());
                prop_assert!(shared.taken() <= shared.most());
            }
        }
    }
}
