//! Calls that move data between a descriptor and memory, or between two descriptors.

use crate::descriptors::{self, Entry};
use crate::entry::wrappers;
use crate::page::{self, is_mpis, wants};
use crate::recording::{self, Call};
use crate::thread::{self, ThreadState};
use crate::{anew, clock, names};
use core::ffi::{c_int, c_uint, c_void};
use tmio_spool::kind::Direction::{self, Read, Write};
use tmio_spool::kind::{Metadata, TraceLayer};

type Bytes = *mut c_void;
type Vectors = *const c_void;

/// The file that a call on a descriptor is about, if it is one that is recorded at this layer.
#[inline(always)]
pub(crate) fn file_of(thread: &ThreadState, descriptor: c_int, layer: TraceLayer) -> Option<u32> {
    if thread.is_own_work() || is_mpis(thread) || !wants(layer) {
        return None;
    }
    match descriptors::get(descriptor) {
        Entry::File(file) => Some(file),
        Entry::Unknown => learn(thread, descriptor),
        _ => None,
    }
}

#[cold]
#[inline(never)]
fn learn(thread: &ThreadState, descriptor: c_int) -> Option<u32> {
    let (entry, identity) = names::look(thread, descriptor);
    descriptors::learn(descriptor, entry, identity);
    match entry {
        Entry::File(file) => Some(file),
        _ => None,
    }
}

/// Runs a call on a descriptor, and records what `describe` makes of its result, its start and its end, if it
/// is about a file; if not, `aside` gets the result.
#[inline(always)]
fn recorded<T: Copy>(
    descriptor: c_int,
    call: impl FnOnce() -> T,
    describe: impl FnOnce(T, u64, u64) -> Call,
    aside: impl FnOnce(T),
) -> T {
    if !anew::is_on() {
        return call();
    }
    thread::with(|thread| {
        let Some(file) = file_of(thread, descriptor, TraceLayer::Posix) else {
            let result = call();
            if !thread.is_own_work() {
                aside(result);
            }
            return result;
        };
        let start = clock::now();
        let result = call();
        recording::record(thread, file, &describe(result, start, clock::now()));
        result
    })
}

/// A call that reads or writes.
#[inline(always)]
fn data(direction: Direction, descriptor: c_int, offset: Option<i64>, call: impl FnOnce() -> isize) -> isize {
    recorded(
        descriptor,
        call,
        |result, start, end| recording::data(TraceLayer::Posix, direction, offset, result as i64, start, end),
        |result| page::beside(direction, result as i64),
    )
}

/// The mark of a thread whose call was recorded by what its stream did.
pub(crate) const SEEN: u8 = 2;

/// A call that writes as many bytes to a descriptor as it returns. Older C libraries do it by a stream: then
/// what that has written is recorded, and this is not.
#[inline(always)]
pub(crate) fn written(descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if !anew::is_on() {
        return call();
    }
    thread::with(|thread| {
        let file = file_of(thread, descriptor, TraceLayer::Posix);
        thread.counted.set(1);
        let start = clock::now();
        let result = call();
        if thread.counted.replace(0) != SEEN && !thread.is_own_work() {
            match file {
                Some(file) => {
                    let done = recording::data(
                        TraceLayer::Posix,
                        Write,
                        None,
                        i64::from(result),
                        start,
                        clock::now(),
                    );
                    recording::record(thread, file, &done);
                }
                None => page::beside(Write, i64::from(result)),
            }
        }
        result
    })
}

/// A call that moves no data.
#[inline(always)]
fn metadata(operation: Metadata, descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let describe = |_, start, end| recording::metadata(TraceLayer::Posix, operation, start, end);
    recorded(descriptor, call, describe, |_| ())
}

/// Runs a call that moves data from one descriptor to another: a read and a write at the same time.
#[inline(always)]
fn between(from: c_int, to: c_int, call: impl FnOnce() -> isize) -> isize {
    if !anew::is_on() {
        return call();
    }
    thread::with(|thread| {
        let source = file_of(thread, from, TraceLayer::Posix);
        let target = file_of(thread, to, TraceLayer::Posix);
        if thread.is_own_work() {
            return call();
        }
        let start = clock::now();
        let result = call();
        let end = clock::now();
        let note = |file: Option<u32>, direction| match file {
            Some(file) => {
                let call = recording::data(TraceLayer::Posix, direction, None, result as i64, start, end);
                recording::record(thread, file, &call);
            }
            None => page::beside(direction, result as i64),
        };
        note(source, Read);
        note(target, Write);
        result
    })
}

/// An offset of −1 is the file's own position.
fn given(offset: i64) -> Option<i64> {
    Some(offset).filter(|&offset| offset >= 0)
}

wrappers! {
    read (fd: c_int, to: Bytes, n: usize) -> isize, |next| data(Read, fd, None, || next(fd, to, n));
    write (fd: c_int, from: Bytes, n: usize) -> isize, |next| data(Write, fd, None, || next(fd, from, n));
    pread (fd: c_int, to: Bytes, n: usize, at: i64) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at));
    pread64 (fd: c_int, to: Bytes, n: usize, at: i64) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at));
    pwrite (fd: c_int, from: Bytes, n: usize, at: i64) -> isize,
        |next| data(Write, fd, Some(at), || next(fd, from, n, at));
    pwrite64 (fd: c_int, from: Bytes, n: usize, at: i64) -> isize,
        |next| data(Write, fd, Some(at), || next(fd, from, n, at));
    readv (fd: c_int, to: Vectors, n: c_int) -> isize, |next| data(Read, fd, None, || next(fd, to, n));
    writev (fd: c_int, from: Vectors, n: c_int) -> isize, |next| data(Write, fd, None, || next(fd, from, n));
    preadv (fd: c_int, to: Vectors, n: c_int, at: i64) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at));
    preadv64 (fd: c_int, to: Vectors, n: c_int, at: i64) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at));
    pwritev (fd: c_int, from: Vectors, n: c_int, at: i64) -> isize,
        |next| data(Write, fd, Some(at), || next(fd, from, n, at));
    pwritev64 (fd: c_int, from: Vectors, n: c_int, at: i64) -> isize,
        |next| data(Write, fd, Some(at), || next(fd, from, n, at));
    preadv2 (fd: c_int, to: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Read, fd, given(at), || next(fd, to, n, at, how));
    preadv64v2 (fd: c_int, to: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Read, fd, given(at), || next(fd, to, n, at, how));
    pwritev2 (fd: c_int, from: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Write, fd, given(at), || next(fd, from, n, at, how));
    pwritev64v2 (fd: c_int, from: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Write, fd, given(at), || next(fd, from, n, at, how));
    // What programs call that were compiled with checks of lengths.
    __read_chk (fd: c_int, to: Bytes, n: usize, room: usize) -> isize,
        |next| data(Read, fd, None, || next(fd, to, n, room));
    __pread_chk (fd: c_int, to: Bytes, n: usize, at: i64, room: usize) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at, room));
    __pread64_chk (fd: c_int, to: Bytes, n: usize, at: i64, room: usize) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at, room));
    vdprintf (fd: c_int, text: Bytes, list: Bytes) -> c_int, |next| written(fd, || next(fd, text, list));
    __vdprintf_chk (fd: c_int, how: c_int, text: Bytes, list: Bytes) -> c_int,
        |next| written(fd, || next(fd, how, text, list));

    sendfile (to: c_int, from: c_int, at: *mut i64, n: usize) -> isize,
        |next| between(from, to, || next(to, from, at, n));
    sendfile64 (to: c_int, from: c_int, at: *mut i64, n: usize) -> isize,
        |next| between(from, to, || next(to, from, at, n));
    copy_file_range (from: c_int, at: *mut i64, to: c_int, to_at: *mut i64, n: usize, how: c_uint) -> isize,
        |next| between(from, to, || next(from, at, to, to_at, n, how));
    splice (from: c_int, at: *mut i64, to: c_int, to_at: *mut i64, n: usize, how: c_uint) -> isize,
        |next| between(from, to, || next(from, at, to, to_at, n, how));

    fsync (fd: c_int) -> c_int, |next| metadata(Metadata::Sync, fd, || next(fd));
    fdatasync (fd: c_int) -> c_int, |next| metadata(Metadata::Sync, fd, || next(fd));
    ftruncate (fd: c_int, size: i64) -> c_int, |next| metadata(Metadata::SetSize, fd, || next(fd, size));
    ftruncate64 (fd: c_int, size: i64) -> c_int, |next| metadata(Metadata::SetSize, fd, || next(fd, size));
    posix_fallocate (fd: c_int, at: i64, n: i64) -> c_int,
        |next| metadata(Metadata::Preallocate, fd, || next(fd, at, n));
    posix_fallocate64 (fd: c_int, at: i64, n: i64) -> c_int,
        |next| metadata(Metadata::Preallocate, fd, || next(fd, at, n));
    fallocate (fd: c_int, how: c_int, at: i64, n: i64) -> c_int,
        |next| metadata(Metadata::Preallocate, fd, || next(fd, how, at, n));
    fallocate64 (fd: c_int, how: c_int, at: i64, n: i64) -> c_int,
        |next| metadata(Metadata::Preallocate, fd, || next(fd, how, at, n));
}

/// Exports functions with any number of arguments after those that are named: they become a list, as the
/// function expects it that has one for its last argument.
macro_rules! listed {
    ($($name:ident ($fixed:literal, $register:literal) by $other:ident ($($argument:ident : $kind:ty),*) |$next:ident| $body:expr;)*) => {
        $(
            const _: () = {
                static NEXT: crate::entry::Next = crate::entry::Next::new(core::ptr::null_mut());

                #[allow(clippy::undocumented_unsafe_blocks)] // as for `wrappers`
                #[cfg_attr(not(tmio_object), allow(dead_code))]
                unsafe extern "C" fn body($($argument: $kind),*) -> c_int {
                    const NAME: &core::ffi::CStr =
                        match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($other), "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => c"",
                        };
                    let function = crate::entry::next(&NEXT, NAME);
                    if function.is_null() {
                        return -1;
                    }
                    unsafe {
                        let $next: unsafe extern "C" fn($($kind),*) -> c_int = core::mem::transmute(function);
                        $body
                    }
                }

                #[cfg(all(tmio_object, target_arch = "x86_64"))]
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                #[unsafe(link_section = ".text.tmio_system")]
                unsafe extern "C" fn $name() {
                    core::arch::naked_asm!(
                        ".cfi_startproc",
                        "endbr64",
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
                        concat!("mov dword ptr [rsp], 8 * ", $fixed),
                        "mov dword ptr [rsp + 4], 48",
                        "lea rax, [rsp + 224]",
                        "mov qword ptr [rsp + 8], rax",
                        "lea rax, [rsp + 32]",
                        "mov qword ptr [rsp + 16], rax",
                        concat!("mov ", $register, ", rsp"),
                        "call {body}",
                        "add rsp, 216",
                        ".cfi_adjust_cfa_offset -216",
                        "ret",
                        ".cfi_endproc",
                        body = sym body,
                    )
                }

                // The list of this machine: where the arguments on the stack are, the ends of the areas of
                // general and of vector registers, and how far before them the next one is.
                #[cfg(all(tmio_object, target_arch = "aarch64"))]
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                #[unsafe(link_section = ".text.tmio_system")]
                unsafe extern "C" fn $name() {
                    core::arch::naked_asm!(
                        ".cfi_startproc",
                        "hint 34",
                        "stp x29, x30, [sp, -240]!",
                        ".cfi_def_cfa_offset 240",
                        ".cfi_offset x29, -240",
                        ".cfi_offset x30, -232",
                        "mov x29, sp",
                        "stp q0, q1, [sp, 48]",
                        "stp q2, q3, [sp, 80]",
                        "stp q4, q5, [sp, 112]",
                        "stp q6, q7, [sp, 144]",
                        "stp x0, x1, [sp, 176]",
                        "stp x2, x3, [sp, 192]",
                        "stp x4, x5, [sp, 208]",
                        "stp x6, x7, [sp, 224]",
                        "add x8, sp, 240",
                        "str x8, [sp, 16]",
                        "str x8, [sp, 24]",
                        "add x8, sp, 176",
                        "str x8, [sp, 32]",
                        concat!("mov w8, -(64 - 8 * ", $fixed, ")"),
                        "str w8, [sp, 40]",
                        "mov w8, -128",
                        "str w8, [sp, 44]",
                        concat!("add x", $fixed, ", sp, 16"),
                        "bl {body}",
                        "ldp x29, x30, [sp], 240",
                        ".cfi_def_cfa_offset 0",
                        "ret",
                        ".cfi_endproc",
                        body = sym body,
                    )
                }
                #[cfg(not(tmio_object))]
                const _: unsafe extern "C" fn($($kind),*) -> c_int = body;
            };
        )*
    };
}

listed! {
    dprintf ("2", "rdx") by vdprintf (fd: c_int, text: Bytes, list: Bytes)
        |next| written(fd, || next(fd, text, list));
    __dprintf_chk ("3", "rcx") by __vdprintf_chk (fd: c_int, how: c_int, text: Bytes, list: Bytes)
        |next| written(fd, || next(fd, how, text, list));
}
