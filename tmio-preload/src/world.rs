//! All ranks of a job on several nodes, who meet in `MPI_Finalize`, as the recorder needs them.
//!
//! All communication is on a communicator of our own, with an error handler of tmio's own that does
//! nothing: an error of ours is never the application's.

use crate::errors::{self, went_well};
use crate::tracer::Tracer;
use std::cell::Cell;
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
    /// Something was given up: the next call would meet what is left of it on other ranks.
    given_up: Cell<bool>,
}

const TAG: c_int = 7;

impl MpiWorld {
    /// All ranks of `MPI_COMM_WORLD`, if they come in time; inside `MPI_Finalize` only, with
    /// [errors kept quiet](errors::Quiet). What is given up after that time would be in the way of the
    /// application's own collective calls, and there are none there any more.
    /// Or says why there is no such world.
    pub(crate) fn of_all_who_answer(tracer: &'static Tracer, patience: Duration) -> Result<Self, String> {
        let (mpi, world) = (&tracer.mpi, tracer.abi.comm_world);
        let deadline = Instant::now() + patience;
        // What MPI may still write to is never given back.
        let place: &'static mut [usize; 2] = Box::leak(Box::new([0; 2]));
        let [comm, request] = place;
        let request = std::ptr::from_mut(request).cast::<u64>();
        // SAFETY: MPI is initialised and not finalised; the places live for ever.
        let made = unsafe {
            went_well(|| (mpi.ibarrier)(world, request))
                && wait(tracer, request, deadline)
                && went_well(|| (mpi.comm_idup)(world, comm, request))
                && wait(tracer, request, deadline)
        };
        let left = deadline.saturating_duration_since(Instant::now());
        match made.then(|| Self::over(tracer, *comm, left)).flatten() {
            Some(world) => Ok(world),
            None if left.is_zero() => {
                let seconds = patience.as_secs_f64();
                Err(format!("not every rank answered within {seconds} s (TMIO_FINALIZE_TIMEOUT)"))
            }
            None => Err("MPI could not bring the ranks together".to_owned()),
        }
    }

    fn over(tracer: &'static Tracer, comm: usize, patience: Duration) -> Option<Self> {
        let mpi = &tracer.mpi;
        let handler = errors::handler(tracer)?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: all places are valid for as long as the calls last.
        let ok = unsafe {
            went_well(|| (mpi.comm_set_errhandler)(comm, handler))
                && went_well(|| (mpi.comm_rank)(comm, &mut rank))
                && went_well(|| (mpi.comm_size)(comm, &mut size))
        };
        let (rank, size) = (u32::try_from(rank).ok()?, u32::try_from(size).ok()?);
        let deadline = Instant::now() + patience;
        ok.then(|| Self { tracer, comm, rank, size, deadline, given_up: Cell::new(false) })
    }

    /// Waits for nobody longer than this from now on.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.deadline = Instant::now() + patience;
    }

    /// Gives the communicator back; collective. If something was given up, nobody is asked any more.
    pub(crate) fn free(mut self) {
        if self.given_up.get() {
            return;
        }
        // SAFETY: the communicator is ours, and nothing is under way on it.
        unsafe { (self.tracer.mpi.comm_free)(&mut self.comm) };
    }

    /// Makes a nonblocking call with a buffer of its own and waits for it until the deadline. What MPI may
    /// still write to after that is never given back, and no further call is made.
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
        if self.given_up.replace(true) || request.try_reserve_exact(1).is_err() {
            return None;
        }
        request.push(0u64);
        let begun = went_well(|| call(buffer.as_mut_ptr().cast(), request.as_mut_ptr()));
        // SAFETY: the call has stored a request.
        if begun && unsafe { wait(self.tracer, request.as_mut_ptr(), self.deadline) } {
            self.given_up.set(false);
            return Some(buffer);
        }
        std::mem::forget((buffer, request));
        None
    }

    fn broadcast_piece(&self, root: u32, piece: &mut [u8]) -> bool {
        let (mpi, kind, length) = (&self.tracer.mpi, self.tracer.abi.byte, piece.len() as c_int);
        let Some(copy) = copied(piece) else { return false };
        // SAFETY: the buffer has that length, which is the same on all ranks.
        let received = unsafe {
            self.communicate(copy, |buffer, request| {
                (mpi.ibcast)(buffer, length, kind, root as c_int, self.comm, request)
            })
        };
        received.inspect(|received| piece.copy_from_slice(received)).is_some()
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

/// Bytes of a message that every MPI sends at once. For more it may want to read the sender's memory, which a
/// rank in a container of its own cannot: MPICH 5 reports an error there, to the receiver alone.
const PIECE: usize = 1024;

/// # Safety
///
/// There is a request.
unsafe fn wait(tracer: &Tracer, request: *mut u64, deadline: Instant) -> bool {
    let ignore = std::ptr::without_provenance_mut(tracer.abi.status_ignore);
    let mut pause = Duration::from_micros(1);
    for tries in 0u32.. {
        let mut flag = 0;
        // SAFETY: as the caller promises; the place for the answer is valid.
        if !went_well(|| unsafe { (tracer.mpi.test)(request, &mut flag, ignore) }) {
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
        bytes.chunks_mut(PIECE).all(|piece| self.broadcast_piece(root, piece))
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
