//! What a program may call itself (`c-headers/tmio.h`).

use crate::{clock, helper, page, services, thread};
use core::ffi::{CStr, c_char};

/// Writes out what was recorded since the last time. Waits for nobody.
#[cfg_attr(tmio_object, unsafe(no_mangle))]
pub extern "C" fn iotrace_summary() {
    if page::head().is_some() && page::is_this_process() {
        helper::flush();
    }
}

/// Stops recording until [`iotrace_resume`].
#[cfg_attr(tmio_object, unsafe(no_mangle))]
pub extern "C" fn iotrace_pause() {
    page::pause(true);
}

/// Records again.
#[cfg_attr(tmio_object, unsafe(no_mangle))]
pub extern "C" fn iotrace_resume() {
    page::pause(false);
}

/// Puts a text into the trace.
///
/// # Safety
///
/// It is null or a string.
#[cfg_attr(tmio_object, unsafe(no_mangle))]
pub unsafe extern "C" fn iotrace_mark(text: *const c_char) {
    if text.is_null() || !page::is_marked() {
        return;
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    thread::with(|thread| services::mark(thread, clock::now(), text));
}
