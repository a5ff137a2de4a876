//! No error of a call that tmio makes is ever the application's.
//!
//! An error of MPI goes to the error handler of the communicator of the call, and one of a call without any
//! to that of `MPI_COMM_WORLD` (Open MPI 4 and 5, MPICH 4, Intel MPI) or of `MPI_COMM_SELF` (MPICH 5, as
//! MPI 4 wants it). Both are the application's, and end it unless it has said otherwise. So each call of
//! ours is made with a handler of our own, or such that it cannot fail:
//!
//! | function | when | why no error of it reaches the application |
//! |---|---|---|
//! | `Get_version`, `Get_library_version`, `Abi_get_version`, `Initialized` | at any time | no argument but places of ours; they may be called at any time |
//! | `Comm_create_errhandler` | init | the same; it comes before all others, so that these have a handler |
//! | `Comm_get_errhandler`, `Comm_set_errhandler` | init, end | on `MPI_COMM_WORLD` and `MPI_COMM_SELF`, which are valid from init to end, with handlers that MPI gave |
//! | `Comm_rank`, `Comm_size`, `Comm_get_parent`, `Comm_create_keyval`, `Comm_set_attr`, `Comm_dup` (of `MPI_COMM_SELF`) | init | [`Quiet`] |
//! | `Status_set_elements_x` | init, the first file of a program with sessions only | a status of ours, and `MPI_BYTE` |
//! | `Ibarrier`, `Comm_idup` on `MPI_COMM_WORLD`, and `Test` of their requests | end | [`Quiet`] |
//! | `Ibcast`, `Iallreduce`, `Iexscan`, `Igather`, `Iscatter`, `Isend`, `Irecv`, `Test`, `Comm_rank`, `Comm_size`, `Comm_free` | end | on a communicator of ours, with our handler; [`Quiet`] besides |
//! | `Iprobe` | init, end | [`Quiet`] |
//! | `Iprobe` | in a data operation that waits for its turn (`TMIO_IOSETS`) | on a duplicate of `MPI_COMM_SELF` with our handler, made at init |
//! | `Type_size_x` | after a nonblocking data operation | MPI has just accepted the datatype in that operation, with a count that is not 0 |
//! | `Get_elements_x` | after a data operation, where the layout of statuses is not known | a status that MPI has filled in, and `MPI_BYTE` |
//!
//! Between init and end no handler of the application's is replaced, not for a moment: another thread may
//! have an error of its own just then. At init no other thread can use MPI yet, and at the end none does any
//! more (MPI 4.1, section 11.2.2).

use crate::tracer::Tracer;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many errors our handler was told of. MPICH 5 returns success from a call whose error a handler of the
/// program's own has seen.
static ERRORS: AtomicU64 = AtomicU64::new(0);

extern "C-unwind" fn note_error(_comm: *mut c_void, _error: *mut c_int) {
    ERRORS.fetch_add(1, Relaxed);
}

/// Whether a call with our handler went well.
pub(crate) fn went_well(call: impl FnOnce() -> c_int) -> bool {
    let before = ERRORS.load(Relaxed);
    call() == 0 && ERRORS.load(Relaxed) == before
}

/// Our error handler, for communicators of our own.
pub(crate) fn handler(tracer: &Tracer) -> Option<usize> {
    static HANDLER: OnceLock<Option<usize>> = OnceLock::new();
    *HANDLER.get_or_init(|| {
        let function: extern "C-unwind" fn(*mut c_void, *mut c_int) = note_error;
        let mut handler = 0usize;
        // SAFETY: the place is valid; an error handler may ignore the arguments that follow the second one.
        let made = unsafe { (tracer.mpi.comm_create_errhandler)(function as *mut c_void, &mut handler) == 0 };
        made.then_some(handler)
    })
}

/// While it lives, errors of calls on `MPI_COMM_WORLD` and `MPI_COMM_SELF`, and of calls without a
/// communicator, go to our handler: at init and at the end only.
pub(crate) struct Quiet<'a> {
    tracer: &'a Tracer,
    /// Communicators and their own handlers.
    before: [(usize, Option<usize>); 2],
}

impl<'a> Quiet<'a> {
    /// `None`: there can be no handler of ours.
    pub(crate) fn new(tracer: &'a Tracer) -> Option<Self> {
        let handler = handler(tracer)?;
        let replace = |comm: usize| {
            let mut before = 0usize;
            // SAFETY: MPI is initialised and not finalised; the place is valid. What is in it is not given
            // back, as that could fail where this handler is no longer ours.
            let replaced = unsafe {
                (tracer.mpi.comm_get_errhandler)(comm, &mut before) == 0
                    && (tracer.mpi.comm_set_errhandler)(comm, handler) == 0
            };
            (comm, replaced.then_some(before))
        };
        let before = [tracer.abi.comm_world, tracer.abi.comm_self].map(replace);
        let quiet = Self { tracer, before };
        before.iter().all(|(_, before)| before.is_some()).then_some(quiet)
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        for (comm, before) in self.before {
            if let Some(before) = before {
                // SAFETY: MPI is initialised and not finalised, and gave this handler itself.
                unsafe { (self.tracer.mpi.comm_set_errhandler)(comm, before) };
            }
        }
    }
}
