//! Operations on files that move no data, recorded as such.
//!
//! MPI may call back into the application here, and its I/O there is its own: it does not come from MPI
//! ([`tmio_api::thread`]).

use crate::completion;
use crate::next::{self, exported};
use crate::requests;
use crate::sessions;
use crate::tracer;
use std::ffi::{CStr, c_char, c_int};
use tmio_api::{Record, clock, in_flight, is_on, shield, thread, turns};
use tmio_trace::{Flags, Metadata, OpKind};

/// Where a handle is, or is to be stored.
type FilePlace = *mut usize;

exported! {
    MPI_File_open PMPI_File_open (comm: usize, name: *const c_char, mode: c_int, info: usize, file: FilePlace)
        |next| open(name, file, || next(comm, name, mode, info, file));
    MPI_File_close PMPI_File_close (file: FilePlace)
        |next| close(file, || next(file));
    MPI_File_delete PMPI_File_delete (name: *const c_char, info: usize)
        |next| delete(name, || next(name, info));
    MPI_File_sync PMPI_File_sync (file: usize)
        |next| sync(file, || next(file));
    MPI_File_set_view PMPI_File_set_view (file: usize, start: i64, etype: usize, filetype: usize, representation: *const c_char, info: usize)
        |next| metadata(Metadata::SetView, file, start, || next(file, start, etype, filetype, representation, info));
    MPI_File_set_size PMPI_File_set_size (file: usize, size: i64)
        |next| metadata(Metadata::SetSize, file, size, || next(file, size));
    MPI_File_preallocate PMPI_File_preallocate (file: usize, size: i64)
        |next| metadata(Metadata::Preallocate, file, size, || next(file, size));
    MPI_File_seek PMPI_File_seek (file: usize, offset: i64, whence: c_int)
        |next| metadata(Metadata::Seek, file, offset, || next(file, offset, whence));
    MPI_File_seek_shared PMPI_File_seek_shared (file: usize, offset: i64, whence: c_int)
        |next| metadata(Metadata::SeekShared, file, offset, || next(file, offset, whence));
    MPI_File_set_info PMPI_File_set_info (file: usize, info: usize)
        |next| metadata(Metadata::SetInfo, file, -1, || next(file, info));
    MPI_File_set_atomicity PMPI_File_set_atomicity (file: usize, flag: c_int)
        |next| metadata(Metadata::SetAtomicity, file, -1, || next(file, flag));
}

/// Makes a call and gives what it returned, when it began and when it ended to `note`; only the former if
/// it is one that MPI, or a tool between us and MPI, makes inside another.
#[inline(always)]
fn outermost(call: impl FnOnce() -> c_int, note: impl FnOnce(c_int, u64, u64)) -> c_int {
    around(|| (), call, |(), result, start, end| note(result, start, end))
}

/// The same, with what has to be known before the call.
#[inline(always)]
fn around<T>(
    before: impl FnOnce() -> T,
    call: impl FnOnce() -> c_int,
    note: impl FnOnce(T, c_int, u64, u64),
) -> c_int {
    thread::with(|thread| {
        let Some(entered) = in_flight::enter(thread, next::called_by_mpi) else { return call() };
        let known = before();
        let under_way = in_flight::begin(thread);
        let start = clock::now();
        under_way.since(start);
        let result = call();
        let end = clock::now();
        drop(entered);
        shield(|| note(known, result, start, end));
        drop(under_way);
        result
    })
}

/// An operation on an open file; `offset` is its argument of that type, or −1.
#[inline(always)]
fn metadata(operation: Metadata, file: usize, offset: i64, call: impl FnOnce() -> c_int) -> c_int {
    if !is_on() {
        return call();
    }
    outermost(call, |result, start, end| {
        let flags = if result == 0 { Flags::default() } else { Flags::FAILED };
        let kind = OpKind::metadata(operation);
        let record = Record { kind, flags, file, offset, bytes: 0, start, end, nonblocking: [0; 4] };
        thread::with(|thread| tmio_api::record(thread, record));
    })
}

/// What is in caches goes to the file system now: that is I/O, for which the job takes its turn.
#[inline(always)]
fn sync(file: usize, call: impl FnOnce() -> c_int) -> c_int {
    let tracer = if is_on() { tracer::get() } else { None };
    let Some(tracer) = tracer else { return call() };
    let inside = thread::with(|thread| thread.is_in_mpi());
    let _turn = (!inside).then(|| turns::enter(file, true, || tracer.progress()));
    metadata(Metadata::Sync, file, -1, call)
}

/// # Safety
///
/// `name` is the argument of `MPI_File_delete`.
unsafe fn delete(name: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    if !is_on() || name.is_null() {
        return call();
    }
    outermost(call, |result, start, end| {
        // SAFETY: MPI has read the name.
        let name = unsafe { CStr::from_ptr(name) };
        tmio_api::delete_file(&name.to_string_lossy(), result == 0, start, end);
    })
}

/// # Safety
///
/// `name` and `file` are the arguments of `MPI_File_open`.
unsafe fn open(name: *const c_char, file: FilePlace, call: impl FnOnce() -> c_int) -> c_int {
    shield(sessions::start_if_alone);
    outermost(call, |result, start, end| {
        if result == 0 && !name.is_null() && !file.is_null() {
            // SAFETY: MPI has stored a handle, which is an address in every MPI, and has read the name.
            let (handle, name) = unsafe { (file.read(), CStr::from_ptr(name)) };
            tmio_api::open_file(handle, &name.to_string_lossy(), start, end);
        }
    })
}

/// # Safety
///
/// `file` is the argument of `MPI_File_close`.
unsafe fn close(file: FilePlace, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: a file handle is an address in every MPI.
    let handle = if file.is_null() { 0 } else { unsafe { file.read() } };
    // Both before the call: when it returns, the handle may be that of another thread's file.
    let before = || {
        shield(|| {
            requests::left_behind(handle, completion::record_unseen);
            tmio_api::closing_file(handle)
        })
    };
    around(before, call, |file, result, start, end| {
        if let Some(file) = file.flatten().filter(|_| result == 0) {
            tmio_api::close_file(file, start, end);
        }
    })
}
