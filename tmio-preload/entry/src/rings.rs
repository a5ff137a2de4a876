//! The rings of the spool, which threads store records to: made as threads need them, and given memory as it
//! is needed.

use crate::page::{self, PAGE, mode, set};
use crate::thread::{self, ThreadState};
use crate::workshop::{WORKSHOP, with_own_descriptors};
use crate::{clock, helper, spool, sys};
use core::ffi::c_void;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};
use tmio_spool::cell::{CELL_BYTES, CELL_WORDS};
use tmio_spool::kind::OpKind;
use tmio_spool::layout;
use tmio_spool::ring::{self, Ring, Stored};

/// Cells of a ring, and how many rings there may be.
pub(crate) static RING_CELLS: AtomicUsize = AtomicUsize::new(0);

pub(crate) static RINGS: AtomicUsize = AtomicUsize::new(0);

pub(crate) static WHOLE_RINGS: AtomicU8 = AtomicU8::new(0);

/// Asks for the memory of some pages of the spool.
pub(crate) fn populate(address: *mut u8, length: usize) -> Result<(), sys::Errno> {
    // SAFETY: pages of our own mapping, which get memory and keep what is in them.
    unsafe { sys::advise(address, length, sys::MADV_POPULATE_WRITE) }
}

/// Stores a record that found no room, or a text. What cannot be stored is counted.
#[cold]
#[inline(never)]
pub(crate) fn store_slowly(
    thread: &ThreadState,
    words: [u64; CELL_WORDS],
    text: Option<(u32, OpKind, u64, &[u8])>,
) {
    if !takes_records() {
        return;
    }
    let number = thread::number(thread);
    let push = |ring: &Ring| match text {
        None => ring.push(words),
        Some((file, kind, time, text)) => ring.push_text(file, kind, number, time, text),
    };
    if !push_somewhere(thread, number, push) && text.is_none() {
        page::lose(1);
    }
}

/// The same for a record of two cells.
#[cold]
#[inline(never)]
pub(crate) fn store_two_slowly(thread: &ThreadState, words: [u64; CELL_WORDS], more: [u64; 4]) {
    if takes_records() && !push_somewhere(thread, thread::number(thread), |ring| ring.push_two(words, more)) {
        page::lose(1);
    }
}

fn takes_records() -> bool {
    matches!(PAGE.mode.load(Acquire), mode::RECORDING | mode::BECOMING)
}

/// Stores in a ring with room: the thread's own, or any other, or a new one, or one that the helper empties
/// soon.
fn push_somewhere(thread: &ThreadState, number: u16, push: impl Fn(&Ring) -> Stored) -> bool {
    let rings = RINGS.load(Relaxed).max(1);
    let own = usize::from(number) % rings;
    is_of_this_spool(thread);
    let first = thread.ring.get().or_else(|| ring_at(own));
    if first.is_some_and(|ring| push_with_memory(ring, &push)) {
        thread.ring.set(first);
        return true;
    }
    helper::call();
    let others = (own + 1..rings).chain(0..own).filter_map(ring_at);
    // One that is nearly full would be so again at once.
    let mut roomy = others.filter(|ring| ring.used() <= ring.capacity() / 2);
    if let Some(ring) = roomy.find(|ring| push_with_memory(ring, &push)) {
        thread.ring.set(Some(ring));
        return true;
    }
    first.is_some_and(|ring| wait_for_room(ring, &push))
}

/// What a thread has of an earlier spool it has no more.
fn is_of_this_spool(thread: &ThreadState) {
    let generation = page::GENERATION.load(Relaxed);
    if thread.generation.replace(generation) != generation {
        thread.ring.set(None);
        thread.in_flight.set(None);
    }
}

/// Stores in a ring, which gets more memory if that is what it lacks.
fn push_with_memory(ring: &'static Ring, push: &impl Fn(&Ring) -> Stored) -> bool {
    loop {
        match push(ring) {
            Stored::Yes => return true,
            Stored::HalfFull => {
                half_full(ring);
                return true;
            }
            Stored::No if give_memory(ring) => {}
            Stored::No => return false,
        }
    }
}

/// Another half of a ring was filled: the helper is to empty it, if it has not done so by itself.
#[cold]
#[inline(never)]
pub(crate) fn half_full(ring: &Ring) {
    helper::keep();
    if let Some(head) = page::head() {
        let (ticks, ns) = clock::pair();
        set(head, layout::LATER_TICKS, ticks);
        set(head, layout::LATER_NS, ns as u64);
    }
    if ring.used() >= ring.capacity() / 2 {
        helper::call();
    }
}

/// A helper that gets no further for so long is not waited for again until it does.
const UNTIL_DOUBT: i64 = 1_000_000_000;

/// A file system that does not answer for so long is not waited for.
const SLOW_ANSWER: i64 = 20_000_000;

/// For a file system that does answer, all threads together wait so long, …
const FOR_FILES: i64 = 100_000_000;

/// … and this part of the time that the process runs.
const PART_OF_TIME: i64 = 32;

/// Waits for the helper to make room, as long as it is only behind: a helper that stands still, or waits for
/// a file system, costs records.
fn wait_for_room(ring: &'static Ring, push: &impl Fn(&Ring) -> Stored) -> bool {
    // One more than what was seen, so that zeros mean nothing.
    let stuck_at = PAGE.stuck_at.load(Relaxed);
    if !helper::is_there() || stuck_at == helper::steps().wrapping_add(1) {
        return false;
    }
    // By the kernel: the C library's way takes more of the caller's stack.
    let (mut steps, mut since) = (helper::steps(), clock::of_kernel());
    let mut pause = 20_000;
    loop {
        let now = clock::of_kernel();
        let in_file_system = helper::in_file_system(now);
        let waited = PAGE.waited.load(Relaxed) as i64;
        let may_wait = FOR_FILES + (now - PAGE.began.load(Relaxed) as i64).max(0) / PART_OF_TIME;
        if in_file_system.is_some_and(|time| time > SLOW_ANSWER || waited > may_wait) {
            return false;
        }
        if now - since > UNTIL_DOUBT {
            PAGE.stuck_at.store(steps.wrapping_add(1), Relaxed);
            return false;
        }
        helper::wake();
        sys::sleep(pause);
        if in_file_system.is_some() {
            PAGE.waited.fetch_add(pause, Relaxed);
        }
        if push_with_memory(ring, push) {
            return true;
        }
        if steps != helper::steps() {
            (steps, since) = (helper::steps(), now);
        }
        pause = (2 * pause).min(1_000_000);
    }
}

/// A ring; it is made if it was not. `None`: somebody else makes one just now, or there is no memory.
fn ring_at(index: usize) -> Option<&'static Ring> {
    let place = PAGE.rings.get(index)?;
    // SAFETY: null, or a ring that stays.
    if let Some(ring) = unsafe { place.load(Acquire).as_ref() } {
        return Some(ring);
    }
    // A thread that has interrupted whoever makes a ring must not wait; nor may one be cancelled while it
    // does.
    sys::without_signals(|| {
        PAGE.busy.compare_exchange(0, 1, Acquire, Relaxed).ok()?;
        let made = make_ring(index);
        if let Some(ring) = made {
            place.store(core::ptr::from_ref(ring).cast_mut(), Release);
        }
        PAGE.busy.store(0, Release);
        made
    })
}

/// On its own, as [`give_memory`]: callers may have little of their stack left.
#[inline(never)]
fn make_ring(index: usize) -> Option<&'static Ring> {
    let (cells, rings) = (RING_CELLS.load(Relaxed), RINGS.load(Relaxed));
    let memory = PAGE.head.load(Acquire).cast::<u8>();
    // SAFETY: null, or a ring that stays.
    if let Some(ring) = unsafe { PAGE.rings.get(index)?.load(Acquire).as_ref() } {
        return Some(ring);
    }
    if memory.is_null() || index >= rings {
        return None;
    }
    let bytes = cells * CELL_BYTES;
    let offset = layout::RINGS_OFFSET + index * bytes;
    let whole = WHOLE_RINGS.load(Relaxed) != 0;
    let has_memory = match whole {
        true => index == 0 || allocate(offset, bytes),
        false => populate(head_page(memory, index), 1).is_ok(),
    };
    if !has_memory {
        return None;
    }
    // SAFETY: the mapping holds so many rings after the heads of all of them, and stays.
    let (head, cells) = unsafe {
        let head = memory.add(layout::RING_HEADS_OFFSET).cast::<ring::Head>().add(index);
        (&*head, core::slice::from_raw_parts(memory.add(offset).cast::<ring::Cell>(), cells))
    };
    let place = PAGE.made.0.get(index)?;
    // SAFETY: only one thread makes a ring at a time, and nobody uses one of this index yet.
    let ring = unsafe { (*place.get()).write(Ring::new(head, cells, if whole { u64::MAX } else { 0 })) };
    if let Some(used) = page::head_word(layout::RINGS) {
        used.fetch_or(1 << index, Release);
    }
    Some(ring)
}

/// The page in which the head of a ring is.
fn head_page(memory: *mut u8, index: usize) -> *mut u8 {
    const PAGE: usize = 4096;
    let offset = layout::RING_HEADS_OFFSET + index * layout::RING_WORDS * 8;
    memory.wrapping_add(offset / PAGE * PAGE)
}

/// Gives a ring some pages more, so that a short process needs no more memory than it uses. `false`: it has
/// all, or there is none.
#[inline(never)]
fn give_memory(ring: &Ring) -> bool {
    let Some(piece) = ring.next_piece() else { return false };
    let begin = ring.cells_address().wrapping_add(piece.bytes.start);
    if populate(begin, piece.bytes.len()).is_err() {
        return false;
    }
    ring.set_ready(piece.ready);
    true
}

/// Asks for the memory of a ring where the kernel can only do so by the file.
fn allocate(offset: usize, bytes: usize) -> bool {
    struct Range {
        offset: usize,
        bytes: usize,
    }
    unsafe extern "C" fn allocate_range(range: *mut c_void) -> bool {
        // SAFETY: it is what is given below.
        let range = unsafe { &*range.cast::<Range>() };
        let Some(path) = spool::path() else { return false };
        let Ok(file) = sys::open(path, sys::O_RDWR | sys::O_NOFOLLOW | sys::O_CLOEXEC, 0) else {
            return false;
        };
        let done = sys::allocate(file, range.offset, range.bytes).is_ok();
        sys::close(file);
        done
    }
    let mut range = Range { offset, bytes };
    WORKSHOP.alone(|| with_own_descriptors(allocate_range, (&raw mut range).cast())) == Some(true)
}

/// When a thread begins an operation of MPI-IO: the word in which it says so, if there is one for it.
pub(crate) fn in_flight(thread: &ThreadState) -> Option<&'static AtomicU64> {
    let memory = PAGE.head.load(Acquire).cast::<u8>();
    let number = usize::from(thread::number(thread));
    // Only the words of a rank have memory.
    let has_memory = page::head_word(layout::IDENTITY_LENGTH).is_some_and(|length| length.load(Relaxed) != 0);
    if memory.is_null() || number >= layout::MAX_IN_FLIGHT || !has_memory {
        return None;
    }
    is_of_this_spool(thread);
    // SAFETY: the mapping has so many words there, and stays.
    Some(unsafe { &*memory.add(layout::IN_FLIGHT_OFFSET).cast::<AtomicU64>().add(number) })
}
