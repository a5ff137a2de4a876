//! Work of ours inside the program: memory and a stack for it, and descriptors that the program never meets.

use crate::text::PATH_BYTES;
use crate::{load, page, sys};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicUsize};
use tmio_spool::attach::Body;

/// Somebody is in the workshop.
static IN_USE: AtomicU8 = AtomicU8::new(0);

/// Memory for work that only one thread does at a time.
pub(crate) struct Workshop {
    /// For another process, and …
    pub(crate) stack: UnsafeCell<Stack>,
    /// … for the thread itself.
    own_stack: UnsafeCell<OwnStack>,
    pub(crate) path: UnsafeCell<[u8; PATH_BYTES]>,
    pub(crate) other_path: UnsafeCell<[u8; PATH_BYTES]>,
}

#[repr(align(16))]
pub(crate) struct Stack(pub(crate) [u8; 64 << 10]);

#[repr(align(16))]
struct OwnStack([u8; 16 << 10]);

// SAFETY: what is in it is used by whoever has set `IN_USE`.
unsafe impl Sync for Workshop {}

#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_large"))]
pub(crate) static WORKSHOP: Workshop = Workshop {
    stack: UnsafeCell::new(Stack([0; 64 << 10])),
    own_stack: UnsafeCell::new(OwnStack([0; 16 << 10])),
    path: UnsafeCell::new([0; PATH_BYTES]),
    other_path: UnsafeCell::new([0; PATH_BYTES]),
};

impl Workshop {
    /// Runs `body` alone, with signals blocked, and on a stack of our own: that of the caller may be small.
    /// `None`: somebody else is at it, and does not come to an end.
    pub(crate) fn alone<T>(&self, body: impl FnOnce() -> T) -> Option<T> {
        sys::without_signals(|| {
            for _ in 0..TRIES {
                if IN_USE.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                    // SAFETY: nobody else uses it until it is given back.
                    let result = unsafe { sys::on_stack(&mut (*self.own_stack.get()).0, body) };
                    IN_USE.store(0, Release);
                    return Some(result);
                }
                sys::sleep(PAUSE);
            }
            None
        })
    }

    /// In the child of a fork: whoever was at it is not here.
    pub(crate) fn begin_anew(&self) {
        IN_USE.store(0, Relaxed);
    }
}

/// How often, and after which pauses in nanoseconds, a thread looks whether another one is done.
pub(crate) const TRIES: usize = 400;

pub(crate) const PAUSE: u64 = 50_000;

/// No file of ours is longer.
const UNLIMITED: u64 = 16 << 30;

/// Runs `body` where its descriptors are not the program's: at once while nobody else can see them, else in a
/// process of its own, which has room for more. `false`: it did not succeed, or that cannot be had here. The
/// workshop is held.
pub(crate) fn with_own_descriptors(body: Body, argument: *mut c_void) -> bool {
    // Files of ours are the files of who made the spool, whoever the program is at this moment.
    let user = page::maker().unwrap_or_else(sys::user);
    let is_that = sys::file_user() == user;
    // A file that gets longer than the limit would raise a signal, which is not for the program.
    let is_unlimited = sys::limits(sys::RLIMIT_FSIZE)[0] >= UNLIMITED;
    if is_alone() && is_that && is_unlimited {
        // SAFETY: what `body` asks for, the caller has.
        let done = unsafe { body(argument) };
        if done || sys::has_a_descriptor() {
            return done;
        }
    }
    struct Apart {
        body: Body,
        argument: *mut c_void,
        user: Option<u32>,
        was_there: bool,
        done: bool,
    }
    unsafe extern "C" fn run(apart: *mut c_void) {
        if page::is_wiped() {
            return;
        }
        // SAFETY: it is what is given below, which waits; this is a process of its own.
        unsafe {
            let apart = &mut *apart.cast::<Apart>();
            apart.was_there = true;
            sys::raise_limit(sys::RLIMIT_FSIZE);
            if let Some(user) = apart.user {
                sys::act_as(user);
            }
            apart.done = (apart.body)(apart.argument);
            if !apart.done && !sys::has_a_descriptor() {
                sys::close_all();
                apart.done = (apart.body)(apart.argument);
            }
        }
    }
    if !sys::has_usual_children() {
        // A process of our own would be the first of a new namespace of the program's, and its end the end of
        // that. Other threads may see a descriptor of ours for a moment.
        // SAFETY: what `body` asks for, the caller has.
        return is_that && is_unlimited && unsafe { body(argument) };
    }
    let mut apart = Apart { body, argument, user: (!is_that).then_some(user), was_there: false, done: false };
    // SAFETY: the workshop is held, so that nobody else uses its stack; signals are blocked.
    match unsafe { sys::apart(&mut (*WORKSHOP.stack.get()).0, run, (&raw mut apart).cast()) } {
        Ok(()) if apart.was_there => apart.done,
        // An emulator, not a kernel: it refuses such a child, or gives it a copy of the memory (valgrind).
        // Other threads may see a descriptor of ours for a moment.
        // SAFETY: what `body` asks for, the caller has.
        Err(sys::EINVAL) => unsafe { body(argument) },
        // SAFETY: as above.
        Ok(()) => is_that && is_unlimited && unsafe { body(argument) },
        Err(_) => false,
    }
}

/// Whether the process has one thread, as the C library knows it (from glibc 2.32 on).
fn is_alone() -> bool {
    static FLAG: AtomicUsize = AtomicUsize::new(0);
    const UNKNOWN: usize = 1;
    let mut place = FLAG.load(Relaxed);
    if place == 0 {
        place = load::anywhere(b"__libc_single_threaded", crate::elf::Kind::Any).unwrap_or(UNKNOWN);
        FLAG.store(place, Relaxed);
    }
    // SAFETY: a byte of the C library's.
    place != UNKNOWN && unsafe { core::ptr::with_exposed_provenance::<i8>(place).read_volatile() } != 0
}
