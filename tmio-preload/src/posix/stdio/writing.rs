//! Calls that open, write, flush, position and close streams.

use super::super::descriptors::{self, Entry};
use super::super::files::{meaning, note};
use super::super::next::wrappers;
use super::super::recording::{self, file_of};
use super::super::vfork::is_own_memory;
use super::stream::{self, Look, Moved, Stream, descriptor, on};
use std::ffi::{CStr, c_char, c_int, c_void};
use tmio_api::{clock, thread};
use tmio_trace::Direction::Write;
use tmio_trace::{Metadata, TraceLayer};

type Name = *const c_char;

unsafe extern "C" {
    static stdout: *mut Stream;
}

fn wrote(taken: i64, before: &Look, after: &Look) -> Moved {
    (0, taken + before.pending - after.pending)
}

/// What a call has written that took a character, or none.
pub(super) fn one(result: &c_int, before: &Look, after: &Look) -> Moved {
    wrote(i64::from(*result != libc::EOF), before, after)
}

/// What a call has written that took as many characters as it returns.
pub(super) fn as_many(result: &c_int, before: &Look, after: &Look) -> Moved {
    wrote(i64::from((*result).max(0)), before, after)
}

/// What a change of the position has written, and read.
fn moved_by_seek<R>(_: &R, before: &Look, after: &Look) -> Moved {
    (after.read_by_seek(before), before.pending - after.pending)
}

/// # Safety
///
/// `text` is the string that a call has put into a stream.
unsafe fn length(text: Name, result: c_int, more: i64) -> i64 {
    if result < 0 {
        return 0;
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_bytes().len() as i64 + more
}

/// Writes items, byte by byte as far as the C library is concerned, which then tells how many bytes it took.
///
/// # Safety
///
/// These are the arguments of `fwrite`.
#[inline(always)]
unsafe fn items(
    size: usize,
    count: usize,
    stream: *mut Stream,
    locks: bool,
    call: impl FnOnce(usize, usize) -> usize,
) -> usize {
    let all = size.wrapping_mul(count);
    if all == 0 || !recording::is_on() {
        return call(size, count);
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { on(stream, locks, || call(1, all), |bytes, a, b| wrote(*bytes as i64, a, b)) };
    if bytes == all { count } else { bytes / size }
}

/// Runs a call that makes a stream of a named file.
///
/// # Safety
///
/// The name is the argument of the call.
unsafe fn opening(name: Name, call: impl FnOnce() -> *mut Stream) -> *mut Stream {
    if !recording::is_on() {
        return call();
    }
    thread::with(|thread| {
        if thread.is_own_work() {
            return call();
        }
        let start = clock::now();
        let opened = call();
        // SAFETY: null or a stream.
        let number = unsafe { descriptor(opened) };
        if number >= 0 && !name.is_null() && is_own_memory() {
            // SAFETY: the call was successful, so the name is a string.
            let entry = unsafe { meaning(thread, number, name) };
            descriptors::set(number, entry);
            note(thread, entry, TraceLayer::Stdio, Metadata::Open, start);
        }
        opened
    })
}

/// Runs a call that closes a stream, after which there is none.
///
/// # Safety
///
/// It is the stream of the call.
unsafe fn closing<R>(stream: *mut Stream, call: impl FnOnce() -> R, worked: impl FnOnce(&R) -> bool) -> R {
    if !recording::is_on() {
        return call();
    }
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let number = unsafe { descriptor(stream) };
        if number < 0 || thread.is_own_work() || !is_own_memory() {
            return call();
        }
        // SAFETY: as above.
        let pending = unsafe { stream::pending(stream) };
        // Whether an unused one is a file need not be known.
        let unused = pending == 0 && descriptors::get(number) == Entry::Unknown;
        let file = if unused { None } else { file_of(thread, number, TraceLayer::Stdio) };
        descriptors::set(number, Entry::Unknown);
        let start = clock::now();
        let result = call();
        if let Some(file) = file {
            if worked(&result) {
                stream::record(thread, file, Write, pending, start, clock::now());
            }
            note(thread, Entry::File(file), TraceLayer::Stdio, Metadata::Close, start);
        }
        result
    })
}

/// Runs `freopen`: the end of one file, and the beginning of another.
///
/// # Safety
///
/// These are the arguments of the call.
unsafe fn reopen(name: Name, stream: *mut Stream, call: impl FnOnce() -> *mut Stream) -> *mut Stream {
    // SAFETY: as the caller promises.
    unsafe { opening(name, || closing(stream, call, |_| true)) }
}

/// Runs `fflush`; without a stream it is about all of them.
///
/// # Safety
///
/// It is the argument of the call.
unsafe fn flush(stream: *mut Stream, locks: bool, call: impl FnOnce() -> c_int) -> c_int {
    if !stream.is_null() {
        // SAFETY: as the caller promises.
        return unsafe { on(stream, locks, call, moved_by_seek) };
    }
    if !recording::is_on() {
        return call();
    }
    let start = clock::now();
    record_pending(start);
    call()
}

fn record_pending(start: u64) {
    thread::with(|thread| {
        if thread.is_own_work() {
            return;
        }
        stream::each_pending(&mut |number, pending| {
            if let Some(file) = file_of(thread, number, TraceLayer::Stdio) {
                stream::record(thread, file, Write, pending, start, clock::now());
            }
        });
    });
}

/// The process ends: after everything else, the C library writes what its streams hold.
pub(crate) fn at_exit() {
    record_pending(clock::now());
}

wrappers! {
    fopen (name: Name, mode: Name) -> *mut Stream, |next| opening(name, || next(name, mode));
    fopen64 (name: Name, mode: Name) -> *mut Stream, |next| opening(name, || next(name, mode));
    freopen (name: Name, mode: Name, f: *mut Stream) -> *mut Stream,
        |next| reopen(name, f, || next(name, mode, f));
    freopen64 (name: Name, mode: Name, f: *mut Stream) -> *mut Stream,
        |next| reopen(name, f, || next(name, mode, f));
    fclose (f: *mut Stream) -> c_int, |next| closing(f, || next(f), |result| *result == 0);

    fwrite (from: *const c_void, size: usize, n: usize, f: *mut Stream) -> usize,
        |next| items(size, n, f, true, |size, n| next(from, size, n, f));
    fwrite_unlocked (from: *const c_void, size: usize, n: usize, f: *mut Stream) -> usize,
        |next| items(size, n, f, false, |size, n| next(from, size, n, f));
    fputc (c: c_int, f: *mut Stream) -> c_int, |next| on(f, true, || next(c, f), one);
    putc (c: c_int, f: *mut Stream) -> c_int, |next| on(f, true, || next(c, f), one);
    _IO_putc (c: c_int, f: *mut Stream) -> c_int, |next| on(f, true, || next(c, f), one);
    fputc_unlocked (c: c_int, f: *mut Stream) -> c_int, |next| on(f, false, || next(c, f), one);
    putc_unlocked (c: c_int, f: *mut Stream) -> c_int, |next| on(f, false, || next(c, f), one);
    putchar (c: c_int) -> c_int, |next| on(stdout, true, || next(c), one);
    putchar_unlocked (c: c_int) -> c_int, |next| on(stdout, false, || next(c), one);
    // What putc_unlocked is when it is no call: the function that empties a full buffer.
    __overflow (f: *mut Stream, c: c_int) -> c_int, |next| on(f, false, || next(f, c), one);
    fputs (text: Name, f: *mut Stream) -> c_int,
        |next| on(f, true, || next(text, f), |result, a, b| wrote(length(text, *result, 0), a, b));
    fputs_unlocked (text: Name, f: *mut Stream) -> c_int,
        |next| on(f, false, || next(text, f), |result, a, b| wrote(length(text, *result, 0), a, b));
    puts (text: Name) -> c_int,
        |next| on(stdout, true, || next(text), |result, a, b| wrote(length(text, *result, 1), a, b));

    fflush (f: *mut Stream) -> c_int, |next| flush(f, true, || next(f));
    fflush_unlocked (f: *mut Stream) -> c_int, |next| flush(f, false, || next(f));
    fseek (f: *mut Stream, to: i64, from: c_int) -> c_int,
        |next| on(f, true, || next(f, to, from), moved_by_seek);
    fseeko (f: *mut Stream, to: i64, from: c_int) -> c_int,
        |next| on(f, true, || next(f, to, from), moved_by_seek);
    fseeko64 (f: *mut Stream, to: i64, from: c_int) -> c_int,
        |next| on(f, true, || next(f, to, from), moved_by_seek);
    fsetpos (f: *mut Stream, to: *const c_void) -> c_int, |next| on(f, true, || next(f, to), moved_by_seek);
    fsetpos64 (f: *mut Stream, to: *const c_void) -> c_int, |next| on(f, true, || next(f, to), moved_by_seek);
    rewind (f: *mut Stream) -> (), |next| on(f, true, || next(f), moved_by_seek);
}
