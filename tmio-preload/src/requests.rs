//! Nonblocking operations that are under way, found by their request handle.
//!
//! A handle may be used again by MPI as soon as its request is complete, and another thread may
//! get it before the completing call has returned. So an operation is taken out before that call,
//! and put back if it did not complete.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
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
}

impl Pending {
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

/// Adds an operation. `false`: there is no memory, it will not be recorded.
pub(crate) fn insert(handle: u64, pending: Pending) -> bool {
    let mut table = TABLE.lock();
    let added = table.insert(handle, pending);
    OUTSTANDING.store(table.used, Relaxed);
    added
}

/// Takes an operation out.
pub(crate) fn take(handle: u64) -> Option<Pending> {
    let mut table = TABLE.lock();
    let found = table.remove(handle);
    OUTSTANDING.store(table.used, Relaxed);
    found
}

/// Takes all operations out whose handles are given, each with its position.
pub(crate) fn take_all(handles: impl Iterator<Item = u64>) -> Vec<(usize, u64, Pending)> {
    let mut taken = Vec::new();
    let mut table = TABLE.lock();
    for (position, handle) in handles.enumerate() {
        if table.used == 0 {
            break;
        }
        if let Some(pending) = table.remove(handle) {
            if taken.try_reserve(1).is_err() {
                table.insert(handle, pending);
                break;
            }
            taken.push((position, handle, pending));
        }
    }
    OUTSTANDING.store(table.used, Relaxed);
    taken
}

/// Changes an operation without taking it out.
pub(crate) fn update(handle: u64, change: impl FnOnce(&mut Pending)) {
    let mut table = TABLE.lock();
    if let Some(place) = table.find(handle)
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

    fn find(&self, key: u64) -> Option<usize> {
        if self.used == 0 || key == 0 {
            return None;
        }
        let mask = self.keys.len() - 1;
        let mut place = self.home(key);
        loop {
            match *self.keys.get(place)? {
                0 => return None,
                there if there == key => return Some(place),
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn remove(&mut self, key: u64) -> Option<Pending> {
        let mut gap = self.find(key)?;
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
                assert_eq!(table.remove(key).map(|p| p.start), model.remove(&key));
            }
            assert_eq!(table.used, model.len());
        }
        assert!(table.keys.len() >= 512, "the test must have made it grow: {}", table.keys.len());
    }

    #[test]
    fn a_handle_may_be_there_twice() {
        let mut table = Table { keys: Vec::new(), values: Vec::new(), used: 0 };
        for start in [1, 2] {
            assert!(table.insert(5, Pending { start, ..Pending::default() }));
        }
        let mut seen = [table.remove(5).unwrap().start, table.remove(5).unwrap().start];
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        assert_eq!(table.remove(5), None);
    }
}
