//! The functions that read and write: one row each, one body per way of completing.
//!
//! A row gives direction, file pointer, whether all processes take part, the shape of the
//! signature, the function with an `int` count and its large-count twin (MPI 4.1, section 14.4).
//! Where the MPI lacks the twin, the `int` function does its work; a count that does not fit is
//! refused with the error that MPI has for it.

use crate::abi::StatusBuffer;
use crate::caller::entry;
use crate::next::{self, NO_MPI, Next};
use crate::requests::{self, Pending};
use crate::split::{begin, end};
use crate::tracer;
use std::ffi::{c_int, c_void};
use tmio_api::{Record, clock, in_flight, thread, turns};
use tmio_trace::{Direction, FilePointer, Flags, OpKind};

/// `MPI_ERR_COUNT`, the same in every MPI.
const ERR_COUNT: c_int = 2;

pub(crate) type File = usize;
type Datatype = usize;
type Buffer = *mut c_void;
pub(crate) type Status = *mut c_void;
type RequestPlace = *mut c_void;

macro_rules! data_access {
    ($($direction:ident $pointer:ident $scope:ident $shape:ident
        $mpi:ident $pmpi:ident $($mpi_c:ident $pmpi_c:ident)?;)*) => {
        $(
            const _: () = {
                const KIND: OpKind = kind(Direction::$direction, FilePointer::$pointer, stringify!($scope), stringify!($shape));
                const _: OpKind = KIND; // the first half of a split collective has no use for it
                shape! { $shape KIND $mpi c_int }
                shape! { $shape KIND $pmpi c_int }
                $(
                    shape! { $shape KIND $mpi_c i64 else $mpi }
                    shape! { $shape KIND $pmpi_c i64 else $pmpi }
                )?
            };
        )*
        /// Every function of the table.
        #[cfg(test)]
        const WRAPPED: &[&str] = &[$(stringify!($mpi), $(stringify!($mpi_c),)?)*];
    };
}

const fn kind(direction: Direction, pointer: FilePointer, scope: &str, shape: &str) -> OpKind {
    let (scope, shape) = (scope.as_bytes(), shape.as_bytes());
    // Checked when the table is compiled. (A wrong shape is none of `shape!`.)
    assert!(matches!(scope, b"one" | b"all"), "the scope of a row is one or all");
    let collective = matches!(scope, b"all");
    let nonblocking = matches!(shape, b"nonblocking_at" | b"nonblocking");
    let split = matches!(shape, b"begin_at" | b"begin" | b"end");
    OpKind::data(direction, pointer, nonblocking, collective, split)
}

/// One exported function: `shape! { shape kind name count-type [else int-function] }`.
macro_rules! shape {
    (blocking_at $kind:ident $name:ident $count:ident $(else $int:ident)?) => {
        data_function! { $name ($count) $(else $int)?
            (file: File, offset: i64, buffer: Buffer, count: COUNT, datatype: Datatype, status: Status)
            |next| unsafe { blocking($kind, file, offset, status, |status| next(file, offset, buffer, count, datatype, status)) } }
    };
    (blocking $kind:ident $name:ident $count:ident $(else $int:ident)?) => {
        data_function! { $name ($count) $(else $int)?
            (file: File, buffer: Buffer, count: COUNT, datatype: Datatype, status: Status)
            |next| unsafe { blocking($kind, file, -1, status, |status| next(file, buffer, count, datatype, status)) } }
    };
    (nonblocking_at $kind:ident $name:ident $count:ident $(else $int:ident)?) => {
        data_function! { $name ($count) $(else $int)?
            (file: File, offset: i64, buffer: Buffer, count: COUNT, datatype: Datatype, request: RequestPlace)
            |next| unsafe { nonblocking($kind, file, offset, (count as i64, datatype), request,
                || next(file, offset, buffer, count, datatype, request)) } }
    };
    (nonblocking $kind:ident $name:ident $count:ident $(else $int:ident)?) => {
        data_function! { $name ($count) $(else $int)?
            (file: File, buffer: Buffer, count: COUNT, datatype: Datatype, request: RequestPlace)
            |next| unsafe { nonblocking($kind, file, -1, (count as i64, datatype), request,
                || next(file, buffer, count, datatype, request)) } }
    };
    (begin_at $kind:ident $name:ident $count:ident $(else $int:ident)?) => {
        data_function! { $name ($count) $(else $int)?
            (file: File, offset: i64, buffer: Buffer, count: COUNT, datatype: Datatype)
            |next| begin(file, offset, || unsafe { next(file, offset, buffer, count, datatype) }) }
    };
    (begin $kind:ident $name:ident $count:ident $(else $int:ident)?) => {
        data_function! { $name ($count) $(else $int)?
            (file: File, buffer: Buffer, count: COUNT, datatype: Datatype)
            |next| begin(file, -1, || unsafe { next(file, buffer, count, datatype) }) }
    };
    (end $kind:ident $name:ident $count:ident) => {
        data_function! { $name ($count) (file: File, buffer: Buffer, status: Status)
            |next| unsafe { end($kind, file, status, |status| next(file, buffer, status)) } }
    };
}

/// The function itself: finds the next one of its name and runs the body with it. With `else`, an
/// MPI that lacks the function has the `int` one called instead.
///
/// Premises of the unsafe code in it: as for [`exported`](crate::next::exported).
macro_rules! data_function {
    ($name:ident ($count:ident) ($($argument:ident : $kind:ident),*) |$next:ident| $body:expr) => {
        data_function! { @define $name $count ($($argument : $kind),*) |$next| $body; }
    };
    ($name:ident ($count:ident) else $int:ident ($($argument:ident : $kind:ident),*) |$next:ident| $body:expr) => {
        data_function! { @define $name $count ($($argument : $kind),*) |$next| $body;
            static INT: Next = Next::new(concat!(stringify!($int), "\0"));
            if let Some(function) = INT.get() {
                type Function = unsafe extern "C-unwind" fn($(data_function!(@type $kind c_int)),*) -> c_int;
                let $next: Function = unsafe { std::mem::transmute(function.as_ptr()) };
                $(data_function!(@narrow $kind $argument);)*
                return $body;
            }
        }
    };
    (@define $name:ident $count:ident ($($argument:ident : $kind:ident),*) |$next:ident| $body:expr; $($absent:tt)*) => {
        const _: () = {
            entry! { $name ($($argument: data_function!(@type $kind $count)),*) body }

            #[allow(clippy::undocumented_unsafe_blocks)] // see above
            unsafe extern "C-unwind" fn body($($argument: data_function!(@type $kind $count)),*) -> c_int {
                static NEXT: Next = Next::new(concat!(stringify!($name), "\0"));
                let Some(function) = NEXT.get() else {
                    $($absent)*
                    return NO_MPI;
                };
                type Function = unsafe extern "C-unwind" fn($(data_function!(@type $kind $count)),*) -> c_int;
                let $next: Function = unsafe { std::mem::transmute(function.as_ptr()) };
                $body
            }
        };
    };
    (@type COUNT $count:ident) => { $count };
    (@type $kind:ident $count:ident) => { $kind };
    (@narrow COUNT $argument:ident) => {
        let Ok($argument) = c_int::try_from($argument) else { return ERR_COUNT };
    };
    (@narrow $kind:ident $argument:ident) => {};
}

data_access! {
    Read  Explicit   one blocking_at    MPI_File_read_at             PMPI_File_read_at             MPI_File_read_at_c             PMPI_File_read_at_c;
    Write Explicit   one blocking_at    MPI_File_write_at            PMPI_File_write_at            MPI_File_write_at_c            PMPI_File_write_at_c;
    Read  Explicit   all blocking_at    MPI_File_read_at_all         PMPI_File_read_at_all         MPI_File_read_at_all_c         PMPI_File_read_at_all_c;
    Write Explicit   all blocking_at    MPI_File_write_at_all        PMPI_File_write_at_all        MPI_File_write_at_all_c        PMPI_File_write_at_all_c;
    Read  Individual one blocking       MPI_File_read                PMPI_File_read                MPI_File_read_c                PMPI_File_read_c;
    Write Individual one blocking       MPI_File_write               PMPI_File_write               MPI_File_write_c               PMPI_File_write_c;
    Read  Individual all blocking       MPI_File_read_all            PMPI_File_read_all            MPI_File_read_all_c            PMPI_File_read_all_c;
    Write Individual all blocking       MPI_File_write_all           PMPI_File_write_all           MPI_File_write_all_c           PMPI_File_write_all_c;
    Read  Shared     one blocking       MPI_File_read_shared         PMPI_File_read_shared         MPI_File_read_shared_c         PMPI_File_read_shared_c;
    Write Shared     one blocking       MPI_File_write_shared        PMPI_File_write_shared        MPI_File_write_shared_c        PMPI_File_write_shared_c;
    Read  Shared     all blocking       MPI_File_read_ordered        PMPI_File_read_ordered        MPI_File_read_ordered_c        PMPI_File_read_ordered_c;
    Write Shared     all blocking       MPI_File_write_ordered       PMPI_File_write_ordered       MPI_File_write_ordered_c       PMPI_File_write_ordered_c;

    Read  Explicit   one nonblocking_at MPI_File_iread_at            PMPI_File_iread_at            MPI_File_iread_at_c            PMPI_File_iread_at_c;
    Write Explicit   one nonblocking_at MPI_File_iwrite_at           PMPI_File_iwrite_at           MPI_File_iwrite_at_c           PMPI_File_iwrite_at_c;
    Read  Explicit   all nonblocking_at MPI_File_iread_at_all        PMPI_File_iread_at_all        MPI_File_iread_at_all_c        PMPI_File_iread_at_all_c;
    Write Explicit   all nonblocking_at MPI_File_iwrite_at_all       PMPI_File_iwrite_at_all       MPI_File_iwrite_at_all_c       PMPI_File_iwrite_at_all_c;
    Read  Individual one nonblocking    MPI_File_iread               PMPI_File_iread               MPI_File_iread_c               PMPI_File_iread_c;
    Write Individual one nonblocking    MPI_File_iwrite              PMPI_File_iwrite              MPI_File_iwrite_c              PMPI_File_iwrite_c;
    Read  Individual all nonblocking    MPI_File_iread_all           PMPI_File_iread_all           MPI_File_iread_all_c           PMPI_File_iread_all_c;
    Write Individual all nonblocking    MPI_File_iwrite_all          PMPI_File_iwrite_all          MPI_File_iwrite_all_c          PMPI_File_iwrite_all_c;
    Read  Shared     one nonblocking    MPI_File_iread_shared        PMPI_File_iread_shared        MPI_File_iread_shared_c        PMPI_File_iread_shared_c;
    Write Shared     one nonblocking    MPI_File_iwrite_shared       PMPI_File_iwrite_shared       MPI_File_iwrite_shared_c       PMPI_File_iwrite_shared_c;

    Read  Explicit   all begin_at       MPI_File_read_at_all_begin   PMPI_File_read_at_all_begin   MPI_File_read_at_all_begin_c   PMPI_File_read_at_all_begin_c;
    Write Explicit   all begin_at       MPI_File_write_at_all_begin  PMPI_File_write_at_all_begin  MPI_File_write_at_all_begin_c  PMPI_File_write_at_all_begin_c;
    Read  Individual all begin          MPI_File_read_all_begin      PMPI_File_read_all_begin      MPI_File_read_all_begin_c      PMPI_File_read_all_begin_c;
    Write Individual all begin          MPI_File_write_all_begin     PMPI_File_write_all_begin     MPI_File_write_all_begin_c     PMPI_File_write_all_begin_c;
    Read  Shared     all begin          MPI_File_read_ordered_begin  PMPI_File_read_ordered_begin  MPI_File_read_ordered_begin_c  PMPI_File_read_ordered_begin_c;
    Write Shared     all begin          MPI_File_write_ordered_begin PMPI_File_write_ordered_begin MPI_File_write_ordered_begin_c PMPI_File_write_ordered_begin_c;
    Read  Explicit   all end            MPI_File_read_at_all_end     PMPI_File_read_at_all_end;
    Write Explicit   all end            MPI_File_write_at_all_end    PMPI_File_write_at_all_end;
    Read  Individual all end            MPI_File_read_all_end        PMPI_File_read_all_end;
    Write Individual all end            MPI_File_write_all_end       PMPI_File_write_all_end;
    Read  Shared     all end            MPI_File_read_ordered_end    PMPI_File_read_ordered_end;
    Write Shared     all end            MPI_File_write_ordered_end   PMPI_File_write_ordered_end;
}

/// A call that returns when the data has been transferred.
///
/// # Safety
///
/// `status` is what the application gave as the place for the status of the call.
#[inline(always)]
unsafe fn blocking(
    kind: OpKind,
    file: File,
    offset: i64,
    status: Status,
    call: impl FnOnce(Status) -> c_int,
) -> c_int {
    thread::with(|thread| {
        let tracer = if tmio_api::is_on() { tracer::get() } else { None };
        let Some((tracer, entered)) =
            tracer.and_then(|tracer| Some((tracer, in_flight::enter(thread, next::called_by_mpi)?)))
        else {
            return call(status);
        };
        let turn = turns::enter(file, kind.is_collective(), || tracer.progress());
        let mut own = StatusBuffer::new();
        let status = if status.addr() == tracer.status_ignore { own.pointer() } else { status };
        let under_way = in_flight::begin(thread);
        let start = clock::now();
        under_way.since(start);
        let result = call(status);
        let end = clock::now();
        drop(entered);
        let (bytes, flags) = if result == 0 {
            // SAFETY: MPI has filled in the status of a call that succeeded.
            (unsafe { tracer.bytes(status) }, Flags::default())
        } else {
            failed()
        };
        turn.moved(bytes);
        drop(turn);
        tmio_api::record(
            thread,
            Record { kind, flags, file, offset, bytes, start, end, nonblocking: [0; 4] },
        );
        drop(under_way);
        result
    })
}

/// What is recorded of a call that did not succeed.
#[cold]
#[inline(never)]
fn failed() -> (u64, Flags) {
    (0, Flags::FAILED)
}

/// A call that begins an operation and gives a request for it.
///
/// # Safety
///
/// `request` is where the call stores the request.
#[inline(always)]
unsafe fn nonblocking(
    kind: OpKind,
    file: File,
    offset: i64,
    (count, datatype): (i64, Datatype),
    request: RequestPlace,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if !tmio_api::is_on() {
        return call();
    }
    thread::with(|thread| {
        let Some((tracer, entered)) =
            tracer::get().and_then(|tracer| Some((tracer, in_flight::enter(thread, next::called_by_mpi)?)))
        else {
            return call();
        };
        let start = clock::now();
        let result = call();
        let issued = clock::now();
        drop(entered);
        // MPI was given the datatype and did not mind; one that it refused may be none, and asking about it
        // would raise an error that the program never made.
        let requested = if result == 0 { tracer.type_bytes(datatype, count) } else { 0 };
        turns::announce(file, requested);
        let pending = Pending::new(kind, (file, offset, requested), (start, issued));
        // SAFETY: MPI has stored a handle if the call succeeded.
        let handle = if result == 0 { unsafe { tracer.abi.request(request, 0) } } else { 0 };
        if result != 0 {
            crate::completion::record(&pending, Flags::FAILED, 0, issued, issued);
        } else if handle == tracer.abi.request_null {
            // Complete already, with nothing to wait for: no status will ever tell more.
            crate::completion::record(&pending, Flags::REQUESTED_BYTES, requested, issued, issued);
        } else {
            requests::insert(thread, handle, &pending, crate::completion::record_unseen);
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_data_access_function_of_the_standard() {
        assert_eq!(WRAPPED.len(), 34 + 28);
        let mut names = WRAPPED.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 34 + 28);
    }

    #[test]
    fn a_row_says_what_its_name_says() {
        let name = |d, p, scope, shape| kind(d, p, scope, shape).to_string();
        assert_eq!(name(Direction::Write, FilePointer::Explicit, "one", "blocking_at"), "write_at");
        assert_eq!(name(Direction::Read, FilePointer::Shared, "all", "begin"), "read_ordered");
        assert_eq!(name(Direction::Read, FilePointer::Individual, "all", "nonblocking"), "iread_all");
    }
}
