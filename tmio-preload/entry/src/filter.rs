//! Filters of system calls (seccomp): where one is in force, a call of ours could be the end of the program.

use crate::page::{MOST_FAILURES, PAGE};
use crate::sys;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A filter of system calls is in force. It never goes, but may come while the program runs.
pub(crate) static RESTRICTED: AtomicBool = AtomicBool::new(false);

/// Whether the process may only make some system calls: one of ours could be its end. What asks for it here
/// is what the dynamic linker has just done.
pub(crate) fn is_restricted() -> bool {
    look(c"/proc/thread-self/status")
}

/// The same in the thread with which the process begins. There is less to look for, and that is known already
/// when the process asks for other things.
pub(crate) fn is_restricted_at_start() -> bool {
    look(c"/proc/self/status")
}

#[inline(never)]
fn look(status: &CStr) -> bool {
    if RESTRICTED.load(Relaxed) {
        return true;
    }
    // Where there was none, the program has not set one by any function of the C library since. By other
    // means it may have: there is no safe way to ask then, and this one is quick.
    static LOOKED: AtomicBool = AtomicBool::new(false);
    if LOOKED.load(Relaxed) {
        return sys::has_filter() && note();
    }
    // Not on the stack, which may be small; only a second thread has less room.
    static IN_USE: AtomicBool = AtomicBool::new(false);
    static ROOM: Room = Room(UnsafeCell::new([0; 1024]));
    let answer = if IN_USE.swap(true, Acquire) {
        has_filter(status, &mut [0; 64])
    } else {
        // SAFETY: nobody else uses it until it is given back.
        let answer = has_filter(status, unsafe { &mut *ROOM.0.get() });
        IN_USE.store(false, Release);
        answer
    };
    // Where that cannot be found out now, nothing is begun now.
    let Some(restricted) = answer else { return true };
    LOOKED.store(true, Relaxed);
    restricted && note()
}

fn note() -> bool {
    RESTRICTED.store(true, Relaxed);
    PAGE.failures.store(MOST_FAILURES, Relaxed);
    true
}

struct Room(UnsafeCell<[u8; 1024]>);

// SAFETY: used by whoever has set the flag beside it.
unsafe impl Sync for Room {}

/// Asks the kernel whether a filter is in force; `text` is room for what it says. `None`: there is no
/// descriptor left.
fn has_filter(status: &CStr, text: &mut [u8]) -> Option<bool> {
    // The line is near the end; the pieces overlap by as much as is looked for.
    const LINE: &[u8] = b"\nSeccomp:\t";
    let file = match sys::open(status, sys::O_RDONLY | sys::O_CLOEXEC, 0) {
        Ok(file) => file,
        Err(sys::EMFILE | sys::ENFILE) => return None,
        Err(_) => return Some(true),
    };
    let (mut kept, mut restricted) = (0, false);
    while let Some(room) = text.get_mut(kept..)
        && let Ok(read @ 1..) = sys::read(file, room)
    {
        let all = text.get(..kept + read).unwrap_or_default();
        let found = all.windows(LINE.len() + 1).find(|part| part.starts_with(LINE));
        if let Some(mode) = found.and_then(|line| line.last()) {
            restricted = *mode != b'0';
            break;
        }
        let from = all.len().saturating_sub(LINE.len());
        kept = all.len() - from;
        text.copy_within(from..from + kept, 0);
    }
    sys::close(file);
    Some(restricted)
}
