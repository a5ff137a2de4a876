//! Operations on files that move no data, recorded as such.
//!
//! No mark is set while they run ([`tmio_api::thread`]): MPI may call back into the application
//! here, and its I/O there is its own.

use crate::next::exported;
use crate::sessions;
use std::ffi::{CStr, c_char, c_int};
use tmio_api::c_abi::shield;
use tmio_api::{Record, clock, is_on, thread};
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
        |next| metadata(Metadata::Sync, file, -1, || next(file));
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

/// An operation on an open file; `offset` is its argument of that type, or −1.
#[inline(always)]
fn metadata(operation: Metadata, file: usize, offset: i64, call: impl FnOnce() -> c_int) -> c_int {
    if !is_on() {
        return call();
    }
    let start = clock::now();
    let result = call();
    let end = clock::now();
    let flags = if result == 0 { Flags::default() } else { Flags::FAILED };
    let kind = OpKind::metadata(operation);
    let record = Record { kind, flags, file, offset, bytes: 0, start, end, nonblocking: [0; 4] };
    shield(|| thread::with(|thread| tmio_api::record(thread, record)));
    result
}

/// # Safety
///
/// `name` is the argument of `MPI_File_delete`.
unsafe fn delete(name: *const c_char, call: impl FnOnce() -> c_int) -> c_int {
    if !is_on() || name.is_null() {
        return call();
    }
    let start = clock::now();
    let result = call();
    // SAFETY: MPI has read the name.
    let name = unsafe { CStr::from_ptr(name) };
    shield(|| tmio_api::delete_file(&name.to_string_lossy(), result == 0, start, clock::now()));
    result
}

/// # Safety
///
/// `name` and `file` are the arguments of `MPI_File_open`.
unsafe fn open(name: *const c_char, file: FilePlace, call: impl FnOnce() -> c_int) -> c_int {
    shield(sessions::start_if_alone);
    let start = clock::now();
    let result = call();
    if result == 0 && !name.is_null() && !file.is_null() {
        let end = clock::now();
        // SAFETY: MPI has stored a handle, which is an address in every MPI, and has read the name.
        let (handle, name) = unsafe { (file.read(), CStr::from_ptr(name)) };
        shield(|| tmio_api::open_file(handle, &name.to_string_lossy(), start, end));
    }
    result
}

/// # Safety
///
/// `file` is the argument of `MPI_File_close`.
unsafe fn close(file: FilePlace, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: a file handle is an address in every MPI.
    let handle = if file.is_null() { 0 } else { unsafe { file.read() } };
    let start = if is_on() { clock::now() } else { 0 };
    let result = call();
    if result == 0 {
        shield(|| tmio_api::close_file(handle, start, clock::now()));
    }
    result
}
