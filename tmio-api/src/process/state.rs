//! Whether operations are recorded now.

use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8};

const OFF: u8 = 0;
/// After `fork`, after `MPI_Finalize`, after an error: off for good.
const OVER: u8 = 1;
const PAUSED: u8 = 2;
const ON: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(OFF);

/// Whether the end of tracing has begun.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Whether operations are recorded now: one relaxed load.
#[inline]
pub fn is_on() -> bool {
    STATE.load(Relaxed) == ON
}

/// Whether tracing has begun and not ended. What began before a pause is recorded also when it ends in it.
#[inline]
pub fn is_on_or_paused() -> bool {
    STATE.load(Relaxed) >= PAUSED
}

/// Whether tracing is off for good.
pub(crate) fn is_over() -> bool {
    STATE.load(Relaxed) == OVER
}

/// Stops recording until [`resume`].
pub fn pause() {
    let _ = STATE.compare_exchange(ON, PAUSED, AcqRel, Relaxed);
}

/// Records again after [`pause`].
pub fn resume() {
    let _ = STATE.compare_exchange(PAUSED, ON, AcqRel, Relaxed);
}

pub(crate) fn turn_on() {
    STATE.store(ON, Release);
}

/// Records nothing any more.
pub(crate) fn stop() {
    STATE.store(OVER, Release);
}

/// Begins the end of tracing. `false`: somebody has done so before.
pub(crate) fn end() -> bool {
    if ENDED.swap(true, AcqRel) {
        return false;
    }
    stop();
    true
}

/// The child of a fork is off for good; called where only atomics may be touched.
pub(crate) extern "C" fn off_in_child() {
    STATE.store(OVER, Relaxed);
    ENDED.store(true, Relaxed);
}
