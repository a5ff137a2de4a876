//! What tmio says on stderr: little, one line at a time, by rank 0.

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
    let line = format!("tmio: {text}\n");
    // SAFETY: the pointer and the length are those of a live String.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
}
