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
    ns.store(clock::of_kernel() as u64, Relaxed);
    words::STDERR.store(sys::fstat(2).map_or(0, |about| descriptors::identity(&about)), Relaxed);
}

/// Writes what the process knows of itself: strings `name=value`, each ended by a zero. `room` gives memory
/// for so many bytes, or as many as there are. Returns the length.
pub(crate) fn describe<'a>(room: impl FnOnce(usize) -> Option<&'a mut [u8]>) -> usize {
    // SAFETY: the workshop is held, and these paths are not in use.
    let (exe, cwd) = unsafe { (&mut *WORKSHOP.path.get(), &mut *WORKSHOP.other_path.get()) };
    let exe = sys::read_link(c"/proc/self/exe", exe).ok().and_then(|length| exe.get(..length));
    let cwd = sys::current_directory(cwd).ok().and_then(|length| cwd.get(..length.saturating_sub(1)));
    let (exe, cwd) = (exe.unwrap_or_default(), cwd.unwrap_or_default());
    const NAMES_AND_NUMBERS: usize = 100;
    let Some(memory) = room(exe.len() + cwd.len() + NAMES_AND_NUMBERS + environment::length()) else {
        return 0;
    };
    let mut text = Text::new(memory);
    text.push(b"exe=").push(exe).push(b"\0cwd=").push(cwd);
    let [process, real, ns] = ROOT.each_ref().map(|word| word.load(Relaxed));
    text.push(b"\0root=").push_hex(process).push(b":").push_hex(real).push(b":").push_hex(ns).push(b"\0");
    for one in environment::all() {
        if text.has_room_for(one.len() + 1) {
            text.push(one).push(b"\0");
        }
    }
    text.len()
}
