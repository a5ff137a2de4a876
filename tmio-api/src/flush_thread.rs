//! `TMIO_FLUSH=interval:S`: a thread that writes out what was recorded, with no help of the program.
//!
//! It makes no MPI call, blocks all signals, so that none meant for the application ends up here,
//! and takes no lock that a wrapper would wait for.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct FlushThread {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

impl FlushThread {
    /// Calls `flush` every `interval`. `None`: no thread could be made.
    pub(crate) fn start(interval: Duration, flush: impl Fn() + Send + 'static) -> Option<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = Arc::clone(&stop);
        let thread = with_all_signals_blocked(|| {
            std::thread::Builder::new().name("tmio-flush".to_owned()).stack_size(256 << 10).spawn(move || {
                let (stopped, wake) = &*shared;
                loop {
                    let mut stopped = stopped.lock();
                    if !*stopped {
                        wake.wait_for(&mut stopped, interval);
                    }
                    if *stopped {
                        return;
                    }
                    drop(stopped);
                    // A defect of ours ends this thread, not the job.
                    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(&flush)).is_err() {
                        return;
                    }
                }
            })
        });
        Some(Self { stop, thread: thread.ok()? })
    }

    /// Ends the thread, after the write that it may be in.
    pub(crate) fn stop(self) {
        *self.stop.0.lock() = true;
        self.stop.1.notify_all();
        let _ = self.thread.join();
    }
}

fn with_all_signals_blocked<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are initialised by the calls before they are used. A thread inherits the
    // mask of its maker, so the new one never has a moment with signals open.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        let masked = libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old) == 0;
        let result = body();
        if masked {
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        }
        result
    }
}
