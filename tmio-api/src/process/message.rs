//! What tmio says on stderr: little, one line at a time, by rank 0.

use std::ffi::c_int;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// How much is said, `TMIO_LOG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Nothing at all.
    Silent = 0,
    /// Only why there is no trace.
    Warn = 1,
    /// Also where the trace is and what it cost.
    Info = 2,
    /// Also what every rank does.
    Debug = 3,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Warn as u8);
static SPEAKS: AtomicBool = AtomicBool::new(true);
static COMPLAINED: AtomicBool = AtomicBool::new(false);

/// Sets how much is said and whether this rank is the one that says it.
pub fn configure(level: Level, speaks: bool) {
    LEVEL.store(level as u8, Relaxed);
    SPEAKS.store(speaks, Relaxed);
}

/// Says why there is no trace, or not all of it; at most once per process.
pub fn warn(text: impl Display) {
    if SPEAKS.load(Relaxed) && LEVEL.load(Relaxed) >= Level::Warn as u8 && !COMPLAINED.swap(true, Relaxed) {
        say(&text);
    }
}

/// Says what is not as it was asked for, although there will be a trace; at most once per process.
pub fn remark(text: impl Display) {
    static REMARKED: AtomicBool = AtomicBool::new(false);
    if SPEAKS.load(Relaxed) && LEVEL.load(Relaxed) >= Level::Warn as u8 && !REMARKED.swap(true, Relaxed) {
        say(&text);
    }
}

/// Whether [`warn`] was called on a rank that speaks.
pub fn has_warned() -> bool {
    COMPLAINED.load(Relaxed)
}

/// Says what went well.
pub fn info(text: impl Display) {
    if SPEAKS.load(Relaxed) && LEVEL.load(Relaxed) >= Level::Info as u8 {
        say(&text);
    }
}

/// Says what this rank does.
pub fn debug(text: impl Display) {
    if LEVEL.load(Relaxed) >= Level::Debug as u8 {
        say(&text);
    }
}

/// An error of the operating system as people know it, without Rust's number behind it.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// One line in one write, so that lines of several ranks do not mix; errors are nobody's concern.
fn say(text: &dyn Display) {
    // A pipe takes so much in one piece.
    const MOST: usize = 4096;
    let mut line = format!("tmio: {text}").into_bytes();
    line.truncate(MOST - 1);
    line.push(b'\n');
    write_harmlessly(libc::STDERR_FILENO, &line);
}

/// Writes a line if that can do no harm: the program may neither wait for whoever reads it, nor be ended or
/// stopped by a signal. The program's own object has the same (`sys.rs`) for what it says.
fn write_harmlessly(descriptor: c_int, line: &[u8]) {
    // SAFETY: all zeros are such a structure, and the call fills it.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the place is valid.
    if unsafe { libc::fstat(descriptor, &raw mut about) } != 0 {
        return;
    }
    let kind = about.st_mode & libc::S_IFMT;
    let can = match kind {
        libc::S_IFREG => (about.st_size as u64).saturating_add(line.len() as u64) <= largest_file(),
        libc::S_IFCHR => may_use_terminal(descriptor),
        // Nothing is known of others, such as what an event is counted by.
        _ => matches!(kind, libc::S_IFIFO | libc::S_IFSOCK),
    };
    let mut asked = libc::pollfd { fd: descriptor, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one valid place; nothing is waited for.
    if !can || unsafe { libc::poll(&raw mut asked, 1, 0) } != 1 || asked.revents != libc::POLLOUT {
        return;
    }
    // Whoever reads may go, and a file may grow, at this moment: the signal is held back, and taken away.
    // SAFETY: sets, times and the line are valid as long as the calls; what was blocked is so again.
    unsafe {
        let (mut all, mut old, mut raised) = (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        if libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old) != 0 {
            return;
        }
        if kind == libc::S_IFSOCK {
            let how = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
            libc::send(descriptor, line.as_ptr().cast(), line.len(), how);
        } else if libc::write(descriptor, line.as_ptr().cast(), line.len()) < 0 {
            let signal = match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EPIPE) => Some(libc::SIGPIPE),
                Some(libc::EFBIG) => Some(libc::SIGXFSZ),
                _ => None,
            };
            if let Some(signal) = signal {
                libc::sigemptyset(&raw mut raised);
                libc::sigaddset(&raw mut raised, signal);
                let no_time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                libc::sigtimedwait(&raw const raised, std::ptr::null_mut(), &raw const no_time);
            }
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, std::ptr::null_mut());
    }
}

/// No file that this process writes may be longer.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    limit.rlim_cur
}

/// Whether a character device is no terminal, or one that lets this process write.
fn may_use_terminal(descriptor: c_int) -> bool {
    // SAFETY: all zeros are such a structure, and the call fills it.
    let mut settings: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the place is valid.
    if unsafe { libc::tcgetattr(descriptor, &raw mut settings) } != 0 || settings.c_lflag & libc::TOSTOP == 0
    {
        return true;
    }
    // SAFETY: the calls have no premises. The terminal of another session has no answer, and stops nobody.
    let (foreground, group) = unsafe { (libc::tcgetpgrp(descriptor), libc::getpgrp()) };
    foreground < 0 || foreground == group
}
