//! Nonblocking operations that are under way, found by their request handle.
//!
//! A handle may be used again by MPI as soon as its request is complete, and another thread may get it
//! before the completing call has returned. So an operation is claimed before that call, and taken out or
//! given back after it. When the call is left by a jump, nothing of ours runs and the claim stays: the
//! operation is found again by its handle if the same thread completes it later; if MPI gives the handle to
//! another operation of that thread, or the file is closed, it was complete.
//!
//! Most operations are completed by the thread that began them, soon, and one after the other: these are in
//! the thread's own [`cells`], where no lock is needed. All others are in one [`table`] with a lock.

mod cells;
mod table;

use cells::{Cell, Cells, Others};
use tmio_api::shield;
use tmio_api::thread::ThreadState;
use tmio_trace::OpKind;

/// A nonblocking operation under way. Times are ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) kind: u8,
    pub(crate) cancelled: bool,
    pub(crate) file: usize,
    pub(crate) offset: i64,
    pub(crate) requested: u64,
    pub(crate) start: u64,
    pub(crate) issued: u64,
    pub(crate) pending_until: u64,
    pub(crate) test_time: u64,
}

impl Pending {
    const NOTHING: Self = Self {
        kind: 0,
        cancelled: false,
        file: 0,
        offset: 0,
        requested: 0,
        start: 0,
        issued: 0,
        pending_until: 0,
        test_time: 0,
    };

    /// An operation that was begun by a call between `start` and `issued`.
    #[inline]
    pub(crate) fn new(
        kind: OpKind,
        (file, offset, requested): (usize, i64, u64),
        (start, issued): (u64, u64),
    ) -> Self {
        Self { kind: kind.0, file, offset, requested, start, issued, pending_until: issued, ..Self::NOTHING }
    }

    pub(crate) fn kind(&self) -> OpKind {
        OpKind(self.kind)
    }
}

/// Whether any operation is under way: one relaxed load, and one more for each thread that ever began one.
#[inline]
pub(crate) fn any() -> bool {
    cells::any() || !table::is_empty()
}

/// Whoever makes a call, for as long as it lasts: one per thread.
fn claimant(thread: &ThreadState) -> u64 {
    std::ptr::from_ref(thread).addr() as u64
}

/// Adds an operation that `thread` has begun. An earlier one with that handle, which a call of the same
/// thread had claimed and never gave back, is complete: it is given to `complete`.
#[inline]
pub(crate) fn insert(
    thread: &ThreadState,
    handle: u64,
    pending: &Pending,
    complete: impl FnOnce(&Pending, u64),
) {
    tmio_api::thread::number(thread); // now, if it has none, so that it has cells
    let inserted =
        !table::has_claimed() && Cells::of(thread).is_some_and(|cells| cells.insert(handle, pending));
    if !inserted {
        insert_slowly(thread, handle, pending, complete);
    }
}

#[cold]
#[inline(never)]
fn insert_slowly(thread: &ThreadState, handle: u64, pending: &Pending, complete: impl FnOnce(&Pending, u64)) {
    shield(|| {
        let own = Cells::of(thread);
        let mut left = own.and_then(|cells| cells.take_left(handle));
        let in_cell = own.is_some_and(|cells| cells.insert(handle, pending));
        if !in_cell || table::has_claimed() {
            let mut table = table::lock();
            left = left.or_else(|| table.take_left(handle, claimant(thread)));
            if !in_cell {
                table.insert(handle, *pending);
            }
        }
        if let Some((left, claimed_at)) = left {
            complete(&left, claimed_at);
        }
    });
}

/// An operation that a call has claimed.
#[derive(Debug)]
pub(crate) struct Claim {
    handle: u64,
    by: u64,
    pub(crate) pending: Pending,
    /// Where it is, if not in the table.
    cell: Option<Cell>,
}

/// Claims an operation for a call of `thread` that was entered at `entered`.
#[inline]
pub(crate) fn claim(thread: &ThreadState, handle: u64, entered: u64) -> Option<Claim> {
    match Cells::of(thread).and_then(|cells| cells.claim(handle, entered)) {
        Some((cell, pending)) => Some(Claim { handle, by: claimant(thread), pending, cell: Some(cell) }),
        None => claim_slowly(thread, handle, entered),
    }
}

#[inline(never)]
fn claim_slowly(thread: &ThreadState, handle: u64, entered: u64) -> Option<Claim> {
    shield(|| Search::new(thread, entered).claim(handle)).flatten()
}

/// Claims all operations whose handles are given; each with its position.
pub(crate) fn claim_all(
    thread: &ThreadState,
    handles: impl Iterator<Item = u64>,
    entered: u64,
) -> Vec<(usize, Claim)> {
    let mut claimed = Vec::new();
    let mut search = Search::new(thread, entered);
    for (position, handle) in handles.enumerate() {
        if claimed.try_reserve(1).is_err() {
            break;
        }
        if let Some(claim) = search.claim(handle) {
            claimed.push((position, claim));
        }
    }
    claimed
}

/// Looks for operations wherever they may be.
struct Search<'a> {
    thread: &'a ThreadState,
    own: Option<&'static Cells>,
    /// `None`: it was empty.
    table: Option<table::Locked>,
    /// What other threads have in their cells.
    others: Others,
    entered: u64,
}

impl<'a> Search<'a> {
    fn new(thread: &'a ThreadState, entered: u64) -> Self {
        let own = Cells::of(thread);
        let table = (!table::is_empty()).then(table::lock);
        Self { thread, own, table, others: Others::of(own), entered }
    }

    fn claim(&mut self, handle: u64) -> Option<Claim> {
        let by = claimant(self.thread);
        let in_cell = |(cell, pending)| Claim { handle, by, pending, cell: Some(cell) };
        let in_table = |pending| Claim { handle, by, pending, cell: None };
        if let Some(found) = self.own.and_then(|cells| cells.claim(handle, self.entered)) {
            return Some(in_cell(found));
        }
        if let Some(table) = &mut self.table
            && let Some(pending) = table.claim(handle, by, self.entered)
        {
            return Some(in_table(pending));
        }
        if let Some(pending) = self.others.take(handle) {
            let table = self.table.get_or_insert_with(table::lock);
            table.insert(handle, pending);
            return table.claim(handle, by, self.entered).map(in_table);
        }
        // What an earlier call of this thread has claimed comes last: if there is another with the handle,
        // it was complete.
        if let Some(found) = self.own.and_then(|cells| cells.claim_again(handle, self.entered)) {
            return Some(in_cell(found));
        }
        self.table.as_mut()?.claim_again(handle, by, self.entered).map(in_table)
    }
}

impl Claim {
    /// Takes the operation out, because it is complete. `false`: somebody else has.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        match self.cell {
            Some(cell) => cell.take(self.handle),
            None => table::lock().take(self.handle, self.by, &self.pending),
        }
    }

    /// Gives the operation back as `pending` is now, because it is not complete.
    #[inline]
    pub(crate) fn give_back(&self) {
        match self.cell {
            Some(cell) => cell.give_back(self.handle, &self.pending),
            None => table::lock().give_back(self.handle, self.by, &self.pending),
        }
    }
}

/// The operations on a file that were claimed by calls that never returned. MPI has completed them when the
/// file is closed.
pub(crate) fn left_behind(file: usize, mut complete: impl FnMut(&Pending, u64)) {
    cells::left_behind(file, &mut complete);
    while !table::is_empty() {
        let left = table::lock().take_claimed(file);
        let Some((left, claimed_at)) = left else { return };
        complete(&left, claimed_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use tmio_api::thread;

    /// What MPI and the program do, as far as handles go: a handle is free for anybody as soon as its request
    /// is complete, before the completing call has returned.
    #[derive(Default)]
    struct World {
        free: Mutex<Vec<u64>>,
        /// Requests on their way to another thread.
        handed_over: Mutex<VecDeque<(u64, u64)>>,
        begun: AtomicU64,
        recorded: Mutex<Vec<u64>>,
        clock: AtomicU64,
    }

    const FILE: usize = 77;

    impl World {
        fn now(&self) -> u64 {
            self.clock.fetch_add(1, Relaxed) + 1
        }

        fn handle(&self) -> u64 {
            self.free.lock().unwrap().pop().unwrap()
        }

        fn record(&self, pending: &Pending) {
            self.recorded.lock().unwrap().push(pending.start);
        }

        fn begin(&self, state: &ThreadState) -> (u64, u64) {
            let (handle, start) = (self.handle(), self.begun.fetch_add(1, Relaxed) + 1);
            let pending = Pending { start, file: FILE, ..Pending::NOTHING };
            insert(state, handle, &pending, |left, _| self.record(left));
            (handle, start)
        }

        fn complete(&self, state: &ThreadState, (handle, start): (u64, u64)) {
            let claim = claim(state, handle, self.now()).expect("it is under way");
            assert_eq!(claim.pending.start, start, "handle {handle}: another operation");
            self.free.lock().unwrap().push(handle);
            std::thread::yield_now();
            assert!(claim.take(), "nobody else has completed it");
            self.record(&claim.pending);
        }

        fn test_in_vain(&self, state: &ThreadState, (handle, start): (u64, u64)) {
            let mut claim = claim(state, handle, self.now()).expect("it is under way");
            assert_eq!(claim.pending.start, start);
            claim.pending.test_time += 1;
            claim.give_back();
        }

        /// The handle is given back by MPI, and nothing of ours runs.
        fn complete_and_jump(&self, state: &ThreadState, (handle, start): (u64, u64)) {
            let claim = claim(state, handle, self.now()).expect("it is under way");
            assert_eq!(claim.pending.start, start);
            self.free.lock().unwrap().push(handle);
        }

        fn wait_for_a_message(&self, state: &ThreadState) {
            let handle = self.handle();
            if any() {
                assert!(claim(state, handle, self.now()).is_none(), "a message is no operation");
            }
            self.free.lock().unwrap().push(handle);
        }

        fn run(&self, seed: u64) {
            let mut random = 0x9e37_79b9_7f4a_7c15 ^ (seed << 32) ^ seed;
            let mut outstanding: Vec<(u64, u64)> = Vec::new();
            thread::with(|state| {
                for _ in 0..4000 {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let one = (random >> 20) as usize;
                    match random % 16 {
                        0..=4 if outstanding.len() < 9 => outstanding.push(self.begin(state)),
                        5 => outstanding.iter().for_each(|&request| self.test_in_vain(state, request)),
                        6 if !outstanding.is_empty() => {
                            let request = outstanding.swap_remove(one % outstanding.len());
                            self.handed_over.lock().unwrap().push_back(request);
                        }
                        7 | 8 => {
                            let request = self.handed_over.lock().unwrap().pop_front();
                            request.into_iter().for_each(|request| self.complete(state, request));
                        }
                        // What a jump has left behind is taken for whatever has its handle.
                        9 if seed.is_multiple_of(2) => self.wait_for_a_message(state),
                        9 if !outstanding.is_empty() => {
                            let request = outstanding.swap_remove(one % outstanding.len());
                            self.complete_and_jump(state, request);
                        }
                        10 => {
                            let handles = outstanding.iter().map(|&(handle, _)| handle);
                            let claimed = claim_all(state, handles, self.now());
                            assert_eq!(claimed.len(), outstanding.len());
                            for ((position, claim), request) in claimed.iter().zip(&outstanding) {
                                assert_eq!(claim.pending.start, request.1, "at {position}");
                                self.free.lock().unwrap().push(request.0);
                                assert!(claim.take());
                                self.record(&claim.pending);
                            }
                            outstanding.clear();
                        }
                        _ if !outstanding.is_empty() => {
                            let request = outstanding.swap_remove(one % outstanding.len());
                            self.complete(state, request);
                        }
                        _ => {}
                    }
                }
                outstanding.into_iter().for_each(|request| self.complete(state, request));
            });
        }
    }

    #[test]
    fn every_operation_is_completed_once_whoever_does_it() {
        let world = World::default();
        world.free.lock().unwrap().extend((1..=200u64).map(|number| 0x7f00_0000_0000 + number * 64));
        let all = &world;
        std::thread::scope(|scope| (0..4).for_each(|seed| drop(scope.spawn(move || all.run(seed)))));
        let rest: Vec<_> = world.handed_over.lock().unwrap().drain(..).collect();
        thread::with(|state| rest.into_iter().for_each(|request| world.complete(state, request)));
        left_behind(FILE + 1, |_, _| panic!("of another file"));
        left_behind(FILE, |left, _| world.record(left));
        assert!(!any(), "nothing is left");
        let mut recorded = world.recorded.into_inner().unwrap();
        recorded.sort_unstable();
        let begun = world.begun.into_inner();
        assert!(begun > 2000, "{begun}");
        assert!(recorded.iter().copied().eq(1..=begun), "{} of {begun}, each once", recorded.len());
    }
}
