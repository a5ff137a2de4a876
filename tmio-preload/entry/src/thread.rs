//! The thread-local memory of this object: part of every thread from its start, at a fixed distance from the
//! thread pointer. Finding it costs one instruction more than a variable, and never a call.

pub use tmio_spool::thread::ThreadState;

use core::sync::atomic::AtomicU16;
use core::sync::atomic::Ordering::Relaxed;

/// Runs `body` with what the calling thread remembers.
#[inline(always)]
pub fn with<T>(body: impl FnOnce(&ThreadState) -> T) -> T {
    // SAFETY: the place belongs to the calling thread, which lives until `body` returns; zeros, with which it
    // begins, are a state.
    body(unsafe { &*place() })
}

/// How far the thread's memory is from the thread pointer.
pub fn distance() -> isize {
    (place() as isize).wrapping_sub(pointer() as isize)
}

/// Number of the thread within its process, given out at its first record.
#[inline(always)]
pub(crate) fn number(thread: &ThreadState) -> u16 {
    match thread.number.get() {
        0 => new_number(thread),
        number => number - 1,
    }
}

#[cold]
#[inline(never)]
fn new_number(thread: &ThreadState) -> u16 {
    static THREADS: AtomicU16 = AtomicU16::new(0);
    let next = THREADS.fetch_update(Relaxed, Relaxed, |number| (number < u16::MAX - 1).then_some(number + 1));
    let number = next.unwrap_or(u16::MAX - 1);
    thread.number.set(number + 1);
    number
}

#[cfg(all(target_arch = "x86_64", tmio_object))]
#[inline(always)]
fn place() -> *const ThreadState {
    let place: *const ThreadState;
    // SAFETY: reads the thread pointer and adds the distance, which the dynamic linker has filled in.
    unsafe {
        core::arch::asm!(
            "mov {place}, qword ptr fs:[0]",
            "add {place}, qword ptr [rip + tmio_thread_state@GOTTPOFF]",
            place = out(reg) place,
            options(pure, nomem, nostack),
        );
    }
    place
}

#[cfg(target_arch = "x86_64")]
fn pointer() -> usize {
    let pointer: usize;
    // SAFETY: the first word of the thread's memory is its own address.
    unsafe {
        core::arch::asm!("mov {pointer}, qword ptr fs:[0]", pointer = out(reg) pointer, options(pure, nomem, nostack));
    }
    pointer
}

#[cfg(all(target_arch = "aarch64", tmio_object))]
#[inline(always)]
fn place() -> *const ThreadState {
    let place: *const ThreadState;
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "adrp {distance}, :gottprel:tmio_thread_state",
            "ldr {distance}, [{distance}, :gottprel_lo12:tmio_thread_state]",
            "mrs {place}, tpidr_el0",
            "add {place}, {place}, {distance}",
            distance = out(reg) _,
            place = out(reg) place,
            options(pure, nomem, nostack),
        );
    }
    place
}

#[cfg(target_arch = "aarch64")]
fn pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!("mrs {pointer}, tpidr_el0", pointer = out(reg) pointer, options(pure, nomem, nostack));
    }
    pointer
}

#[cfg(tmio_object)]
core::arch::global_asm!(
    ".pushsection .tbss.tmio_thread_state, \"awT\", %nobits",
    ".globl tmio_thread_state",
    ".hidden tmio_thread_state",
    ".type tmio_thread_state, %tls_object",
    ".p2align 6",
    "tmio_thread_state:",
    ".zero 64",
    ".size tmio_thread_state, 64",
    ".popsection",
);

/// For tests and lints, where there is no object of ours.
#[cfg(not(tmio_object))]
fn place() -> *const ThreadState {
    extern crate std;
    std::thread_local! {
        // SAFETY: zeros are the state in which a thread begins.
        static STATE: ThreadState = const { unsafe { core::mem::zeroed() } };
    }
    STATE.with(core::ptr::from_ref)
}
