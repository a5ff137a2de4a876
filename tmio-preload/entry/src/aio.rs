//! Asynchronous I/O of POSIX: an operation lasts from its submission to the first call that says that it is
//! done.
//!
//! The C library's own threads move the data, and none of their calls can be seen.

use crate::data::file_of;
use crate::entry::{Next, next, wrappers};
use crate::{anew, clock, page, recording, thread};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use tmio_spool::kind::Direction::{self, Read, Write};
use tmio_spool::kind::TraceLayer;

/// `struct aiocb`, as far as it is used.
#[repr(C)]
struct Control {
    descriptor: c_int,
    operation: c_int,
    _priority: c_int,
    _memory: *mut c_void,
    _length: usize,
    _event: [u64; 8],
    _private: [u64; 4],
    offset: i64,
}

const _: () = assert!(core::mem::offset_of!(Control, offset) == 128);

type Block = *mut Control;

const LIO_READ: c_int = 0;
const LIO_WRITE: c_int = 1;
const LIO_WAIT: c_int = 0;
const EINPROGRESS: c_int = 115;

/// An operation that was submitted, and of which nobody knows that it is done.
struct Pending {
    /// The address of its control block; 0: the place is free; 1: it is being filled in.
    block: AtomicU64,
    start: AtomicU64,
    offset: AtomicU64,
    /// The file and one more, 0: it is not recorded; above it, whether it writes.
    what: AtomicU64,
}

const MOST: usize = 1024;
const FILLING: u64 = 1;
const WRITES: u64 = 1 << 63;

#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_large"))]
static PENDING: [Pending; MOST] = [const {
    Pending {
        block: AtomicU64::new(0),
        start: AtomicU64::new(0),
        offset: AtomicU64::new(0),
        what: AtomicU64::new(0),
    }
}; MOST];

/// Places where an operation may be, the likeliest first.
fn places(block: u64) -> impl Iterator<Item = &'static Pending> {
    let first = (block >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    (0..MOST).filter_map(move |step| PENDING.get((first as usize + step) % MOST))
}

/// Places that are looked at before an operation counts as lost.
const TRIES: usize = 64;

/// # Safety
///
/// It is null, or a control block that is about to be submitted.
unsafe fn submit(block: Block, direction: Direction) {
    // SAFETY: as the caller promises.
    let Some(request) = (unsafe { block.as_ref() }) else { return };
    let file = thread::with(|thread| {
        if thread.is_own_work() { None } else { Some(file_of(thread, request.descriptor, TraceLayer::Posix)) }
    });
    let Some(file) = file else { return };
    let address = block.addr() as u64;
    let free = places(address).take(TRIES).find(|place| {
        let old = place.block.load(Relaxed);
        // The same block again: nobody has asked for the result of its last operation.
        (old == 0 || old == address) && place.block.compare_exchange(old, FILLING, AcqRel, Relaxed).is_ok()
    });
    let Some(place) = free else {
        return page::lose(u64::from(file.is_some()));
    };
    let writes = if direction == Write { WRITES } else { 0 };
    place.start.store(clock::now(), Relaxed);
    place.offset.store(request.offset as u64, Relaxed);
    place.what.store(file.map_or(0, |file| u64::from(file) + 1) | writes, Relaxed);
    place.block.store(address, Release);
}

/// The submission has failed.
fn withdraw(block: Block) {
    let address = block.addr() as u64;
    if let Some(place) = places(address).take(TRIES).find(|place| place.block.load(Acquire) == address) {
        place.block.store(0, Release);
    }
}

/// An operation is done.
fn complete(block: Block, result: isize) {
    let address = block.addr() as u64;
    let Some(place) = places(address).take(TRIES).find(|place| place.block.load(Acquire) == address) else {
        return;
    };
    let (start, offset) = (place.start.load(Relaxed), place.offset.load(Relaxed) as i64);
    let what = place.what.load(Relaxed);
    place.block.store(0, Release);
    let direction = if what & WRITES != 0 { Write } else { Read };
    thread::with(|thread| match (what & !WRITES).checked_sub(1) {
        Some(file) => {
            let end = clock::now();
            let call = recording::data(TraceLayer::Posix, direction, Some(offset), result as i64, start, end);
            recording::record(thread, file as u32, &call);
        }
        None => page::beside(direction, result as i64),
    });
}

/// # Safety
///
/// It is the argument of the call.
#[inline(always)]
unsafe fn submitting(block: Block, direction: Direction, call: impl FnOnce() -> c_int) -> c_int {
    if !anew::is_on() {
        return call();
    }
    // SAFETY: as the caller promises. Before the call: another thread may complete it at once.
    unsafe { submit(block, direction) };
    let result = call();
    if result != 0 {
        withdraw(block);
    }
    result
}

/// # Safety
///
/// These are the arguments of `lio_listio`: a list of as many control blocks, some of which may be null.
unsafe fn submitting_list(
    mode: c_int,
    list: *const Block,
    count: c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    if anew::is_on() && !list.is_null() {
        for index in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: as the caller promises.
            unsafe {
                let block = *list.add(index);
                match block.as_ref().map(|request| request.operation) {
                    Some(LIO_READ) => submit(block, Read),
                    Some(LIO_WRITE) => submit(block, Write),
                    _ => {}
                }
            }
        }
    }
    // Of those that could not be submitted, the result is an error as well.
    match mode {
        // SAFETY: as the caller promises.
        LIO_WAIT => unsafe { waiting(list, count, call) },
        _ => call(),
    }
}

/// The result of an operation that is done. The C library tells it as often as it is asked.
///
/// # Safety
///
/// It is a control block.
unsafe fn result_of(block: Block) -> isize {
    static NEXT: Next = Next::new(null_mut());
    let function = next(&NEXT, c"aio_return");
    if function.is_null() {
        return -1;
    }
    // SAFETY: the function of this name has this signature, and the caller's promise.
    unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(Block) -> isize>(function)(block) }
}

/// Whether an operation is done, as the C library says.
///
/// # Safety
///
/// It is a control block.
unsafe fn is_done(block: Block) -> bool {
    static NEXT: Next = Next::new(null_mut());
    let function = next(&NEXT, c"aio_error");
    // SAFETY: as above.
    !function.is_null()
        && unsafe {
            core::mem::transmute::<*mut c_void, unsafe extern "C" fn(Block) -> c_int>(function)(block)
        } != EINPROGRESS
}

/// Whether there is an operation of this block that is recorded when it is done.
fn is_pending(block: Block) -> bool {
    let address = block.addr() as u64;
    !block.is_null() && places(address).take(TRIES).any(|place| place.block.load(Relaxed) == address)
}

/// The program has asked whether an operation is done.
///
/// # Safety
///
/// It is the argument of the call.
#[inline(always)]
unsafe fn asking(block: Block, call: impl FnOnce() -> c_int) -> c_int {
    let error = call();
    if error != EINPROGRESS && anew::is_on() && is_pending(block) {
        // SAFETY: as the caller promises; the operation is done.
        complete(block, unsafe { result_of(block) });
    }
    error
}

/// The error number of the calling thread, which the C library's functions above may change.
struct Errno(*mut c_int, c_int);

impl Errno {
    fn save() -> Self {
        static NEXT: Next = Next::new(null_mut());
        let function = next(&NEXT, c"__errno_location");
        if function.is_null() {
            return Self(null_mut(), 0);
        }
        // SAFETY: the function of this name has this signature, and gives a place that can be read.
        unsafe {
            let place = core::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut c_int>(function)();
            Self(place, *place)
        }
    }

    fn restore(self) {
        if !self.0.is_null() {
            // SAFETY: the place is that of this thread.
            unsafe { *self.0 = self.1 };
        }
    }
}

/// The program has waited for some operations of a list.
///
/// # Safety
///
/// These are the arguments of the call, which were good enough for it.
unsafe fn waiting(list: *const Block, count: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    if anew::is_on() && !list.is_null() {
        let errno = Errno::save();
        for index in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: as the caller promises.
            unsafe {
                let block = *list.add(index);
                if is_pending(block) && is_done(block) {
                    complete(block, result_of(block));
                }
            }
        }
        errno.restore();
    }
    result
}

#[inline(always)]
fn completing(block: Block, call: impl FnOnce() -> isize) -> isize {
    let result = call();
    if anew::is_on() && !block.is_null() {
        complete(block, result);
    }
    result
}

wrappers! {
    aio_read (block: Block) -> c_int, |next| submitting(block, Read, || next(block));
    aio_read64 (block: Block) -> c_int, |next| submitting(block, Read, || next(block));
    aio_write (block: Block) -> c_int, |next| submitting(block, Write, || next(block));
    aio_write64 (block: Block) -> c_int, |next| submitting(block, Write, || next(block));
    aio_return (block: Block) -> isize, |next| completing(block, || next(block));
    aio_return64 (block: Block) -> isize, |next| completing(block, || next(block));
    aio_error (block: Block) -> c_int, |next| asking(block, || next(block));
    aio_error64 (block: Block) -> c_int, |next| asking(block, || next(block));
    aio_suspend (list: *const Block, n: c_int, time: *const c_void) -> c_int,
        |next| waiting(list, n, || next(list, n, time));
    aio_suspend64 (list: *const Block, n: c_int, time: *const c_void) -> c_int,
        |next| waiting(list, n, || next(list, n, time));
    lio_listio (mode: c_int, list: *const Block, n: c_int, event: *mut c_void) -> c_int,
        |next| submitting_list(mode, list, n, || next(mode, list, n, event));
    lio_listio64 (mode: c_int, list: *const Block, n: c_int, event: *mut c_void) -> c_int,
        |next| submitting_list(mode, list, n, || next(mode, list, n, event));
}
