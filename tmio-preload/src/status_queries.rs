//! The functions that tell whether requests are complete and leave them as they are.
//!
//! That an operation is complete is all there is to know about it, so it is recorded when one of
//! these says so; the call that frees the request later finds nothing of ours. An MPI older than 4.1
//! has only the first; the others are then made of it, because a program that looks them up at run
//! time would find ours.

use crate::abi::StatusBuffer;
use crate::completion::{Claimed, Family, Requests, Statuses, busy_tracer, record, some};
use crate::next::{self, Next, exported};
use crate::requests;
use crate::tracer;
use std::ffi::c_int;
use tmio_api::{clock, in_flight, shield, thread};
use tmio_trace::Flags;

exported! {
    MPI_Request_get_status PMPI_Request_get_status (request: u64, flag: *mut c_int, status: Statuses)
        |next| one(request, flag, status, |status| next(request, flag, status));
    MPI_Request_get_status_all PMPI_Request_get_status_all (count: c_int, requests: Requests, flag: *mut c_int, statuses: Statuses)
        |next| all(count, requests, flag, statuses, |statuses| next(count, requests, flag, statuses)),
        else all_by_one(count, requests, flag, statuses);
    MPI_Request_get_status_any PMPI_Request_get_status_any (count: c_int, requests: Requests, index: *mut c_int, flag: *mut c_int, status: Statuses)
        |next| any(count, requests, (index, flag), status, |status| next(count, requests, index, flag, status)),
        else any_by_one(count, requests, index, flag, status);
    MPI_Request_get_status_some PMPI_Request_get_status_some (count: c_int, requests: Requests, done: *mut c_int, indices: *mut c_int, statuses: Statuses)
        |next| some((count, requests, statuses), (done, indices), Family::Look { tells_each: true }, |statuses| {
            next(count, requests, done, indices, statuses)
        }),
        else some_by_one(count, requests, done, indices, statuses);
}

/// # Safety
///
/// `flag` and `status` are the places of the call. A handle of four bytes comes in the low half of
/// the word.
unsafe fn one(
    request: u64,
    flag: *mut c_int,
    status: Statuses,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    let Some(tracer) = busy_tracer() else { return call(status) };
    thread::with(|thread| {
        let Some(_inside) = in_flight::enter(thread, next::called_by_mpi) else { return call(status) };
        let handle = if tracer.abi.request_size == 4 { request & 0xffff_ffff } else { request };
        let entered = clock::now();
        let Some(mut claim) = requests::claim(thread, handle, entered) else { return call(status) };
        let mut own = StatusBuffer::new();
        let status = if status.addr() == tracer.status_ignore { own.pointer() } else { status };
        // An exception here leaves the claim, as a jump does: the program still has the request.
        let result = call(status);
        let end = clock::now();
        // SAFETY: MPI has stored the flag and, if it is set, the status.
        let bytes = unsafe { (result == 0 && flag.read() != 0).then(|| tracer.bytes(status)) };
        shield(|| match bytes {
            Some(bytes) => {
                if claim.take() {
                    record(&claim.pending, Flags::TESTED, bytes, entered, end);
                }
            }
            None => {
                claim.pending.test_time += end - entered;
                claim.pending.pending_until = end;
                claim.give_back();
            }
        });
        result
    })
}

/// # Safety
///
/// The arrays and places are those of the call.
unsafe fn all(
    count: c_int,
    requests: Requests,
    flag: *mut c_int,
    statuses: Statuses,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let Some(claimed) = (unsafe { Claimed::new(thread, requests, count, statuses, count) }) else {
            return call(statuses);
        };
        let result = call(claimed.statuses);
        // SAFETY: MPI has stored the flag.
        let complete = result == 0 && unsafe { flag.read() } != 0;
        claimed.settle(result, Family::Look { tells_each: false }, |position| complete.then_some(position));
        result
    })
}

/// # Safety
///
/// The arrays and places are those of the call.
unsafe fn any(
    count: c_int,
    requests: Requests,
    (index, flag): (*mut c_int, *mut c_int),
    status: Statuses,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let Some(claimed) = (unsafe { Claimed::new(thread, requests, count, status, 1) }) else {
            return call(status);
        };
        let result = call(claimed.statuses);
        // SAFETY: MPI has stored flag and index.
        let (found, index) = unsafe { (result == 0 && flag.read() != 0, usize::try_from(index.read()).ok()) };
        claimed.settle(result, Family::Look { tells_each: !found }, |position| {
            (found && Some(position) == index).then_some(0)
        });
        result
    })
}

/// Asks about the request at `index` by the function that every MPI has.
///
/// # Safety
///
/// There are more than `index` handles, and room for a status.
unsafe fn ask(requests: Requests, index: usize, status: Statuses) -> Result<bool, c_int> {
    static NEXT: Next = Next::new("MPI_Request_get_status\0");
    let (Some(tracer), Some(function)) = (tracer::get(), NEXT.get()) else { return Err(next::NO_MPI) };
    // SAFETY: the function of this name has this signature.
    let next: unsafe extern "C-unwind" fn(u64, *mut c_int, Statuses) -> c_int =
        unsafe { std::mem::transmute(function.as_ptr()) };
    let mut flag = 0;
    // SAFETY: as the caller promises.
    let result = unsafe {
        let request = tracer.abi.request(requests, index);
        one(request, &raw mut flag, status, |status| next(request, &raw mut flag, status))
    };
    if result == 0 { Ok(flag != 0) } else { Err(result) }
}

/// The place of one status in an array that may be ignored.
fn place(statuses: Statuses, index: usize) -> Statuses {
    match tracer::get() {
        Some(tracer) if statuses.addr() != tracer.status_ignore => tracer.abi.status(statuses, index),
        _ => statuses,
    }
}

/// # Safety
///
/// The arrays and places are those of `MPI_Request_get_status_all`.
unsafe fn all_by_one(count: c_int, requests: Requests, flag: *mut c_int, statuses: Statuses) -> c_int {
    let mut complete = true;
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as the caller promises.
        match unsafe { ask(requests, index, place(statuses, index)) } {
            Ok(this) => complete &= this,
            Err(error) => return error,
        }
    }
    // SAFETY: as the caller promises.
    unsafe { flag.write(c_int::from(complete)) };
    0
}

/// `MPI_UNDEFINED`, the same in every MPI.
const UNDEFINED: c_int = -32766;

/// # Safety
///
/// The arrays and places are those of `MPI_Request_get_status_any`.
unsafe fn any_by_one(
    count: c_int,
    requests: Requests,
    index: *mut c_int,
    flag: *mut c_int,
    status: Statuses,
) -> c_int {
    let mut found = None;
    let mut active = false;
    for position in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as the caller promises.
        let null =
            tracer::get().is_some_and(|t| unsafe { t.abi.request(requests, position) } == t.abi.request_null);
        if null {
            continue;
        }
        active = true;
        // SAFETY: as the caller promises.
        match unsafe { ask(requests, position, status) } {
            Ok(true) => {
                found = Some(position as c_int);
                break;
            }
            Ok(false) => {}
            Err(error) => return error,
        }
    }
    // SAFETY: as the caller promises. Without an active request the answer is "yes, none".
    unsafe {
        flag.write(c_int::from(found.is_some() || !active));
        index.write(found.unwrap_or(UNDEFINED));
    }
    0
}

/// # Safety
///
/// The arrays and places are those of `MPI_Request_get_status_some`.
unsafe fn some_by_one(
    count: c_int,
    requests: Requests,
    done: *mut c_int,
    indices: *mut c_int,
    statuses: Statuses,
) -> c_int {
    let (mut number, mut active) = (0usize, false);
    for position in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as the caller promises.
        let null =
            tracer::get().is_some_and(|t| unsafe { t.abi.request(requests, position) } == t.abi.request_null);
        if null {
            continue;
        }
        active = true;
        // SAFETY: as the caller promises; there are as many statuses and indices as requests.
        match unsafe { ask(requests, position, place(statuses, number)) } {
            Ok(true) => {
                // SAFETY: as above.
                unsafe { indices.add(number).write(position as c_int) };
                number += 1;
            }
            Ok(false) => {}
            Err(error) => return error,
        }
    }
    // SAFETY: as the caller promises.
    unsafe { done.write(if active { number as c_int } else { UNDEFINED }) };
    0
}
