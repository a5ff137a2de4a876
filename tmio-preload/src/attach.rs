//! Takes over from the object that is preloaded: its names of MPI lead here once this has been called.

use std::ffi::c_int;
use tmio_api::preloaded;
use tmio_spool::attach::Core;

/// # Safety
///
/// Called by the object, with what it says it is. No call of MPI may be made: who calls MPI waits until this
/// is done.
#[unsafe(no_mangle)]
unsafe extern "C" fn tmio_attach(core: *const Core) -> c_int {
    // SAFETY: as the caller promises.
    c_int::from(!unsafe { preloaded::attach(core) })
}
