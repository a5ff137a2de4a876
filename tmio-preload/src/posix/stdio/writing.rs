//! Calls that open, write, flush, position and close streams.

use super::super::descriptors::{self, Entry};
use super::super::files::{meaning, note};
use super::super::next::wrappers;
use super::super::recording::{self, file_of};
use super::super::vfork::is_own_memory;
use super::stream::{self, Look, Moved, Stream, descriptor, on};
use super::wide;
use std::ffi::{CStr, c_char, c_int, c_void};
use tmio_api::clock;
use tmio_api::thread::{self, ThreadState};
use tmio_trace::Direction::{Read, Write};
use tmio_trace::{Metadata, TraceLayer};

type Name = *const c_char;

unsafe extern "C" {
    static stdout: *mut Stream;
}

/// What a call has written that took as many bytes; `None`: it says that it failed.
fn wrote(taken: Option<i64>, before: &Look, after: &Look) -> Moved {
    let written = taken.unwrap_or(0) + before.pending - after.pending;
    if written > 0 && after.failed(before, taken.is_none()) { (0, 0) } else { (0, written) }
}

/// What a call has written that took a character, or none.
pub(super) fn one(result: &c_int, before: &Look, after: &Look) -> Moved {
    wrote((*result != libc::EOF).then_some(1), before, after)
}

/// What a call has written that took as many characters as it returns.
pub(super) fn as_many(result: &c_int, before: &Look, after: &Look) -> Moved {
    wrote((*result >= 0).then_some(i64::from(*result)), before, after)
}

/// What a change of the position has written, and read.
fn moved_by_seek(result: &c_int, before: &Look, after: &Look) -> Moved {
    let failed = after.failed(before, *result != 0);
    (after.read_by_seek(before), if failed { 0 } else { before.pending - after.pending })
}

/// # Safety
///
/// `text` is the string that a call has put into a stream.
unsafe fn length(text: Name, result: c_int, more: i64) -> Option<i64> {
    // SAFETY: as the caller promises.
    (result >= 0).then(|| unsafe { CStr::from_ptr(text) }.to_bytes().len() as i64 + more)
}

/// What `fwrite` has written. Bytes that wait when it fails are lost; if none did, it returns those that were
/// written.
fn wrote_items(bytes: usize, all: usize, before: &Look, after: &Look) -> Moved {
    if bytes < all && before.pending == 0 {
        return (0, bytes as i64 - after.pending);
    }
    wrote((bytes == all).then_some(bytes as i64), before, after)
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
    let bytes = unsafe { on(stream, locks, || call(1, all), |bytes, a, b| wrote_items(*bytes, all, a, b)) };
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
        let number = if stream.is_null() { -1 } else { unsafe { (*stream).number() } };
        if number < 0 || thread.is_own_work() || !is_own_memory() {
            return call();
        }
        // SAFETY: as above. A stream of wide characters has nothing in its buffer for bytes.
        let pending = unsafe {
            wide::write_out(thread, stream, true);
            stream::pending(stream)
        };
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
        return unsafe { moving(stream, locks, call) };
    }
    flush_all(call)
}

/// Runs a call that writes what a stream holds, and may move its position.
///
/// # Safety
///
/// It is the stream of the call.
#[inline(always)]
unsafe fn moving(stream: *mut Stream, locks: bool, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        if recording::is_on() && !stream.is_null() && (*stream).wide().is_some() {
            return moving_wide(stream, locks, call);
        }
        on(stream, locks, call, moved_by_seek)
    }
}

/// # Safety
///
/// It is the stream of the call.
#[cold]
unsafe fn moving_wide(stream: *mut Stream, locks: bool, call: impl FnOnce() -> c_int) -> c_int {
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        unsafe {
            let number = (*stream).number();
            let file = if number < 0 { None } else { file_of(thread, number, TraceLayer::Stdio) };
            let Some(file) = file else { return call() };
            wide::write_out(thread, stream, locks);
            let (before, start) = (Look::at(stream), clock::now());
            let result = call();
            let (read, _) = moved_by_seek(&result, &before, &Look::at(stream));
            stream::record(thread, file, Read, read, start, clock::now());
            result
        }
    })
}

/// Streams that hold something, and how much.
const MOST_STREAMS: usize = 256;
type Held = [Option<(u32, i64)>; MOST_STREAMS];

fn look_at_all(thread: &ThreadState, wide: &mut dyn FnMut(*mut Stream)) -> Held {
    let mut held = [None; MOST_STREAMS];
    let mut places = held.iter_mut();
    stream::each(&mut |stream| {
        // SAFETY: it is a stream that is held still.
        unsafe {
            if (*stream).wide().is_some() {
                return wide(stream);
            }
            let pending = stream::pending(stream);
            if pending > 0
                && let Some(file) = file_of(thread, (*stream).number(), TraceLayer::Stdio)
                && let Some(place) = places.next()
            {
                *place = Some((file, pending));
            }
        }
    });
    held
}

fn record_all(thread: &ThreadState, held: &Held, start: u64) {
    for &(file, pending) in held.iter().flatten() {
        stream::record(thread, file, Write, pending, start, clock::now());
    }
}

/// Runs a call that writes what all streams hold.
fn flush_all(call: impl FnOnce() -> c_int) -> c_int {
    if !recording::is_on() {
        return call();
    }
    thread::with(|thread| {
        if thread.is_own_work() {
            return call();
        }
        let mut positions = wide::Positions::default();
        // SAFETY: they are streams that are held still.
        let held = look_at_all(thread, &mut |stream| unsafe {
            if wide::is_pending(&*stream) {
                positions.note(&*stream);
            }
        });
        let start = clock::now();
        let result = call();
        // If not everything could be written, nobody knows what was.
        if result == 0 {
            record_all(thread, &held, start);
        }
        positions.written(&mut |number, bytes| {
            if let Some(file) = file_of(thread, number, TraceLayer::Stdio) {
                stream::record(thread, file, Write, bytes, start, clock::now());
            }
        });
        result
    })
}

/// The process ends: after everything else, the C library writes what its streams hold.
pub(crate) fn at_exit() {
    thread::with(|thread| {
        if !recording::is_on() || thread.is_own_work() {
            return;
        }
        let start = clock::now();
        // SAFETY: the C library would do the same next, and without a lock as well.
        let held = look_at_all(thread, &mut |stream| unsafe { wide::write_out(thread, stream, false) });
        record_all(thread, &held, start);
    });
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
        |next| moving(f, true, || next(f, to, from));
    fseeko (f: *mut Stream, to: i64, from: c_int) -> c_int,
        |next| moving(f, true, || next(f, to, from));
    fseeko64 (f: *mut Stream, to: i64, from: c_int) -> c_int,
        |next| moving(f, true, || next(f, to, from));
    fsetpos (f: *mut Stream, to: *const c_void) -> c_int, |next| moving(f, true, || next(f, to));
    fsetpos64 (f: *mut Stream, to: *const c_void) -> c_int, |next| moving(f, true, || next(f, to));
    rewind (f: *mut Stream) -> (), |next| { moving(f, true, || { next(f); 0 }); };
    // They write what waits in the buffer that there was.
    setvbuf (f: *mut Stream, to: *mut c_char, how: c_int, n: usize) -> c_int,
        |next| moving(f, true, || next(f, to, how, n));
    setbuf (f: *mut Stream, to: *mut c_char) -> (), |next| { moving(f, true, || { next(f, to); 0 }); };
    setbuffer (f: *mut Stream, to: *mut c_char, n: usize) -> (),
        |next| { moving(f, true, || { next(f, to, n); 0 }); };
    setlinebuf (f: *mut Stream) -> (), |next| { moving(f, true, || { next(f); 0 }); };
    fcloseall () -> c_int, |next| flush_all(|| next());
}
