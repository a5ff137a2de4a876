//! Who calls: the address to which the wrapper that is running returns.
//!
//! Each exported function is a few instructions that note the address and go on to the body. It tells which
//! object the call comes from, hence which MPI it is meant for if there are several in the process
//! ([`next`](crate::next)), and whether MPI, or a tool between us and MPI, is calling itself.

/// Exports a function of this name and signature, which notes its caller and does what `$body` does.
///
/// Premises of the unsafe code in it: the registers that are changed are scratch registers of the calling
/// convention and hold no argument; the stack and all arguments are as the caller left them when `$body`
/// begins.
macro_rules! entry {
    ($name:ident ($($argument:ident : $kind:ty),*) $body:ident) => {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        #[allow(unused_variables)]
        unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> std::ffi::c_int {
            core::arch::naked_asm!(
                "mov r11, qword ptr [rsp]",
                "mov r10, qword ptr [rip + tmio_caller@GOTTPOFF]",
                "mov qword ptr fs:[r10], r11",
                "jmp {body}",
                body = sym $body,
            )
        }

        #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
        #[unsafe(no_mangle)]
        #[allow(clippy::undocumented_unsafe_blocks)] // see above
        unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> std::ffi::c_int {
            unsafe { $body($($argument),*) }
        }
    };
}
pub(crate) use entry;

/// Assembly at the beginning of a function: calls `{before}` with its arguments and puts the result into r11.
/// All registers that may hold arguments are as they were, and so is the stack: what follows may jump to the
/// real function.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
macro_rules! call_before {
    () => {
        "push rdi
         push rsi
         push rdx
         push rcx
         push r8
         push r9
         push rax
         call {before}
         mov r11, rax
         pop rax
         pop r9
         pop r8
         pop rcx
         pop rdx
         pop rsi
         pop rdi"
    };
}
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) use call_before;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
std::arch::global_asm!(
    ".pushsection .tbss.tmio_caller, \"awT\", @nobits",
    ".globl tmio_caller",
    ".hidden tmio_caller",
    ".p2align 3",
    "tmio_caller:",
    ".zero 8",
    ".size tmio_caller, 8",
    ".popsection",
);

/// Where the exported function that this thread entered last returns to. `None`: not known on this kind of
/// machine.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[inline(always)]
pub(crate) fn address() -> Option<usize> {
    let address: usize;
    // SAFETY: reads a thread-local word whose distance from the thread pointer the dynamic linker has
    // filled in.
    unsafe {
        std::arch::asm!(
            "mov {address}, qword ptr [rip + tmio_caller@GOTTPOFF]",
            "mov {address}, qword ptr fs:[{address}]",
            address = out(reg) address,
            options(nostack, readonly, preserves_flags),
        );
    }
    Some(address)
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[inline(always)]
pub(crate) fn address() -> Option<usize> {
    None
}
