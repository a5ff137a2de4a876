//! Split collectives: two calls that are one operation, from the entry of the first to the return of the
//! second.
//!
//! There is at most one under way per file handle (MPI 4.1, section 14.4.5).

use crate::abi::StatusBuffer;
use crate::data_access::{File, Status};
use crate::next;
use crate::tracer;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tmio_api::{Record, clock, in_flight, shield, thread, turns};
use tmio_trace::{Flags, OpKind};

/// One that has begun.
struct Begun {
    file: File,
    offset: i64,
    start: u64,
}

static BEGUN: Mutex<Vec<Begun>> = Mutex::new(Vec::new());
/// Their number.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Changes the list, and tells when the oldest of it began.
fn change<T>(body: impl FnOnce(&mut Vec<Begun>) -> T) -> T {
    let mut begun = BEGUN.lock();
    let result = body(&mut begun);
    COUNT.store(begun.len(), Relaxed);
    thread::set_split_since(begun.iter().map(|operation| operation.start).min());
    result
}

/// Takes away what is known about a file: its operation is over, or one begins.
fn take(file: File) -> Option<Begun> {
    if COUNT.load(Relaxed) == 0 {
        return None;
    }
    change(|begun| {
        let place = begun.iter().position(|operation| operation.file == file)?;
        Some(begun.swap_remove(place))
    })
}

/// Offset and start of what has ended on a file. By itself: the caller's stack may be small.
#[inline(never)]
fn ended(file: File) -> Option<(i64, u64)> {
    shield(|| take(file).map(|begun| (begun.offset, begun.start))).flatten()
}

/// The first half.
#[inline(always)]
pub(crate) fn begin(file: File, offset: i64, call: impl FnOnce() -> c_int) -> c_int {
    if !tmio_api::is_on() {
        // One that begins in a pause is not recorded, and what began before on that file has ended unseen.
        shield(|| take(file));
        return call();
    }
    thread::with(|thread| {
        let Some(entered) = in_flight::enter(thread, next::called_by_mpi) else { return call() };
        turns::announce(file, 0);
        let under_way = in_flight::begin(thread);
        let start = clock::now();
        under_way.since(start);
        let result = call();
        drop(entered);
        shield(|| {
            take(file);
            if result == 0 {
                change(|begun| {
                    if begun.try_reserve(1).is_ok() {
                        begun.push(Begun { file, offset, start });
                    }
                });
            }
        });
        drop(under_way);
        result
    })
}

/// The second half, which is recorded also in a pause, if the first was before it.
///
/// # Safety
///
/// `status` is what the application gave as the place for the status of the call.
#[inline(always)]
pub(crate) unsafe fn end(
    kind: OpKind,
    file: File,
    status: Status,
    call: impl FnOnce(Status) -> c_int,
) -> c_int {
    if COUNT.load(Relaxed) == 0 {
        return call(status);
    }
    thread::with(|thread| {
        let Some((tracer, entered)) =
            tracer::get().and_then(|tracer| Some((tracer, in_flight::enter(thread, next::called_by_mpi)?)))
        else {
            return call(status);
        };
        let mut own = StatusBuffer::new();
        let status = if status.addr() == tracer.status_ignore { own.pointer() } else { status };
        let result = call(status);
        let end = clock::now();
        drop(entered);
        // The thread is in the operation until it is recorded.
        let under_way = in_flight::begin(thread);
        if let Some((offset, start)) = ended(file) {
            // SAFETY: MPI has filled in the status of a call that succeeded.
            let bytes = if result == 0 { unsafe { tracer.bytes(status) } } else { 0 };
            let flags = if result == 0 { Flags::default() } else { Flags::FAILED };
            let record = Record { kind, flags, file, offset, bytes, start, end, nonblocking: [0; 4] };
            tmio_api::record(thread, record);
        }
        drop(under_way);
        result
    })
}
