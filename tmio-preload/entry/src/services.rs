//! What the recorder asks of this object.

use crate::page::{self, PAGE, mode};
use crate::thread::{self, ThreadState};
use crate::workshop::{self, WORKSHOP};
use crate::{
    anew, clock, helper, load, names, process_io, recorder, recording, rings, settings, spool, stdio,
};
use core::ffi::c_void;
use core::ptr::{null, null_mut, with_exposed_provenance_mut};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use tmio_spool::attach::{self, Body, Core, Rank};
use tmio_spool::kind::{Metadata, OpKind};

pub(crate) fn core_of_this() -> Core {
    #[cfg(tmio_object)]
    unsafe extern "C" {
        static tmio_end: u8;
    }
    #[cfg(tmio_object)]
    let end = (&raw const tmio_end).addr();
    #[cfg(not(tmio_object))]
    let end = 0;
    Core {
        version: attach::VERSION,
        thread: thread::distance(),
        addresses: [load::base(), end],
        mode: &PAGE.mode,
        generation: &page::GENERATION,
        next: core_next,
        shows_system: core_shows_system,
        listen: core_listen,
        begin: core_begin,
        spool: core_spool,
        path: core_path,
        store: core_store,
        name: core_name,
        mark: core_mark,
        in_flight: core_in_flight,
        lose: core_lose,
        clock: core_clock,
        is_counter: core_is_counter,
        helper: core_helper,
        control: core_control,
        apart: core_apart,
        keep: core_keep,
        end: core_end,
        tell_io: core_tell_io,
    }
}

/// # Safety
///
/// It is a name of so many bytes.
unsafe extern "C" fn core_next(name: *const u8, length: usize) -> *mut c_void {
    // SAFETY: as the caller promises.
    let name = unsafe { core::slice::from_raw_parts(name, length) };
    // The caller's stack may be small; the dynamic linker, which is asked next, needs it anyhow.
    let found = WORKSHOP.alone(|| load::next(name)).flatten();
    found.or_else(|| recorder::next_anywhere(name)).map_or(null_mut(), with_exposed_provenance_mut)
}

extern "C" fn core_shows_system() -> bool {
    load::shows_system()
}

/// Nobody has looked at calls so far, and the process may be a rank soon.
extern "C" fn core_listen(layers: u8) {
    if PAGE.mode.load(Acquire) == mode::NOTHING && load::shows_system() {
        page::turn_on(mode::LISTENING, layers);
    }
}

/// # Safety
///
/// Null, or what the process is, which stays.
unsafe extern "C" fn core_begin(rank: *const Rank) -> bool {
    load::is_decided();
    // SAFETY: as the caller promises.
    let Some(rank) = (unsafe { rank.as_ref() }) else {
        if PAGE.mode.compare_exchange(mode::LISTENING, mode::OVER, AcqRel, Relaxed).is_ok() {
            page::turn_off();
        }
        return true;
    };
    spool::RANK.store(core::ptr::from_ref(rank).cast_mut(), Release);
    settings::set_rank(rank);
    spool::choose_clock(rank.monotonic);
    let looks = rank.layers & (page::POSIX | page::STDIO) != 0 && load::shows_system();
    if PAGE.mode.load(Acquire) == mode::NOTHING && !page::turn_on(mode::ARMED, rank.layers) {
        return false;
    }
    if !looks {
        // MPI-IO alone: calls of the C library go straight on.
        page::ON.store(0, Release);
    }
    page::is_a_rank(rank.layers);
    if looks && rank.layers & page::STDIO != 0 {
        stdio::install();
    }
    if spool::becomes_a_rank(rank) {
        PAGE.mode.store(mode::STARTING, Release);
        anew::drop_spool();
        PAGE.mode.store(mode::ARMED, Release);
    }
    let _ = PAGE.mode.compare_exchange(mode::LISTENING, mode::ARMED, AcqRel, Relaxed);
    if PAGE.worth.load(Relaxed) != 0 {
        helper::keep();
    }
    true
}

extern "C" fn core_spool() -> *const AtomicU64 {
    if !recording::is_recording() && PAGE.mode.load(Acquire) != mode::PAUSED {
        return null();
    }
    PAGE.head.load(Acquire).cast::<AtomicU64>().cast_const()
}

/// # Safety
///
/// There is room for so many bytes.
unsafe extern "C" fn core_path(to: *mut u8, room: usize) -> usize {
    let path = spool::path().unwrap_or_default().to_bytes();
    let length = path.len().min(room);
    // SAFETY: as the caller promises.
    unsafe { core::ptr::copy_nonoverlapping(path.as_ptr(), to, length) };
    length
}

/// # Safety
///
/// Words, and more words or null.
unsafe extern "C" fn core_store(thread: &ThreadState, words: *const [u64; 5], more: *const [u64; 4]) {
    // SAFETY: as the caller promises.
    match unsafe { (*words, more.as_ref()) } {
        (words, None) => rings::store_slowly(thread, words, None),
        (words, Some(more)) => rings::store_two_slowly(thread, words, *more),
    }
}

/// # Safety
///
/// It is a name of so many bytes.
unsafe extern "C" fn core_name(thread: &ThreadState, name: *const u8, length: usize) -> u32 {
    if !recording::is_recording() && PAGE.mode.load(Acquire) != mode::PAUSED {
        return 0;
    }
    // SAFETY: as the caller promises.
    names::number_of(thread, unsafe { core::slice::from_raw_parts(name, length) })
}

/// # Safety
///
/// It is a text of so many bytes.
unsafe extern "C" fn core_mark(thread: &ThreadState, time: u64, text: *const u8, length: usize) {
    // SAFETY: as the caller promises.
    mark(thread, time, unsafe { core::slice::from_raw_parts(text, length) });
}

/// Stores a mark.
pub(crate) fn mark(thread: &ThreadState, time: u64, text: &[u8]) {
    const LONGEST: usize = 1024;
    let text = text.get(..text.len().min(LONGEST)).unwrap_or_default();
    recording::store_text(thread, 0, OpKind::metadata(Metadata::Mark), time, text);
}

extern "C" fn core_in_flight(thread: &ThreadState) -> *const AtomicU64 {
    rings::in_flight(thread).map_or(null(), core::ptr::from_ref)
}

extern "C" fn core_lose(operations: u64) {
    page::lose(operations);
}

extern "C" fn core_clock(pair: &mut [i64; 2]) {
    let (ticks, ns) = clock::pair();
    *pair = [ticks as i64, ns];
}

extern "C" fn core_is_counter() -> bool {
    clock::is_counter()
}

extern "C" fn core_helper(at_the_end: bool) {
    if at_the_end { helper::call_at_the_end() } else { helper::call() }
}

extern "C" fn core_control() -> *const AtomicU64 {
    PAGE.control.load(Acquire).cast_const()
}

/// # Safety
///
/// What `body` asks for, the caller has.
unsafe extern "C" fn core_apart(body: Body, argument: *mut c_void) -> bool {
    WORKSHOP.alone(|| workshop::with_own_descriptors(body, argument)).unwrap_or(false)
}

extern "C" fn core_keep() {
    helper::keep();
}

extern "C" fn core_end(remove: bool) {
    PAGE.mode.store(mode::OVER, Release);
    page::ON.store(0, Release);
    if remove {
        spool::remove();
    }
}

extern "C" fn core_tell_io() {
    process_io::tell();
}
