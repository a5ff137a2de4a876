//! Calls that print or scan by a format, with as many arguments as it asks for.
//!
//! Each is a few instructions that put the arguments where a function with a list of them expects them, and
//! then call the latter.

use super::super::data::written;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::super::next::Next;
use super::super::next::wrappers;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::reading::{scanned, stdin};
use super::stream::{Stream, on};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::wide;
use super::writing::as_many;
use std::ffi::{c_char, c_int, c_void};

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use tmio_trace::Direction::{Read, Write};

type Format = *const c_char;
/// A `va_list`, as a parameter.
type Values = *mut c_void;

unsafe extern "C" {
    static stdout: *mut Stream;
}

wrappers! {
    vfprintf (f: *mut Stream, format: Format, values: Values) -> c_int,
        |next| on(f, true, || next(f, format, values), as_many);
    __vfprintf_chk (f: *mut Stream, check: c_int, format: Format, values: Values) -> c_int,
        |next| on(f, true, || next(f, check, format, values), as_many);
    vprintf (format: Format, values: Values) -> c_int,
        |next| on(stdout, true, || next(format, values), as_many);
    __vprintf_chk (check: c_int, format: Format, values: Values) -> c_int,
        |next| on(stdout, true, || next(check, format, values), as_many);
    vdprintf (fd: c_int, format: Format, values: Values) -> c_int,
        |next| written(fd, || next(fd, format, values));
    __vdprintf_chk (fd: c_int, check: c_int, format: Format, values: Values) -> c_int,
        |next| written(fd, || next(fd, check, format, values));
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
type Plain = unsafe extern "C-unwind" fn(*mut Stream, Format, Values) -> c_int;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
type Checked = unsafe extern "C-unwind" fn(*mut Stream, c_int, Format, Values) -> c_int;

/// Prints or scans by the function of a name.
///
/// # Safety
///
/// The arguments are those of the function.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
unsafe fn plain(next: &Next, f: *mut Stream, format: Format, values: Values, prints: bool) -> c_int {
    let function = next.get();
    if function.is_null() {
        return -1;
    }
    // SAFETY: the function of this name has this signature.
    let function: Plain = unsafe { std::mem::transmute(function) };
    // SAFETY: as the caller promises.
    unsafe {
        match prints {
            true => on(f, true, || function(f, format, values), as_many),
            false => on(f, true, || function(f, format, values), scanned),
        }
    }
}

/// # Safety
///
/// The arguments are those of `__vfprintf_chk`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
unsafe fn checked(f: *mut Stream, check: c_int, format: Format, values: Values) -> c_int {
    static NEXT: Next = Next::new("__vfprintf_chk\0");
    let function = NEXT.get();
    if function.is_null() {
        return -1;
    }
    // SAFETY: the function of this name has this signature.
    let function: Checked = unsafe { std::mem::transmute(function) };
    // SAFETY: as the caller promises.
    unsafe { on(f, true, || function(f, check, format, values), as_many) }
}

/// Exports functions with variable arguments after `$fixed` bytes of fixed ones.
///
/// Premises of the unsafe code in it: the layout of a `va_list` (System V ABI for x86-64, section 3.5.7):
/// where the next integer and the next floating-point argument are in the area of saved registers, where
/// those on the stack begin, and where that area is.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
macro_rules! variadic {
    ($($name:ident ($fixed:literal, $values:literal) |$($argument:ident : $kind:ty),*| $body:expr;)*) => {
        $(
            const _: () = {
                #[allow(clippy::undocumented_unsafe_blocks, unused_unsafe)] // see above
                unsafe extern "C-unwind" fn body($($argument: $kind),*) -> c_int {
                    unsafe { $body }
                }

                /// # Safety
                ///
                /// As for the function of the C library.
                #[cfg_attr(not(test), unsafe(no_mangle))]
                #[cfg_attr(test, allow(dead_code))]
                #[unsafe(naked)]
                unsafe extern "C-unwind" fn $name() -> c_int {
                    core::arch::naked_asm!(
                        ".cfi_startproc",
                        "sub rsp, 216",
                        ".cfi_adjust_cfa_offset 216",
                        "mov qword ptr [rsp + 32], rdi",
                        "mov qword ptr [rsp + 40], rsi",
                        "mov qword ptr [rsp + 48], rdx",
                        "mov qword ptr [rsp + 56], rcx",
                        "mov qword ptr [rsp + 64], r8",
                        "mov qword ptr [rsp + 72], r9",
                        "test al, al",
                        "je 2f",
                        "movaps xmmword ptr [rsp + 80], xmm0",
                        "movaps xmmword ptr [rsp + 96], xmm1",
                        "movaps xmmword ptr [rsp + 112], xmm2",
                        "movaps xmmword ptr [rsp + 128], xmm3",
                        "movaps xmmword ptr [rsp + 144], xmm4",
                        "movaps xmmword ptr [rsp + 160], xmm5",
                        "movaps xmmword ptr [rsp + 176], xmm6",
                        "movaps xmmword ptr [rsp + 192], xmm7",
                        "2:",
                        concat!("mov dword ptr [rsp], ", $fixed),
                        "mov dword ptr [rsp + 4], 48",
                        "lea rax, [rsp + 224]",
                        "mov qword ptr [rsp + 8], rax",
                        "lea rax, [rsp + 32]",
                        "mov qword ptr [rsp + 16], rax",
                        concat!("mov ", $values, ", rsp"),
                        "call {body}",
                        "add rsp, 216",
                        ".cfi_adjust_cfa_offset -216",
                        "ret",
                        ".cfi_endproc",
                        body = sym body,
                    )
                }
            };
        )*
    };
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static VFPRINTF: Next = Next::new("vfprintf\0");
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static VFSCANF: Next = Next::new("vfscanf\0");
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static VFSCANF_99: Next = Next::new("__isoc99_vfscanf\0");

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
variadic! {
    fprintf (16, "rdx") |f: *mut Stream, format: Format, values: Values|
        plain(&VFPRINTF, f, format, values, true);
    printf (8, "rsi") |format: Format, values: Values| plain(&VFPRINTF, stdout, format, values, true);
    __fprintf_chk (24, "rcx") |f: *mut Stream, check: c_int, format: Format, values: Values|
        checked(f, check, format, values);
    __printf_chk (16, "rdx") |check: c_int, format: Format, values: Values|
        checked(stdout, check, format, values);
    fscanf (16, "rdx") |f: *mut Stream, format: Format, values: Values|
        plain(&VFSCANF, f, format, values, false);
    scanf (8, "rsi") |format: Format, values: Values| plain(&VFSCANF, stdin, format, values, false);
    __isoc99_fscanf (16, "rdx") |f: *mut Stream, format: Format, values: Values|
        plain(&VFSCANF_99, f, format, values, false);
    // Programs that were compiled for glibc 2.38 or later.
    __isoc23_fscanf (16, "rdx") |f: *mut Stream, format: Format, values: Values| {
        plain(newest_scanf(), f, format, values, false)
    };
    __isoc23_scanf (8, "rsi") |format: Format, values: Values| {
        plain(newest_scanf(), stdin, format, values, false)
    };
    __isoc99_scanf (8, "rsi") |format: Format, values: Values|
        plain(&VFSCANF_99, stdin, format, values, false);

    fwprintf (16, "rdx") |f: *mut Stream, format: Format, values: Values|
        wide::formatted([&VFWPRINTF; 2], f, format, values, Write);
    wprintf (8, "rsi") |format: Format, values: Values|
        wide::formatted([&VFWPRINTF; 2], stdout, format, values, Write);
    __fwprintf_chk (24, "rcx") |f: *mut Stream, check: c_int, format: Format, values: Values|
        wide::checked(f, check, format, values);
    __wprintf_chk (16, "rdx") |check: c_int, format: Format, values: Values|
        wide::checked(stdout, check, format, values);
    fwscanf (16, "rdx") |f: *mut Stream, format: Format, values: Values|
        wide::formatted([&VFWSCANF; 2], f, format, values, Read);
    wscanf (8, "rsi") |format: Format, values: Values|
        wide::formatted([&VFWSCANF; 2], stdin, format, values, Read);
    __isoc99_fwscanf (16, "rdx") |f: *mut Stream, format: Format, values: Values|
        wide::formatted([&VFWSCANF_99; 2], f, format, values, Read);
    __isoc99_wscanf (8, "rsi") |format: Format, values: Values|
        wide::formatted([&VFWSCANF_99; 2], stdin, format, values, Read);
    __isoc23_fwscanf (16, "rdx") |f: *mut Stream, format: Format, values: Values|
        wide::formatted([&VFWSCANF_23, &VFWSCANF_99], f, format, values, Read);
    __isoc23_wscanf (8, "rsi") |format: Format, values: Values|
        wide::formatted([&VFWSCANF_23, &VFWSCANF_99], stdin, format, values, Read);

    // To a descriptor, by a stream that lives as long as the call.
    dprintf (16, "rdx") |fd: c_int, format: Format, values: Values| to_descriptor(fd, format, values);
    __dprintf_chk (24, "rcx") |fd: c_int, check: c_int, format: Format, values: Values|
        to_descriptor_checked(fd, check, format, values);
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static VFWPRINTF: Next = Next::new("vfwprintf\0");
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static VFWSCANF: Next = Next::new("vfwscanf\0");
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static VFWSCANF_99: Next = Next::new("__isoc99_vfwscanf\0");
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
static VFWSCANF_23: Next = Next::new("__isoc23_vfwscanf\0");

/// # Safety
///
/// The arguments are those of `vdprintf`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
unsafe fn to_descriptor(fd: c_int, format: Format, values: Values) -> c_int {
    static NEXT: Next = Next::new("vdprintf\0");
    let function = NEXT.get();
    if function.is_null() {
        return -1;
    }
    type Function = unsafe extern "C-unwind" fn(c_int, Format, Values) -> c_int;
    // SAFETY: the function of this name has this signature, and the caller's promise.
    unsafe {
        let function: Function = std::mem::transmute(function);
        written(fd, || function(fd, format, values))
    }
}

/// # Safety
///
/// The arguments are those of `__vdprintf_chk`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
unsafe fn to_descriptor_checked(fd: c_int, check: c_int, format: Format, values: Values) -> c_int {
    static NEXT: Next = Next::new("__vdprintf_chk\0");
    let function = NEXT.get();
    if function.is_null() {
        return -1;
    }
    type Function = unsafe extern "C-unwind" fn(c_int, c_int, Format, Values) -> c_int;
    // SAFETY: the function of this name has this signature, and the caller's promise.
    unsafe {
        let function: Function = std::mem::transmute(function);
        written(fd, || function(fd, check, format, values))
    }
}

/// What such programs call; an older C library has none of them.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn newest_scanf() -> &'static Next {
    static VFSCANF_23: Next = Next::new("__isoc23_vfscanf\0");
    if VFSCANF_23.get().is_null() { &VFSCANF_99 } else { &VFSCANF_23 }
}
