//! What a descriptor stands for: a table with a word for each number.
//!
//! A word also has some bits of the file's device and inode. Whatever gives a number another meaning makes
//! its word unknown before the call, so that a thread that gets the number meanwhile does not lose what it
//! learns. Calls of which nobody can tell what they do to descriptors make all words doubtful: each is
//! compared with the file that is there when it is used next.

use crate::sys;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64};

/// Numbers beyond are not recorded.
const NUMBERS: usize = 1 << 20;
const TABLE_BYTES: usize = NUMBERS * size_of::<AtomicU64>();

static TABLE: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());
/// Most programs have no others than these.
static FIRST: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

/// How often all words became doubtful; they hold its value of when they were right.
static DOUBTS: AtomicU8 = AtomicU8::new(0);
/// Threads have tables of descriptors of their own: every word is always doubtful.
static ALWAYS: AtomicU8 = AtomicU8::new(0);

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Nobody has looked yet.
    Unknown,
    /// Nothing that is recorded.
    Ignored,
    /// Opened inside MPI: whatever is done with it is part of MPI-IO.
    Mpi,
    /// The file of that number.
    File(u32),
}

/// Files have numbers below this.
pub(crate) const MOST_FILES: u32 = 1 << 26;

// Bits of a word: 2 for the kind, 8 for the doubts, 26 for the file, 28 for its identity.
impl Entry {
    fn word(self, identity: u32) -> u64 {
        let (kind, file) = match self {
            Entry::Unknown => return 0,
            Entry::Ignored => (1, 0),
            Entry::Mpi => (2, 0),
            Entry::File(number) => (3, number & (MOST_FILES - 1)),
        };
        let doubts = u64::from(DOUBTS.load(Relaxed));
        kind | doubts << 2 | u64::from(file) << 10 | u64::from(identity & 0xfff_ffff) << 36
    }

    #[inline(always)]
    fn of(word: u64) -> Self {
        match word & 3 {
            0 => Entry::Unknown,
            1 => Entry::Ignored,
            2 => Entry::Mpi,
            _ => Entry::File((word >> 10) as u32 & (MOST_FILES - 1)),
        }
    }
}

/// Some bits of what tells a file from others.
pub(crate) fn identity(about: &sys::Stat) -> u32 {
    let mixed = (about.inode ^ about.device.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 36) as u32
}

#[inline(always)]
fn place(descriptor: i32) -> Option<&'static AtomicU64> {
    let first = FIRST.get(descriptor as u32 as usize);
    if first.is_some() {
        return first;
    }
    let table = TABLE.load(Acquire);
    if table.is_null() || descriptor as u32 as usize >= NUMBERS {
        return None;
    }
    // SAFETY: the table has as many words, and is never given back.
    Some(unsafe { &*table.add(descriptor as usize) })
}

/// Makes the table: address space, of which pages exist only once they are used.
#[cold]
fn prepare() -> bool {
    if !TABLE.load(Acquire).is_null() {
        return true;
    }
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
    let Ok(table) = sys::map(TABLE_BYTES, flags, -1, 0) else { return false };
    if TABLE.compare_exchange(core::ptr::null_mut(), table.cast(), AcqRel, Acquire).is_err() {
        // SAFETY: another thread was faster, and nobody knows of this one.
        unsafe { sys::unmap(table, TABLE_BYTES) };
    }
    true
}

/// What is known of a descriptor, and certainly right.
#[inline(always)]
pub(crate) fn get(descriptor: i32) -> Entry {
    let word = match place(descriptor) {
        Some(place) => place.load(Relaxed),
        None => return get_without_table(descriptor),
    };
    if (word >> 2) as u8 == DOUBTS.load(Relaxed) && ALWAYS.load(Relaxed) == 0 {
        return Entry::of(word);
    }
    if word & 3 == 0 { Entry::Unknown } else { verify(descriptor, word) }
}

#[cold]
fn get_without_table(descriptor: i32) -> Entry {
    if (descriptor as u32 as usize) < NUMBERS && prepare() { Entry::Unknown } else { Entry::Ignored }
}

/// Compares a doubtful word with what the descriptor is now.
#[cold]
#[inline(never)]
fn verify(descriptor: i32, word: u64) -> Entry {
    let entry = Entry::of(word);
    let same = sys::fstat(descriptor).is_ok_and(|about| identity(&about) & 0xfff_ffff == (word >> 36) as u32);
    if same {
        set_with(descriptor, entry, (word >> 36) as u32);
        return entry;
    }
    set(descriptor, Entry::Unknown);
    Entry::Unknown
}

/// Takes note of what a descriptor stands for.
pub(crate) fn set_with(descriptor: i32, entry: Entry, identity: u32) {
    if let Some(place) = place(descriptor) {
        place.store(entry.word(identity), Relaxed);
    } else if entry != Entry::Unknown
        && prepare()
        && let Some(place) = place(descriptor)
    {
        place.store(entry.word(identity), Relaxed);
    }
}

/// The same where its identity does not matter.
pub(crate) fn set(descriptor: i32, entry: Entry) {
    set_with(descriptor, entry, 0);
}

/// Takes note of what an unknown descriptor is, unless somebody was faster.
pub(crate) fn learn(descriptor: i32, entry: Entry, identity: u32) {
    if let Some(place) = place(descriptor) {
        let _ = place.compare_exchange(0, entry.word(identity), Relaxed, Relaxed);
    }
}

/// A second descriptor stands for the same as another one.
pub(crate) fn copy(from: i32, to: i32) {
    let word = place(from).map_or(0, |place| place.load(Relaxed));
    if let Some(place) = place(to) {
        place.store(word, Relaxed)
    }
}

/// Nothing is known of these any more.
pub(crate) fn forget_range(first: u32, last: u32) {
    const PAGE: usize = sys::LARGEST_PAGE;
    let table = TABLE.load(Acquire);
    let (first, last) = (first as usize, (last as usize).min(NUMBERS - 1));
    for place in FIRST.get(first..=last.min(FIRST.len() - 1)).unwrap_or_default() {
        place.store(0, Relaxed);
    }
    let first = first.max(FIRST.len());
    if table.is_null() || first > last {
        return;
    }
    let words = PAGE / size_of::<AtomicU64>();
    // Whole pages that nobody has touched stay so.
    let (first_page, end_page) = (first.next_multiple_of(words), (last + 1) / words * words);
    let forget = |from: usize, to: usize| {
        for number in from..to {
            set(number as i32, Entry::Unknown);
        }
    };
    if first_page >= end_page {
        return forget(first, last + 1);
    }
    forget(first, first_page);
    forget(end_page, last + 1);
    let bytes = (end_page - first_page) * size_of::<AtomicU64>();
    // SAFETY: whole pages of our own table, which are zero afterwards, and that is unknown.
    let _ = unsafe { sys::advise(table.add(first_page).cast(), bytes, sys::MADV_DONTNEED) };
}

/// In the child of a fork, where files have other numbers.
pub(crate) fn forget_all() {
    forget_range(0, u32::MAX);
}

/// Something may have changed what descriptors stand for.
pub(crate) fn doubt_all() {
    if DOUBTS.fetch_add(1, Relaxed) == u8::MAX {
        // Words of 256 doubts ago would look right.
        forget_all();
    }
}

/// Threads have tables of descriptors of their own from here on.
pub(crate) fn doubt_always() {
    ALWAYS.store(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_kept_doubted_and_forgotten() {
        for entry in [Entry::Unknown, Entry::Ignored, Entry::Mpi, Entry::File(1), Entry::File(MOST_FILES - 1)]
        {
            assert_eq!(Entry::of(entry.word(0xabc_def0)), entry);
        }
        assert_eq!(get(900_000), Entry::Unknown);
        set(900_000, Entry::File(7));
        learn(900_000, Entry::Ignored, 0);
        assert_eq!(get(900_000), Entry::File(7), "known already");
        set(900_001, Entry::Ignored);
        forget_range(900_000, 900_000);
        assert_eq!((get(900_000), get(900_001)), (Entry::Unknown, Entry::Ignored));
        set(1_000_000, Entry::Ignored);
        forget_range(899_999, u32::MAX);
        assert_eq!((get(900_001), get(1_000_000)), (Entry::Unknown, Entry::Unknown));
        assert_eq!((get(-1), get(i32::MAX)), (Entry::Ignored, Entry::Ignored));
        // A descriptor that is open stays what it is; one that is not is unknown.
        let about = sys::fstat(1).unwrap();
        set_with(1, Entry::Ignored, identity(&about));
        set_with(900_002, Entry::File(3), 5);
        doubt_all();
        assert_eq!((get(1), get(900_002)), (Entry::Ignored, Entry::Unknown));
    }
}
