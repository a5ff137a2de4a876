//! The functions that complete requests: eight of the Wait and Test families, and those that free
//! or cancel a request.
//!
//! While no file operation is under way, each costs one relaxed load and the call. Otherwise the
//! operations among the given requests are claimed before the call, and recorded or given back after
//! it, also when an exception leaves it. A request is complete when MPI has set its handle to
//! `MPI_REQUEST_NULL` (MPI 4.1, section 3.7.3). tmio never asks MPI about a request on its own.

use crate::abi::StatusBuffer;
use crate::next::{self, exported};
use crate::requests::{self, Claim, Pending};
use crate::tracer::{self, Tracer};
use std::ffi::{c_int, c_void};
use tmio_api::in_flight::{self, Entered};
use tmio_api::thread::ThreadState;
use tmio_api::{Record, clock, shield, thread};
use tmio_trace::Flags;

pub(crate) type Requests = *mut c_void;
pub(crate) type Statuses = *mut c_void;

exported! {
    MPI_Wait PMPI_Wait (request: Requests, status: Statuses)
        |next| single(request, status, Family::Wait, |status| next(request, status));
    MPI_Test PMPI_Test (request: Requests, flag: *mut c_int, status: Statuses)
        |next| single(request, status, Family::Test { tells_each: true }, |status| next(request, flag, status));
    MPI_Waitall PMPI_Waitall (count: c_int, requests: Requests, statuses: Statuses)
        |next| all((count, requests, statuses), Family::Wait, |statuses| next(count, requests, statuses));
    // That not all are complete does not tell which are not.
    MPI_Testall PMPI_Testall (count: c_int, requests: Requests, flag: *mut c_int, statuses: Statuses)
        |next| all((count, requests, statuses), Family::Test { tells_each: false }, |statuses| {
            next(count, requests, flag, statuses)
        });
    MPI_Waitany PMPI_Waitany (count: c_int, requests: Requests, index: *mut c_int, status: Statuses)
        |next| any((count, requests, status), index, None, |status| next(count, requests, index, status));
    MPI_Testany PMPI_Testany (count: c_int, requests: Requests, index: *mut c_int, flag: *mut c_int, status: Statuses)
        |next| any((count, requests, status), index, Some(flag), |status| next(count, requests, index, flag, status));
    MPI_Waitsome PMPI_Waitsome (count: c_int, requests: Requests, done: *mut c_int, indices: *mut c_int, statuses: Statuses)
        |next| some((count, requests, statuses), (done, indices), Family::Wait, |statuses| {
            next(count, requests, done, indices, statuses)
        });
    MPI_Testsome PMPI_Testsome (count: c_int, requests: Requests, done: *mut c_int, indices: *mut c_int, statuses: Statuses)
        |next| some((count, requests, statuses), (done, indices), Family::Test { tells_each: true }, |statuses| {
            next(count, requests, done, indices, statuses)
        });
    MPI_Request_free PMPI_Request_free (request: Requests)
        |next| free(request, || next(request));
    MPI_Cancel PMPI_Cancel (request: Requests)
        |next| cancel(request, || next(request));
}

/// The tracer, if any file operation is under way.
#[inline]
pub(crate) fn busy_tracer() -> Option<&'static Tracer> {
    if requests::any() { tracer::get() } else { None }
}

/// Records a nonblocking operation that is over.
#[inline]
pub(crate) fn record(pending: &Pending, flags: Flags, bytes: u64, deadline: u64, end: u64) {
    // A status that tells of more than was asked for is not that of this operation.
    let (flags, bytes) = match bytes > pending.requested {
        true => (flags.with(Flags::REQUESTED_BYTES), pending.requested),
        false => (flags, bytes),
    };
    let cancelled = if pending.cancelled { Flags::CANCELLED } else { Flags::default() };
    let record = Record {
        kind: pending.kind(),
        flags: flags.with(cancelled),
        file: pending.file,
        offset: pending.offset,
        bytes,
        start: pending.start,
        end,
        nonblocking: [pending.issued, deadline, pending.pending_until, pending.test_time],
    };
    thread::with(|thread| tmio_api::record(thread, record));
}

/// Records an operation of which only this is known, that MPI has completed it: after `seen`.
pub(crate) fn record_unseen(pending: &Pending, seen: u64) {
    record(pending, Flags::REQUESTED_BYTES.with(Flags::FREED), pending.requested, seen, seen);
}

/// The operations among the requests of one call, and where MPI puts their statuses. Dropped without having
/// been [settled](Self::settle), the call was left by an exception.
pub(crate) struct Claimed<'a> {
    tracer: &'static Tracer,
    _entered: Entered<'a>,
    requests: Requests,
    /// Each with its position.
    operations: Vec<(usize, Claim)>,
    pub(crate) statuses: Statuses,
    /// Behind `statuses`, if the application did not want them.
    _own: Vec<StatusBuffer>,
    entered: u64,
}

impl<'a> Claimed<'a> {
    /// Claims what is ours among `count` requests; `None` if nothing is. `places` is the number
    /// of statuses that the call writes.
    ///
    /// # Safety
    ///
    /// There are `count` handles at `requests`, and `places` statuses at `statuses` unless they are ignored.
    pub(crate) unsafe fn new(
        thread: &'a ThreadState,
        requests: Requests,
        count: c_int,
        statuses: Statuses,
        places: c_int,
    ) -> Option<Self> {
        let tracer = busy_tracer()?;
        let count = usize::try_from(count).ok()?;
        let inside = in_flight::enter(thread, next::called_by_mpi)?;
        let entered = clock::now();
        // SAFETY: as the caller promises.
        let handles = (0..count).map(|index| unsafe { tracer.abi.request(requests, index) });
        let operations =
            shield(|| requests::claim_all(thread, handles, entered)).filter(|claimed| !claimed.is_empty())?;
        let mut own = Vec::new();
        let mut statuses = statuses;
        if statuses.addr() == tracer.status_ignore {
            // A buffer is larger than a status, so as many of them have room for all.
            let places = usize::try_from(places).unwrap_or(0);
            if own.try_reserve_exact(places).is_ok() {
                own.resize_with(places, StatusBuffer::new);
                statuses = own.as_mut_ptr().cast();
            }
        }
        Some(Self { tracer, _entered: inside, requests, operations, statuses, _own: own, entered })
    }

    fn has_statuses(&self) -> bool {
        self.statuses.addr() != self.tracer.status_ignore
    }

    /// Whether MPI has taken the request away.
    fn is_gone(&self, position: usize) -> bool {
        // SAFETY: there are at least as many handles as were given.
        unsafe { self.tracer.abi.request(self.requests, position) == self.tracer.abi.request_null }
    }

    /// Records what is complete and gives the rest back. `status_of` gives the index of the status of
    /// the request at a position, `None` if the call did not return it.
    pub(crate) fn settle(
        mut self,
        result: c_int,
        family: Family,
        status_of: impl Fn(usize) -> Option<usize>,
    ) {
        let end = clock::now();
        let mut operations = std::mem::take(&mut self.operations);
        let alone = operations.len() == 1;
        let spent = (end - self.entered) / operations.len().max(1) as u64;
        shield(|| {
            for (position, claim) in &mut operations {
                let position = *position;
                let status = status_of(position);
                let complete = match family {
                    Family::Look { .. } => status.is_some(),
                    _ => self.is_gone(position),
                };
                if complete {
                    if claim.take() {
                        self.complete(&claim.pending, result, family, status, end);
                    }
                    continue;
                }
                if let Family::Test { tells_each } | Family::Look { tells_each } = family {
                    claim.pending.test_time += spent;
                    if tells_each || alone {
                        claim.pending.pending_until = end;
                    }
                }
                claim.give_back();
            }
        });
    }

    fn complete(&self, pending: &Pending, result: c_int, family: Family, status: Option<usize>, end: u64) {
        let mut flags = family.flags();
        let mut bytes = pending.requested;
        match status {
            Some(index) if self.has_statuses() => {
                let status = self.tracer.abi.status(self.statuses, index);
                // SAFETY: MPI has filled in the status of every request that it returned.
                let failed = result != 0 && unsafe { self.tracer.abi.error(status) } != 0;
                if failed {
                    flags = flags.with(Flags::FAILED);
                    bytes = 0;
                } else {
                    // SAFETY: as above.
                    bytes = unsafe { self.tracer.bytes(status) };
                }
            }
            _ => flags = flags.with(Flags::REQUESTED_BYTES),
        }
        record(pending, flags, bytes, self.entered, end);
    }
}

impl Drop for Claimed<'_> {
    /// After an exception no status can be believed; what MPI has done with a handle can.
    fn drop(&mut self) {
        let operations = std::mem::take(&mut self.operations);
        if operations.is_empty() {
            return;
        }
        let end = clock::now();
        shield(|| {
            for (position, claim) in &operations {
                if !self.is_gone(*position) {
                    claim.give_back();
                } else if claim.take() {
                    let pending = &claim.pending;
                    record(pending, Flags::REQUESTED_BYTES, pending.requested, self.entered, end);
                }
            }
        });
    }
}

/// How a call deals with its requests.
#[derive(Clone, Copy)]
pub(crate) enum Family {
    /// The call blocked until something was complete.
    Wait,
    /// The call returned at once; `tells_each`: what it did not return is known to be unfinished.
    Test { tells_each: bool },
    /// As a test, but the requests stay as they are: complete is what the call says is.
    Look { tells_each: bool },
}

impl Family {
    fn flags(self) -> Flags {
        match self {
            Family::Wait => Flags::default(),
            Family::Test { .. } | Family::Look { .. } => Flags::TESTED,
        }
    }
}

/// Count, requests and statuses of a call on several requests.
pub(crate) type Arrays = (c_int, Requests, Statuses);

/// The operation of a call on one request. Dropped while it is still there, the call was left by an
/// exception.
struct Single<'a> {
    tracer: &'static Tracer,
    _entered: Entered<'a>,
    request: Requests,
    claim: Option<Claim>,
    entered: u64,
}

impl<'a> Single<'a> {
    /// # Safety
    ///
    /// There is a handle at `request`.
    #[inline]
    unsafe fn new(tracer: &'static Tracer, thread: &'a ThreadState, request: Requests) -> Option<Self> {
        let inside = in_flight::enter(thread, next::called_by_mpi)?;
        // SAFETY: as the caller promises.
        let handle = unsafe { tracer.abi.request(request, 0) };
        let entered = clock::now();
        let claim = Some(requests::claim(thread, handle, entered)?);
        Some(Self { tracer, _entered: inside, request, claim, entered })
    }

    #[inline]
    fn is_gone(&self) -> bool {
        // SAFETY: there is a handle, see `new`.
        unsafe { self.tracer.abi.request(self.request, 0) == self.tracer.abi.request_null }
    }

    /// The operation is complete: takes it out and records it.
    #[inline]
    fn complete(&mut self, flags: Flags, bytes: Option<u64>, end: u64) {
        let Some(claim) = self.claim.take() else { return };
        if claim.take() {
            let pending = &claim.pending;
            record(pending, flags, bytes.unwrap_or(pending.requested), self.entered, end);
        }
    }

    /// The operation is not complete: gives it back after `change`.
    #[inline]
    fn give_back(&mut self, change: impl FnOnce(&mut Pending)) {
        let Some(mut claim) = self.claim.take() else { return };
        change(&mut claim.pending);
        claim.give_back();
    }
}

impl Drop for Single<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.claim.is_some() {
            self.left_by_an_exception();
        }
    }
}

impl Single<'_> {
    #[cold]
    #[inline(never)]
    fn left_by_an_exception(&mut self) {
        let end = clock::now();
        shield(|| match self.is_gone() {
            true => self.complete(Flags::REQUESTED_BYTES, None, end),
            false => self.give_back(|_| {}),
        });
    }
}

/// `MPI_Wait` and `MPI_Test`.
///
/// # Safety
///
/// There is a handle at `request`, and room for a status at `status` unless it is ignored.
#[inline(always)]
unsafe fn single(
    request: Requests,
    status: Statuses,
    family: Family,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    let Some(tracer) = busy_tracer() else { return call(status) };
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let Some(mut operation) = (unsafe { Single::new(tracer, thread, request) }) else {
            return call(status);
        };
        let mut own = StatusBuffer::new();
        let status = if status.addr() == tracer.status_ignore { own.pointer() } else { status };
        let result = call(status);
        let end = clock::now();
        if operation.is_gone() {
            let (flags, bytes) = if result == 0 {
                // SAFETY: MPI has filled in the status.
                (family.flags(), unsafe { tracer.bytes(status) })
            } else {
                (family.flags().with(Flags::FAILED), 0)
            };
            operation.complete(flags, Some(bytes), end);
        } else {
            let spent = end - operation.entered;
            operation.give_back(|pending| {
                if matches!(family, Family::Test { .. }) {
                    pending.test_time += spent;
                    pending.pending_until = end;
                }
            });
        }
        result
    })
}

/// `MPI_Waitall` and `MPI_Testall`: the statuses are in the order of the requests.
///
/// # Safety
///
/// The arrays are those of the call.
unsafe fn all(
    (count, requests, statuses): Arrays,
    family: Family,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let Some(claimed) = (unsafe { Claimed::new(thread, requests, count, statuses, count) }) else {
            return call(statuses);
        };
        let result = call(claimed.statuses);
        claimed.settle(result, family, Some);
        result
    })
}

/// `MPI_Waitany` and, with a flag, `MPI_Testany`: one status.
///
/// # Safety
///
/// The arrays and places are those of the call.
unsafe fn any(
    (count, requests, status): Arrays,
    index: *mut c_int,
    flag: Option<*mut c_int>,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let Some(claimed) = (unsafe { Claimed::new(thread, requests, count, status, 1) }) else {
            return call(status);
        };
        let result = call(claimed.statuses);
        // SAFETY: MPI has stored the index and, in a test, the flag.
        let (returned, found) =
            unsafe { (usize::try_from(index.read()).ok(), flag.map(|flag| flag.read() != 0)) };
        let family = match found {
            None => Family::Wait,
            // Only when none is complete does the call tell about all.
            Some(found) => Family::Test { tells_each: result == 0 && !found },
        };
        claimed.settle(result, family, |position| (Some(position) == returned).then_some(0));
        result
    })
}

/// `MPI_Waitsome` and `MPI_Testsome`: the statuses are those of the indices, in their order.
///
/// # Safety
///
/// The arrays and places are those of the call.
pub(crate) unsafe fn some(
    (count, requests, statuses): Arrays,
    (done, indices): (*mut c_int, *mut c_int),
    family: Family,
    call: impl FnOnce(Statuses) -> c_int,
) -> c_int {
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let Some(claimed) = (unsafe { Claimed::new(thread, requests, count, statuses, count) }) else {
            return call(statuses);
        };
        let result = call(claimed.statuses);
        // SAFETY: MPI has stored the number of indices (negative: none) and so many of them.
        let returned = unsafe {
            let number = usize::try_from(done.read()).unwrap_or(0).min(usize::try_from(count).unwrap_or(0));
            std::slice::from_raw_parts(indices, number)
        };
        // With many requests a sorted table is better than a search for each.
        let mut order: Vec<(c_int, usize)> = Vec::new();
        if order.try_reserve_exact(returned.len()).is_ok() {
            order.extend(returned.iter().copied().zip(0..));
            order.sort_unstable();
        }
        claimed.settle(result, family, |position| {
            let found = order.binary_search_by_key(&(position as c_int), |&(index, _)| index).ok()?;
            order.get(found).map(|&(_, status)| status)
        });
        result
    })
}

/// A freed request completes unseen; what is known is when the application stopped caring.
///
/// # Safety
///
/// There is a handle at `request`.
unsafe fn free(request: Requests, call: impl FnOnce() -> c_int) -> c_int {
    let Some(tracer) = busy_tracer() else { return call() };
    thread::with(|thread| {
        // SAFETY: as the caller promises.
        let Some(mut operation) = (unsafe { Single::new(tracer, thread, request) }) else { return call() };
        let result = call();
        shield(|| match result {
            0 => operation.complete(Flags::FREED.with(Flags::REQUESTED_BYTES), None, clock::now()),
            _ => operation.give_back(|_| {}),
        });
        result
    })
}

/// # Safety
///
/// There is a handle at `request`.
unsafe fn cancel(request: Requests, call: impl FnOnce() -> c_int) -> c_int {
    let Some(tracer) = busy_tracer() else { return call() };
    // SAFETY: as the caller promises.
    let handle = unsafe { tracer.abi.request(request, 0) };
    let result = call();
    if result == 0 {
        thread::with(|thread| {
            if let Some(mut claim) = requests::claim(thread, handle, clock::now()) {
                claim.pending.cancelled = true;
                claim.give_back();
            }
        });
    }
    result
}
