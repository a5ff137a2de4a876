//! Children that share the memory of this process: what they do to their descriptors is not done to ours.
//!
//! A child of `vfork` closes and duplicates descriptors before it becomes another program, in memory and with
//! thread-local variables that are the parent's. Asking the kernel who one is would tell, and costs more than
//! all the rest of a `close`. So `vfork` leaves a mark in the thread, and only a thread with a mark asks. The
//! parent does not run while such a child does: if the answer is that it is the parent, the child has gone,
//! and so does the mark.

use crate::entry::preceded;
use crate::{page, thread};
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

/// There was a `clone` with which children share the memory for as long as they like: everybody asks.
static SHARED_FOR_GOOD: AtomicU8 = AtomicU8::new(0);

/// Whether this is the process that records, and not one that it made by `vfork` and that shares its memory.
#[inline(always)]
pub(crate) fn is_own_memory() -> bool {
    (SHARED_FOR_GOOD.load(Relaxed) == 0 && thread::with(|thread| thread.vforked.get() == 0)) || ask()
}

#[cold]
#[inline(never)]
fn ask() -> bool {
    let is_parent = page::is_this_process();
    if is_parent {
        thread::with(|thread| thread.vforked.set(0));
    }
    is_parent
}

fn shares_memory(flags: usize) -> bool {
    const CLONE_VM: usize = 0x100;
    const CLONE_THREAD: usize = 0x10000;
    flags & CLONE_VM != 0 && flags & CLONE_THREAD == 0
}

/// A system call of the program's own is about to make a child.
pub(crate) fn before_raw(is_vfork: bool, flags: usize) {
    if is_vfork {
        thread::with(|thread| thread.vforked.set(1));
    } else if shares_memory(flags) || flags > u32::MAX as usize {
        // `clone3` has its flags in memory: they are not looked at.
        SHARED_FOR_GOOD.store(1, Relaxed);
    }
}

preceded! {
    vfork () thread::with(|thread| thread.vforked.set(1));
    clone (_function: usize, _stack: usize, flags: i32) if shares_memory(flags as usize) {
        SHARED_FOR_GOOD.store(1, Relaxed);
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_shares_memory_is_told_from_a_thread_and_from_a_copy() {
        assert!(
            shares_memory(0x100) && shares_memory(0x4100) && !shares_memory(17) && !shares_memory(0x10100)
        );
    }
}
