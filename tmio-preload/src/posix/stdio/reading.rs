//! Calls that read from streams.

use super::super::next::wrappers;
use super::super::recording;
use super::stream::{Look, Moved, Stream, on};
use std::ffi::{CStr, c_char, c_int, c_void};

unsafe extern "C" {
    pub(super) static stdin: *mut Stream;
}

/// What a call has read that gave as many bytes, and what it had to write before.
fn gave(given: i64, before: &Look, after: &Look) -> Moved {
    (given - before.available + after.available, before.pending - after.pending)
}

fn one(result: &c_int, before: &Look, after: &Look) -> Moved {
    gave(i64::from(*result != libc::EOF), before, after)
}

fn line(result: &isize, before: &Look, after: &Look) -> Moved {
    gave((*result).max(0) as i64, before, after)
}

/// How many bytes a call has taken that reads by a format is not known: how often it has filled the buffer
/// is.
pub(super) fn scanned(_: &c_int, before: &Look, after: &Look) -> Moved {
    (after.refilled(before), before.pending - after.pending)
}

fn text(result: &*mut c_char, before: &Look, after: &Look) -> Moved {
    // SAFETY: the call has returned null, or a string that it has just made.
    let length = if result.is_null() { 0 } else { unsafe { CStr::from_ptr(*result) }.to_bytes().len() };
    gave(length as i64, before, after)
}

/// Reads items, byte by byte as far as the C library is concerned, which then tells how many bytes it gave.
///
/// # Safety
///
/// These are the arguments of `fread`.
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
    let bytes = unsafe { on(stream, locks, || call(1, all), |bytes, a, b| gave(*bytes as i64, a, b)) };
    if bytes == all { count } else { bytes / size }
}

wrappers! {
    fread (to: *mut c_void, size: usize, n: usize, f: *mut Stream) -> usize,
        |next| items(size, n, f, true, |size, n| next(to, size, n, f));
    fread_unlocked (to: *mut c_void, size: usize, n: usize, f: *mut Stream) -> usize,
        |next| items(size, n, f, false, |size, n| next(to, size, n, f));
    __fread_chk (to: *mut c_void, room: usize, size: usize, n: usize, f: *mut Stream) -> usize,
        |next| items(size, n, f, true, |size, n| next(to, room, size, n, f));
    __fread_unlocked_chk (to: *mut c_void, room: usize, size: usize, n: usize, f: *mut Stream) -> usize,
        |next| items(size, n, f, false, |size, n| next(to, room, size, n, f));
    fgetc (f: *mut Stream) -> c_int, |next| on(f, true, || next(f), one);
    getc (f: *mut Stream) -> c_int, |next| on(f, true, || next(f), one);
    _IO_getc (f: *mut Stream) -> c_int, |next| on(f, true, || next(f), one);
    fgetc_unlocked (f: *mut Stream) -> c_int, |next| on(f, false, || next(f), one);
    getc_unlocked (f: *mut Stream) -> c_int, |next| on(f, false, || next(f), one);
    getchar () -> c_int, |next| on(stdin, true, || next(), one);
    getchar_unlocked () -> c_int, |next| on(stdin, false, || next(), one);
    // What getc_unlocked is when it is no call: the function that fills an empty buffer.
    __uflow (f: *mut Stream) -> c_int, |next| on(f, false, || next(f), one);
    fgets (to: *mut c_char, n: c_int, f: *mut Stream) -> *mut c_char,
        |next| on(f, true, || next(to, n, f), text);
    fgets_unlocked (to: *mut c_char, n: c_int, f: *mut Stream) -> *mut c_char,
        |next| on(f, false, || next(to, n, f), text);
    __fgets_chk (to: *mut c_char, room: usize, n: c_int, f: *mut Stream) -> *mut c_char,
        |next| on(f, true, || next(to, room, n, f), text);
    __fgets_unlocked_chk (to: *mut c_char, room: usize, n: c_int, f: *mut Stream) -> *mut c_char,
        |next| on(f, false, || next(to, room, n, f), text);
    getline (to: *mut *mut c_char, room: *mut usize, f: *mut Stream) -> isize,
        |next| on(f, true, || next(to, room, f), line);
    getdelim (to: *mut *mut c_char, room: *mut usize, end: c_int, f: *mut Stream) -> isize,
        |next| on(f, true, || next(to, room, end, f), line);
    __getdelim (to: *mut *mut c_char, room: *mut usize, end: c_int, f: *mut Stream) -> isize,
        |next| on(f, true, || next(to, room, end, f), line);
    vfscanf (f: *mut Stream, format: *const c_char, values: *mut c_void) -> c_int,
        |next| on(f, true, || next(f, format, values), scanned);
    __isoc23_vfscanf (f: *mut Stream, format: *const c_char, values: *mut c_void) -> c_int,
        |next| on(f, true, || next(f, format, values), scanned);
    __isoc99_vfscanf (f: *mut Stream, format: *const c_char, values: *mut c_void) -> c_int,
        |next| on(f, true, || next(f, format, values), scanned);
}
