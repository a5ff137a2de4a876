//! What a descriptor stands for: a table with a word for each number.
//!
//! It is a cache. Close, and whatever else gives a number another meaning, makes its word unknown before the
//! call, so that a thread that gets the number meanwhile does not lose what it learns. A number that gets
//! another meaning by a system call of the program's own, past the C library, keeps its old entry: what is
//! done with it then counts for the file it stood for (docs/posix.md).

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

/// Numbers beyond are not recorded.
const NUMBERS: usize = 1 << 20;

static TABLE: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Nobody has looked yet.
    Unknown,
    /// Nothing that is recorded.
    Ignored,
    /// Opened inside MPI: whatever is done with it is part of MPI-IO.
    Mpi,
    /// The file of that number in [`names`](super::names).
    File(u32),
}

const KIND: u64 = 3;

impl Entry {
    fn word(self) -> u64 {
        match self {
            Entry::Unknown => 0,
            Entry::Ignored => 1,
            Entry::Mpi => 2,
            Entry::File(number) => 3 | u64::from(number) << 2,
        }
    }

    #[inline(always)]
    fn of(word: u64) -> Self {
        match word & KIND {
            0 => Entry::Unknown,
            1 => Entry::Ignored,
            2 => Entry::Mpi,
            _ => Entry::File((word >> 2) as u32),
        }
    }
}

#[inline(always)]
fn place(descriptor: c_int) -> Option<&'static AtomicU64> {
    let table = TABLE.load(Acquire);
    let index = usize::try_from(descriptor).ok().filter(|&index| index < NUMBERS && !table.is_null())?;
    // SAFETY: the table has as many words, and is never given back.
    Some(unsafe { &*table.add(index) })
}

/// Makes the table: address space, of which pages exist only once they are used.
pub(super) fn prepare() -> bool {
    if !TABLE.load(Acquire).is_null() {
        return true;
    }
    let (bytes, flags) =
        (NUMBERS * size_of::<AtomicU64>(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a new mapping anywhere; nothing existing is touched.
    let table = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if table == libc::MAP_FAILED {
        return false;
    }
    let _ = TABLE.compare_exchange(null_mut(), table.cast(), AcqRel, Acquire);
    true
}

/// What is known of a descriptor.
#[inline(always)]
pub(super) fn get(descriptor: c_int) -> Entry {
    place(descriptor).map_or(Entry::Ignored, |place| Entry::of(place.load(Relaxed)))
}

pub(super) fn set(descriptor: c_int, entry: Entry) {
    if let Some(place) = place(descriptor) {
        place.store(entry.word(), Relaxed);
    }
}

/// Takes note of what an unknown descriptor is, unless somebody was faster.
pub(super) fn learn(descriptor: c_int, entry: Entry) {
    if let Some(place) = place(descriptor) {
        let _ = place.compare_exchange(Entry::Unknown.word(), entry.word(), Relaxed, Relaxed);
    }
}

/// Nothing is known of these any more.
pub(super) fn forget_range(first: c_int, last: c_int) {
    const PAGE: usize = 4096;
    let Some(start) = place(first) else { return };
    let last = usize::try_from(last).unwrap_or(0).min(NUMBERS - 1);
    let first = usize::try_from(first).unwrap_or(0);
    let count = last.saturating_sub(first).saturating_add(1);
    if count > 4 * PAGE {
        // Pages that nobody has touched stay so.
        for descriptor in first..(first + PAGE).min(NUMBERS) {
            set(descriptor as c_int, Entry::Unknown);
        }
        let begin = std::ptr::from_ref(start).addr().next_multiple_of(PAGE);
        let end = TABLE.load(Acquire).addr() + (last + 1) * size_of::<AtomicU64>();
        if end > begin {
            // SAFETY: whole pages of our own table, which are zero afterwards, and that is Unknown.
            unsafe {
                libc::madvise(std::ptr::with_exposed_provenance_mut(begin), end - begin, libc::MADV_DONTNEED)
            };
        }
        return;
    }
    for descriptor in first..=last {
        set(descriptor as c_int, Entry::Unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_and_forgotten() {
        assert!(prepare());
        for entry in [Entry::Unknown, Entry::Ignored, Entry::Mpi, Entry::File(0), Entry::File(u32::MAX)] {
            assert_eq!(Entry::of(entry.word()), entry);
        }
        set(900_000, Entry::File(7));
        learn(900_000, Entry::Ignored);
        assert_eq!(get(900_000), Entry::File(7), "known already");
        set(900_001, Entry::Ignored);
        forget_range(900_000, 900_000);
        assert_eq!((get(900_000), get(900_001)), (Entry::Unknown, Entry::Ignored));
        set(1_000_000, Entry::Ignored);
        forget_range(899_999, c_int::MAX);
        assert_eq!((get(900_001), get(1_000_000)), (Entry::Unknown, Entry::Unknown));
        assert_eq!((get(-1), get(c_int::MAX)), (Entry::Ignored, Entry::Ignored));
    }
}
