//! From a call to a record.
//!
//! A process begins in memory of its own: most processes of a job do little, and leave nothing. When it has
//! moved enough bytes, or has been at it for a second, it becomes a rank of its run, and what it did so far
//! is recorded first. A process of MPI gives its records to the rank's recorder, from `MPI_Init` on; a rank
//! that has recorded nothing yet keeps them in the same memory first, and for the same reason: a thousand
//! ranks that read a small file of options make no files of ours.
//!
//! All that a fork must not copy is in one page that the kernel wipes in the child, however that was made:
//! a child finds it empty and begins anew.

use super::descriptors::{self, Entry};
use super::names;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use tmio_api::options::Options;
use tmio_api::process::{self, Begun, Call};
use tmio_api::thread::{self, ThreadState};
use tmio_trace::{Direction, FilePointer, Flags, Metadata, OpKind, TraceLayer};

/// Nothing is recorded, or the kernel has wiped the page.
const NOTHING: u32 = 0;
/// Calls are kept in memory.
const EARLY: u32 = 1;
/// The process records for itself.
const PROCESS: u32 = 2;
/// `MPI_Init` is being called: calls are kept in memory until it is known whether there is a recorder.
const WAITING: u32 = 3;
/// Records go to the rank's recorder.
const RANK: u32 = 4;
/// Nothing any more.
const OVER: u32 = 5;
/// `MPI_Init` is being called, and nobody has asked for what comes before it: only descriptors are noted.
const LISTENING: u32 = 6;
/// The rank has a recorder, and has not done enough to use it.
const QUIET: u32 = 7;

#[repr(C, align(4096))]
struct Page {
    mode: AtomicU32,
    lock: AtomicU32,
    /// Calls that were kept in memory, or would have been.
    early: AtomicUsize,
    bytes: AtomicU64,
    first: AtomicU64,
    /// The process that records, or would: not one that it made by `vfork` and that shares its memory.
    process: AtomicU64,
    /// It is the command that `ftio trace` was asked to run, and is kept however little it does.
    is_asked_for: AtomicU64,
    /// Calls that could be kept nowhere.
    missed: AtomicU64,
    /// Somebody has waited in vain for who begins to record: nobody waits again.
    is_slow: AtomicU64,
    /// How often it was tried in vain to begin, and after how many calls it is tried again.
    failures: AtomicU64,
    next_try: AtomicUsize,
    _rest: [u64; 502],
}

static PAGE: Page = Page {
    mode: AtomicU32::new(NOTHING),
    lock: AtomicU32::new(0),
    early: AtomicUsize::new(0),
    bytes: AtomicU64::new(0),
    first: AtomicU64::new(0),
    process: AtomicU64::new(0),
    is_asked_for: AtomicU64::new(0),
    missed: AtomicU64::new(0),
    is_slow: AtomicU64::new(0),
    failures: AtomicU64::new(0),
    next_try: AtomicUsize::new(0),
    _rest: [0; 502],
};

/// The layers are wanted in this program: also in its fork children, which find the page wiped.
static WANTED: AtomicBool = AtomicBool::new(false);
/// There is, or was, a rank's recorder: its fork children record nothing.
static IS_RANK: AtomicBool = AtomicBool::new(false);
/// Which process of a chain of forks this is, and one more.
static GENERATION: AtomicU32 = AtomicU32::new(1);
static OPTIONS: OnceLock<Options> = OnceLock::new();
static POSIX: AtomicBool = AtomicBool::new(false);
static STDIO: AtomicBool = AtomicBool::new(false);
static MPI_IO: AtomicBool = AtomicBool::new(false);

/// Calls that are kept before there is a recorder.
const EARLY_CALLS: usize = 4096;
const WORDS: usize = 6;
static EARLY_WORDS: [[AtomicU64; WORDS]; EARLY_CALLS] =
    [const { [const { AtomicU64::new(0) }; WORDS] }; EARLY_CALLS];

/// How much of that was used.
static EARLY_USED: AtomicUsize = AtomicUsize::new(0);
/// So many calls are never kept: who has given them to the recorder says so with this number.
const HANDED_OVER: usize = usize::MAX / 2;

/// Bytes and nanoseconds after which a process is of interest.
static ENOUGH_BYTES: AtomicU64 = AtomicU64::new(0);
const LONG_ENOUGH: i64 = 1_000_000_000;

pub(super) fn generation() -> u32 {
    GENERATION.load(Relaxed)
}

/// Begins to look at calls of a process.
pub(super) fn turn_on(options: Options, is_asked_for: bool) {
    begin_as(EARLY, options, is_asked_for);
}

/// Begins to look at calls of a process that may be a rank soon, if nobody does so far.
pub(super) fn listen(options: &Options) {
    if PAGE.mode.load(Acquire) == NOTHING && !WANTED.load(Acquire) {
        begin_as(LISTENING, options.clone(), false);
    }
}

fn begin_as(mode: u32, options: Options, is_asked_for: bool) {
    ENOUGH_BYTES.store(options.min_bytes, Relaxed);
    POSIX.store(options.layers.posix, Relaxed);
    STDIO.store(options.layers.stdio, Relaxed);
    MPI_IO.store(options.layers.mpiio, Relaxed);
    if OPTIONS.set(options).is_err() || !descriptors::prepare() {
        return;
    }
    const MADV_WIPEONFORK: c_int = 18;
    // SAFETY: a page of ours that nothing else is in; wiping it is what it is made for. The handler only
    // stores to atomics.
    unsafe {
        let page = (&raw const PAGE).cast_mut().cast();
        if libc::madvise(page, size_of::<Page>(), MADV_WIPEONFORK) != 0 {
            libc::pthread_atfork(None, None, Some(wipe));
        }
    }
    PAGE.process.store(u64::from(std::process::id()), Relaxed);
    PAGE.is_asked_for.store(u64::from(is_asked_for), Relaxed);
    tmio_api::beside::watch();
    PAGE.mode.store(mode, Release);
    WANTED.store(true, Release);
}

extern "C" fn wipe() {
    PAGE.mode.store(NOTHING, Relaxed);
    PAGE.lock.store(0, Relaxed);
    PAGE.early.store(0, Relaxed);
    PAGE.bytes.store(0, Relaxed);
    PAGE.first.store(0, Relaxed);
    PAGE.missed.store(0, Relaxed);
    PAGE.is_slow.store(0, Relaxed);
    PAGE.failures.store(0, Relaxed);
    PAGE.next_try.store(0, Relaxed);
}

/// Whether calls are looked at.
#[inline(always)]
pub(super) fn is_on() -> bool {
    match PAGE.mode.load(Relaxed) {
        NOTHING => WANTED.load(Relaxed) && begin_anew(),
        OVER => false,
        _ => true,
    }
}

/// The child of a fork begins with nothing but what is known of its descriptors.
#[cold]
fn begin_anew() -> bool {
    if IS_RANK.load(Relaxed) {
        PAGE.mode.store(OVER, Relaxed);
        return false;
    }
    thread::with(process::forget);
    for [.., ready] in EARLY_WORDS.iter().take(EARLY_USED.swap(0, Relaxed)) {
        ready.store(0, Relaxed);
    }
    GENERATION.fetch_add(1, Relaxed);
    PAGE.process.store(u64::from(std::process::id()), Relaxed);
    PAGE.mode.store(EARLY, Release);
    true
}

/// How often a thread asks for the lock before it gives up.
const TRIES: usize = 100_000;

/// Does something that only one thread may do at a time. `None`: somebody else does not come to an end.
pub(super) fn with_lock<T>(body: impl FnOnce() -> T) -> Option<T> {
    with_lock_within(TRIES, body)
}

fn with_lock_within<T>(tries: usize, body: impl FnOnce() -> T) -> Option<T> {
    for attempt in 0..tries {
        if PAGE.lock.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            let result = body();
            PAGE.lock.store(0, Release);
            return Some(result);
        }
        match attempt {
            0..100 => std::hint::spin_loop(),
            // SAFETY: the call has no premises.
            _ => unsafe { _ = libc::sched_yield() },
        }
    }
    None
}

/// Whether a file of this path is not recorded.
pub(super) fn leaves_out(path: &str) -> bool {
    OPTIONS.get().is_none_or(|options| options.leaves_out(path))
}

/// Runs work of our own, in which nothing is recorded, signals wait, and `errno` is kept.
pub(super) fn own_work<T>(thread: &ThreadState, body: impl FnOnce() -> T) -> T {
    let _signals = tmio_api::NoSignals::new();
    thread.begin_own_work();
    // SAFETY: the address is that of this thread's errno.
    let errno = unsafe { *libc::__errno_location() };
    let result = body();
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    thread.end_own_work();
    result
}

/// The file that a call on a descriptor is about, if it is one that is recorded at this layer.
#[inline(always)]
pub(super) fn file_of(thread: &ThreadState, descriptor: c_int, layer: TraceLayer) -> Option<u32> {
    if thread.is_own_work() {
        return None;
    }
    let wanted = if layer == TraceLayer::Stdio { &STDIO } else { &POSIX };
    if !wanted.load(Relaxed) {
        return None;
    }
    match descriptors::get(descriptor) {
        Entry::File(file) if !is_mpis(thread) => Some(file),
        Entry::Unknown if !is_mpis(thread) => learn(thread, descriptor),
        _ => None,
    }
}

/// Whether what a thread does is part of MPI-IO, and recorded there.
#[inline(always)]
pub(super) fn is_mpis(thread: &ThreadState) -> bool {
    thread.is_in_mpi() && MPI_IO.load(Relaxed)
}

#[cold]
#[inline(never)]
fn learn(thread: &ThreadState, descriptor: c_int) -> Option<u32> {
    let entry = own_work(thread, || {
        let entry = names::look(descriptor);
        descriptors::learn(descriptor, entry);
        entry
    });
    match entry {
        Entry::File(file) => Some(file),
        _ => None,
    }
}

/// A call that moved data.
pub(super) fn data(
    layer: TraceLayer,
    direction: Direction,
    offset: Option<i64>,
    result: i64,
    start: u64,
    end: u64,
) -> Call {
    let pointer = if offset.is_some() { FilePointer::Explicit } else { FilePointer::Individual };
    Call {
        kind: OpKind::data(direction, pointer, false, false, false).at(layer),
        flags: if result < 0 { Flags::FAILED } else { Flags::default() },
        offset: offset.unwrap_or(-1),
        bytes: u64::try_from(result).unwrap_or(0),
        start,
        end,
    }
}

/// A call that moved none.
pub(super) fn metadata(layer: TraceLayer, operation: Metadata, start: u64, end: u64) -> Call {
    let call = Call::metadata(operation, start, end);
    Call { kind: call.kind.at(layer), ..call }
}

/// Keeps a call.
#[inline(always)]
pub(super) fn record(thread: &ThreadState, file: u32, call: &Call) {
    match PAGE.mode.load(Acquire) {
        PROCESS => {
            record_now(thread, file, call);
            process::flush_if_due(call.end);
        }
        RANK if tmio_api::is_on() => record_now(thread, file, call),
        mode => record_otherwise(mode, thread, file, &{ *call }),
    }
}

#[cold]
#[inline(never)]
fn record_otherwise(mode: u32, thread: &ThreadState, file: u32, call: &Call) {
    match mode {
        QUIET if tmio_api::is_on() => record_early(thread, file, call),
        EARLY | WAITING => record_early(thread, file, call),
        _ => {}
    }
}

#[inline(always)]
fn record_now(thread: &ThreadState, file: u32, call: &Call) {
    if let Some(number) = names::number(file) {
        process::record(thread, call, number);
    }
}

fn record_early(thread: &ThreadState, file: u32, call: &Call) {
    if !keep(file, call) {
        // There is no more room, or somebody has just taken what there is.
        let tries = if PAGE.is_slow.load(Relaxed) == 0 { TRIES } else { 1 };
        match PAGE.mode.load(Acquire) {
            EARLY if is_time_to_begin() => own_work(thread, || become_interesting(thread, tries)),
            QUIET => own_work(thread, || speak_up(thread, tries)),
            _ => {}
        }
        match PAGE.mode.load(Acquire) {
            PROCESS | RANK => record_now(thread, file, call),
            EARLY | WAITING | QUIET => _ = PAGE.missed.fetch_add(1, Relaxed),
            _ => {}
        }
        return;
    }
    let bytes = PAGE.bytes.fetch_add(call.bytes, Relaxed) + call.bytes;
    let first = match PAGE.first.compare_exchange(0, call.start.max(1), Relaxed, Relaxed) {
        Ok(_) => call.start,
        Err(first) => first,
    };
    let enough = bytes >= ENOUGH_BYTES.load(Relaxed) || is_long(first, call.end);
    // The call is kept: if another thread is about to begin, there is nothing to wait for.
    match PAGE.mode.load(Relaxed) {
        EARLY if enough && is_time_to_begin() => own_work(thread, || become_interesting(thread, 1)),
        QUIET if enough || tmio_api::has_records() => own_work(thread, || speak_up(thread, 1)),
        _ => {}
    }
}

fn is_long(first: u64, now: u64) -> bool {
    // A tick is a nanosecond at most.
    if now.wrapping_sub(first) < LONG_ENOUGH as u64 {
        return false;
    }
    let scale = tmio_api::clock::scale();
    scale.to_ns(now) - scale.to_ns(first) >= LONG_ENOUGH
}

/// Puts a call into the memory for early ones. `false`: there is no room.
fn keep(file: u32, call: &Call) -> bool {
    let index = PAGE.early.fetch_add(1, AcqRel);
    let Some(words) = EARLY_WORDS.get(index) else { return false };
    EARLY_USED.fetch_max(index + 1, Relaxed);
    let [start, end, offset, bytes, identity, ready] = words;
    start.store(call.start, Relaxed);
    end.store(call.end, Relaxed);
    offset.store(call.offset as u64, Relaxed);
    bytes.store(call.bytes, Relaxed);
    identity.store(u64::from(file) | u64::from(call.kind.0) << 32 | u64::from(call.flags.0) << 40, Relaxed);
    ready.store(1, Release);
    true
}

/// After how many attempts in vain nothing is recorded.
const MOST_FAILURES: u64 = 10;

/// Whether it was not tried in vain to begin just now.
fn is_time_to_begin() -> bool {
    PAGE.early.load(Relaxed) >= PAGE.next_try.load(Relaxed)
}

/// The process becomes a rank of its run, unless another thread is at it and does not come to an end.
#[cold]
fn become_interesting(thread: &ThreadState, tries: usize) {
    let done = with_lock_within(tries, || {
        if PAGE.mode.load(Acquire) != EARLY {
            return;
        }
        let begun = tmio_api::shield(|| OPTIONS.get().map(process::begin)).flatten();
        let mode = match begun {
            Some(Begun::Yes) => {
                hand_over(thread);
                PROCESS
            }
            Some(Begun::Failed) if PAGE.failures.fetch_add(1, Relaxed) < MOST_FAILURES => {
                // Descriptors or memory may have run out for a while.
                PAGE.next_try.store(PAGE.early.load(Relaxed).saturating_mul(2) + 64, Relaxed);
                EARLY
            }
            _ => OVER,
        };
        PAGE.mode.store(mode, Release);
    });
    if done.is_none() && tries > 1 {
        PAGE.is_slow.store(1, Relaxed);
    }
}

/// A rank gives what it has kept to its recorder, and all that follows.
#[cold]
fn speak_up(thread: &ThreadState, tries: usize) {
    let done = with_lock_within(tries, || {
        if PAGE.mode.compare_exchange(QUIET, RANK, AcqRel, Relaxed).is_ok() {
            tmio_api::shield(|| hand_over(thread));
        }
    });
    if done.is_none() && tries > 1 {
        PAGE.is_slow.store(1, Relaxed);
    }
}

/// How often a thread that hands over calls lets others go first, so that they can store theirs.
const PATIENCE: usize = 100_000;

/// Gives the calls that were kept to the recorder. Who comes after this finds no room.
fn hand_over(thread: &ThreadState) {
    let kept = PAGE.early.swap(HANDED_OVER, AcqRel);
    let kept = if kept < HANDED_OVER { kept.min(EARLY_CALLS) } else { 0 };
    let mut patience = PATIENCE;
    for words in EARLY_WORDS.iter().take(kept) {
        let [start, end, offset, bytes, identity, ready] = words;
        // Its owner may be about to store it, and may have lost the processor on the way.
        while ready.load(Acquire) == 0 && patience > 0 {
            patience -= 1;
            // SAFETY: the call has no premises.
            unsafe { libc::sched_yield() };
        }
        if ready.load(Acquire) == 0 {
            PAGE.missed.fetch_add(1, Relaxed);
            continue;
        }
        let identity = identity.load(Relaxed);
        let call = Call {
            kind: OpKind((identity >> 32) as u8),
            flags: Flags((identity >> 40) as u8),
            offset: offset.load(Relaxed) as i64,
            bytes: bytes.load(Relaxed),
            start: start.load(Relaxed),
            end: end.load(Relaxed),
        };
        record_now(thread, identity as u32, &call);
        ready.store(0, Relaxed);
    }
    process::lose(PAGE.missed.swap(0, Relaxed));
}

/// `MPI_Init` begins.
pub(super) fn wait_for_rank() {
    let _ = PAGE.mode.compare_exchange(EARLY, WAITING, AcqRel, Relaxed);
}

/// `MPI_Init` has ended, with a recorder of the rank or without.
pub(super) fn rank_begins(has_recorder: bool) {
    if !is_on() {
        return;
    }
    if !has_recorder {
        let _ = PAGE.mode.compare_exchange(WAITING, EARLY, AcqRel, Relaxed);
        let _ = PAGE.mode.compare_exchange(LISTENING, OVER, AcqRel, Relaxed);
        return;
    }
    IS_RANK.store(true, Relaxed);
    GENERATION.fetch_add(1, Relaxed);
    PAGE.mode.store(QUIET, Release);
    let first = PAGE.first.load(Relaxed);
    let is_enough = PAGE.bytes.load(Relaxed) >= ENOUGH_BYTES.load(Relaxed)
        || (first != 0 && is_long(first, tmio_api::clock::now()));
    if is_enough {
        thread::with(|thread| own_work(thread, || speak_up(thread, TRIES)));
    }
}

/// `MPI_Finalize` begins: what a rank has kept joins its other records, if it has some.
pub(super) fn rank_ends() {
    if PAGE.mode.load(Acquire) == QUIET && tmio_api::has_records() {
        thread::with(|thread| own_work(thread, || speak_up(thread, TRIES)));
    }
}

/// The process ends: what it recorded is written out.
pub(super) fn end() {
    begin_in_the_end();
    if is_process() {
        process::lose(PAGE.missed.swap(0, Relaxed));
        PAGE.mode.store(OVER, Release);
        process::end();
    }
}

/// A process that has done little is recorded nevertheless if it is the command that was asked for, and one
/// that could not begin before tries once more.
fn begin_in_the_end() {
    let has_calls = PAGE.mode.load(Acquire) == EARLY && PAGE.early.load(Relaxed) > 0;
    if has_calls && (PAGE.is_asked_for.load(Relaxed) != 0 || PAGE.failures.load(Relaxed) != 0) {
        thread::with(|thread| own_work(thread, || become_interesting(thread, TRIES)));
    }
}

/// The process is about to forbid itself all system calls but some: one of ours would be its end. What it has
/// done is written out, and nothing is recorded any more, neither here nor in its children.
pub(super) fn stop_early() {
    if !is_on() || !is_this_process() {
        return;
    }
    begin_in_the_end();
    let was_process = is_process();
    WANTED.store(false, Relaxed);
    PAGE.mode.store(OVER, Release);
    if was_process {
        process::lose(PAGE.missed.swap(0, Relaxed));
        process::end_early();
    }
}

/// Whether this is the process that records, as the kernel says.
pub(super) fn is_this_process() -> bool {
    PAGE.process.load(Relaxed) == u64::from(std::process::id())
}

/// Whether the process records for itself.
pub(super) fn is_process() -> bool {
    PAGE.mode.load(Relaxed) == PROCESS && process::is_recording()
}

/// What is recorded at which layer, for who needs no descriptor.
pub(super) fn wants(layer: TraceLayer) -> bool {
    if layer == TraceLayer::Stdio { STDIO.load(Relaxed) } else { POSIX.load(Relaxed) }
}
