//! The C library's streams: what goes between their buffers and the system.
//!
//! A stream reads and writes its file by two functions that it finds in a table of the C library ("jump
//! table"): these are the only places where bytes pass. While streams are recorded, the tables lead to ours,
//! which record each call and make it. So every function of streams is seen, however it fills and empties its
//! buffer, with exactly the bytes that the system has moved; and streams that have no file (in memory, or
//! made of the program's own functions) have other tables, and are not seen.
//!
//! Where streams are not recorded but descriptors are, only what closes a descriptor leads to ours.
//!
//! The tables are the same ones since glibc 2.1. Where they do not look as they should, streams are not
//! recorded.

use crate::descriptors::{self, Entry};
use crate::elf::{Kind, Name};
use crate::entry::wrappers;
use crate::files::{self, closing, is_regular, note};
use crate::page::{self, wants};
use crate::vfork::is_own_memory;
use crate::{anew, clock, data, load, names, recording, sys, thread};
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicUsize};
use tmio_spool::kind::Direction::{self, Read, Write};
use tmio_spool::kind::{Metadata, TraceLayer};

/// `FILE`. Its fields have had these places since glibc 2.1, and are public.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Stream {
    flags: c_int,
    pointers: [*mut u8; 12],
    chain: *mut Stream,
    descriptor: c_int,
}

const _: () = assert!(core::mem::offset_of!(Stream, descriptor) == 112);

type ReadFunction = unsafe extern "C" fn(*mut Stream, *mut c_void, isize) -> isize;
type WriteFunction = unsafe extern "C" fn(*mut Stream, *const c_void, isize) -> isize;
type CloseFunction = unsafe extern "C" fn(*mut Stream) -> c_int;

/// Which entries of a jump table these are.
const READ: usize = 14;
const WRITE: usize = 15;
const CLOSE: usize = 17;

/// The C library's own functions.
static READS: AtomicUsize = AtomicUsize::new(0);
static WRITES: AtomicUsize = AtomicUsize::new(0);
static CLOSES: AtomicUsize = AtomicUsize::new(0);
/// Those of streams that map their file, and of `popen`; they may have no name.
static OTHER_CLOSES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
const OUR_CLOSES: [CloseFunction; 2] = [other_stream_close::<0>, other_stream_close::<1>];

/// What leads to ours already, or was tried.
static STATE: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
const CLOSING: u8 = 1;
const ALL: u8 = 2;

/// The program begins: streams are there already whose descriptors may be files.
pub(crate) fn at_start() {
    if (0..3).any(is_regular) {
        install();
    }
}

/// A descriptor is something else from here on: one of the streams that are there from the beginning may have
/// a file.
#[inline(always)]
pub(crate) fn may_have_files(descriptor: c_int) {
    if descriptor < 3 && STATE.load(Relaxed) == NOTHING {
        install();
    }
}

/// Leads the tables to our functions, if that was not done. One thread does it.
#[cold]
#[inline(never)]
pub(crate) fn install() {
    let wanted = if wants(TraceLayer::Stdio) { ALL } else { CLOSING };
    if STATE.load(Relaxed) < wanted && STATE.fetch_max(wanted, Relaxed) < wanted {
        let _ = try_install(wanted == ALL);
    }
}

fn try_install(is_recorded: bool) -> Option<()> {
    let find = |name: &[u8]| load::each(|object| object.find(Name::new(name), Kind::Any));
    let (read, write, close) = (find(b"_IO_file_read")?, find(b"_IO_file_write")?, find(b"_IO_file_close")?);
    let library = load::each(|object| {
        object.find(Name::new(b"_IO_file_jumps"), Kind::Any).map(|jumps| (object, jumps))
    });
    let (library, jumps) = library?;
    let entry = |index: usize| {
        // SAFETY: a jump table of the C library has 21 words.
        unsafe { core::ptr::with_exposed_provenance::<usize>(jumps).add(index).read() }
    };
    let is_ours = |function: usize| {
        function == stream_close as *const () as usize
            || OUR_CLOSES.iter().any(|own| *own as *const () as usize == function)
    };
    let closes = entry(CLOSE);
    if (entry(READ), entry(WRITE)) != (read, write) || closes != close && !is_ours(closes) {
        return None;
    }
    READS.store(read, Relaxed);
    WRITES.store(write, Relaxed);
    CLOSES.store(close, Release);
    let (begin, last) = library.read_only_after_load()?;
    // Tables for streams of wide characters and for mapped files lie beside it.
    const AROUND: usize = 8 << 10;
    let begin = begin.max(jumps.saturating_sub(AROUND)).next_multiple_of(8);
    let end = last.min(jumps + AROUND);
    // The last page belongs to this part only in part, where pages are larger than the C library was linked
    // for; it can be written then.
    let page = load::auxiliary(load::AT_PAGESZ)?;
    let first_page = begin & !(page - 1);
    let bytes = end.next_multiple_of(page).min(last & !(page - 1)).saturating_sub(first_page);
    // SAFETY: pages of the C library that were written when it was loaded, and are only read since.
    unsafe { sys::protect(first_page, bytes, sys::PROT_READ | sys::PROT_WRITE) }.ok()?;
    let mut place = begin;
    while place + 4 * 8 <= end {
        let word = |distance: usize| {
            // SAFETY: a word of these pages; others only read them.
            unsafe { &*core::ptr::with_exposed_provenance::<AtomicUsize>(place + 8 * distance) }
        };
        if word(0).load(Relaxed) == read && word(WRITE - READ).load(Relaxed) == write {
            if is_recorded {
                word(0).store(stream_read as *const () as usize, Relaxed);
                word(WRITE - READ).store(stream_write as *const () as usize, Relaxed);
            }
            let closes = word(CLOSE - READ).load(Relaxed);
            if closes == close {
                word(CLOSE - READ).store(stream_close as *const () as usize, Relaxed);
            } else if closes != 0 && !is_ours(closes) {
                let known = OTHER_CLOSES.iter().zip(OUR_CLOSES).find(|(place, _)| {
                    place.load(Relaxed) == closes
                        || place.compare_exchange(0, closes, Release, Relaxed).is_ok()
                });
                if let Some((_, own)) = known {
                    word(CLOSE - READ).store(own as *const () as usize, Relaxed);
                }
            }
        }
        place += 8;
    }
    // SAFETY: as above; they are as they were.
    let _ = unsafe { sys::protect(first_page, bytes, sys::PROT_READ) };
    Some(())
}

/// Runs what the C library does for a stream, and records it.
#[inline(always)]
fn passing(stream: *mut Stream, direction: Direction, call: impl FnOnce() -> isize) -> isize {
    if !page::is_looked_at() || !anew::is_on() {
        return call();
    }
    thread::with(|thread| {
        // SAFETY: the C library gives a stream.
        let descriptor = unsafe { (*stream).descriptor };
        // A call that is one of POSIX, and that this C library makes of a stream.
        let layer = if thread.counted.get() > 0 { TraceLayer::Posix } else { TraceLayer::Stdio };
        let Some(file) = data::file_of(thread, descriptor, layer) else {
            let result = call();
            if !thread.is_own_work() && thread.counted.get() == 0 {
                page::beside(direction, result as i64);
            }
            return result;
        };
        let start = clock::now();
        let result = call();
        if result > 0 {
            let done = recording::data(layer, direction, None, result as i64, start, clock::now());
            recording::record(thread, file, &done);
        }
        if thread.counted.get() > 0 {
            thread.counted.set(data::SEEN);
        }
        result
    })
}

unsafe extern "C" fn stream_read(stream: *mut Stream, to: *mut c_void, length: isize) -> isize {
    // SAFETY: the function was there before ours, and the arguments are the C library's.
    passing(stream, Read, || unsafe {
        core::mem::transmute::<usize, ReadFunction>(READS.load(Acquire))(stream, to, length)
    })
}

unsafe extern "C" fn stream_write(stream: *mut Stream, from: *const c_void, length: isize) -> isize {
    // SAFETY: as above.
    passing(stream, Write, || unsafe {
        core::mem::transmute::<usize, WriteFunction>(WRITES.load(Acquire))(stream, from, length)
    })
}

unsafe extern "C" fn stream_close(stream: *mut Stream) -> c_int {
    // SAFETY: as for the others.
    unsafe { close_by(&CLOSES, stream) }
}

unsafe extern "C" fn other_stream_close<const WHICH: usize>(stream: *mut Stream) -> c_int {
    // SAFETY: as for the others.
    OTHER_CLOSES.get(WHICH).map_or(-1, |function| unsafe { close_by(function, stream) })
}

/// # Safety
///
/// It is the function of that stream.
unsafe fn close_by(function: &AtomicUsize, stream: *mut Stream) -> c_int {
    // SAFETY: as above.
    let call = || unsafe { core::mem::transmute::<usize, CloseFunction>(function.load(Acquire))(stream) };
    if !page::is_looked_at() {
        return call();
    }
    // SAFETY: the C library gives a stream.
    closing(TraceLayer::Stdio, unsafe { (*stream).descriptor }, call)
}

/// The process ends: what streams hold is written out now, as the C library would do after us. A stream that
/// another thread holds is left to it.
pub(crate) fn write_out_all() {
    if STATE.load(Relaxed) == NOTHING || !wants(TraceLayer::Stdio) {
        return;
    }
    let _ = try_write_out_all();
}

fn try_write_out_all() -> Option<()> {
    type OfStream = unsafe extern "C" fn(*mut Stream) -> c_int;
    let function = |name: &[u8]| {
        // SAFETY: the functions of these names have this signature.
        load::next(name).map(|found| unsafe { core::mem::transmute::<usize, OfStream>(found) })
    };
    let (lock, unlock, flush) =
        (function(b"ftrylockfile")?, function(b"funlockfile")?, function(b"fflush_unlocked")?);
    let list = load::each(|object| object.find(Name::new(b"_IO_list_all"), Kind::Any))?;
    // SAFETY: the list of all open streams; at the end of the process hardly anybody opens or closes one.
    unsafe {
        let mut stream = *core::ptr::with_exposed_provenance::<*mut Stream>(list);
        for _ in 0..100_000 {
            if stream.is_null() {
                break;
            }
            let next = (*stream).chain;
            if (*stream).holds_output() && lock(stream) == 0 {
                flush(stream);
                unlock(stream);
            }
            stream = next;
        }
    }
    Some(())
}

impl Stream {
    /// Whether something waits to be written.
    fn holds_output(&self) -> bool {
        const WRITE_BASE: usize = 3;
        const WRITE_POINTER: usize = 4;
        let of_bytes = self.pointers.get(WRITE_POINTER) > self.pointers.get(WRITE_BASE);
        // Behind the fields that are listed: what a stream of wide characters has, and whether it is one.
        let this = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: every stream has these fields; the buffer of wide characters has the same order of
        // pointers.
        let of_characters = unsafe {
            let mode = *this.add(192).cast::<c_int>();
            let wide = *this.add(160).cast::<*const [*mut u32; 8]>();
            mode > 0 && !wide.is_null() && (*wide).get(WRITE_POINTER) > (*wide).get(WRITE_BASE)
        };
        of_bytes || of_characters
    }
}

/// Runs a call that opens a stream, and takes note of its descriptor.
#[inline(always)]
fn opening(
    call: impl FnOnce() -> *mut Stream,
    look: impl FnOnce(&thread::ThreadState, c_int) -> (Entry, u32),
) -> *mut Stream {
    if !anew::is_on() {
        return call();
    }
    // Also where streams are not recorded: their descriptors are known, and are to be forgotten.
    install();
    thread::with(|thread| {
        if thread.is_own_work() {
            return call();
        }
        let start = clock::begin();
        let stream = call();
        if !stream.is_null() && is_own_memory() {
            // SAFETY: the call has returned a stream of a file.
            let descriptor = unsafe { (*stream).descriptor };
            let (entry, identity) = look(thread, descriptor);
            descriptors::set_with(descriptor, entry, identity);
            note(thread, entry, TraceLayer::Stdio, Metadata::Open, start.ticks());
        }
        stream
    })
}

/// The same for a call that opens a file by its name.
///
/// # Safety
///
/// The name is the argument of the call.
#[inline(always)]
unsafe fn opening_by_name(name: *const c_char, call: impl FnOnce() -> *mut Stream) -> *mut Stream {
    opening(call, |thread, descriptor| match name.is_null() {
        // The same file in another way.
        true => names::look(thread, descriptor),
        // SAFETY: the call was successful, so the name is a string.
        false => unsafe { names::opened(thread, descriptor, name) },
    })
}

type Text = *const c_char;

wrappers! {
    fopen (name: Text, how: Text) -> *mut Stream, |next| opening_by_name(name, || next(name, how));
    fopen64 (name: Text, how: Text) -> *mut Stream, |next| opening_by_name(name, || next(name, how));
    freopen (name: Text, how: Text, stream: *mut Stream) -> *mut Stream,
        |next| opening_by_name(name, || reopening(stream, || next(name, how, stream)));
    freopen64 (name: Text, how: Text, stream: *mut Stream) -> *mut Stream,
        |next| opening_by_name(name, || reopening(stream, || next(name, how, stream)));
    fdopen (fd: c_int, how: Text) -> *mut Stream, |next| {
        install();
        next(fd, how)
    };
    tmpfile () -> *mut Stream, |next| opening(|| next(), names::look);
    tmpfile64 () -> *mut Stream, |next| opening(|| next(), names::look);
    popen (command: Text, how: Text) -> *mut Stream, |next| {
        let stream = next(command, how);
        if !stream.is_null() && files::are_ours() {
            descriptors::set((*stream).descriptor, Entry::Ignored);
        }
        stream
    };
    pclose (stream: *mut Stream) -> c_int, |next| {
        if !stream.is_null() && files::are_ours() {
            descriptors::set((*stream).descriptor, Entry::Unknown);
        }
        next(stream)
    };
}

/// Runs a call that gives a stream another file. It may keep the number of the descriptor, and gives it
/// another meaning.
///
/// # Safety
///
/// It is null or a stream.
unsafe fn reopening(stream: *mut Stream, call: impl FnOnce() -> *mut Stream) -> *mut Stream {
    // SAFETY: as the caller promises.
    let descriptor = if stream.is_null() { -1 } else { unsafe { (*stream).descriptor } };
    let new = call();
    if files::are_ours() {
        descriptors::set(descriptor, Entry::Unknown);
    }
    new
}
