//! A process begins anew: as the child of a fork, as another user, as a rank.

use crate::page::{self, GENERATION, IS_RANK, PAGE, WANTED, mode};
use crate::thread::{self, ThreadState};
use crate::{descriptors, helper, names, settings, spool, sys};
use core::sync::atomic::Ordering::{Relaxed, Release};

/// Whether calls are looked at in this process.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    match PAGE.mode.load(Relaxed) {
        mode::NOTHING => begin_anew(),
        mode::OVER => false,
        _ => true,
    }
}

/// The child of a fork begins with nothing: its parent's descriptors are looked at again.
#[cold]
#[inline(never)]
fn begin_anew() -> bool {
    if WANTED.load(Relaxed) == 0 {
        return false;
    }
    if IS_RANK.load(Relaxed) != 0 {
        PAGE.mode.store(mode::OVER, Relaxed);
        return false;
    }
    thread::with(ThreadState::begin_anew);
    GENERATION.fetch_add(1, Relaxed);
    descriptors::forget_all();
    names::forget_all();
    settings::begin_anew();
    spool::begin_anew();
    helper::begin_anew();
    PAGE.process.store(sys::process(), Relaxed);
    // The first one of a namespace that its parent has made.
    if sys::process() == 1 {
        page::takes_orphans();
    }
    PAGE.mode.store(mode::ARMED, Release);
    true
}

/// The spool is gone: the next call that counts makes another one.
pub(crate) fn drop_spool() {
    GENERATION.fetch_add(1, Relaxed);
    PAGE.head.store(core::ptr::null_mut(), Release);
    PAGE.control.store(core::ptr::null_mut(), Release);
    PAGE.rings.iter().for_each(|ring| ring.store(core::ptr::null_mut(), Relaxed));
    PAGE.maker.store(0, Relaxed);
    PAGE.kept.store(0, Relaxed);
    PAGE.worth.store(0, Relaxed);
    PAGE.bytes.store(0, Relaxed);
    descriptors::forget_all();
    names::forget_all();
    spool::begin_anew();
}
