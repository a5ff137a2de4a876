//! What is put around every piece of tmio's own work inside the application.
//!
//! A defect of ours ends in it instead of in the application, and the thread cannot be cancelled while it
//! lasts: an unwinding that the C library has begun (`pthread_cancel`) may not be stopped by anybody, and
//! the system calls that write records are cancellation points.

use crate::process::thread;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

const PTHREAD_CANCEL_DISABLE: c_int = 1;

/// Runs our own code so that a defect in it ends there, and the thread is not cancelled meanwhile; a request
/// to do so waits. `None`: there was a defect.
pub fn shield<T>(body: impl FnOnce() -> T) -> Option<T> {
    let mut old = 0;
    // SAFETY: the place for the old state is valid; the call changes nothing but the calling thread's state.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut old) };
    thread::with(|thread| thread.begin_own_work());
    let result = catch_unwind(AssertUnwindSafe(body)).ok();
    thread::with(|thread| thread.end_own_work());
    // A thread that may be cancelled at any time is so here, by an unwinding that passes this function.
    // Nothing of ours is under way any more, and nothing is dropped on the way that could stop it. SAFETY:
    // the state is the one that the thread had; the old one is not wanted.
    unsafe { pthread_setcancelstate(old, std::ptr::null_mut()) };
    result
}

/// Signals wait until this is dropped. A handler that came in the middle of our own work could leave it by a
/// jump for good, and what it does would count as ours. Those that a fault of the thread itself raises are
/// not held back; nor is `SIGXFSZ`, of which who writes takes care. What has come meanwhile is delivered
/// where this is dropped: nothing of our own may be under way there any more.
#[derive(Debug)]
pub struct NoSignals(Option<libc::sigset_t>);

const NOT_HELD_BACK: [c_int; 8] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGABRT,
    libc::SIGXFSZ,
];

impl NoSignals {
    /// Holds back signals of the calling thread.
    pub fn new() -> Self {
        // SAFETY: the sets are initialised by the calls before they are used.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut old: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut set);
            for signal in NOT_HELD_BACK {
                libc::sigdelset(&mut set, signal);
            }
            Self((libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut old) == 0).then_some(old))
        }
    }
}

impl Default for NoSignals {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for NoSignals {
    fn drop(&mut self) {
        if let Some(old) = &self.0 {
            // SAFETY: the set is the one that the thread had.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_in_it() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        assert_eq!(shield(|| panic!("a defect")), None::<()>);
        std::panic::set_hook(hook);
        assert_eq!(shield(|| 7), Some(7));
    }
}
