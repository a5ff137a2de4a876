//! All operations that are in no cell: a hash table with a lock.

use super::Pending;
use parking_lot::{Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static TABLE: Mutex<Table> = Mutex::new(Table::new());
/// How many operations are in [`TABLE`], and how many of them are claimed.
static USED: AtomicUsize = AtomicUsize::new(0);
static CLAIMED: AtomicUsize = AtomicUsize::new(0);

/// Whether there is nothing in the table, as far as the calling thread must know: it sees what it did itself,
/// and what a thread did before that has given it a request.
#[inline]
pub(super) fn is_empty() -> bool {
    USED.load(Relaxed) == 0
}

/// Whether any operation in the table is claimed.
#[inline]
pub(super) fn has_claimed() -> bool {
    CLAIMED.load(Relaxed) != 0
}

/// The table, for the calling thread alone.
pub(super) struct Locked(MutexGuard<'static, Table>);

pub(super) fn lock() -> Locked {
    Locked(TABLE.lock())
}

impl Deref for Locked {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut Table {
        &mut self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        USED.store(self.0.used, Relaxed);
        CLAIMED.store(self.0.claimed, Relaxed);
    }
}

/// An operation, and who has claimed it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pending: Pending,
    /// 0: nobody.
    claim: u64,
    /// Entry of the call that claimed it.
    claimed_at: u64,
}

impl Entry {
    const EMPTY: Self = Self { pending: Pending::NOTHING, claim: 0, claimed_at: 0 };
}

/// A hash table with open addressing and linear probing. A key may be there more than once (an MPI
/// may give the same handle to several requests that are complete at once); 0 is no key.
pub(super) struct Table {
    keys: Vec<u64>,
    values: Vec<Entry>,
    used: usize,
    claimed: usize,
}

impl Table {
    const fn new() -> Self {
        Self { keys: Vec::new(), values: Vec::new(), used: 0, claimed: 0 }
    }

    /// Adds an operation. `false`: there is no memory, it will not be recorded.
    pub(super) fn insert(&mut self, handle: u64, pending: Pending) -> bool {
        self.add(handle, Entry { pending, ..Entry::EMPTY })
    }

    /// Claims an operation that nobody has claimed. If another thread has, that one's call has completed it,
    /// and the handle is in use again, perhaps for a message.
    pub(super) fn claim(&mut self, handle: u64, by: u64, entered: u64) -> Option<Pending> {
        let place = self.find(handle, |there| there.claim == 0)?;
        self.claimed += 1;
        self.note_claim(place, by, entered)
    }

    /// Claims an operation once more that an earlier call of the same thread has claimed.
    pub(super) fn claim_again(&mut self, handle: u64, by: u64, entered: u64) -> Option<Pending> {
        let place = self.find(handle, |there| there.claim == by && there.claimed_at != entered)?;
        self.note_claim(place, by, entered)
    }

    fn note_claim(&mut self, place: usize, by: u64, entered: u64) -> Option<Pending> {
        let there = self.values.get_mut(place)?;
        (there.claim, there.claimed_at) = (by, entered);
        Some(there.pending)
    }

    /// Takes out an operation that `by` has claimed. `false`: somebody else has.
    pub(super) fn take(&mut self, handle: u64, by: u64, pending: &Pending) -> bool {
        let place = self.find(handle, |there| there.claim == by && there.pending.start == pending.start);
        place.and_then(|place| self.remove(place)).is_some()
    }

    /// Takes out an operation that an earlier call of `by` has claimed; and the entry of that call.
    pub(super) fn take_left(&mut self, handle: u64, by: u64) -> Option<(Pending, u64)> {
        let place = self.find(handle, |there| there.claim == by)?;
        self.remove(place).map(|left| (left.pending, left.claimed_at))
    }

    /// Takes out any operation on a file that is claimed; and the entry of the call that has.
    pub(super) fn take_claimed(&mut self, file: usize) -> Option<(Pending, u64)> {
        let place = self.values.iter().position(|there| there.claim != 0 && there.pending.file == file)?;
        self.remove(place).map(|left| (left.pending, left.claimed_at))
    }

    /// Gives back an operation that `by` has claimed, changed.
    pub(super) fn give_back(&mut self, handle: u64, by: u64, pending: &Pending) {
        let place = self.find(handle, |there| there.claim == by && there.pending.start == pending.start);
        if let Some(there) = place.and_then(|place| self.values.get_mut(place)) {
            *there = Entry { pending: *pending, ..Entry::EMPTY };
            self.claimed -= 1;
        }
    }

    fn home(&self, key: u64) -> usize {
        // Fibonacci hashing: handles are addresses or counters with structure in the low bits.
        let bits = self.keys.len().trailing_zeros();
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits.max(1))) as usize
    }

    fn add(&mut self, key: u64, value: Entry) -> bool {
        if key == 0 || (2 * (self.used + 1) > self.keys.len() && !self.grow()) {
            return false;
        }
        let mask = self.keys.len() - 1;
        let mut place = self.home(key);
        while self.keys.get(place).is_some_and(|&there| there != 0) {
            place = (place + 1) & mask;
        }
        if let (Some(there), Some(slot)) = (self.keys.get_mut(place), self.values.get_mut(place)) {
            *there = key;
            *slot = value;
            self.used += 1;
        }
        true
    }

    /// The place of an operation with this key that is as wanted.
    fn find(&self, key: u64, wanted: impl Fn(&Entry) -> bool) -> Option<usize> {
        if self.used == 0 || key == 0 {
            return None;
        }
        let mask = self.keys.len() - 1;
        let mut place = self.home(key);
        loop {
            match *self.keys.get(place)? {
                0 => return None,
                there if there == key && self.values.get(place).is_some_and(&wanted) => return Some(place),
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn remove(&mut self, place: usize) -> Option<Entry> {
        let mut gap = place;
        let found = self.values.get(gap).copied()?;
        self.used -= 1;
        self.claimed -= usize::from(found.claim != 0);
        // Close the gap, so that no search ends too early (Knuth, volume 3, algorithm 6.4 R).
        let mask = self.keys.len() - 1;
        let mut place = gap;
        loop {
            place = (place + 1) & mask;
            let there = self.keys.get(place).copied().unwrap_or(0);
            if there == 0 {
                break;
            }
            let home = self.home(there);
            let may_move = (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(gap) & mask);
            if may_move {
                let value = self.values.get(place).copied().unwrap_or(Entry::EMPTY);
                self.set(gap, there, value);
                gap = place;
            }
        }
        self.set(gap, 0, Entry::EMPTY);
        Some(found)
    }

    fn set(&mut self, place: usize, key: u64, value: Entry) {
        if let (Some(there), Some(slot)) = (self.keys.get_mut(place), self.values.get_mut(place)) {
            *there = key;
            *slot = value;
        }
    }

    fn grow(&mut self) -> bool {
        let size = (self.keys.len() * 2).max(64);
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        if keys.try_reserve_exact(size).is_err() || values.try_reserve_exact(size).is_err() {
            return false;
        }
        keys.resize(size, 0);
        values.resize(size, Entry::EMPTY);
        let old_keys = std::mem::replace(&mut self.keys, keys);
        let old_values = std::mem::replace(&mut self.values, values);
        self.used = 0;
        for (key, value) in old_keys.into_iter().zip(old_values).filter(|(key, _)| *key != 0) {
            self.add(key, value);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn operation(start: u64) -> Pending {
        Pending { start, ..Pending::NOTHING }
    }

    #[test]
    fn agrees_with_the_standard_map_over_many_random_steps() {
        let mut table = Table::new();
        let mut model: HashMap<u64, u64> = HashMap::new();
        let mut random = 0x2545_f491_4f6c_dd1du64;
        for step in 0..200_000u64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Keys like addresses, few enough to collide often.
            let key = 0x7f00_0000_0000 + (random % 600) * 64;
            if random >> 60 < 8 && !model.contains_key(&key) {
                assert!(table.insert(key, operation(step)));
                model.insert(key, step);
            } else {
                let found = table.find(key, |_| true).and_then(|place| table.remove(place));
                assert_eq!(found.map(|entry| entry.pending.start), model.remove(&key));
            }
            assert_eq!(table.used, model.len());
        }
        assert!(table.keys.len() >= 512, "the test must have made it grow: {}", table.keys.len());
    }

    #[test]
    fn a_handle_that_is_used_again_before_its_call_returns_is_two_operations() {
        let mut table = Table::new();
        assert!(table.insert(5, operation(1)));
        assert_eq!(table.claim(5, 100, 7).unwrap().start, 1);
        assert!(table.insert(5, operation(2)));
        assert_eq!(table.claim(5, 200, 8).unwrap().start, 2, "the other is claimed");
        assert!(table.take(5, 100, &operation(1)));
        let again = |table: &mut Table, by| table.claim(5, by, 9).or_else(|| table.claim_again(5, by, 9));
        assert!(again(&mut table, 100).is_none(), "a message with the handle of the other's operation");
        assert_eq!(again(&mut table, 200).unwrap().start, 2, "this thread's earlier call was left by a jump");
        assert_eq!((table.used, table.claimed), (1, 1));
    }

    /// Open MPI gives one handle to all requests that are complete at once.
    #[test]
    fn several_operations_of_one_handle_are_claimed_by_one_call() {
        let mut table = Table::new();
        (1..=3).for_each(|start| assert!(table.insert(5, operation(start))));
        let mut claimed: Vec<u64> = (0..3).map(|_| table.claim(5, 100, 7).unwrap().start).collect();
        assert!(table.claim(5, 100, 7).is_none() && table.claim_again(5, 100, 7).is_none());
        claimed.sort_unstable();
        assert_eq!(claimed, [1, 2, 3]);
        assert!(claimed.iter().all(|&start| table.take(5, 100, &operation(start))));
        assert_eq!((table.used, table.claimed), (0, 0));
    }
}
