//! Children that share the memory of this process: what they do to their descriptors is not done to ours.
//!
//! A child of `vfork` closes and duplicates descriptors before it becomes another program, in memory and with
//! thread-local variables that are the parent's. Asking the kernel who one is would tell, and costs more than
//! all the rest of a `close`. So `vfork` leaves a mark in the thread, and only a thread with a mark asks. The
//! parent does not run while such a child does: if the answer is that it is the parent, the child has gone,
//! and so does the mark.

use super::recording;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// There was a `clone` with which children share the memory for as long as they like: everybody asks.
static SHARED_FOR_GOOD: AtomicBool = AtomicBool::new(!cfg!(all(target_arch = "x86_64", target_os = "linux")));

/// Whether this is the process that records, and not one that it made by `vfork` and that shares its memory.
#[inline(always)]
pub(super) fn is_own_memory() -> bool {
    (!SHARED_FOR_GOOD.load(Relaxed) && !mark::is_set()) || ask()
}

#[cold]
fn ask() -> bool {
    let is_parent = recording::is_this_process();
    if is_parent {
        mark::clear();
    }
    is_parent
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod mark {
    pub(super) fn is_set() -> bool {
        true
    }
    pub(super) fn clear() {}
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod mark {
    use super::super::next::Next;
    use super::SHARED_FOR_GOOD;
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::Ordering::Relaxed;

    std::arch::global_asm!(
        ".pushsection .tbss.tmio_vforked, \"awT\", @nobits",
        ".globl tmio_vforked",
        ".hidden tmio_vforked",
        "tmio_vforked:",
        ".zero 1",
        ".size tmio_vforked, 1",
        ".popsection",
    );

    #[inline(always)]
    pub(super) fn is_set() -> bool {
        let mark: u8;
        // SAFETY: reads a thread-local byte whose distance from the thread pointer the dynamic linker has
        // filled in.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + tmio_vforked@GOTTPOFF]",
                "mov {mark}, byte ptr fs:[{place}]",
                place = out(reg) _,
                mark = out(reg_byte) mark,
                options(nostack, readonly, preserves_flags),
            );
        }
        mark != 0
    }

    pub(super) fn clear() {
        store(0);
    }

    fn store(mark: u8) {
        // SAFETY: as above, and nothing else is there.
        unsafe {
            std::arch::asm!(
                "mov {place}, qword ptr [rip + tmio_vforked@GOTTPOFF]",
                "mov byte ptr fs:[{place}], {mark}",
                place = out(reg) _,
                mark = in(reg_byte) mark,
                options(nostack, preserves_flags),
            );
        }
    }

    /// Comes before the C library's `vfork`, and goes on to it as if it had never been: that one returns
    /// twice.
    ///
    /// # Safety
    ///
    /// As for `vfork`.
    #[cfg_attr(not(test), unsafe(no_mangle))]
    #[cfg_attr(test, allow(dead_code))]
    #[unsafe(naked)]
    unsafe extern "C" fn vfork() {
        core::arch::naked_asm!(
            "sub rsp, 8",
            "call {before}",
            "add rsp, 8",
            "jmp rax",
            before = sym before_vfork,
        )
    }

    extern "C" fn before_vfork() -> *mut c_void {
        static NEXT: Next = Next::new("vfork\0");
        store(1);
        NEXT.get()
    }

    /// A system call of the program's own is about to make a child.
    pub(in super::super) fn before_raw(number: i64, flags: usize) {
        match number {
            libc::SYS_vfork => store(1),
            libc::SYS_clone if shares_memory(flags as c_int) => SHARED_FOR_GOOD.store(true, Relaxed),
            _ => {}
        }
    }

    fn shares_memory(flags: c_int) -> bool {
        flags & libc::CLONE_VM != 0 && flags & libc::CLONE_THREAD == 0
    }

    /// The same for `clone`, whose other arguments are none of ours.
    ///
    /// # Safety
    ///
    /// As for `clone`.
    #[cfg_attr(not(test), unsafe(no_mangle))]
    #[cfg_attr(test, allow(dead_code))]
    #[unsafe(naked)]
    unsafe extern "C" fn clone() {
        core::arch::naked_asm!(
            crate::caller::call_before!(),
            "jmp r11",
            before = sym before_clone,
        )
    }

    extern "C" fn before_clone(_function: usize, _stack: usize, flags: c_int) -> *mut c_void {
        static NEXT: Next = Next::new("clone\0");
        if shares_memory(flags) {
            SHARED_FOR_GOOD.store(true, Relaxed);
        }
        NEXT.get()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_mark_is_kept_by_its_thread() {
            store(1);
            assert!(is_set());
            std::thread::spawn(|| assert!(!is_set())).join().unwrap();
            clear();
            assert!(!is_set());
            assert!(shares_memory(libc::CLONE_VM | libc::CLONE_VFORK));
            assert!(!shares_memory(libc::SIGCHLD) && !shares_memory(libc::CLONE_VM | libc::CLONE_THREAD));
        }
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) use mark::before_raw;
