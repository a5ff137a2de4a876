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
                "mov r10, qword ptr [rip + {distance}]",
                "mov qword ptr fs:[r10 + {caller}], r11",
                "jmp {body}",
                body = sym $body,
                distance = sym tmio_api::preloaded::DISTANCE,
                caller = const std::mem::offset_of!(tmio_api::thread::ThreadState, caller),
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

/// Where the exported function that this thread entered last returns to. `None`: not known on this kind of
/// machine.
#[inline(always)]
pub(crate) fn address() -> Option<usize> {
    cfg!(all(target_arch = "x86_64", target_os = "linux"))
        .then(|| tmio_api::thread::with(|thread| thread.caller.get()))
}
