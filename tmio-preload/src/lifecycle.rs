//! `MPI_Init`, `MPI_Init_thread`, and the end of the job.
//!
//! The end is the delete callback of an attribute on `MPI_COMM_SELF`: MPI calls it first thing in
//! `MPI_Finalize`, while communication still works, and, because ours was attached first, after
//! those of libraries that flush their files there (MPI 4.1, section 11.2.4).

use crate::caller;
use crate::errors::went_well;
use crate::next::exported;
use crate::start::{self, Start};
use crate::tracer::Tracer;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tmio_api::{preloaded, shield, thread};

type ArgumentVector = *mut *mut *mut c_char;

exported! {
    MPI_Init PMPI_Init (argc: *mut c_int, argv: ArgumentVector)
        |next| initialise(|| next(argc, argv));
    MPI_Init_thread PMPI_Init_thread (argc: *mut c_int, argv: ArgumentVector, required: c_int, provided: *mut c_int)
        |next| initialise(|| next(argc, argv, required, provided));
    MPI_Abort PMPI_Abort (comm: usize, code: c_int)
        |next| abort(|| next(comm, code));
    // Variadic: whatever arguments there may be are passed on in their registers.
    MPI_Pcontrol PMPI_Pcontrol (level: c_int, a: usize, b: usize, c: usize, d: usize, e: usize)
        |next| control(level, || next(level, a, b, c, d, e));
}

/// What was recorded is written out before MPI ends the job.
fn abort(call: impl FnOnce() -> c_int) -> c_int {
    shield(tmio_api::finish_without_mpi);
    call()
}

/// Level 0 turns profiling off, 1 on, 2 writes out what there is; the others are not ours (MPI 4.1, section
/// 15.2.4).
fn control(level: c_int, call: impl FnOnce() -> c_int) -> c_int {
    shield(|| match level {
        0 => tmio_api::pause(),
        1 => tmio_api::resume(),
        2 => tmio_api::flush(),
        _ => {}
    });
    call()
}

fn initialise(call: impl FnOnce() -> c_int) -> c_int {
    let caller = caller::address().unwrap_or(0);
    let start = shield(|| Start::before_init(caller)).flatten();
    // What MPI opens here is its own.
    let result = thread::with(|thread| thread.inside_mpi(call));
    if let Some(start) = start {
        shield(|| if result == 0 { start.after_init() } else { start.not_at_all() });
    }
    if !tmio_api::has_started()
        && let Some(core) = preloaded::get()
    {
        // SAFETY: null means that the process is no rank after all.
        unsafe { (core.begin)(std::ptr::null()) };
    }
    if result == 0 {
        INITIALISED.store(true, Relaxed);
    }
    result
}

/// `MPI_Init` has returned.
static INITIALISED: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_initialised() -> bool {
    INITIALISED.load(Relaxed)
}

pub(crate) fn hook_finalize(tracer: &Tracer) -> bool {
    let copy: CopyFunction = do_not_copy;
    let delete: DeleteFunction = at_finalize;
    let mut keyval = 0;
    // SAFETY: the callbacks have the signatures that MPI asks for (MPI 4.1, section 7.7.2), and
    // live as long as the process.
    unsafe {
        let (copy, delete) = (copy as *mut c_void, delete as *mut c_void);
        went_well(|| (tracer.mpi.comm_create_keyval)(copy, delete, &mut keyval, std::ptr::null_mut()))
            && went_well(|| (tracer.mpi.comm_set_attr)(tracer.abi.comm_self, keyval, std::ptr::null_mut()))
    }
}

type CopyFunction =
    unsafe extern "C-unwind" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type DeleteFunction = unsafe extern "C-unwind" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

/// Duplicates of `MPI_COMM_SELF` do not get the attribute.
unsafe extern "C-unwind" fn do_not_copy(
    _comm: usize,
    _keyval: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _copy: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI gives a valid place for the flag.
    unsafe { flag.write(0) };
    0
}

unsafe extern "C-unwind" fn at_finalize(
    _comm: usize,
    _keyval: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    shield(start::finish);
    0
}
