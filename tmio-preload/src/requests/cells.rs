//! Room for a few operations of each thread, without a lock.
//!
//! Only the thread that has the cells puts operations in, and only it claims them in place: two atomic
//! exchanges for an operation that it completes itself. Another thread that completes one takes it away to
//! the table first.
//!
//! | key of a cell | |
//! |---|---|
//! | 0 | empty: the thread may put an operation in |
//! | handle | whoever exchanges the key first has the operation |
//! | handle and `CLAIMED` | a call of the thread has it, or was left by a jump |
//! | `BUSY` | being changed or taken away, for a few instructions |

use super::Pending;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use tmio_api::thread::ThreadState;

/// Operations of a thread that have room.
const ROOM: usize = 4;
/// Threads that have cells.
const THREADS: usize = 64;
/// No handle has it: addresses in a program are below it, and so are numbers of 32 bits.
const CLAIMED: u64 = 1 << 63;
const BUSY: u64 = u64::MAX;

/// The cells of one thread.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Cells {
    keys: [AtomicU64; ROOM],
    operations: [Operation; ROOM],
}

#[derive(Debug)]
struct Operation {
    file: AtomicUsize,
    /// Entry of the call that claimed it.
    claimed_at: AtomicU64,
    /// Written by the thread that puts it in, or whoever has made the key `BUSY`.
    pending: UnsafeCell<Pending>,
}

// SAFETY: what is not atomic is written by one thread while nobody reads it, as the key says.
unsafe impl Sync for Operation {}

impl Operation {
    const fn nothing() -> Self {
        Self {
            file: AtomicUsize::new(0),
            claimed_at: AtomicU64::new(0),
            pending: UnsafeCell::new(Pending::NOTHING),
        }
    }
}

impl Cells {
    const fn new() -> Self {
        Self { keys: [const { AtomicU64::new(0) }; ROOM], operations: [const { Operation::nothing() }; ROOM] }
    }
}

static ALL: [Cells; THREADS] = [const { Cells::new() }; THREADS];
/// How many of them were ever used: the first ones.
static USED: AtomicUsize = AtomicUsize::new(0);

fn used() -> &'static [Cells] {
    ALL.get(..USED.load(Relaxed)).unwrap_or(&ALL)
}

/// Whether any thread has an operation in its cells.
#[inline]
pub(super) fn any() -> bool {
    // Nothing stronger is needed: who was given a request by another thread sees what that did before.
    used().iter().any(Cells::has_any)
}

/// The operations on a file that are claimed, after it was closed.
pub(super) fn left_behind(file: usize, complete: &mut impl FnMut(&Pending, u64)) {
    for cell in used().iter().flat_map(Cells::each) {
        let key = cell.key.load(Acquire);
        let is_of_file = || cell.operation.file.load(Relaxed) == file;
        if key == BUSY || key & CLAIMED == 0 || !is_of_file() {
            continue;
        }
        if cell.key.compare_exchange(key, BUSY, AcqRel, Relaxed).is_err() {
            continue;
        }
        if !is_of_file() {
            // Its thread was faster and has another operation with this handle.
            cell.key.store(key, Release);
            continue;
        }
        // SAFETY: nobody changes it while the key is `BUSY`.
        let pending = unsafe { cell.operation.pending.get().read() };
        let claimed_at = cell.operation.claimed_at.load(Relaxed);
        cell.key.store(0, Release);
        complete(&pending, claimed_at);
    }
}

/// What other threads have in their cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Others {
    own: Option<&'static Cells>,
    /// A bit for each handle: with many requests in a call, few have to be looked for.
    handles: u64,
}

impl Others {
    pub(super) fn of(own: Option<&'static Cells>) -> Self {
        let mut others = Self { own, handles: 0 };
        for cell in others.cells() {
            others.handles |= Self::bit(cell.key.load(Relaxed));
        }
        others
    }

    fn cells(self) -> impl Iterator<Item = Cell> {
        let is_other = move |cells: &&Cells| self.own.is_none_or(|own| !std::ptr::eq(own, *cells));
        used().iter().filter(is_other).flat_map(Cells::each)
    }

    fn bit(handle: u64) -> u64 {
        if handle == 0 { 0 } else { 1 << (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) }
    }

    /// Takes an operation away from the thread that has begun it.
    pub(super) fn take(self, handle: u64) -> Option<Pending> {
        if self.handles & Self::bit(handle) == 0 {
            return None;
        }
        let exchanged = |cell: &Cell| cell.key.compare_exchange(handle, BUSY, AcqRel, Relaxed).is_ok();
        let cell = self.cells().find(|cell| cell.key.load(Relaxed) == handle && exchanged(cell))?;
        // SAFETY: nobody changes it while the key is `BUSY`.
        let pending = unsafe { cell.operation.pending.get().read() };
        cell.key.store(0, Release);
        Some(pending)
    }
}

impl Cells {
    /// Those of a thread that has recorded something, or begun it. `None`: there are more threads than cells.
    #[inline]
    pub(super) fn of(thread: &ThreadState) -> Option<&'static Self> {
        ALL.get(usize::from(thread.number_if_any()?))
    }

    #[inline]
    fn has_any(&self) -> bool {
        self.keys.iter().any(|key| key.load(Relaxed) != 0)
    }

    #[inline]
    fn each(&'static self) -> impl Iterator<Item = Cell> {
        self.keys.iter().zip(&self.operations).map(|(key, operation)| Cell { key, operation })
    }

    /// Puts in an operation of the calling thread, whose cells these are. `false`: there is no room, or an
    /// earlier one of the same handle was claimed and never given back.
    #[inline]
    pub(super) fn insert(&'static self, handle: u64, pending: &Pending) -> bool {
        let mut free = None;
        for cell in self.each() {
            match cell.key.load(Acquire) {
                0 => free = free.or(Some(cell)),
                key if key == handle | CLAIMED => return false,
                _ => {}
            }
        }
        let Some(cell) = free.filter(|_| handle != 0 && handle & CLAIMED == 0) else { return false };
        cell.operation.file.store(pending.file, Relaxed);
        // SAFETY: the cell is empty: nobody reads it, and nobody else writes.
        unsafe { cell.operation.pending.get().write(*pending) };
        self.note_use();
        cell.key.store(handle, Release);
        true
    }

    #[inline]
    fn note_use(&self) {
        let number = (std::ptr::from_ref(self).addr() - ALL.as_ptr().addr()) / size_of::<Self>() + 1;
        if USED.load(Relaxed) < number {
            USED.fetch_max(number, Relaxed);
        }
    }

    /// Claims an operation for a call of the calling thread, whose cells these are.
    #[inline]
    pub(super) fn claim(&'static self, handle: u64, entered: u64) -> Option<(Cell, Pending)> {
        let cell = self.each().find(|cell| handle != 0 && cell.key.load(Relaxed) == handle)?;
        cell.key.compare_exchange(handle, handle | CLAIMED, Acquire, Relaxed).ok()?;
        Some((cell, cell.read(entered)))
    }

    /// Claims one once more that an earlier call of the calling thread has claimed, and not the one that was
    /// entered at `entered`.
    pub(super) fn claim_again(&'static self, handle: u64, entered: u64) -> Option<(Cell, Pending)> {
        let by_earlier = |cell: &Cell| cell.operation.claimed_at.load(Relaxed) != entered;
        let cell = self
            .each()
            .find(|cell| handle != 0 && cell.key.load(Acquire) == handle | CLAIMED && by_earlier(cell))?;
        Some((cell, cell.read(entered)))
    }

    /// Takes out one that an earlier call of the calling thread has claimed; and the entry of that call.
    pub(super) fn take_left(&'static self, handle: u64) -> Option<(Pending, u64)> {
        let cell = self.each().find(|cell| handle != 0 && cell.key.load(Acquire) == handle | CLAIMED)?;
        let claimed_at = cell.operation.claimed_at.load(Relaxed);
        let pending = cell.read(claimed_at);
        cell.take(handle).then_some((pending, claimed_at))
    }
}

/// A cell; in what follows, one of the calling thread that it has claimed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    key: &'static AtomicU64,
    operation: &'static Operation,
}

impl Cell {
    #[inline]
    fn read(self, entered: u64) -> Pending {
        self.operation.claimed_at.store(entered, Relaxed);
        // SAFETY: only the calling thread writes to its cells, unless they are empty.
        unsafe { self.operation.pending.get().read() }
    }

    /// Empties it. `false`: another thread has, which has closed the file.
    #[inline]
    pub(super) fn take(self, handle: u64) -> bool {
        self.exchange(handle | CLAIMED, 0)
    }

    /// Gives it back, changed, to whoever completes it.
    #[inline]
    pub(super) fn give_back(self, handle: u64, pending: &Pending) {
        if self.exchange(handle | CLAIMED, BUSY) {
            // SAFETY: nobody reads it while the key is `BUSY`.
            unsafe { self.operation.pending.get().write(*pending) };
            self.key.store(handle, Release);
        }
    }

    #[inline]
    fn exchange(self, from: u64, to: u64) -> bool {
        loop {
            match self.key.compare_exchange(from, to, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(BUSY) => std::thread::yield_now(),
                Err(_) => return false,
            }
        }
    }
}
