//! Children that share the memory of this process: what they do to their descriptors is not done to ours.
//!
//! A child of `vfork` closes and duplicates descriptors before it becomes another program, in memory and with
//! thread-local variables that are the parent's. Asking the kernel who one is would tell, and costs more than
//! all the rest of a `close`. So `vfork` leaves a mark in the thread, and only a thread with a mark asks. The
//! parent does not run while such a child does: if the answer is that it is the parent, the child has gone,
//! and so does the mark.

use crate::entry::preceded;
use crate::{descriptors, page, thread};
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

/// Whether a child that is no thread has the same descriptors: what it does to them, nobody sees.
fn shares_descriptors(flags: usize) -> bool {
    const CLONE_FILES: usize = 0x400;
    const CLONE_THREAD: usize = 0x10000;
    flags & CLONE_FILES != 0 && flags & CLONE_THREAD == 0
}

/// A system call of the program's own is about to make a child.
pub(crate) fn before_raw(is_vfork: bool, flags: usize) {
    // `clone3` has its flags in memory: they are not looked at.
    let may_be_all = flags > u32::MAX as usize;
    if is_vfork {
        thread::with(|thread| thread.vforked.set(1));
        return;
    }
    if shares_memory(flags) || may_be_all {
        SHARED_FOR_GOOD.store(1, Relaxed);
    }
    if shares_descriptors(flags) || may_be_all {
        descriptors::doubt_always();
    }
}

preceded! {
    vfork () thread::with(|thread| thread.vforked.set(1));
    clone (_function: usize, _stack: usize, flags: i32) before_raw(false, flags as u32 as usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_shares_memory_is_told_from_a_thread_and_from_a_copy() {
        assert!(
            shares_memory(0x100) && shares_memory(0x4100) && !shares_memory(17) && !shares_memory(0x10100)
        );
        assert!(shares_descriptors(0x411) && !shares_descriptors(17) && !shares_descriptors(0x10500));
    }
}
