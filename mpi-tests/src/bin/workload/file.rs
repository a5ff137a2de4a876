//! MPI-IO for the workload. rsmpi has no safe interface for files, so this is one over its bindings, just
//! large enough.

use crate::options::Access;
use mpi::ffi::{self, MPI_File, MPI_Offset, MPI_Request};
use mpi::traits::*;
use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A file that all ranks of a communicator have opened.
pub struct File {
    handle: MPI_File,
}

fn check(code: c_int, call: &str) {
    assert_eq!(code, ffi::MPI_SUCCESS as c_int, "{call} failed");
}

impl File {
    pub fn open(comm: &impl Communicator, path: &Path) -> Self {
        let name = CString::new(path.as_os_str().as_bytes()).expect("a path holds no NUL");
        let mode = (ffi::MPI_MODE_CREATE | ffi::MPI_MODE_RDWR) as c_int;
        let mut handle = std::mem::MaybeUninit::<MPI_File>::uninit();
        // SAFETY: the communicator is valid, the name ends with NUL, and MPI stores the handle where it is
        // told to.
        unsafe {
            let code = ffi::MPI_File_open(
                comm.as_raw(),
                name.as_ptr(),
                mode,
                ffi::RSMPI_INFO_NULL,
                handle.as_mut_ptr(),
            );
            check(code, "MPI_File_open");
            File { handle: handle.assume_init() }
        }
    }

    /// Writes every request at the offset of its number.
    pub fn write(&self, access: Access, requests: &[Vec<u8>], offset: impl Fn(usize) -> usize) {
        let mut pending = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            let (at, data, count) =
                (offset(number) as MPI_Offset, request.as_ptr().cast(), request.len() as c_int);
            // SAFETY: the file is open, the buffer holds `count` bytes, and stays until `wait` below returns.
            unsafe {
                let code = match access {
                    Access::Blocking => {
                        ffi::MPI_File_write_at(self.handle, at, data, count, byte(), ffi::RSMPI_STATUS_IGNORE)
                    }
                    Access::Collective => ffi::MPI_File_write_at_all(
                        self.handle,
                        at,
                        data,
                        count,
                        byte(),
                        ffi::RSMPI_STATUS_IGNORE,
                    ),
                    Access::Nonblocking => {
                        pending.push(ffi::RSMPI_REQUEST_NULL);
                        let slot = pending.last_mut().expect("just pushed");
                        ffi::MPI_File_iwrite_at(self.handle, at, data, count, byte(), slot)
                    }
                };
                check(code, "writing");
            }
        }
        wait(pending);
    }

    /// Fills every request from the offset of its number.
    pub fn read(&self, access: Access, requests: &mut [Vec<u8>], offset: impl Fn(usize) -> usize) {
        let mut pending = Vec::new();
        for (number, request) in requests.iter_mut().enumerate() {
            let count = request.len() as c_int;
            let (at, data) = (offset(number) as MPI_Offset, request.as_mut_ptr().cast());
            // SAFETY: as for writing; the buffers are borrowed mutably until `wait` below returns.
            unsafe {
                let code = match access {
                    Access::Blocking => {
                        ffi::MPI_File_read_at(self.handle, at, data, count, byte(), ffi::RSMPI_STATUS_IGNORE)
                    }
                    Access::Collective => ffi::MPI_File_read_at_all(
                        self.handle,
                        at,
                        data,
                        count,
                        byte(),
                        ffi::RSMPI_STATUS_IGNORE,
                    ),
                    Access::Nonblocking => {
                        pending.push(ffi::RSMPI_REQUEST_NULL);
                        let slot = pending.last_mut().expect("just pushed");
                        ffi::MPI_File_iread_at(self.handle, at, data, count, byte(), slot)
                    }
                };
                check(code, "reading");
            }
        }
        wait(pending);
    }

    pub fn close(mut self) {
        // SAFETY: the file is open, and nobody can use it afterwards.
        check(unsafe { ffi::MPI_File_close(&mut self.handle) }, "MPI_File_close");
    }
}

fn byte() -> ffi::MPI_Datatype {
    u8::equivalent_datatype().as_raw()
}

fn wait(mut pending: Vec<MPI_Request>) {
    // SAFETY: these requests were started above; MPI allows none at all.
    let code =
        unsafe { ffi::MPI_Waitall(pending.len() as c_int, pending.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE) };
    check(code, "MPI_Waitall");
}
