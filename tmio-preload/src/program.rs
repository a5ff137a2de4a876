//! The library as a program: the helper. The object that is preloaded starts it by the dynamic linker, with
//! what the paths of the job's spools begin with as its only argument.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

// Where a program begins: the number of arguments is where the stack is, and the arguments behind it.
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(test)))]
std::arch::global_asm!(
    ".pushsection .text.tmio_program, \"ax\", @progbits",
    ".globl tmio_program",
    ".type tmio_program, @function",
    "tmio_program:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "xor ebp, ebp",
    "mov r9, rdx",
    "pop rsi",
    "mov rdx, rsp",
    "and rsp, -16",
    "push rax",
    "push rsp",
    "lea rdi, [rip + {main}]",
    "xor r8d, r8d",
    "xor ecx, ecx",
    "call qword ptr [rip + __libc_start_main@GOTPCREL]",
    "ud2",
    ".cfi_endproc",
    ".size tmio_program, . - tmio_program",
    ".popsection",
    main = sym main,
);

#[cfg(all(target_arch = "aarch64", target_os = "linux", not(test)))]
std::arch::global_asm!(
    ".pushsection .text.tmio_program, \"ax\", %progbits",
    ".globl tmio_program",
    ".type tmio_program, %function",
    "tmio_program:",
    ".cfi_startproc",
    ".cfi_undefined x30",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x5, x0",
    "ldr x1, [sp]",
    "add x2, sp, 8",
    "mov x6, sp",
    "adrp x0, {main}",
    "add x0, x0, :lo12:{main}",
    "mov x3, xzr",
    "mov x4, xzr",
    "bl __libc_start_main",
    "brk 1",
    ".cfi_endproc",
    ".size tmio_program, . - tmio_program",
    ".popsection",
    main = sym main,
);

/// Which program to run when the library is one.
#[cfg(all(target_env = "gnu", not(test)))]
#[used]
#[unsafe(link_section = ".interp")]
static INTERPRETER: [u8; PATH.len()] = {
    let mut path = [0; PATH.len()];
    let mut index = 0;
    #[allow(clippy::indexing_slicing)] // evaluated by the compiler
    while index < PATH.len() {
        path[index] = PATH[index];
        index += 1;
    }
    path
};

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(test)))]
const PATH: &[u8] = b"/lib64/ld-linux-x86-64.so.2\0";
#[cfg(all(target_arch = "aarch64", target_env = "gnu", not(test)))]
const PATH: &[u8] = b"/lib/ld-linux-aarch64.so.1\0";

/// Bytes of the stack that the helper works on. The program's limit of that may be a few pages, which it
/// cannot raise; only what is used is memory.
const STACK: usize = 1 << 20;

/// What nobody may touch below it: more than a page on every processor, so that whoever uses more ends.
const GUARD: usize = 1 << 16;

/// What the paths of the job's spools begin with.
static JOB: AtomicPtr<c_char> = AtomicPtr::new(null_mut());

static FAILED: AtomicBool = AtomicBool::new(false);

#[cfg_attr(test, allow(dead_code))]
unsafe extern "C" fn main(count: c_int, arguments: *const *const c_char) -> c_int {
    if count != 2 {
        return 2;
    }
    // SAFETY: the C library gives as many strings.
    JOB.store(unsafe { *arguments.add(1) }.cast_mut(), Relaxed);
    on_own_stack(work);
    c_int::from(FAILED.load(Relaxed))
}

extern "C" fn work() {
    // SAFETY: one of the program's arguments.
    let job = unsafe { CStr::from_ptr(JOB.load(Relaxed)) };
    let job = Path::new(OsStr::from_bytes(job.to_bytes()));
    let done = std::panic::catch_unwind(|| tmio_api::helper::run(job));
    FAILED.store(done.is_err(), Relaxed);
}

/// Runs it on a stack in memory of its own, or if there is none on this one.
fn on_own_stack(body: extern "C" fn()) {
    let (protection, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping anywhere the kernel likes.
    let stack = unsafe { libc::mmap(null_mut(), STACK, protection, private | libc::MAP_STACK, -1, 0) };
    if stack == libc::MAP_FAILED {
        return body();
    }
    // SAFETY: the lowest part of what was just mapped, which grows down to there.
    unsafe { libc::mprotect(stack, GUARD, libc::PROT_NONE) };
    // They are large, too.
    let [mut here, mut there] = [(); 2].map(|()| Box::new(MaybeUninit::<libc::ucontext_t>::zeroed()));
    // SAFETY: both places are valid until the body has returned, which goes back to here; the stack is nobody
    // else's, and stays.
    unsafe {
        let context = there.as_mut_ptr();
        if libc::getcontext(context) != 0 {
            return body();
        }
        (*context).uc_stack.ss_sp = stack;
        (*context).uc_stack.ss_size = STACK;
        (*context).uc_link = here.as_mut_ptr();
        libc::makecontext(context, body, 0);
        libc::swapcontext(here.as_mut_ptr(), context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_is_another_one_and_large() {
        static PLACE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        extern "C" fn uses_much() {
            let much = [1u8; STACK / 2];
            PLACE.store(std::hint::black_box(&much).as_ptr().addr(), Relaxed);
        }
        let here = 0u8;
        on_own_stack(uses_much);
        assert!(PLACE.load(Relaxed).abs_diff((&raw const here).addr()) > STACK);
    }
}
