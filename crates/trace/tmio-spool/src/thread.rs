//! What each thread of a traced process has at hand: whether it is inside MPI already, and where its records
//! go.
//!
//! It lies in thread-local memory of the object that is preloaded, so that every thread has it from its
//! start, and it has no destructor, so that a thread may end at any time and in any order.

use crate::ring::Ring;
use core::cell::Cell;
use core::sync::atomic::AtomicU64;

/// What one thread remembers, in one line of the cache. All zeros at its start.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ThreadState {
    /// Where the thread stores its records.
    pub ring: Cell<Option<&'static Ring>>,
    /// The word that says since when it is in an operation.
    pub in_flight: Cell<Option<&'static AtomicU64>>,
    /// Where the function of ours returns to that was entered last.
    pub caller: Cell<usize>,
    /// The file that the thread used last: handle, state of the table of handles, number.
    pub last_handle: Cell<usize>,
    /// As many bits of it as there is room for.
    pub last_changes: Cell<u32>,
    /// See above.
    pub last_number: Cell<u32>,
    /// Number of the thread within its process and one more; 0: it has none yet.
    pub number: Cell<u16>,
    /// The process that the first three are of, as far as it fits: not after a fork.
    pub generation: Cell<u16>,
    /// A function of MPI-IO was entered and not left.
    pub inside: Cell<bool>,
    /// Pieces of our own work that the thread is in: its system calls are not the program's.
    pub own_work: Cell<u8>,
    /// Calls of MPI that the thread is in and that are no operations on files, such as `MPI_Init`.
    pub in_mpi: Cell<u8>,
    /// The thread has called `vfork`: it may be the child that runs.
    pub vforked: Cell<u8>,
    /// It is in a call that has its bytes from its result: what its stream does is not recorded again.
    pub counted: Cell<u8>,
    /// It has no word of its own and is counted among those without.
    pub without_word: Cell<bool>,
}

const _: () = assert!(size_of::<ThreadState>() == 64);

impl ThreadState {
    /// Whether the thread does work of our own.
    #[inline(always)]
    pub fn is_own_work(&self) -> bool {
        self.own_work.get() != 0
    }

    /// Whether the thread is inside MPI: what it does is MPI's doing.
    #[inline(always)]
    pub fn is_in_mpi(&self) -> bool {
        self.inside.get() || self.in_mpi.get() != 0
    }

    /// What the thread does from here on until [`end_own_work`](Self::end_own_work) is not the program's.
    #[inline]
    pub fn begin_own_work(&self) {
        self.own_work.set(self.own_work.get().saturating_add(1));
    }

    /// See [`begin_own_work`](Self::begin_own_work).
    #[inline]
    pub fn end_own_work(&self) {
        self.own_work.set(self.own_work.get().saturating_sub(1));
    }

    /// Runs a call of MPI that is no operation on a file.
    pub fn inside_mpi<T>(&self, call: impl FnOnce() -> T) -> T {
        self.in_mpi.set(self.in_mpi.get().saturating_add(1));
        let result = call();
        self.in_mpi.set(self.in_mpi.get().saturating_sub(1));
        result
    }

    /// In the child of a fork: the ring is the parent's, and whatever was under way is not.
    pub fn begin_anew(&self) {
        self.ring.set(None);
        self.in_flight.set(None);
        self.without_word.set(false);
        self.inside.set(false);
        self.own_work.set(0);
        self.in_mpi.set(0);
        self.counted.set(0);
    }

    /// The number of the file that the thread used last, if that is `handle` and nothing has changed since.
    #[inline(always)]
    pub fn remembered_file(&self, handle: usize, changes: u64) -> Option<u32> {
        let same = self.last_handle.get() == handle && self.last_changes.get() == changes as u32;
        same.then(|| self.last_number.get())
    }

    /// Remembers it.
    pub fn remember_file(&self, handle: usize, changes: u64, number: u32) {
        self.last_handle.set(handle);
        self.last_changes.set(changes as u32);
        self.last_number.set(number);
    }

    /// Number of the thread within its process, if it was given out.
    #[inline(always)]
    pub fn number_if_any(&self) -> Option<u16> {
        self.number.get().checked_sub(1)
    }
}
