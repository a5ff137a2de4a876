//! What the process does, in one page that the kernel wipes in the child of a fork, however that was made: a
//! child finds it empty and begins anew.

use crate::thread::ThreadState;
use crate::{sys, thread};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64};
use tmio_spool::kind::{Direction, TraceLayer};
use tmio_spool::layout;
use tmio_spool::ring::Ring;

/// Entries look at this: 0, and the call goes straight on to the next function.
pub(crate) static ON: AtomicU8 = AtomicU8::new(0);

/// What the process does. In the page that is wiped.
pub(crate) mod mode {
    /// Nothing, or the kernel has wiped the page.
    pub const NOTHING: u32 = 0;
    /// Calls are looked at, and the first one that counts makes the spool.
    pub const ARMED: u32 = 1;
    /// The spool is being made.
    pub const STARTING: u32 = 2;
    /// Records go to the spool.
    pub const RECORDING: u32 = 3;
    /// Nobody knows yet whether calls are recorded: only descriptors are noted.
    pub const LISTENING: u32 = 4;
    /// Nothing any more.
    pub const OVER: u32 = 5;
    /// The program has asked for a pause.
    pub const PAUSED: u32 = 6;
    /// As [`RECORDING`]; but a thread tries to become another program, or has done so in vain.
    pub const BECOMING: u32 = 7;
}

/// The words at the beginning of the spool.
pub(crate) type Head = [AtomicU64; layout::HEAD_WORDS];

/// Memory for the rings as this process sees them.
pub(crate) struct Rings(pub(crate) [UnsafeCell<MaybeUninit<Ring>>; layout::MAX_RINGS]);

// SAFETY: each is written once, before anybody else learns its address.
unsafe impl Sync for Rings {}

// As large as a page may be: nothing else is wiped with it.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(target_arch = "aarch64", repr(C, align(65536)))]
pub(crate) struct Page {
    pub(crate) mode: AtomicU32,
    /// The process that records, or would: not one that it made by `vfork` and that shares its memory.
    pub(crate) process: AtomicU32,
    pub(crate) head: AtomicPtr<Head>,
    /// The control page of the helper, once it was asked for.
    pub(crate) control: AtomicPtr<AtomicU64>,
    /// Rings that were made; null: not yet.
    pub(crate) rings: [AtomicPtr<Ring>; layout::MAX_RINGS],
    /// Memory for them.
    pub(crate) made: Rings,
    /// Somebody makes a ring or talks to the file system.
    pub(crate) busy: AtomicU32,
    /// Whether the process has done enough to be kept.
    pub(crate) kept: AtomicU32,
    /// It has, although it is not kept yet.
    pub(crate) worth: AtomicU32,
    /// Bytes that were recorded, until they are enough.
    pub(crate) bytes: AtomicU64,
    /// How often it was tried in vain to begin, and when it is tried again.
    pub(crate) failures: AtomicU32,
    pub(crate) calls: AtomicU32,
    pub(crate) next_try: AtomicU32,
    /// How far the helper had come when it stood still, and one more; 0: it never did.
    pub(crate) stuck_at: AtomicU64,
    /// How long threads have waited for the file system of the trace.
    pub(crate) waited: AtomicU64,
    /// When the spool was made, by the monotonic clock.
    pub(crate) began: AtomicU64,
    /// The user who made the spool, and one more; 0: there is none.
    pub(crate) maker: AtomicU32,
    /// The process has become another user for good.
    pub(crate) changed_user: AtomicU32,
    /// The thread that is about to become another program, by its number and one more; 0: none is. If it is
    /// still there, that has failed.
    pub(crate) becoming: AtomicU32,
}

#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_page"))]
pub(crate) static PAGE: Page = Page {
    mode: AtomicU32::new(mode::NOTHING),
    process: AtomicU32::new(0),
    head: AtomicPtr::new(core::ptr::null_mut()),
    control: AtomicPtr::new(core::ptr::null_mut()),
    rings: [const { AtomicPtr::new(core::ptr::null_mut()) }; layout::MAX_RINGS],
    made: Rings([const { UnsafeCell::new(MaybeUninit::uninit()) }; layout::MAX_RINGS]),
    busy: AtomicU32::new(0),
    kept: AtomicU32::new(0),
    worth: AtomicU32::new(0),
    bytes: AtomicU64::new(0),
    failures: AtomicU32::new(0),
    calls: AtomicU32::new(0),
    next_try: AtomicU32::new(0),
    stuck_at: AtomicU64::new(0),
    waited: AtomicU64::new(0),
    began: AtomicU64::new(0),
    maker: AtomicU32::new(0),
    changed_user: AtomicU32::new(0),
    becoming: AtomicU32::new(0),
};

/// Calls are looked at in this program: also in its fork children, which find the page wiped.
pub(crate) static WANTED: AtomicU8 = AtomicU8::new(0);

/// The program is a rank of MPI: its fork children record nothing.
pub(crate) static IS_RANK: AtomicU8 = AtomicU8::new(0);

/// Which spool this is in a chain of forks: threads that have a ring of an earlier one have none.
pub(crate) static GENERATION: AtomicU16 = AtomicU16::new(1);

/// The process that gets the orphans among its descendants, of whom this one may be: it must not meet the
/// helper among them. 0: none is known.
static TAKER_OF_ORPHANS: AtomicU32 = AtomicU32::new(0);

/// This process gets the orphans among its descendants from here on.
pub(crate) fn takes_orphans() {
    TAKER_OF_ORPHANS.store(PAGE.process.load(Relaxed), Relaxed);
}

/// Who gets a helper that this process would start.
pub(crate) enum Orphans {
    /// The first process of the system, or somebody who expects such.
    OfNobody,
    /// This process.
    Ours,
    /// A process that this one is a fork child of.
    OfAnAncestor,
}

pub(crate) fn orphans() -> Orphans {
    match TAKER_OF_ORPHANS.load(Relaxed) {
        0 => Orphans::OfNobody,
        taker if taker == PAGE.process.load(Relaxed) => Orphans::Ours,
        taker if sys::exists(taker) => Orphans::OfAnAncestor,
        _ => Orphans::OfNobody,
    }
}

/// The layers that are recorded, as bits.
static LAYERS: AtomicU8 = AtomicU8::new(0);

pub(crate) const MPIIO: u8 = 1;

pub(crate) const POSIX: u8 = 2;

pub(crate) const STDIO: u8 = 4;

/// Whether calls are looked at, for functions that do not ask [`ON`].
pub(crate) fn is_looked_at() -> bool {
    ON.load(Relaxed) != 0
}

/// Begins to look at calls. `false`: this kernel cannot wipe a page, so nothing is recorded.
pub(crate) fn turn_on(first_mode: u32, layers: u8) -> bool {
    LAYERS.store(layers, Relaxed);
    let page = (&raw const PAGE).cast::<u8>();
    // SAFETY: a page of ours that nothing else is in; wiping it is what it is made for.
    if unsafe { sys::advise(page, size_of::<Page>(), sys::MADV_WIPEONFORK) }.is_err() {
        return false;
    }
    PAGE.process.store(sys::process(), Relaxed);
    if sys::gets_orphans() {
        takes_orphans();
    }
    PAGE.mode.store(first_mode, Release);
    WANTED.store(1, Release);
    ON.store(1, Release);
    true
}

/// Nothing is looked at any more, neither here nor in children.
pub(crate) fn turn_off() {
    WANTED.store(0, Relaxed);
    PAGE.mode.store(mode::OVER, Release);
    ON.store(0, Release);
}

/// The program is a rank from here on.
pub(crate) fn is_a_rank(layers: u8) {
    LAYERS.store(layers, Relaxed);
    IS_RANK.store(1, Relaxed);
}

/// Whether this is the child of a fork that has not begun anew.
pub(crate) fn is_wiped() -> bool {
    WANTED.load(Relaxed) != 0 && PAGE.mode.load(Relaxed) == mode::NOTHING
}

/// Whether this is the process that records, as the kernel says.
pub(crate) fn is_this_process() -> bool {
    PAGE.process.load(Relaxed) == sys::process()
}

/// The head of the spool, if there is one.
#[inline]
pub(crate) fn head() -> Option<&'static Head> {
    // SAFETY: null, or the beginning of a mapping that stays as long as the process.
    unsafe { PAGE.head.load(Acquire).as_ref() }
}

/// A word of the head.
pub(crate) fn head_word(index: usize) -> Option<&'static AtomicU64> {
    head()?.get(index)
}

/// What is recorded at which layer.
#[inline(always)]
pub(crate) fn wants(layer: TraceLayer) -> bool {
    let bit = match layer {
        TraceLayer::MpiIo => MPIIO,
        TraceLayer::Posix => POSIX,
        TraceLayer::Stdio => STDIO,
    };
    LAYERS.load(Relaxed) & bit != 0
}

/// Whether what a thread does is part of MPI-IO, and recorded there.
#[inline(always)]
pub(crate) fn is_mpis(thread: &ThreadState) -> bool {
    thread.is_in_mpi() && wants(TraceLayer::MpiIo)
}

/// So many operations could be kept nowhere: the trace says so.
pub(crate) fn lose(operations: u64) {
    if let Some(lost) = head_word(layout::LOST) {
        lost.fetch_add(operations, Relaxed);
    }
}

/// Bytes that passed through functions that are looked at, and were not recorded.
#[inline(always)]
pub(crate) fn beside(direction: Direction, bytes: i64) {
    if bytes > 0
        && let Some(head) = head()
    {
        let index = if direction == Direction::Read { layout::BESIDE_READ } else { layout::BESIDE_WRITTEN };
        if let Some(sum) = head.get(index) {
            sum.fetch_add(bytes as u64, Relaxed);
        }
    }
}

/// A program that is still there after it has tried to become another one goes on.
#[cold]
pub(crate) fn goes_on() {
    PAGE.becoming.store(0, Relaxed);
    set_state(layout::RECORDING);
    let _ = PAGE.mode.compare_exchange(mode::BECOMING, mode::RECORDING, AcqRel, Relaxed);
}

/// A call is to be recorded after the program has tried to become another one. If it is made by the thread
/// that did, that has failed. Others may record until it succeeds.
#[cold]
pub(crate) fn is_still_there() {
    if PAGE.becoming.load(Relaxed) == this_thread() && is_this_process() {
        goes_on();
    }
}

/// Not 0.
pub(crate) fn this_thread() -> u32 {
    thread::with(|thread| u32::from(thread::number(thread)) + 1)
}

/// The program pauses recording, or goes on with it.
pub(crate) fn pause(paused: bool) {
    if PAGE.mode.load(Relaxed) == mode::BECOMING {
        is_still_there();
    }
    let (from, to) = if paused { (mode::RECORDING, mode::PAUSED) } else { (mode::PAUSED, mode::RECORDING) };
    let _ = PAGE.mode.compare_exchange(from, to, AcqRel, Relaxed);
}

/// Whether the process records for itself, and not for a rank of MPI.
pub(crate) fn is_own_process() -> bool {
    head().is_some() && is_no_rank()
}

/// Whether this is the process that records, or would, and no rank of MPI.
pub(crate) fn is_no_rank() -> bool {
    IS_RANK.load(Relaxed) == 0 && is_this_process()
}

/// Whether marks are recorded.
pub(crate) fn is_marked() -> bool {
    matches!(PAGE.mode.load(Relaxed), mode::RECORDING | mode::BECOMING) && is_this_process()
}

/// The user who made the spool.
pub(crate) fn maker() -> Option<u32> {
    PAGE.maker.load(Relaxed).checked_sub(1)
}

/// After so many attempts in vain nothing is recorded.
pub(crate) const MOST_FAILURES: u32 = 10;

pub(crate) fn set(head: &Head, index: usize, value: u64) {
    if let Some(word) = head.get(index) {
        word.store(value, Release);
    }
}

/// Stores a state in the head.
pub(crate) fn set_state(state: u64) {
    if let Some(head) = head() {
        set(head, layout::STATE, state);
    }
}
