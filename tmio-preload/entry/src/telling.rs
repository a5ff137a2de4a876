//! What a spool tells about its process.

use crate::text::Text;
use crate::workshop::WORKSHOP;
use crate::{clock, descriptors, environment, sys, words};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// The process in which the program began, and when: what its fork children inherit. Without `ftio trace` or
/// a batch system, that is what makes a run of them.
pub(crate) static ROOT: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

pub(crate) fn program_begins() {
    let [process, real, ns] = &ROOT;
    process.store(u64::from(sys::process()), Relaxed);
    real.store(clock::realtime() as u64, Relaxed);
    ns.store(clock::monotonic() as u64, Relaxed);
    words::STDERR.store(sys::fstat(2).map_or(0, |about| descriptors::identity(&about)), Relaxed);
}

/// Writes what the process knows of itself: strings `name=value`, each ended by a zero.
pub(crate) fn describe(memory: &mut [u8]) -> usize {
    let mut text = Text::new(memory);
    text.push(b"exe=");
    push_from(&mut text, |room| sys::read_link(c"/proc/self/exe", room));
    text.push(b"\0cwd=");
    push_from(&mut text, |room| sys::current_directory(room).map(|length| length.saturating_sub(1)));
    let [process, real, ns] = ROOT.each_ref().map(|word| word.load(Relaxed));
    text.push(b"\0root=").push_hex(process).push(b":").push_hex(real).push(b":").push_hex(ns).push(b"\0");
    for one in environment::all() {
        if text.has_room_for(one.len() + 1) {
            text.push(one).push(b"\0");
        }
    }
    text.len()
}

/// Lets a system call write behind a text.
fn push_from(text: &mut Text<'_>, write: impl FnOnce(&mut [u8]) -> Result<usize, sys::Errno>) {
    // SAFETY: the workshop is held, and this path is not in use.
    let room = unsafe { &mut *WORKSHOP.other_path.get() };
    if let Ok(length) = write(room) {
        text.push(room.get(..length).unwrap_or_default());
    }
}
