//! The clock that stamps operations.
//!
//! A reading is a number of ticks. Where the kernel itself keeps time by the processor's counter, a tick is
//! one count of it, which is several times cheaper to read than the monotonic clock; elsewhere it is a
//! nanosecond. The spool has pairs of readings of both clocks, by which ticks become nanoseconds.

use crate::{load, sys};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU8, AtomicUsize};

/// What ticks are: 0 nobody knows yet, and the counter is read; 1 counts; 2 nanoseconds.
static KIND: AtomicU8 = AtomicU8::new(0);
const UNKNOWN: u8 = 0;
const COUNTS: u8 = 1;
const NANOSECONDS: u8 = 2;
/// The C library's way to ask for the time, which needs no system call; 0: not looked for, 1: there is none.
static ASK: AtomicUsize = AtomicUsize::new(0);

/// A reading of the clock.
#[inline(always)]
pub fn now() -> u64 {
    if KIND.load(Relaxed) == NANOSECONDS { monotonic() as u64 } else { counter() }
}

/// Whether ticks are counts of the processor.
pub fn is_counter() -> bool {
    KIND.load(Relaxed) == COUNTS
}

/// Whether the clock was chosen.
pub fn is_chosen() -> bool {
    KIND.load(Relaxed) != UNKNOWN
}

/// Chooses the clock, once.
pub fn choose(counter: bool) {
    let _ = KIND.compare_exchange(UNKNOWN, if counter { COUNTS } else { NANOSECONDS }, Relaxed, Relaxed);
}

/// The start of a call that has made the spool: what was read before the clock was chosen may not be of it.
#[inline(always)]
pub fn begin() -> Start {
    Start { ticks: now(), was_known: KIND.load(Relaxed) != UNKNOWN }
}

/// See [`begin`].
#[derive(Clone, Copy, Debug)]
pub struct Start {
    ticks: u64,
    was_known: bool,
}

impl Start {
    #[inline(always)]
    pub fn ticks(self) -> u64 {
        if self.was_known || is_counter() { self.ticks } else { now() }
    }
}

/// The monotonic clock, in nanoseconds.
#[inline]
pub fn monotonic() -> i64 {
    match ASK.load(Relaxed) {
        0 => look(),
        1 => sys::clock(sys::CLOCK_MONOTONIC),
        function => {
            let mut time = [0i64; 2];
            // SAFETY: the function of the C library has this signature; its structure is two words.
            let ask: extern "C" fn(i32, &mut [i64; 2]) -> i32 =
                unsafe { core::mem::transmute::<usize, extern "C" fn(i32, &mut [i64; 2]) -> i32>(function) };
            ask(sys::CLOCK_MONOTONIC as i32, &mut time);
            let [seconds, nanoseconds] = time;
            seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
        }
    }
}

#[cold]
fn look() -> i64 {
    ASK.store(load::next(b"clock_gettime").unwrap_or(1), Relaxed);
    of_kernel()
}

/// The monotonic clock, by a system call: for what is asked a few times in the life of a process. Mapping the
/// pages that the C library's way needs would take longer.
pub fn of_kernel() -> i64 {
    sys::clock(sys::CLOCK_MONOTONIC)
}

/// Wall-clock time, nanoseconds since 1970.
pub fn realtime() -> i64 {
    sys::clock(sys::CLOCK_REALTIME)
}

/// A reading of the clock and of the monotonic one at nearly the same moment: the narrowest of three tries.
pub fn pair() -> (u64, i64) {
    if !is_counter() {
        let ns = of_kernel();
        return (ns as u64, ns);
    }
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..3 {
        let before = counter();
        let ns = of_kernel();
        let width = counter().wrapping_sub(before);
        if width < best.0 {
            best = (width, before.wrapping_add(width / 2), ns);
        }
    }
    (best.1, best.2)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    // SAFETY: every processor of this kind has the instruction; it has no other effect.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn counter() -> u64 {
    monotonic() as u64
}

/// Whether the kernel itself keeps time by the counter. Opens a file.
pub fn kernel_trusts_the_counter() -> bool {
    if !cfg!(target_arch = "x86_64") {
        return false;
    }
    let path = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let Ok(file) = sys::open(path, sys::O_RDONLY | sys::O_CLOEXEC, 0) else { return false };
    let mut text = [0u8; 8];
    let read = sys::read(file, &mut text);
    sys::close(file);
    read.is_ok_and(|length| matches!(text.get(..length), Some(b"tsc\n" | b"tsc")))
}
