//! Calls that move data between a descriptor and memory, or between two descriptors.

use super::next::wrappers;
use super::recording::{self, file_of};
use std::ffi::{c_int, c_uint, c_void};
use tmio_api::process::Call;
use tmio_api::thread::{self, ThreadState};
use tmio_api::{beside, clock};
use tmio_trace::Direction::{self, Read, Write};
use tmio_trace::{Metadata, TraceLayer};

type Bytes = *mut c_void;
type Vectors = *const libc::iovec;

/// Runs a call on a descriptor, and records what `describe` makes of its result, its start and its end, if it
/// is about a file; if not, `aside` gets the result.
#[inline(always)]
fn recorded<T: Copy>(
    descriptor: c_int,
    call: impl FnOnce() -> T,
    describe: impl FnOnce(T, u64, u64) -> Call,
    aside: impl FnOnce(&ThreadState, T),
) -> T {
    if !recording::is_on() {
        return call();
    }
    thread::with(|thread| {
        let Some(file) = file_of(thread, descriptor, TraceLayer::Posix) else {
            let result = call();
            if !thread.is_own_work() {
                aside(thread, result);
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
        |thread, result| beside::add(thread, direction, result as i64),
    )
}

/// A call that writes as many bytes to a descriptor as it returns.
pub(super) fn written(descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    data(Write, descriptor, None, || call() as isize) as c_int
}

/// A call that moves no data.
#[inline(always)]
fn metadata(operation: Metadata, descriptor: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let describe = |_, start, end| recording::metadata(TraceLayer::Posix, operation, start, end);
    recorded(descriptor, call, describe, |_, _| ())
}

/// Runs a call that moves data from one descriptor to another: a read and a write at the same time.
#[inline(always)]
fn between(from: c_int, to: c_int, call: impl FnOnce() -> isize) -> isize {
    if !recording::is_on() {
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
        for (file, direction) in [(source, Read), (target, Write)] {
            match file {
                Some(file) => {
                    let call = recording::data(TraceLayer::Posix, direction, None, result as i64, start, end);
                    recording::record(thread, file, &call);
                }
                None => beside::add(thread, direction, result as i64),
            }
        }
        result
    })
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
    // An offset of −1 is the file's own position.
    preadv2 (fd: c_int, to: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Read, fd, Some(at).filter(|&at| at >= 0), || next(fd, to, n, at, how));
    preadv64v2 (fd: c_int, to: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Read, fd, Some(at).filter(|&at| at >= 0), || next(fd, to, n, at, how));
    pwritev2 (fd: c_int, from: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Write, fd, Some(at).filter(|&at| at >= 0), || next(fd, from, n, at, how));
    pwritev64v2 (fd: c_int, from: Vectors, n: c_int, at: i64, how: c_int) -> isize,
        |next| data(Write, fd, Some(at).filter(|&at| at >= 0), || next(fd, from, n, at, how));
    // What programs call that were compiled with checks of lengths.
    __read_chk (fd: c_int, to: Bytes, n: usize, room: usize) -> isize,
        |next| data(Read, fd, None, || next(fd, to, n, room));
    __pread_chk (fd: c_int, to: Bytes, n: usize, at: i64, room: usize) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at, room));
    __pread64_chk (fd: c_int, to: Bytes, n: usize, at: i64, room: usize) -> isize,
        |next| data(Read, fd, Some(at), || next(fd, to, n, at, room));

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
