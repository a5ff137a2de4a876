//! What the object that is preloaded tells the recorder, which is loaded when a program calls MPI.

use crate::thread::ThreadState;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// Changes with everything here, and with [`ThreadState`].
pub const VERSION: u64 = 2;

/// The name of the function in the recorder that gets a [`Core`]; it returns 0 if it can work with it.
pub const ATTACH: &[u8] = b"tmio_attach";

/// Something to do with what it is given; whether it was done.
pub type Body = unsafe extern "C" fn(*mut c_void) -> bool;

/// What a rank is, for its spool.
#[derive(Debug)]
#[repr(C)]
pub struct Rank {
    /// All ranks of the job have this number.
    pub job: u64,
    /// Number of the rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Layers that are recorded: 1 MPI-IO, 2 POSIX, 4 stdio.
    pub layers: u8,
    /// Bytes of records that may wait.
    pub buffer: u64,
    /// Bytes below which POSIX and stdio calls alone are not worth a trace.
    pub min_bytes: u64,
    /// Ticks are nanoseconds, whatever the processor has.
    pub monotonic: bool,
    /// Everything is written out when a file is closed.
    pub flushes_on_close: bool,
    /// The part that its records belong to, and the frames that come first there; stays.
    pub identity: *const u8,
    /// Bytes of it.
    pub identity_length: usize,
    /// Where the spools of the job are wanted, the same for all ranks; stays.
    pub spool: *const u8,
    /// Bytes of it; 0: at the usual place.
    pub spool_length: usize,
}

/// The object that is preloaded, for the recorder.
#[derive(Debug)]
#[repr(C)]
pub struct Core {
    /// [`VERSION`].
    pub version: u64,
    /// Distance of a thread's [`ThreadState`] from its thread pointer.
    pub thread: isize,
    /// The addresses that the object takes.
    pub addresses: [usize; 2],
    /// What is done with calls now: 3 recorded, 6 paused.
    pub mode: &'static AtomicU32,
    /// Threads with another number have no ring of this spool.
    pub generation: &'static AtomicU16,
    /// The next function of a name, of so many bytes, after the object, as the dynamic linker orders them.
    pub next: unsafe extern "C" fn(*const u8, usize) -> *mut c_void,
    /// Whether the program finds the object's functions of the C library.
    pub shows_system: extern "C" fn() -> bool,
    /// MPI begins in this process: nothing is decided yet, but descriptors are noted from here on.
    pub listen: extern "C" fn(layers: u8),
    /// The process is a rank, or (null) is not one after all.
    pub begin: unsafe extern "C" fn(*const Rank) -> bool,
    /// The spool, which is made if it was not; null: that cannot be.
    pub spool: extern "C" fn() -> *const AtomicU64,
    /// The path of the spool, into so many bytes; its length.
    pub path: unsafe extern "C" fn(*mut u8, usize) -> usize,
    /// Stores a record that found no room: five words, and four more or null.
    pub store: unsafe extern "C" fn(&ThreadState, *const [u64; 5], *const [u64; 4]),
    /// The number of a file of this name.
    pub name: unsafe extern "C" fn(&ThreadState, *const u8, usize) -> u32,
    /// Stores a mark.
    pub mark: unsafe extern "C" fn(&ThreadState, u64, *const u8, usize),
    /// The word in which a thread says since when it is in an operation, or null.
    pub in_flight: extern "C" fn(&ThreadState) -> *const AtomicU64,
    /// So many operations could be kept nowhere.
    pub lose: extern "C" fn(u64),
    /// A reading of the clock that stamps records, and of the monotonic clock.
    pub clock: extern "C" fn(&mut [i64; 2]),
    /// Whether ticks are counts of the processor.
    pub is_counter: extern "C" fn() -> bool,
    /// Has the helper look at the spools; it is started if it does not run. With `true` also where the
    /// program might see it: inside `MPI_Finalize`.
    pub helper: extern "C" fn(bool),
    /// The control page, once there is a helper; else null.
    pub control: extern "C" fn() -> *const AtomicU64,
    /// Runs something where its descriptors are not the program's. `false`: that cannot be had.
    pub apart: unsafe extern "C" fn(Body, *mut c_void) -> bool,
    /// The process is of interest: it has done MPI-IO.
    pub keep: extern "C" fn(),
    /// Nothing is recorded any more; the spool is removed if that is wanted.
    pub end: extern "C" fn(bool),
    /// What the kernel has counted goes into the spool.
    pub tell_io: extern "C" fn(),
}
