//! `MPI_Init`, `MPI_Init_thread`, and the end of the job.
//!
//! The end is the delete callback of an attribute on `MPI_COMM_SELF`: MPI calls it first thing in
//! `MPI_Finalize`, while communication still works, and, because ours was attached first, after
//! those of libraries that flush their files there (MPI 4.1, section 11.2.4).

use crate::next::exported;
use crate::tracer::{self, Tracer};
use crate::world::MpiWorld;
use parking_lot::Mutex;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Relaxed};
use tmio_api::c_abi::shield;
use tmio_api::{JobInfo, clock, message, options};

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

/// Level 0 turns profiling off, any other on (MPI 4.1, section 15.2.4).
fn control(level: c_int, call: impl FnOnce() -> c_int) -> c_int {
    shield(if level == 0 { tmio_api::pause } else { tmio_api::resume });
    call()
}

fn initialise(call: impl FnOnce() -> c_int) -> c_int {
    shield(clock::prepare);
    let result = call();
    if result == 0 {
        shield(after_init);
    }
    result
}

/// The communicator of the trace, from `MPI_Init` to `MPI_Finalize`.
static WORLD: Mutex<Option<MpiWorld>> = Mutex::new(None);

/// `MPI_Init` has returned.
static INITIALISED: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_initialised() -> bool {
    INITIALISED.load(Relaxed)
}

fn after_init() {
    if INITIALISED.swap(true, AcqRel) || tmio_api::has_started() {
        return;
    }
    let parsed = options::from_environment();
    if parsed.options.disable {
        return;
    }
    // Until the rank is known from MPI, the launcher's word for it decides who speaks.
    message::configure(parsed.options.log, launcher_rank() == 0);
    let Some(tracer) = tracer::set_up() else {
        message::warn("no trace: this MPI is not known, or lacks functions that tmio needs");
        return;
    };
    let Some(world) = MpiWorld::new(tracer) else { return };
    let job = JobInfo { mpi: tracer.library_version(), spawned: world.is_spawned() };
    let started = tmio_api::start(&world, &job, parsed);
    if !started || !hook_finalize(tracer) {
        world.free();
        return;
    }
    *WORLD.lock() = Some(world);
}

/// The rank as the launcher told this process; 0 where it did not.
fn launcher_rank() -> u32 {
    ["PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.parse().ok())
        .unwrap_or(0)
}

fn hook_finalize(tracer: &Tracer) -> bool {
    let copy: CopyFunction = do_not_copy;
    let delete: DeleteFunction = at_finalize;
    let mut keyval = 0;
    // SAFETY: the callbacks have the signatures that MPI asks for (MPI 4.1, section 7.7.2), and
    // live as long as the process.
    unsafe {
        let made = (tracer.mpi.comm_create_keyval)(
            copy as *mut c_void,
            delete as *mut c_void,
            &mut keyval,
            std::ptr::null_mut(),
        );
        made == 0 && (tracer.mpi.comm_set_attr)(tracer.abi.comm_self, keyval, std::ptr::null_mut()) == 0
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
    shield(|| {
        let world = WORLD.lock().take();
        if let Some(world) = world {
            tmio_api::finish(&world);
            world.free();
        }
    });
    0
}
