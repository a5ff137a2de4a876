//! How a call gets from a name of ours to where it belongs.
//!
//! An exported function is a few instructions that go on to the function of the same name after us, or to
//! what we do instead. They change no register that may hold an argument, and leave stack and return address
//! as they were, so that functions with any arguments work, also those that return twice or never. Nothing of
//! this has to be filled in when the object is loaded.

use crate::load;
use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};

/// The function of a name that comes after ours, once it was looked for.
pub(crate) type Next = AtomicPtr<c_void>;

/// Looks for the next function of a name, once. Null: there is none.
#[inline(always)]
pub(crate) fn next(place: &Next, name: &'static CStr) -> *mut c_void {
    match place.load(Acquire) {
        found if found.is_null() => look(place, name.as_ptr().cast()),
        found => found,
    }
}

#[cold]
#[inline(never)]
fn look(place: &Next, name: *const u8) -> *mut c_void {
    // SAFETY: it is the name of a function, with a zero at its end.
    let name = unsafe { CStr::from_ptr(name.cast()) }.to_bytes();
    let found = load::next(name).map_or(null_mut(), core::ptr::with_exposed_provenance_mut);
    place.store(found, Release);
    found
}

/// A function of the C library is called that nothing is recorded of, and its next one is not known yet.
#[cfg_attr(not(tmio_object), allow(dead_code))]
pub(crate) extern "C" fn resolve(place: &Next, name: *const u8) -> *mut c_void {
    let found = look(place, name);
    if found.is_null() { absent as *mut c_void } else { found }
}

/// Stands in for a function that this C library does not have.
extern "C" fn absent() -> isize {
    -1
}

/// Assembly of an entry: where `on` is not 0 it goes to `body`, else on to the next function.
#[cfg(all(tmio_object, target_arch = "x86_64"))]
macro_rules! system_code {
    () => {
        "endbr64
         cmp byte ptr [rip + {on}], 0
         jne {body}
         mov r11, qword ptr [rip + {next}]
         test r11, r11
         je 2f
         jmp r11
      2: lea r10, [rip + {next}]
         lea r11, [rip + {name}]
         jmp {slow}"
    };
}

#[cfg(all(tmio_object, target_arch = "aarch64"))]
macro_rules! system_code {
    () => {
        "hint 34
         adrp x16, {on}
         ldrb w16, [x16, :lo12:{on}]
         cbz w16, 1f
         b {body}
      1: adrp x16, {next}
         ldr x16, [x16, :lo12:{next}]
         cbz x16, 2f
         br x16
      2: adrp x16, {next}
         add x16, x16, :lo12:{next}
         adrp x17, {name}
         add x17, x17, :lo12:{name}
         b {slow}"
    };
}

#[cfg(tmio_object)]
pub(crate) use system_code;

/// Assembly at the beginning of a function: calls `{before}` with its arguments, and puts the result where
/// the jump that follows finds it. All registers that may hold arguments are as they were, and so is the
/// stack.
#[cfg(all(tmio_object, target_arch = "x86_64"))]
macro_rules! call_before {
    () => {
        "endbr64
         push rdi
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
         pop rdi
         jmp r11"
    };
}

#[cfg(all(tmio_object, target_arch = "aarch64"))]
macro_rules! call_before {
    () => {
        "hint 34
         stp x29, x30, [sp, -96]!
         mov x29, sp
         stp x0, x1, [sp, 16]
         stp x2, x3, [sp, 32]
         stp x4, x5, [sp, 48]
         stp x6, x7, [sp, 64]
         str x8, [sp, 80]
         bl {before}
         mov x16, x0
         ldp x0, x1, [sp, 16]
         ldp x2, x3, [sp, 32]
         ldp x4, x5, [sp, 48]
         ldp x6, x7, [sp, 64]
         ldr x8, [sp, 80]
         ldp x29, x30, [sp], 96
         br x16"
    };
}

#[cfg(tmio_object)]
pub(crate) use call_before;

/// Looks a function up with all argument registers kept, and goes on to it.
macro_rules! slow_path {
    ($name:ident, $resolve:ident) => {
        #[unsafe(naked)]
        #[cfg_attr(not(tmio_object), allow(dead_code))]
        pub(crate) unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            core::arch::naked_asm!(
                // Vector registers hold arguments, too, and the dynamic linker uses them.
                "push rbp",
                "mov rbp, rsp",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                "sub rsp, 136",
                "movups [rsp], xmm0",
                "movups [rsp + 16], xmm1",
                "movups [rsp + 32], xmm2",
                "movups [rsp + 48], xmm3",
                "movups [rsp + 64], xmm4",
                "movups [rsp + 80], xmm5",
                "movups [rsp + 96], xmm6",
                "movups [rsp + 112], xmm7",
                "mov rdi, r10",
                "mov rsi, r11",
                "call {resolve}",
                "mov r11, rax",
                "movups xmm0, [rsp]",
                "movups xmm1, [rsp + 16]",
                "movups xmm2, [rsp + 32]",
                "movups xmm3, [rsp + 48]",
                "movups xmm4, [rsp + 64]",
                "movups xmm5, [rsp + 80]",
                "movups xmm6, [rsp + 96]",
                "movups xmm7, [rsp + 112]",
                "add rsp, 136",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "pop rbp",
                "jmp r11",
                resolve = sym $resolve,
            );
            #[cfg(target_arch = "aarch64")]
            core::arch::naked_asm!(
                "stp x29, x30, [sp, -224]!",
                "mov x29, sp",
                "stp x0, x1, [sp, 16]",
                "stp x2, x3, [sp, 32]",
                "stp x4, x5, [sp, 48]",
                "stp x6, x7, [sp, 64]",
                "str x8, [sp, 80]",
                "stp q0, q1, [sp, 96]",
                "stp q2, q3, [sp, 128]",
                "stp q4, q5, [sp, 160]",
                "stp q6, q7, [sp, 192]",
                "mov x0, x16",
                "mov x1, x17",
                "bl {resolve}",
                "mov x16, x0",
                "ldp x0, x1, [sp, 16]",
                "ldp x2, x3, [sp, 32]",
                "ldp x4, x5, [sp, 48]",
                "ldp x6, x7, [sp, 64]",
                "ldr x8, [sp, 80]",
                "ldp q0, q1, [sp, 96]",
                "ldp q2, q3, [sp, 128]",
                "ldp q4, q5, [sp, 160]",
                "ldp q6, q7, [sp, 192]",
                "ldp x29, x30, [sp], 224",
                "br x16",
                resolve = sym $resolve,
            );
        }
    };
}

pub(crate) use slow_path;

slow_path!(slow, resolve);

/// Exports functions of the C library: what each does instead while something is recorded, with the next
/// function of its name.
///
/// Premises of the unsafe code in it: the function of a name has the signature that its manual gives it, and
/// the arguments that it is called with are the program's own. Variadic arguments of integer type are passed
/// like others on the machines that this is made for.
macro_rules! wrappers {
    ($($name:ident ($($argument:ident : $kind:ty),*) -> $result:ty, |$next:ident| $body:expr;)*) => {
        $(
            #[allow(clippy::undocumented_unsafe_blocks, unused_unsafe, clippy::unused_unit)] // see above
            const _: () = {
                static NEXT: $crate::entry::Next = $crate::entry::Next::new(core::ptr::null_mut());
                static NAME: [u8; concat!(stringify!($name), "\0").len()] =
                    $crate::entry::bytes(concat!(stringify!($name), "\0"));

                #[cfg_attr(not(tmio_object), allow(dead_code))]
                unsafe extern "C" fn body($($argument: $kind),*) -> $result {
                    let name = unsafe { core::ffi::CStr::from_ptr((&raw const NAME).cast()) };
                    let function = $crate::entry::next(&NEXT, name);
                    if function.is_null() {
                        return <$result as $crate::entry::Absent>::absent();
                    }
                    let $next: unsafe extern "C" fn($($kind),*) -> $result =
                        unsafe { core::mem::transmute(function) };
                    unsafe { $body }
                }

                #[cfg(tmio_object)]
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                #[unsafe(link_section = ".text.tmio_system")]
                unsafe extern "C" fn $name() {
                    core::arch::naked_asm!(
                        $crate::entry::system_code!(),
                        on = sym $crate::page::ON,
                        body = sym body,
                        next = sym NEXT,
                        name = sym NAME,
                        slow = sym $crate::entry::slow,
                    )
                }
                #[cfg(not(tmio_object))]
                const _: unsafe extern "C" fn($($kind),*) -> $result = body;
            };
        )*
    };
}

pub(crate) use wrappers;

/// Exports functions that do something before they go on to the next one of their name, with all arguments as
/// they are: it does not matter how many these are, nor whether it returns.
macro_rules! preceded {
    ($($name:ident ($($argument:ident : $kind:ty),*) $before:expr;)*) => {
        $(
            const _: () = {
                static NEXT: $crate::entry::Next = $crate::entry::Next::new(core::ptr::null_mut());

                #[cfg_attr(not(tmio_object), allow(dead_code))]
                extern "C" fn before($($argument: $kind),*) -> *mut core::ffi::c_void {
                    if $crate::page::is_looked_at() {
                        $before;
                    }
                    const NAME: &str = concat!(stringify!($name), "\0");
                    $crate::entry::resolve(&NEXT, NAME.as_ptr())
                }

                #[cfg(tmio_object)]
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                #[unsafe(link_section = ".text.tmio_system")]
                unsafe extern "C" fn $name() {
                    core::arch::naked_asm!($crate::entry::call_before!(), before = sym before)
                }
                #[cfg(not(tmio_object))]
                const _: extern "C" fn($($kind),*) -> *mut core::ffi::c_void = before;
            };
        )*
    };
}

pub(crate) use preceded;

/// A text as an array.
pub(crate) const fn bytes<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut index = 0;
    while index < N {
        bytes[index] = text.as_bytes()[index];
        index += 1;
    }
    bytes
}

/// What is returned where the C library does not have the function.
pub(crate) trait Absent {
    fn absent() -> Self;
}

impl Absent for i32 {
    fn absent() -> Self {
        -1
    }
}

impl Absent for isize {
    fn absent() -> Self {
        -1
    }
}

impl<T> Absent for *mut T {
    fn absent() -> Self {
        null_mut()
    }
}

impl Absent for () {
    fn absent() -> Self {}
}
