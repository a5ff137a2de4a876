//! A ring of cells that many threads store to, and one process reads.
//!
//! A thread reserves cells by moving [`RESERVED`](layout::RESERVED) on, and owns them from then on. A signal
//! handler that interrupts it reserves others. A thread that never comes back to what it has reserved (its
//! handler jumped away, or it was killed) leaves cells that say nothing; the reader passes over them after a
//! while.

use crate::cell::{self, CELL_BYTES, CELL_WORDS, FIRST_TEXT, LONGEST_TEXT, MORE_TEXT};
use crate::kind::{Flags, OpKind};
use crate::layout::{self, RING_WORDS};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The words that tell about a ring.
pub type Head = [AtomicU64; RING_WORDS];
/// The words of one cell.
pub type Cell = [AtomicU64; CELL_WORDS];

/// A ring, as the process that stores to it sees it. What must not be wrong is not in shared memory: whatever
/// is written there by mistake, no other memory is touched.
#[derive(Debug)]
pub struct Ring {
    head: &'static Head,
    cells: &'static [Cell],
    /// Cells from this one on have no memory yet; none are without if it is `u64::MAX`.
    ready: AtomicU64,
}

impl Ring {
    /// A ring of these cells, as many as a power of two, of which the first `ready` have memory.
    pub const fn new(head: &'static Head, cells: &'static [Cell], ready: u64) -> Self {
        Self { head, cells, ready: AtomicU64::new(ready) }
    }

    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        // The indices are constants below the length: this is never the first word by mistake.
        self.head.get(index).unwrap_or(&self.head[0])
    }

    /// How many cells there are.
    #[inline(always)]
    pub fn capacity(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Where the cells are.
    pub fn cells_address(&self) -> *mut u8 {
        self.cells.as_ptr().cast_mut().cast()
    }

    /// How many cells were ever reserved.
    pub fn reserved(&self) -> u64 {
        self.word(layout::RESERVED).load(Relaxed)
    }

    /// How many cells are in use.
    pub fn used(&self) -> u64 {
        self.reserved().saturating_sub(self.word(layout::TAIL).load(Acquire))
    }

    /// The pages that get memory next. `None`: all have.
    pub fn next_piece(&self) -> Option<Piece> {
        const PAGE: usize = 4096;
        // Most processes need one page and no more.
        const MORE: usize = 4 * PAGE;
        let ready = self.ready.load(Relaxed);
        if ready == u64::MAX {
            return None;
        }
        let all = size_of_val(self.cells);
        let (from, next_cell) = (ready as usize * CELL_BYTES, (ready as usize + 1) * CELL_BYTES);
        let bytes = if ready == 0 { PAGE } else { MORE };
        let end = next_cell.next_multiple_of(bytes).min(all);
        let ready = if end == all { u64::MAX } else { (end / CELL_BYTES) as u64 };
        Some(Piece { bytes: from / PAGE * PAGE..end, ready })
    }

    /// There is memory up to this cell now; `u64::MAX`: everywhere.
    pub fn set_ready(&self, cells: u64) {
        self.ready.fetch_max(cells, Release);
    }

    /// Takes so many cells. `None`: there is no room.
    #[inline(always)]
    fn reserve(&self, count: u64) -> Option<u64> {
        let reserved = self.word(layout::RESERVED);
        let mut at = reserved.load(Relaxed);
        loop {
            let end = at.wrapping_add(count);
            let free = self.word(layout::TAIL).load(Acquire).wrapping_add(self.capacity());
            if end > free || end > self.ready.load(Relaxed) {
                return None;
            }
            match reserved.compare_exchange_weak(at, end, Relaxed, Relaxed) {
                Ok(_) => return Some(at),
                Err(other) => at = other,
            }
        }
    }

    #[inline(always)]
    fn cell(&self, at: u64) -> &Cell {
        let index = at as usize & (self.cells.len() - 1);
        // SAFETY: the number of cells is a power of two, so the index is below it.
        unsafe { self.cells.get_unchecked(index) }
    }

    #[inline(always)]
    fn store(&self, at: u64, [identity, a, b, c, d]: [u64; CELL_WORDS]) {
        let [first, second, third, fourth, fifth] = self.cell(at);
        second.store(a, Relaxed);
        third.store(b, Relaxed);
        fourth.store(c, Relaxed);
        fifth.store(d, Relaxed);
        first.store(identity, Release);
    }

    /// Whether another half of the ring was filled by the `count` cells from `at` on.
    #[inline(always)]
    fn fills_half(&self, at: u64, count: u64) -> Stored {
        let half = self.capacity() / 2;
        if (at ^ at.wrapping_add(count)) & half != 0 { Stored::HalfFull } else { Stored::Yes }
    }

    /// Stores a record of one cell, its identity first.
    #[inline(always)]
    pub fn push(&self, words: [u64; CELL_WORDS]) -> Stored {
        let Some(at) = self.reserve(1) else { return Stored::No };
        self.store(at, words);
        self.fills_half(at, 1)
    }

    /// Stores a record and what belongs to it in a second cell.
    #[inline(always)]
    pub fn push_two(&self, words: [u64; CELL_WORDS], [a, b, c, d]: [u64; 4]) -> Stored {
        let Some(at) = self.reserve(2) else { return Stored::No };
        self.store(at.wrapping_add(1), [cell::identity(0, cell::CONTINUED, Flags(0), 0), a, b, c, d]);
        self.store(at, words);
        self.fills_half(at, 2)
    }

    /// Stores a text, cut where it gets too long: a name, or a mark that was set at `time`.
    pub fn push_text(&self, file: u32, kind: OpKind, thread: u16, time: u64, text: &[u8]) -> Stored {
        let length = text.len().min(LONGEST_TEXT);
        let text = text.get(..length).unwrap_or_default();
        let count = cell::cells_of_text(length) as u64;
        let Some(at) = self.reserve(count) else { return Stored::No };
        for number in 1..count {
            let from = FIRST_TEXT + (number as usize - 1) * MORE_TEXT;
            let [a, b, c, d] = [0, 8, 16, 24].map(|more| word(text, from + more));
            let identity = cell::identity(0, cell::CONTINUED, Flags(0), 0);
            self.store(at.wrapping_add(number), [identity, a, b, c, d]);
        }
        let identity = cell::identity(file, kind, Flags(0), thread);
        self.store(at, [identity, time, length as u64, word(text, 0), word(text, 8)]);
        self.fills_half(at, count)
    }
}

/// Pages of a ring that get memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which bytes of its cells.
    pub bytes: core::ops::Range<usize>,
    /// Up to which cell there is memory then; `u64::MAX`: everywhere.
    pub ready: u64,
}

/// Whether a record was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// There is no room.
    No,
    /// It was.
    Yes,
    /// It was, and another half of the ring is full: time to wake who empties it.
    HalfFull,
}

/// The eight bytes from `from` on as a word; zeros where there are none.
fn word(bytes: &[u8], from: usize) -> u64 {
    if let Some(eight) = bytes.get(from..).and_then(<[u8]>::first_chunk) {
        return u64::from_ne_bytes(*eight);
    }
    let byte = |at| bytes.get(from + at).map_or(0, |&byte| u64::from(byte));
    (0..8).fold(0, |word, at| word | byte(at) << (8 * at)).to_le()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    fn ring(cells: usize, ready: u64) -> Ring {
        let head: &'static Head = Box::leak(Box::new([const { AtomicU64::new(0) }; RING_WORDS]));
        let zero = || [const { AtomicU64::new(0) }; CELL_WORDS];
        let cells: Vec<Cell> = core::iter::repeat_with(zero).take(cells).collect();
        Ring::new(head, cells.leak(), ready)
    }

    #[test]
    fn memory_comes_in_pieces_until_all_cells_have_some() {
        for cells in [1 << 9, 1 << 12, 1 << 15] {
            let ring = ring(cells, 0);
            let (mut has_memory, mut pieces) = (0, 0);
            while let Some(piece) = ring.next_piece() {
                assert!(piece.bytes.start <= has_memory && piece.bytes.end > has_memory, "{piece:?}");
                has_memory = piece.bytes.end;
                ring.set_ready(piece.ready);
                pieces += 1;
                // Every cell that is said to have memory has all of it, and there are some more each time.
                let filled = core::iter::from_fn(|| (ring.push([1; CELL_WORDS]) != Stored::No).then_some(()));
                assert!(filled.count() >= 1, "{piece:?}");
                assert!(ring.reserved() as usize * CELL_BYTES <= has_memory);
            }
            assert_eq!((has_memory, ring.reserved()), (cells * CELL_BYTES, cells as u64));
            assert_eq!(pieces, 1 + (cells * CELL_BYTES).div_ceil(16 << 10));
        }
    }

    /// What a reader does.
    fn take(ring: &Ring) -> Vec<[u64; CELL_WORDS]> {
        let tail = ring.head[layout::TAIL].load(Relaxed);
        let mut found = Vec::new();
        for at in tail..ring.reserved() {
            let words = ring.cell(at).each_ref().map(|word| word.load(Acquire));
            found.push(words);
            ring.cell(at)[0].store(0, Relaxed);
        }
        ring.head[layout::TAIL].store(ring.reserved(), Release);
        found
    }

    #[test]
    fn what_is_stored_comes_out_once_and_in_order() {
        let ring = ring(8, u64::MAX);
        let mut next = 1;
        for _ in 0..100 {
            while ring.push([next, 2 * next, 3, 4, 5]) != Stored::No {
                next += 1;
            }
            assert_eq!(ring.used(), 8);
            let taken = take(&ring);
            assert_eq!(taken.len(), 8);
            assert!(taken.iter().zip(next - 8..).all(|(cell, number)| cell[..2] == [number, 2 * number]));
        }
    }

    #[test]
    fn cells_without_memory_are_not_touched() {
        let ring = ring(8, 3);
        assert!((0..3).all(|_| ring.push([1; 5]) == Stored::Yes));
        assert_eq!((ring.push([1; 5]), ring.push_two([1; 5], [2; 4])), (Stored::No, Stored::No));
        ring.set_ready(u64::MAX);
        assert_eq!(ring.push_two([1; 5], [2; 4]), Stored::HalfFull);
    }

    #[test]
    fn a_text_is_whole() {
        let ring = ring(256, u64::MAX);
        for length in [0, 1, 15, 16, 17, 48, 100, 5000] {
            let text: Vec<u8> = (0..length).map(|i| i as u8).collect();
            assert_ne!(ring.push_text(7, cell::NAME, 3, 9, &text), Stored::No);
            let cells = take(&ring);
            assert_eq!((cell::file(cells[0][0]), cell::kind(cells[0][0]), cells[0][1]), (7, cell::NAME, 9));
            let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
            let rest = cells[1..].iter().flat_map(|cell| bytes(&cell[1..]));
            let whole: Vec<u8> = bytes(&cells[0][3..]).into_iter().chain(rest).collect();
            let length = length.min(LONGEST_TEXT);
            assert_eq!((cells[0][2] as usize, &whole[..length]), (length, &text[..length]));
        }
    }

    #[test]
    fn threads_and_a_reader_lose_nothing() {
        let ring: &'static Ring = Box::leak(Box::new(ring(64, u64::MAX)));
        const EACH: u64 = 20_000;
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3u64)
                .map(|thread| {
                    scope.spawn(move || {
                        for number in 1..=EACH {
                            while ring.push([number, thread, number, 0, 0]) == Stored::No {
                                std::thread::yield_now();
                            }
                        }
                    })
                })
                .collect();
            let mut sums = [0u64; 3];
            let mut at = 0;
            while at < 3 * EACH {
                let cell = ring.cell(at);
                if cell[0].load(Acquire) == 0 {
                    std::thread::yield_now();
                    continue;
                }
                let [identity, thread, number, ..] = cell.each_ref().map(|word| word.load(Relaxed));
                assert_eq!(identity, number);
                sums[thread as usize] += number;
                cell[0].store(0, Relaxed);
                at += 1;
                ring.head[layout::TAIL].store(at, Release);
            }
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            assert_eq!(sums, [EACH * (EACH + 1) / 2; 3]);
        });
    }
}
