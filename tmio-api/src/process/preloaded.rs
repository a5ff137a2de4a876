//! The object that is preloaded, as it has introduced itself: where records go, and who writes them.

use std::ffi::c_void;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicIsize, AtomicPtr, AtomicU64};
use tmio_spool::attach::{Core, VERSION};
use tmio_spool::layout;
use tmio_spool::thread::ThreadState;

static CORE: AtomicPtr<Core> = AtomicPtr::new(std::ptr::null_mut());

/// Distance of a thread's state from its thread pointer; the entry points of the recorder read it.
pub static DISTANCE: AtomicIsize = AtomicIsize::new(0);

/// Takes note of the object. `false`: it is of another version.
///
/// # Safety
///
/// It is what the object says it is.
pub unsafe fn attach(core: *const Core) -> bool {
    // SAFETY: as the caller promises; the version comes first in every version.
    if unsafe { (*core).version } != VERSION {
        return false;
    }
    // SAFETY: as above. It is kept for good, in memory of our own.
    let core = Box::leak(Box::new(unsafe { core.read() }));
    DISTANCE.store(core.thread, Relaxed);
    CORE.store(core, Release);
    true
}

/// The object, once it has introduced itself.
#[inline(always)]
pub fn get() -> Option<&'static Core> {
    // SAFETY: null, or what was leaked above.
    unsafe { CORE.load(Acquire).as_ref() }
}

/// Whether an address lies in the object.
pub fn contains(address: usize) -> bool {
    get().is_some_and(|core| {
        let [low, high] = core.addresses;
        (low..high).contains(&address)
    })
}

/// The next function of a name after the object.
pub fn next(name: &std::ffi::CStr) -> *mut c_void {
    match get() {
        // SAFETY: it is a name of that length.
        Some(core) => unsafe { (core.next)(name.as_ptr().cast(), name.count_bytes()) },
        None => std::ptr::null_mut(),
    }
}

/// What the calling thread remembers.
#[inline(always)]
pub(crate) fn thread_state() -> *const ThreadState {
    match DISTANCE.load(Relaxed) {
        0 => without_object(),
        distance => std::ptr::with_exposed_provenance(pointer().wrapping_add_signed(distance)),
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn pointer() -> usize {
    let pointer: usize;
    // SAFETY: the first word of the thread's memory is its own address.
    unsafe {
        std::arch::asm!("mov {pointer}, qword ptr fs:[0]", pointer = out(reg) pointer, options(pure, nomem, nostack));
    }
    pointer
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe {
        std::arch::asm!("mrs {pointer}, tpidr_el0", pointer = out(reg) pointer, options(pure, nomem, nostack));
    }
    pointer
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn pointer() -> usize {
    0
}

/// In tests, and in the helper, nobody is preloaded.
#[cold]
fn without_object() -> *const ThreadState {
    thread_local! {
        // SAFETY: zeros are the state in which a thread begins.
        static STATE: ThreadState = const { unsafe { std::mem::zeroed() } };
    }
    STATE.with(std::ptr::from_ref)
}

/// The spool of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spool(&'static [AtomicU64; layout::HEAD_WORDS]);

impl Spool {
    /// The spool, which is made if it was not. `None`: that cannot be.
    pub(crate) fn make() -> Option<Self> {
        let head = (get()?.spool)();
        // SAFETY: null, or the beginning of a mapping that stays as long as the process.
        unsafe { head.cast::<[AtomicU64; layout::HEAD_WORDS]>().as_ref() }.map(Self)
    }

    /// The spool, if there is one.
    pub(crate) fn if_any() -> Option<Self> {
        const RECORDING: u32 = 3;
        const PAUSED: u32 = 6;
        let mode = get()?.mode.load(Acquire);
        if matches!(mode, RECORDING | PAUSED) { Self::make() } else { None }
    }

    pub(crate) fn word(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |word| word.load(Acquire))
    }

    pub(crate) fn set(&self, index: usize, value: u64) {
        if let Some(word) = self.0.get(index) {
            word.store(value, Release);
        }
    }

    /// Stores the frames with which this rank begins in the finished trace. `false`: they do not fit.
    pub(crate) fn set_front(&self, frames: &[u8]) -> bool {
        if frames.len() > layout::FRONT_BYTES {
            return false;
        }
        // SAFETY: the front has its place in the mapping, which has memory there since the rank was told to
        // the spool; nobody reads it before its length is stored.
        unsafe {
            let place = self.0.as_ptr().cast::<u8>().cast_mut().add(layout::FRONT_OFFSET);
            std::ptr::copy_nonoverlapping(frames.as_ptr(), place, frames.len());
        }
        self.set(layout::FRONT_LENGTH, frames.len() as u64);
        true
    }
}

/// Runs something where its descriptors are not the program's, if that can be had: in a process of its own
/// while there are several threads. So nothing that follows who the calling process is may be in it. `None`:
/// it was begun, and something has ended it.
pub fn apart<T>(body: impl FnOnce() -> T) -> Option<T> {
    struct Work<F, T> {
        body: Option<F>,
        result: Option<T>,
    }
    unsafe extern "C" fn run<F: FnOnce() -> T, T>(work: *mut c_void) -> bool {
        // SAFETY: it is what is given below, which waits.
        let work = unsafe { &mut *work.cast::<Work<F, T>>() };
        work.result = work.body.take().map(|body| body());
        true
    }
    fn runner<F: FnOnce() -> T, T>(_: &Work<F, T>) -> tmio_spool::attach::Body {
        run::<F, T>
    }
    let mut work = Work { body: Some(body), result: None };
    let runner = runner(&work);
    if let Some(core) = get() {
        // SAFETY: the work lives until it is done.
        unsafe { (core.apart)(runner, (&raw mut work).cast()) };
    }
    match work.body {
        None => work.result,
        Some(body) => Some(body()),
    }
}
