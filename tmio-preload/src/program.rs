//! The library as a program: the helper. The object that is preloaded starts it by the dynamic linker, with
//! what the paths of the job's spools begin with as its only argument.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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

#[cfg_attr(test, allow(dead_code))]
unsafe extern "C" fn main(count: c_int, arguments: *const *const c_char) -> c_int {
    if count != 2 {
        return 2;
    }
    // SAFETY: the C library gives as many strings.
    let job = unsafe { CStr::from_ptr(*arguments.add(1)) };
    let job = Path::new(OsStr::from_bytes(job.to_bytes()));
    let done = std::panic::catch_unwind(|| tmio_api::helper::run(job));
    c_int::from(done.is_err())
}
