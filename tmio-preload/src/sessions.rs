//! Programs that use MPI sessions and never call `MPI_Init` (MPI 4.1, section 11.3).
//!
//! They have no `MPI_COMM_WORLD`, hence nobody to agree with: every process that opens a file gets
//! a trace of its own, begun with its first file and ended with its last session.

use crate::caller;
use crate::launcher;
use crate::lifecycle;
use crate::next::exported;
use crate::tracer;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::AcqRel, Ordering::Relaxed};
use tmio_api::surroundings::Surroundings;
use tmio_api::{JobInfo, World, options, preloaded, shield};

static SESSIONS: AtomicI64 = AtomicI64::new(0);
static STARTED: AtomicBool = AtomicBool::new(false);

exported! {
    MPI_Session_init PMPI_Session_init (info: usize, handler: usize, session: *mut c_void)
        |next| init(|| next(info, handler, session));
    MPI_Session_finalize PMPI_Session_finalize (session: *mut c_void)
        |next| finalize(|| next(session));
}

fn init(call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    // What MPI itself opens inside MPI_Init or another session is not the program's.
    if result == 0 {
        SESSIONS.fetch_add(1, Relaxed);
    }
    result
}

fn finalize(call: impl FnOnce() -> c_int) -> c_int {
    if SESSIONS.fetch_sub(1, AcqRel) == 1 && STARTED.load(Relaxed) {
        shield(|| tmio_api::finish(&Alone));
    }
    call()
}

/// Begins tracing if the program opens its first file without ever having called `MPI_Init`.
pub(crate) fn start_if_alone() {
    if SESSIONS.load(Relaxed) <= 0 || lifecycle::is_initialised() || STARTED.swap(true, AcqRel) {
        return;
    }
    let around = Surroundings::here();
    let Some(parsed) = preloaded::apart(|| options::read(&around)).filter(|parsed| !parsed.options.disable)
    else {
        return;
    };
    let Some(tracer) = tracer::set_up(caller::address().unwrap_or(0)) else { return };
    let launch = launcher::job_key().map(|key| key.number);
    let job = JobInfo { mpi: tracer.library_version(), launch, ..JobInfo::default() };
    tmio_api::start(&Alone, &job, parsed);
}

/// A world of one process, for which every agreement is its own.
pub(crate) struct Alone;

impl World for Alone {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        1
    }

    fn broadcast(&self, _root: u32, _bytes: &mut [u8]) -> bool {
        true
    }

    fn minimum(&self, value: i64) -> Option<i64> {
        Some(value)
    }

    fn sum_before(&self, _value: i64) -> Option<i64> {
        Some(0)
    }

    fn sum(&self, value: i64) -> Option<i64> {
        Some(value)
    }

    fn gather(&self, mine: i64) -> Option<Vec<i64>> {
        Some(vec![mine])
    }

    fn scatter(&self, all: &[i64], mine: &mut [i64]) -> bool {
        mine.copy_from_slice(all);
        true
    }

    fn send(&self, _to: u32, _bytes: &[u8]) -> bool {
        false
    }

    fn receive(&self, _from: u32, _bytes: &mut [u8]) -> bool {
        false
    }
}
