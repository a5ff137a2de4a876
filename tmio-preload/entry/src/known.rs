//! The names that were seen before: the hash of each, and the number of its file.
//!
//! A table has entries in the order in which they came, and places, found by a hash, that each have the
//! number of an entry and some bits of its hash. So a name that is new costs one look at memory that is far
//! away, and some 20 bytes. A table that is full is replaced by one of twice the size.
//!
//! No thread waits for another one. What is not learned, because another thread is just making the larger
//! table, is new once more when it is seen next.

use crate::{descriptors, sys};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize};

/// The table: where it is, and in the lowest bits, which are 0 there, the logarithm of how many places it
/// has. 0: it is the first one.
static TABLE: AtomicUsize = AtomicUsize::new(0);
static FIRST: [AtomicU64; SMALLEST.bytes() / 8] = [const { AtomicU64::new(0) }; SMALLEST.bytes() / 8];
const SMALLEST: Size = Size(8);
/// There are no more files than entries of this one.
const LARGEST: Size = Size(27);
/// A thread makes a larger one.
static GROWS: AtomicU8 = AtomicU8::new(0);
/// How many entries the table has; more if some found no room.
static USED: AtomicUsize = AtomicUsize::new(0);

/// As many places are tried.
const TRIES: usize = 32;
/// The bits of a place that are the number of an entry, and one more. The others are of its hash.
const ENTRY_BITS: u32 = 27;
const ENTRY: u32 = (1 << ENTRY_BITS) - 1;
const _: () =
    assert!(LARGEST.entries() < ENTRY as usize && LARGEST.entries() > descriptors::MOST_FILES as usize);

/// The size of a table, as the logarithm of how many places it has.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Size(u32);

impl Size {
    const fn places(self) -> usize {
        1 << self.0
    }

    /// Five eighths of the places are used.
    const fn entries(self) -> usize {
        self.places() / 8 * 5
    }

    const fn bytes(self) -> usize {
        self.entries() * (8 + 4) + self.places() * 4
    }
}

/// Memory for the hashes of all entries, then for their numbers, then for the places.
#[derive(Clone, Copy)]
struct Table {
    memory: *mut u8,
    size: Size,
}

impl Table {
    fn now() -> Self {
        match TABLE.load(Acquire) {
            0 => Self { memory: FIRST.as_ptr().cast_mut().cast(), size: SMALLEST },
            word => Self {
                memory: core::ptr::with_exposed_provenance_mut(word & !(LOGARITHM as usize)),
                size: Size(word as u32 & LOGARITHM),
            },
        }
    }

    #[inline]
    fn hash(self, entry: usize) -> &'static AtomicU64 {
        // SAFETY: the callers have checked the number; the memory is never given back.
        unsafe { &*self.memory.cast::<AtomicU64>().add(entry) }
    }

    #[inline]
    fn number(self, entry: usize) -> &'static AtomicU32 {
        // SAFETY: as above.
        unsafe { &*self.memory.cast::<AtomicU32>().add(2 * self.size.entries() + entry) }
    }

    /// Where a hash may be.
    #[inline]
    fn places(self, hash: u64) -> impl Iterator<Item = &'static AtomicU32> {
        let mask = self.size.places() - 1;
        // SAFETY: the memory has so many places, and is never given back.
        (0..TRIES).map(move |step| unsafe {
            let place = (hash as usize).wrapping_add(step) & mask;
            &*self.memory.cast::<AtomicU32>().add(3 * self.size.entries() + place)
        })
    }

    fn find(self, hash: u64) -> Option<u32> {
        for place in self.places(hash) {
            let word = place.load(Acquire);
            // Nothing is ever taken out.
            let entry = (word & ENTRY).checked_sub(1)? as usize;
            if (word ^ mark(hash)) & !ENTRY == 0 && self.hash(entry).load(Relaxed) == hash {
                return Some(self.number(entry).load(Relaxed));
            }
        }
        None
    }

    /// Fills an entry that nobody else has.
    fn set(self, entry: usize, hash: u64, number: u32) {
        self.hash(entry).store(hash, Relaxed);
        self.number(entry).store(number, Relaxed);
        // If another thread finds the same place at the same moment, one of the two names is new once more.
        if let Some(place) = self.places(hash).find(|place| place.load(Relaxed) == 0) {
            place.store(mark(hash) | (entry as u32 + 1), Release);
        }
    }
}

/// The lowest bits of an address of a page, which are more than a logarithm needs.
const LOGARITHM: u32 = 63;

/// The bits of a hash that are in its place: not those by which that is found.
const fn mark(hash: u64) -> u32 {
    (hash >> 32) as u32 & !ENTRY
}

/// Has the memory fetched that [`find`] looks at.
#[inline]
pub(crate) fn fetch(hash: u64) {
    if let Some(place) = Table::now().places(hash).next() {
        sys::fetch(core::ptr::from_ref(place).cast());
    }
}

/// The number of the file whose name has this hash.
pub(crate) fn find(hash: u64) -> Option<u32> {
    Table::now().find(hash)
}

/// Takes note of a name, or does not.
pub(crate) fn learn(hash: u64, number: u32) {
    let mut table = Table::now();
    let mut entry = USED.fetch_add(1, Relaxed);
    if entry >= table.size.entries() {
        // A handler of a signal that jumps away would leave it half made.
        let Some(larger) = sys::without_signals(|| grow(table)) else { return };
        (table, entry) = (larger, USED.fetch_add(1, Relaxed));
    }
    if entry < table.size.entries() {
        table.set(entry, hash, number);
    }
}

/// Replaces a table that is full by a larger one. `None`: another thread does, or there is no memory.
#[cold]
fn grow(full: Table) -> Option<Table> {
    let _ = GROWS.compare_exchange(0, 1, Acquire, Relaxed).ok()?;
    let table = Table::now();
    // Another thread may just have done it.
    let larger = if table.size == full.size { larger_than(table) } else { Some(table) };
    if let Some(larger) = larger.filter(|larger| larger.size != table.size) {
        let entries = table.size.entries();
        for entry in 0..entries {
            larger.set(entry, table.hash(entry).load(Relaxed), table.number(entry).load(Relaxed));
        }
        USED.store(entries, Relaxed);
        TABLE.store(larger.memory.expose_provenance() | larger.size.0 as usize, Release);
        // Whoever still looks there finds nothing.
        wipe(table);
    }
    GROWS.store(0, Release);
    larger
}

fn larger_than(table: Table) -> Option<Table> {
    if table.size == LARGEST {
        return None;
    }
    let size = Size(table.size.0 + 1);
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
    Some(Table { memory: sys::map(size.bytes(), flags, -1, 0).ok()?, size })
}

fn wipe(table: Table) {
    if table.memory.cast_const().cast() == FIRST.as_ptr() {
        FIRST.iter().for_each(|word| word.store(0, Relaxed));
    } else {
        // SAFETY: whole pages of ours, which are zero afterwards: no names.
        let _ = unsafe { sys::advise(table.memory, table.size.bytes(), sys::MADV_DONTNEED) };
    }
}

/// Nothing is known any more.
pub(crate) fn forget_all() {
    let table = Table::now();
    TABLE.store(0, Release);
    USED.store(0, Relaxed);
    GROWS.store(0, Relaxed);
    wipe(table);
    wipe(Table::now());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_of(number: u32) -> u64 {
        u64::from(number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }

    #[test]
    fn names_are_found_again_however_many_there_are() {
        for number in 0..100_000 {
            assert_eq!(find(hash_of(number)), None);
            learn(hash_of(number), number);
            assert_eq!(find(hash_of(number)), Some(number));
        }
        assert!((0..100_000).all(|number| find(hash_of(number)) == Some(number)));
        // Memory that is less than that of most names. (Entries that are not used have none.)
        assert!(12 * USED.load(Relaxed) + 4 * Table::now().size.places() < 100_000 * 26);
        // Of those who look at one table while another one is made, nobody finds what is not there.
        let before = Table::now();
        forget_all();
        assert!((0..100_000).all(|number| find(hash_of(number)).is_none()));
        assert!(before.find(hash_of(5)).is_none());
        learn(hash_of(7), 8);
        assert_eq!(find(hash_of(7)), Some(8));
        forget_all();
    }
}
