//! The C functions of `c-headers/tmio.h`.
//!
//! None of them waits, fails or sets `errno`; with tracing off they return at once.

use crate::recorder;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes out what this rank recorded since the last flush; never waits for others.
#[unsafe(no_mangle)]
pub extern "C" fn iotrace_summary() {
    shield(recorder::flush);
}

/// Stops recording on this rank until `iotrace_resume`.
#[unsafe(no_mangle)]
pub extern "C" fn iotrace_pause() {
    shield(recorder::pause);
}

/// Records again after `iotrace_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn iotrace_resume() {
    shield(recorder::resume);
}

/// Puts a mark with a text into the trace.
///
/// # Safety
///
/// `text` is null or points to a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iotrace_mark(text: *const c_char) {
    if text.is_null() || !recorder::is_on() {
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

/// Runs our own code so that a defect in it ends there.
pub fn shield<T>(body: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}
