//! Streams of wide characters.
//!
//! What is in their buffer becomes bytes by the encoding of the locale only when it is written, so the buffer
//! does not tell how many. The kernel does: the position of the descriptor before and after a call. Nobody
//! asks for it where the buffer shows that the call cannot have used the descriptor.

use super::super::next::{Next, wrappers};
use super::super::recording::{self, file_of};
use super::reading::stdin;
use super::stream::{Lock, Stream, Wide, record};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use tmio_api::clock;
use tmio_api::thread::{self, ThreadState};
use tmio_trace::Direction::{self, Read, Write};
use tmio_trace::TraceLayer;

type Text = *const u32;
/// `wint_t`.
type Char = u32;
/// A `va_list`, as a parameter.
type Values = *mut c_void;

unsafe extern "C" {
    static stdout: *mut Stream;
}

/// Where the next byte is read or written.
fn position(stream: &Stream, direction: Direction) -> i64 {
    // SAFETY: the address is that of this thread's errno; the calls only ask about a descriptor.
    unsafe {
        let errno = *libc::__errno_location();
        let mut position = libc::lseek(stream.number(), 0, libc::SEEK_CUR);
        if direction == Write && stream.appends() {
            let mut stat = MaybeUninit::<libc::stat>::zeroed();
            if libc::fstat(stream.number(), stat.as_mut_ptr()) == 0 {
                position = stat.assume_init().st_size;
            }
        }
        *libc::__errno_location() = errno;
        position
    }
}

fn pending(wide: &Wide) -> usize {
    wide.write_ptr.addr().saturating_sub(wide.write_base.addr()) / size_of::<u32>()
}

/// Whether characters of this stream wait to be written.
pub(super) fn is_pending(stream: &Stream) -> bool {
    stream.wide().is_some_and(|wide| pending(wide) > 0)
}

/// Runs a call on a stream whose file is recorded, and records what it has moved.
///
/// # Safety
///
/// It is the stream of the call, which does not close it.
unsafe fn measured<R>(
    thread: &ThreadState,
    file: u32,
    stream: *mut Stream,
    direction: Direction,
    call: impl FnOnce() -> R,
) -> R {
    // SAFETY: as the caller promises.
    let (before, writes_first) = unsafe { (position(&*stream, direction), is_pending(&*stream)) };
    let start = clock::now();
    let result = call();
    let end = clock::now();
    // SAFETY: as the caller promises.
    let (after, filled) = unsafe { (position(&*stream, direction), (*stream).filled()) };
    let moved = (after - before).max(0);
    let (read, written) = match direction {
        Write => (0, moved),
        // What waited is written, and then the buffer is filled.
        Read if writes_first && moved > 0 => (filled.min(moved), moved - filled.min(moved)),
        Read => (moved, 0),
    };
    record(thread, file, Write, written, start, end);
    record(thread, file, Read, read, start, end);
    result
}

/// Runs a call on a stream of wide characters, or on one that the call makes such a stream. `stays`: whether
/// the buffer shows that the descriptor is not used.
///
/// # Safety
///
/// It is the stream of the call.
#[inline(always)]
unsafe fn on<R>(
    stream: *mut Stream,
    locks: bool,
    direction: Direction,
    stays: impl FnOnce(&Wide) -> bool,
    call: impl FnOnce() -> R,
) -> R {
    if !recording::is_on() || stream.is_null() {
        return call();
    }
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let (number, is_narrow) = unsafe { ((*stream).number(), (*stream).is_narrow()) };
        if number < 0 || is_narrow {
            return call();
        }
        let Some(file) = file_of(thread, number, TraceLayer::Stdio) else { return call() };
        let _lock = locks.then(|| Lock::of(stream));
        // SAFETY: as the caller promises.
        unsafe {
            match (*stream).wide().is_some_and(stays) {
                true => call(),
                false => measured(thread, file, stream, direction, call),
            }
        }
    })
}

/// Writes what waits in a stream of wide characters, as the call would that follows, and records it.
///
/// # Safety
///
/// It is a stream, and nobody else uses it, or `locks` is set.
pub(super) unsafe fn write_out(thread: &ThreadState, stream: *mut Stream, locks: bool) {
    static NEXT: Next = Next::new("fflush\0");
    static NEXT_UNLOCKED: Next = Next::new("fflush_unlocked\0");
    let function = if locks { NEXT.get() } else { NEXT_UNLOCKED.get() };
    // SAFETY: as the caller promises; the functions of these names have this signature.
    unsafe {
        if function.is_null() || !is_pending(&*stream) {
            return;
        }
        let Some(file) = file_of(thread, (*stream).number(), TraceLayer::Stdio) else { return };
        let flush: unsafe extern "C-unwind" fn(*mut Stream) -> c_int = std::mem::transmute(function);
        let errno = *libc::__errno_location();
        let _lock = locks.then(|| Lock::of(stream));
        measured(thread, file, stream, Write, || flush(stream));
        *libc::__errno_location() = errno;
    }
}

/// Streams of wide characters that a call may write, with their positions before it.
#[derive(Debug, Default)]
pub(super) struct Positions {
    streams: [Option<(c_int, i64)>; 16],
}

impl Positions {
    pub(super) fn note(&mut self, stream: &Stream) {
        if let Some(place) = self.streams.iter_mut().find(|place| place.is_none()) {
            *place = Some((stream.number(), position(stream, Write)));
        }
    }

    /// Shows what was written to which descriptor since.
    pub(super) fn written(&self, visit: &mut dyn FnMut(c_int, i64)) {
        for &(number, before) in self.streams.iter().flatten() {
            // SAFETY: the call only asks about a descriptor.
            let after = unsafe { libc::lseek(number, 0, libc::SEEK_CUR) };
            if after > before {
                visit(number, after - before);
            }
        }
    }
}

/// Whether there is room for as many characters. A stream that writes every line has none.
fn has_room(wide: &Wide, count: usize) -> bool {
    wide.write_end.addr().saturating_sub(wide.write_ptr.addr()) / size_of::<u32>() >= count
}

fn available(wide: &Wide) -> usize {
    wide.read_end.addr().saturating_sub(wide.read_ptr.addr()) / size_of::<u32>()
}

/// Whether a line, or as many characters, are there.
fn has_line(wide: &Wide, most: c_int) -> bool {
    let available = available(wide);
    if available == 0 {
        return false;
    }
    // SAFETY: the buffer holds these characters.
    let there = unsafe { std::slice::from_raw_parts(wide.read_ptr, available) };
    available >= usize::try_from(most).unwrap_or(0) || there.contains(&u32::from(b'\n'))
}

/// # Safety
///
/// It is a string.
unsafe fn length(text: Text) -> usize {
    // SAFETY: as the caller promises.
    unsafe { libc::wcslen(text.cast()) }
}

wrappers! {
    fputwc (c: Char, f: *mut Stream) -> Char, |next| on(f, true, Write, |w| has_room(w, 1), || next(c, f));
    putwc (c: Char, f: *mut Stream) -> Char, |next| on(f, true, Write, |w| has_room(w, 1), || next(c, f));
    fputwc_unlocked (c: Char, f: *mut Stream) -> Char,
        |next| on(f, false, Write, |w| has_room(w, 1), || next(c, f));
    putwc_unlocked (c: Char, f: *mut Stream) -> Char,
        |next| on(f, false, Write, |w| has_room(w, 1), || next(c, f));
    putwchar (c: Char) -> Char, |next| on(stdout, true, Write, |w| has_room(w, 1), || next(c));
    putwchar_unlocked (c: Char) -> Char, |next| on(stdout, false, Write, |w| has_room(w, 1), || next(c));
    fputws (text: Text, f: *mut Stream) -> c_int,
        |next| on(f, true, Write, |w| has_room(w, length(text)), || next(text, f));
    fputws_unlocked (text: Text, f: *mut Stream) -> c_int,
        |next| on(f, false, Write, |w| has_room(w, length(text)), || next(text, f));

    fgetwc (f: *mut Stream) -> Char, |next| on(f, true, Read, |w| available(w) > 0, || next(f));
    getwc (f: *mut Stream) -> Char, |next| on(f, true, Read, |w| available(w) > 0, || next(f));
    fgetwc_unlocked (f: *mut Stream) -> Char, |next| on(f, false, Read, |w| available(w) > 0, || next(f));
    getwc_unlocked (f: *mut Stream) -> Char, |next| on(f, false, Read, |w| available(w) > 0, || next(f));
    getwchar () -> Char, |next| on(stdin, true, Read, |w| available(w) > 0, || next());
    getwchar_unlocked () -> Char, |next| on(stdin, false, Read, |w| available(w) > 0, || next());
    fgetws (to: *mut u32, n: c_int, f: *mut Stream) -> *mut u32,
        |next| on(f, true, Read, |w| has_line(w, n), || next(to, n, f));
    fgetws_unlocked (to: *mut u32, n: c_int, f: *mut Stream) -> *mut u32,
        |next| on(f, false, Read, |w| has_line(w, n), || next(to, n, f));
    __fgetws_chk (to: *mut u32, room: usize, n: c_int, f: *mut Stream) -> *mut u32,
        |next| on(f, true, Read, |w| has_line(w, n), || next(to, room, n, f));
    __fgetws_unlocked_chk (to: *mut u32, room: usize, n: c_int, f: *mut Stream) -> *mut u32,
        |next| on(f, false, Read, |w| has_line(w, n), || next(to, room, n, f));

    vfwprintf (f: *mut Stream, format: Text, values: Values) -> c_int,
        |next| on(f, true, Write, |_| false, || next(f, format, values));
    __vfwprintf_chk (f: *mut Stream, check: c_int, format: Text, values: Values) -> c_int,
        |next| on(f, true, Write, |_| false, || next(f, check, format, values));
    vwprintf (format: Text, values: Values) -> c_int,
        |next| on(stdout, true, Write, |_| false, || next(format, values));
    __vwprintf_chk (check: c_int, format: Text, values: Values) -> c_int,
        |next| on(stdout, true, Write, |_| false, || next(check, format, values));
    vfwscanf (f: *mut Stream, format: Text, values: Values) -> c_int,
        |next| on(f, true, Read, |_| false, || next(f, format, values));
    __isoc99_vfwscanf (f: *mut Stream, format: Text, values: Values) -> c_int,
        |next| on(f, true, Read, |_| false, || next(f, format, values));
    __isoc23_vfwscanf (f: *mut Stream, format: Text, values: Values) -> c_int,
        |next| on(f, true, Read, |_| false, || next(f, format, values));
}

/// Prints or scans by the function of a name, or where the C library does not have it, by that of another.
///
/// # Safety
///
/// The arguments are those of the function.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) unsafe fn formatted(
    names: [&Next; 2],
    f: *mut Stream,
    format: *const std::ffi::c_char,
    values: Values,
    direction: Direction,
) -> c_int {
    let Some(function) = names.iter().map(|name| name.get()).find(|found| !found.is_null()) else {
        return -1;
    };
    type Function = unsafe extern "C-unwind" fn(*mut Stream, *const std::ffi::c_char, Values) -> c_int;
    // SAFETY: the function of this name has this signature, and the caller's promise.
    unsafe {
        let function: Function = std::mem::transmute(function);
        on(f, true, direction, |_| false, || function(f, format, values))
    }
}

/// # Safety
///
/// The arguments are those of `__vfwprintf_chk`.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) unsafe fn checked(
    f: *mut Stream,
    check: c_int,
    format: *const std::ffi::c_char,
    values: Values,
) -> c_int {
    static NEXT: Next = Next::new("__vfwprintf_chk\0");
    let function = NEXT.get();
    if function.is_null() {
        return -1;
    }
    type Function = unsafe extern "C-unwind" fn(*mut Stream, c_int, *const std::ffi::c_char, Values) -> c_int;
    // SAFETY: as above.
    unsafe {
        let function: Function = std::mem::transmute(function);
        on(f, true, Write, |_| false, || function(f, check, format, values))
    }
}
