//! Nonblocking operations that are under way, found by their request handle.
//!
//! A handle may be used again by MPI as soon as its request is complete, and another thread may get it
//! before the completing call has returned. So an operation is claimed before that call, and taken out or
//! given back after it. When the call is left by a jump, nothing of ours runs and the claim stays: the
//! operation is found again by its handle if the same thread completes it later; if MPI gives the handle to
//! another operation of that thread, or the file is closed, it was complete.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tmio_api::thread::ThreadState;
use tmio_trace::OpKind;

/// A nonblocking operation under way. Times are ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) kind: u8,
    pub(crate) cancelled: bool,
    pub(crate) file: usize,
    pub(crate) offset: i64,
    pub(crate) requested: u64,
    pub(crate) start: u64,
    pub(crate) issued: u64,
    pub(crate) pending_until: u64,
    pub(crate) test_time: u64,
    /// Who has claimed it; 0: nobody.
    claim: u64,
    /// Entry of the call that claimed it.
    claimed_at: u64,
}

impl Pending {
    /// An operation that was begun by a call between `start` and `issued`.
    pub(crate) fn new(
        kind: OpKind,
        (file, offset, requested): (usize, i64, u64),
        (start, issued): (u64, u64),
    ) -> Self {
        let pending = Self { kind: kind.0, file, offset, requested, start, issued, ..Self::default() };
        Self { pending_until: issued, ..pending }
    }

    pub(crate) fn kind(&self) -> OpKind {
        OpKind(self.kind)
    }
}

static OUTSTANDING: AtomicUsize = AtomicUsize::new(0);
static TABLE: Mutex<Table> = Mutex::new(Table { keys: Vec::new(), values: Vec::new(), used: 0 });

/// Whether any operation is under way: one relaxed load.
#[inline]
pub(crate) fn any() -> bool {
    OUTSTANDING.load(Relaxed) != 0
}

/// Whoever makes a call, for as long as it lasts: one per thread.
pub(crate) fn claimant(thread: &ThreadState) -> u64 {
    std::ptr::from_ref(thread).addr() as u64
}

/// Adds an operation that `by` has begun. An earlier one with that handle, which a call of the same thread
/// had claimed and never gave back, is complete: it is given to `complete`.
pub(crate) fn insert(handle: u64, pending: Pending, by: u64, complete: impl FnOnce(&Pending, u64)) {
    let mut table = TABLE.lock();
    let left = table.find(handle, |there| there.claim == by).and_then(|place| table.remove(place));
    table.insert(handle, pending);
    OUTSTANDING.store(table.used, Relaxed);
    drop(table);
    if let Some(left) = left {
        complete(&left, left.claimed_at);
    }
}

/// Claims an operation for a call that was entered at `entered`.
pub(crate) fn claim(handle: u64, by: u64, entered: u64) -> Option<Pending> {
    TABLE.lock().claim(handle, by, entered)
}

/// Claims all operations whose handles are given; each with its position.
pub(crate) fn claim_all(
    handles: impl Iterator<Item = u64>,
    by: u64,
    entered: u64,
) -> Vec<(usize, u64, Pending)> {
    let mut claimed = Vec::new();
    let mut table = TABLE.lock();
    if table.used == 0 {
        return claimed;
    }
    for (position, handle) in handles.enumerate() {
        if claimed.try_reserve(1).is_err() {
            break;
        }
        if let Some(pending) = table.claim(handle, by, entered) {
            claimed.push((position, handle, pending));
        }
    }
    claimed
}

/// Takes out an operation that `by` has claimed, because it is complete. `false`: somebody else has.
pub(crate) fn take(handle: u64, by: u64) -> bool {
    let mut table = TABLE.lock();
    let taken = table.find(handle, |there| there.claim == by).and_then(|place| table.remove(place));
    OUTSTANDING.store(table.used, Relaxed);
    taken.is_some()
}

/// Gives back an operation that `by` has claimed, changed, because it is not complete.
pub(crate) fn give_back(handle: u64, by: u64, pending: Pending) {
    let mut table = TABLE.lock();
    if let Some(place) = table.find(handle, |there| there.claim == by)
        && let Some(there) = table.values.get_mut(place)
    {
        *there = Pending { claim: 0, claimed_at: 0, ..pending };
    }
}

/// The operations on a file that were claimed by calls that never returned. MPI has completed them when the
/// file is closed.
pub(crate) fn left_behind(file: usize, mut complete: impl FnMut(&Pending, u64)) {
    while any() {
        let mut table = TABLE.lock();
        let left = |there: &Pending| there.claim != 0 && there.file == file;
        let Some(place) = table.values.iter().position(left) else { return };
        let left = table.remove(place);
        OUTSTANDING.store(table.used, Relaxed);
        drop(table);
        if let Some(left) = left {
            complete(&left, left.claimed_at);
        }
    }
}

/// Changes an operation without taking it out.
pub(crate) fn update(handle: u64, change: impl FnOnce(&mut Pending)) {
    let mut table = TABLE.lock();
    if let Some(place) = table.find(handle, |_| true)
        && let Some(pending) = table.values.get_mut(place)
    {
        change(pending);
    }
}

/// A hash table with open addressing and linear probing. A key may be there more than once (an MPI
/// may give the same handle to several requests that are complete at once); 0 is no key.
struct Table {
    keys: Vec<u64>,
    values: Vec<Pending>,
    used: usize,
}

impl Table {
    fn home(&self, key: u64) -> usize {
        // Fibonacci hashing: handles are addresses or counters with structure in the low bits.
        let bits = self.keys.len().trailing_zeros();
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits.max(1))) as usize
    }

    /// `false`: there is no memory, it will not be recorded.
    fn insert(&mut self, key: u64, value: Pending) -> bool {
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
    fn find(&self, key: u64, wanted: impl Fn(&Pending) -> bool) -> Option<usize> {
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

    /// Claims an operation, unless another thread has: that one's call has completed it, and the handle is in
    /// use again, perhaps for a message.
    fn claim(&mut self, key: u64, by: u64, entered: u64) -> Option<Pending> {
        let place = self.find(key, |there| there.claim == 0 || there.claim == by)?;
        let there = self.values.get_mut(place)?;
        (there.claim, there.claimed_at) = (by, entered);
        Some(*there)
    }

    fn remove(&mut self, place: usize) -> Option<Pending> {
        let mut gap = place;
        let found = self.values.get(gap).copied();
        self.used -= 1;
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
                let value = self.values.get(place).copied().unwrap_or_default();
                self.set(gap, there, value);
                gap = place;
            }
        }
        self.set(gap, 0, Pending::default());
        found
    }

    fn set(&mut self, place: usize, key: u64, value: Pending) {
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
        values.resize(size, Pending::default());
        let old_keys = std::mem::replace(&mut self.keys, keys);
        let old_values = std::mem::replace(&mut self.values, values);
        self.used = 0;
        for (key, value) in old_keys.into_iter().zip(old_values).filter(|(key, _)| *key != 0) {
            self.insert(key, value);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn agrees_with_the_standard_map_over_many_random_steps() {
        let mut table = Table { keys: Vec::new(), values: Vec::new(), used: 0 };
        let mut model: HashMap<u64, u64> = HashMap::new();
        let mut random = 0x2545_f491_4f6c_dd1du64;
        for step in 0..200_000u64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Keys like addresses, few enough to collide often.
            let key = 0x7f00_0000_0000 + (random % 600) * 64;
            if random >> 60 < 8 && !model.contains_key(&key) {
                assert!(table.insert(key, Pending { start: step, ..Pending::default() }));
                model.insert(key, step);
            } else {
                let found = table.find(key, |_| true).and_then(|place| table.remove(place));
                assert_eq!(found.map(|p| p.start), model.remove(&key));
            }
            assert_eq!(table.used, model.len());
        }
        assert!(table.keys.len() >= 512, "the test must have made it grow: {}", table.keys.len());
    }

    #[test]
    fn a_handle_that_is_used_again_before_its_call_returns_is_two_operations() {
        let mut table = Table { keys: Vec::new(), values: Vec::new(), used: 0 };
        assert!(table.insert(5, Pending { start: 1, ..Pending::default() }));
        assert_eq!(table.claim(5, 100, 7).unwrap().start, 1);
        assert!(table.insert(5, Pending { start: 2, ..Pending::default() }));
        assert_eq!(table.claim(5, 200, 8).unwrap().start, 2, "the other is claimed");
        let place = table.find(5, |there| there.claim == 100).unwrap();
        assert_eq!(table.remove(place).unwrap().start, 1);
        assert!(table.claim(5, 100, 9).is_none(), "a message with the handle of the other's operation");
        assert_eq!(table.claim(5, 200, 9).unwrap().start, 2, "this thread's earlier call was left by a jump");
    }
}
