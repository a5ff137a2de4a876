//! The C functions of `c-headers/tmio.h`.
//!
//! None of them waits, fails or sets `errno`; with tracing off they return at once.

use crate::shield::shield;
use crate::{recorder, state};
use std::ffi::{CStr, c_char};

unsafe extern "C-unwind" {
    fn pthread_testcancel();
}

/// Writes out what this rank recorded since the last flush; never waits for others. As for every call that
/// writes, a thread may be cancelled in it: after its work, never in the middle.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn iotrace_summary() {
    shield(recorder::flush);
    // SAFETY: the call may end the thread by unwinding its stack, on which there is nothing of ours to be
    // dropped.
    unsafe { pthread_testcancel() };
}

/// Stops recording on this rank until `iotrace_resume`.
#[unsafe(no_mangle)]
pub extern "C" fn iotrace_pause() {
    shield(state::pause);
}

/// Records again after `iotrace_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn iotrace_resume() {
    shield(state::resume);
}

/// Puts a mark with a text into the trace.
///
/// # Safety
///
/// `text` is null or points to a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iotrace_mark(text: *const c_char) {
    if text.is_null() || !state::is_on() {
        return;
    }
    // SAFETY: the caller gives a string.
    let text = unsafe { CStr::from_ptr(text) };
    shield(|| recorder::mark(&text.to_string_lossy()));
}

/// What a program that never reaches `MPI_Finalize` recorded is kept when it exits.
#[dtor::dtor(unsafe)]
fn at_exit() {
    shield(recorder::finish_without_mpi);
}
