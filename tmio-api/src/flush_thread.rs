//! A thread that writes out what was recorded, with no help of the program: every
//! `TMIO_FLUSH=interval:S`, else whenever the oldest record is `TMIO_MAX_AGE` old.
//!
//! It makes no MPI call, blocks all signals, so that none meant for the application ends up here, and takes
//! no lock that a wrapper would wait for. It has descriptors of its own: a program that closes all of its
//! descriptors, or counts them, does not meet the ones that are open here for a moment. Who talks to it only
//! stores to an atomic and calls `futex`, both of which are allowed in a signal handler: a handler that calls
//! `exit` while its thread was inside tmio (or inside `malloc`) has its records written here, and waits for
//! that only for a moment.

use crate::{system, thread};
use std::ffi::c_void;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

const RUN: u32 = 0;
/// Write out everything and end.
const LAST: u32 = 1;
/// End.
const STOP: u32 = 2;
const DONE: u32 = 3;
/// It stands still for ever, because there is no memory.
const PARKED: u32 = 4;

#[derive(Debug)]
pub(crate) struct FlushThread {
    thread: libc::pthread_t,
}

/// There is one thread per process.
static COMMAND: AtomicU32 = AtomicU32::new(RUN);

/// The thread, while it does what nobody waits for and what takes memory in ways that must not fail; else 0.
static DISPENSABLE: AtomicU64 = AtomicU64::new(0);

/// The system gave no memory. If it was for something that can be left undone, the thread stands still from
/// here on: the program goes on without it.
pub fn without_memory() {
    if DISPENSABLE.load(Acquire) == 0 || DISPENSABLE.load(Acquire) != system::thread_id() {
        return;
    }
    COMMAND.store(PARKED, Release);
    wake(&COMMAND);
    loop {
        wait(&COMMAND, PARKED, Duration::from_secs(3600));
    }
}

/// Whether the thread stands still.
pub(crate) fn is_parked() -> bool {
    COMMAND.load(Acquire) == PARKED
}

impl FlushThread {
    /// Calls `first` once, `flush` every `interval`, and `last` before it ends if that is asked for.
    pub(crate) fn start(
        interval: Duration,
        first: impl FnOnce() + Send + 'static,
        flush: impl Fn() + Send + 'static,
        last: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let body = move || {
            DISPENSABLE.store(system::thread_id(), Release);
            first();
            DISPENSABLE.store(0, Release);
            loop {
                wait(&COMMAND, RUN, interval);
                match COMMAND.load(Acquire) {
                    RUN => flush(),
                    LAST => return last(),
                    _ => return,
                }
            }
        };
        let thread = with_all_signals_blocked(|| spawn(Box::new(body)))?;
        Ok(Self { thread })
    }

    /// Ends the thread, after the write that it may be in.
    pub(crate) fn stop(self) {
        let _ = COMMAND.compare_exchange(RUN, STOP, Release, Acquire);
        wake(&COMMAND);
        while matches!(COMMAND.load(Acquire), STOP | LAST) {
            let command = COMMAND.load(Acquire);
            wait(&COMMAND, command, Duration::from_secs(1));
        }
        // SAFETY: the thread was made by us, and is waited for or let go once.
        unsafe {
            match is_parked() {
                true => libc::pthread_detach(self.thread),
                false => libc::pthread_join(self.thread, std::ptr::null_mut()),
            }
        };
    }
}

type Body = Box<dyn FnOnce() + Send>;

/// Makes a thread of the system's. One of the standard library registers a destructor when it begins to
/// run, for which the C library takes memory from the application, and ends the process if there is none.
fn spawn(body: Body) -> std::io::Result<libc::pthread_t> {
    extern "C" fn run(body: *mut c_void) -> *mut c_void {
        // SAFETY: this is the box that was given away below, and nobody else has it.
        let body = unsafe { Box::from_raw(body.cast::<Body>()) };
        thread::with(|thread| thread.begin_own_work());
        system::take_own_descriptors();
        // A defect of ours ends this thread, not the job.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(*body));
        COMMAND.store(DONE, Release);
        wake(&COMMAND);
        std::ptr::null_mut()
    }
    let body = Box::into_raw(Box::new(body));
    // SAFETY: the attributes are initialised before they are used; the thread takes the box.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        libc::pthread_attr_setstacksize(&mut attributes, 256 << 10);
        let mut thread: libc::pthread_t = 0;
        let answer = libc::pthread_create(&mut thread, &attributes, run, body.cast());
        libc::pthread_attr_destroy(&mut attributes);
        if answer != 0 {
            drop(Box::from_raw(body));
            return Err(std::io::Error::from_raw_os_error(answer));
        }
        libc::pthread_setname_np(thread, c"tmio-flush".as_ptr());
        Ok(thread)
    }
}

/// Has everything written out by the thread, and waits for it no longer than `patience`. May be
/// called in a signal handler. Only if the thread was started.
pub(crate) fn write_all(patience: Duration) {
    if COMMAND.compare_exchange(RUN, LAST, Release, Acquire).is_err() {
        return;
    }
    wake(&COMMAND);
    let began = Instant::now();
    while COMMAND.load(Acquire) == LAST {
        let Some(left) = patience.checked_sub(began.elapsed()) else { return };
        wait(&COMMAND, LAST, left);
    }
}

/// Sleeps while `word` is `value`, but no longer than `time`.
fn wait(word: &AtomicU32, value: u32, time: Duration) {
    let began = Instant::now();
    while word.load(Acquire) == value {
        let Some(left) = time.checked_sub(began.elapsed()) else { return };
        let left =
            libc::timespec { tv_sec: left.as_secs() as libc::time_t, tv_nsec: left.subsec_nanos().into() };
        // SAFETY: the word lives as long as the process; the time is valid for the call.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &left, 0, 0) };
    }
}

fn wake(word: &AtomicU32) {
    // SAFETY: the word lives as long as the process.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX, 0, 0, 0) };
}

pub(crate) fn with_all_signals_blocked<T>(body: impl FnOnce() -> T) -> T {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn everything_is_written_out_when_that_is_asked_for() {
        let count = Arc::new(AtomicUsize::new(0));
        let (first, flush, last) = (Arc::clone(&count), Arc::clone(&count), Arc::clone(&count));
        let add = |what: &Arc<AtomicUsize>, number| _ = what.fetch_add(number, Release);
        let thread = FlushThread::start(
            Duration::from_secs(1000),
            move || add(&first, 1),
            move || add(&flush, 1000),
            move || add(&last, 10),
        );
        write_all(Duration::from_secs(60));
        assert_eq!(count.load(Acquire), 11);
        thread.unwrap().stop();

        // Without memory for what comes first, nobody waits for it.
        COMMAND.store(RUN, Release);
        without_memory();
        let thread = FlushThread::start(
            Duration::from_secs(1000),
            without_memory,
            || unreachable!("it stands still"),
            || unreachable!("it stands still"),
        );
        while !is_parked() {
            std::thread::yield_now();
        }
        write_all(Duration::from_secs(60));
        thread.unwrap().stop();
    }
}
