//! The ranks that are traced together, as the recorder needs them.
//!
//! All communication is on a communicator of our own, with an error handler of tmio's own that does
//! nothing: an error of ours is never the application's. Only ranks that are known to take part are in it.

use crate::roll::is_alive;
use crate::tracer::Tracer;
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};
use tmio_api::World;

pub(crate) struct MpiWorld {
    tracer: &'static Tracer,
    comm: usize,
    rank: u32,
    size: u32,
    /// Nobody is waited for after this.
    deadline: Instant,
}

const TAG: c_int = 7;

extern "C-unwind" fn ignore_error(_comm: *mut c_void, _error: *mut c_int) {}

impl MpiWorld {
    /// All ranks of `MPI_COMM_WORLD`, every one of which makes this call.
    pub(crate) fn of_all(tracer: &'static Tracer, patience: Duration) -> Option<Self> {
        let mut comm = 0usize;
        // SAFETY: MPI is initialised; the place is valid.
        let made = unsafe { (tracer.mpi.comm_dup)(tracer.abi.comm_world, &mut comm) == 0 };
        if made { Self::over(tracer, comm, patience) } else { None }
    }

    /// These ranks of `MPI_COMM_WORLD`, every one of which makes this call; the others do not notice.
    pub(crate) fn of_some(tracer: &'static Tracer, ranks: &[u32], patience: Duration) -> Option<Self> {
        let (mpi, world) = (&tracer.mpi, tracer.abi.comm_world);
        let (mut all, mut some, mut comm) = (0usize, 0usize, 0usize);
        // SAFETY: MPI is initialised; a rank has the layout of an int; all places are valid for as long as
        // the calls last; the groups are given back.
        let made = unsafe {
            let made = (mpi.comm_group)(world, &mut all) == 0
                && (mpi.group_incl)(all, ranks.len() as c_int, ranks.as_ptr().cast(), &mut some) == 0
                && (mpi.comm_create_group)(world, some, TAG, &mut comm) == 0;
            if some != 0 {
                (mpi.group_free)(&mut some);
            }
            if all != 0 {
                (mpi.group_free)(&mut all);
            }
            made
        };
        if made { Self::over(tracer, comm, patience) } else { None }
    }

    /// All ranks of `MPI_COMM_WORLD`, if they come in time; inside `MPI_Finalize` only. What is given up
    /// after that time would be in the way of the application's own collective calls, and there are none
    /// there any more.
    pub(crate) fn of_all_who_answer(tracer: &'static Tracer, patience: Duration) -> Option<Self> {
        let (mpi, world) = (&tracer.mpi, tracer.abi.comm_world);
        let deadline = Instant::now() + patience;
        // What MPI may still write to is never given back.
        let place: &'static mut [usize; 2] = Box::leak(Box::new([0; 2]));
        let [comm, request] = place;
        let request = std::ptr::from_mut(request).cast::<u64>();
        // SAFETY: MPI is initialised and not finalised; the places live for ever.
        let made = unsafe {
            (mpi.ibarrier)(world, request) == 0
                && wait(tracer, request, deadline)
                && (mpi.comm_idup)(world, comm, request) == 0
                && wait(tracer, request, deadline)
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if made { Self::over(tracer, *comm, left) } else { None }
    }

    fn over(tracer: &'static Tracer, comm: usize, patience: Duration) -> Option<Self> {
        let mpi = &tracer.mpi;
        let (mut handler, mut rank, mut size) = (0usize, 0, 0);
        let function: extern "C-unwind" fn(*mut c_void, *mut c_int) = ignore_error;
        // SAFETY: all places are valid for as long as the calls last; an error handler may ignore the
        // arguments that follow the second one.
        let ok = unsafe {
            (mpi.comm_create_errhandler)(function as *mut c_void, &mut handler) == 0
                && (mpi.comm_set_errhandler)(comm, handler) == 0
                && (mpi.comm_rank)(comm, &mut rank) == 0
                && (mpi.comm_size)(comm, &mut size) == 0
        };
        let (rank, size) = (u32::try_from(rank).ok()?, u32::try_from(size).ok()?);
        ok.then(|| Self { tracer, comm, rank, size, deadline: Instant::now() + patience })
    }

    /// Waits until every rank has come to this call, as `MPI_Finalize` does in any case. If one of these
    /// processes is gone, it never will: then nobody is waited for any longer than `patience`.
    pub(crate) fn meet(&self, processes: &[u32], patience: Duration) {
        const LOOK: Duration = Duration::from_millis(250);
        // What MPI may still write to is never given back.
        let request = std::ptr::from_mut(Box::leak(Box::new(0u64)));
        // SAFETY: the communicator is ours, and the place lives for ever.
        let mut waiting = unsafe { (self.tracer.mpi.ibarrier)(self.comm, request) == 0 };
        let mut until = None;
        while waiting && until.is_none_or(|until| Instant::now() < until) {
            let began = Instant::now();
            // SAFETY: there is a request.
            let come = unsafe { wait(self.tracer, request, began + LOOK) };
            // An error of MPI ends the wait early.
            waiting = !come && began.elapsed() >= LOOK;
            if waiting && until.is_none() && !processes.iter().all(|&process| is_alive(process)) {
                until = Some(Instant::now() + patience);
            }
        }
    }

    /// Waits for nobody longer than this from now on.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.deadline = Instant::now() + patience;
    }

    /// Gives the communicator back; collective.
    pub(crate) fn free(mut self) {
        // SAFETY: the communicator is ours, and nothing is under way on it.
        unsafe { (self.tracer.mpi.comm_free)(&mut self.comm) };
    }

    /// Makes a nonblocking call with a buffer of its own and waits for it until the deadline. What MPI may
    /// still write to after that is never given back.
    ///
    /// # Safety
    ///
    /// The call uses no memory of ours but the buffer and the place for its request.
    unsafe fn communicate<T>(
        &self,
        mut buffer: Vec<T>,
        call: impl FnOnce(*mut c_void, *mut u64) -> c_int,
    ) -> Option<Vec<T>> {
        let mut request = Vec::new();
        request.try_reserve_exact(1).ok()?;
        request.push(0u64);
        let begun = call(buffer.as_mut_ptr().cast(), request.as_mut_ptr()) == 0;
        // SAFETY: the call has stored a request.
        if begun && unsafe { wait(self.tracer, request.as_mut_ptr(), self.deadline) } {
            return Some(buffer);
        }
        if begun {
            std::mem::forget((buffer, request));
        }
        None
    }

    fn reduce(&self, value: i64, operation: usize) -> Option<i64> {
        let (mpi, kind) = (&self.tracer.mpi, self.tracer.abi.long_long);
        // SAFETY: the buffer holds two values, of which the first is sent and the second received.
        let values = unsafe {
            self.communicate(copied(&[value, 0])?, |buffer, request| {
                (mpi.iallreduce)(buffer, buffer.byte_add(8), 1, kind, operation, self.comm, request)
            })
        };
        values?.get(1).copied()
    }
}

/// # Safety
///
/// There is a request.
unsafe fn wait(tracer: &Tracer, request: *mut u64, deadline: Instant) -> bool {
    let ignore = std::ptr::without_provenance_mut(tracer.abi.status_ignore);
    let mut pause = Duration::from_micros(1);
    for tries in 0u32.. {
        let mut flag = 0;
        // SAFETY: as the caller promises; the place for the answer is valid.
        if unsafe { (tracer.mpi.test)(request, &mut flag, ignore) } != 0 {
            return false;
        }
        if flag != 0 {
            return true;
        }
        if tries > 100 {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }
    false
}

impl World for MpiWorld {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn broadcast(&self, root: u32, bytes: &mut [u8]) -> bool {
        let (mpi, kind, length) = (&self.tracer.mpi, self.tracer.abi.byte, bytes.len() as c_int);
        let Some(copy) = copied(bytes) else { return false };
        // SAFETY: the buffer has that length, which is the same on all ranks.
        let received = unsafe {
            self.communicate(copy, |buffer, request| {
                (mpi.ibcast)(buffer, length, kind, root as c_int, self.comm, request)
            })
        };
        received.inspect(|received| bytes.copy_from_slice(received)).is_some()
    }

    fn minimum(&self, value: i64) -> Option<i64> {
        self.reduce(value, self.tracer.abi.min)
    }

    fn sum_before(&self, value: i64) -> Option<i64> {
        let (mpi, abi) = (&self.tracer.mpi, &self.tracer.abi);
        // SAFETY: the buffer holds two values, of which the first is sent and the second received.
        let values = unsafe {
            self.communicate(copied(&[value, 0])?, |buffer, request| {
                (mpi.iexscan)(buffer, buffer.byte_add(8), 1, abi.long_long, abi.sum, self.comm, request)
            })
        };
        // On rank 0 the result is undefined (MPI 4.1, section 6.11.2).
        values?.get(1).map(|&before| if self.rank == 0 { 0 } else { before })
    }

    fn sum(&self, value: i64) -> Option<i64> {
        self.reduce(value, self.tracer.abi.sum)
    }

    fn gather(&self, mine: i64) -> Option<Vec<i64>> {
        let (mpi, kind) = (&self.tracer.mpi, self.tracer.abi.long_long);
        let count = if self.rank == 0 { self.size as usize } else { 0 };
        let mut values = Vec::new();
        values.try_reserve_exact(count + 1).ok()?;
        values.resize(count + 1, mine);
        // SAFETY: the first value is sent; behind it is room for one of each rank, where it is used.
        let values = unsafe {
            self.communicate(values, |buffer, request| {
                (mpi.igather)(buffer, 1, kind, buffer.byte_add(8), 1, kind, 0, self.comm, request)
            })
        };
        let mut values = values?;
        values.remove(0);
        Some(values)
    }

    fn scatter(&self, all: &[i64], mine: &mut [i64]) -> bool {
        let (mpi, kind, length) = (&self.tracer.mpi, self.tracer.abi.long_long, mine.len());
        let mut values = Vec::new();
        if values.try_reserve_exact(length + all.len()).is_err() {
            return false;
        }
        values.resize(length, 0i64);
        values.extend_from_slice(all);
        // SAFETY: the first values are received; behind them are, on rank 0, as many for each rank.
        let values = unsafe {
            self.communicate(values, |buffer, request| {
                let (all, length) = (buffer.byte_add(8 * length), length as c_int);
                (mpi.iscatter)(all, length, kind, buffer, length, kind, 0, self.comm, request)
            })
        };
        let received = values.as_ref().and_then(|values| values.get(..length));
        received.inspect(|received| mine.copy_from_slice(received)).is_some()
    }

    fn send(&self, to: u32, bytes: &[u8]) -> bool {
        let (mpi, kind, length) = (&self.tracer.mpi, self.tracer.abi.byte, bytes.len() as c_int);
        let Some(copy) = copied(bytes) else { return false };
        // SAFETY: the buffer has that length.
        let sent = unsafe {
            self.communicate(copy, |buffer, request| {
                (mpi.isend)(buffer, length, kind, to as c_int, TAG, self.comm, request)
            })
        };
        sent.is_some()
    }

    fn receive(&self, from: u32, bytes: &mut [u8]) -> bool {
        let (mpi, kind, length) = (&self.tracer.mpi, self.tracer.abi.byte, bytes.len() as c_int);
        let Some(copy) = copied(bytes) else { return false };
        // SAFETY: the buffer has that length.
        let received = unsafe {
            self.communicate(copy, |buffer, request| {
                (mpi.irecv)(buffer, length, kind, from as c_int, TAG, self.comm, request)
            })
        };
        received.inspect(|received| bytes.copy_from_slice(received)).is_some()
    }
}

/// A copy, if there is memory for it.
fn copied<T: Copy>(values: &[T]) -> Option<Vec<T>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(values.len()).ok()?;
    copy.extend_from_slice(values);
    Some(copy)
}
