//! Operations on files that move no data.
//!
//! No mark is set while they run ([`tmio_api::thread`]): MPI may call back into the application
//! here, and its I/O there is its own.

use crate::next::exported;
use std::ffi::{CStr, c_char, c_int};
use tmio_api::c_abi::shield;
use tmio_api::{clock, is_on};

/// Where a handle is, or is to be stored.
type FilePlace = *mut usize;

exported! {
    MPI_File_open PMPI_File_open (comm: usize, name: *const c_char, mode: c_int, info: usize, file: FilePlace)
        |next| open(name, file, || next(comm, name, mode, info, file));
    MPI_File_close PMPI_File_close (file: FilePlace)
        |next| close(file, || next(file));
}

/// # Safety
///
/// `name` and `file` are the arguments of `MPI_File_open`.
unsafe fn open(name: *const c_char, file: FilePlace, call: impl FnOnce() -> c_int) -> c_int {
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
