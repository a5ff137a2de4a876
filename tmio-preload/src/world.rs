//! The ranks of `MPI_COMM_WORLD`, as the recorder needs them.
//!
//! All communication is on a duplicate of the communicator, with an error handler of tmio's own
//! that does nothing: an error of ours is never the application's.

use crate::tracer::Tracer;
use std::ffi::{c_int, c_void};
use tmio_api::World;

pub(crate) struct MpiWorld {
    tracer: &'static Tracer,
    comm: usize,
    rank: u32,
    size: u32,
}

/// Round trips by which two clocks are compared; the shortest one counts.
const ROUND_TRIPS: usize = 12;
const TAG: c_int = 7;

extern "C-unwind" fn ignore_error(_comm: *mut c_void, _error: *mut c_int) {}

impl MpiWorld {
    /// Collective over `MPI_COMM_WORLD`.
    pub(crate) fn new(tracer: &'static Tracer) -> Option<Self> {
        let (mpi, abi) = (&tracer.mpi, &tracer.abi);
        let (mut comm, mut handler) = (0usize, 0usize);
        let (mut rank, mut size) = (0, 0);
        let function: extern "C-unwind" fn(*mut c_void, *mut c_int) = ignore_error;
        // SAFETY: MPI is initialised; all places are valid for as long as the calls last; an
        // error handler may ignore the arguments that follow the second one.
        let ok = unsafe {
            (mpi.comm_dup)(abi.comm_world, &mut comm) == 0
                && (mpi.comm_create_errhandler)(function as *mut c_void, &mut handler) == 0
                && (mpi.comm_set_errhandler)(comm, handler) == 0
                && (mpi.comm_rank)(comm, &mut rank) == 0
                && (mpi.comm_size)(comm, &mut size) == 0
        };
        let (rank, size) = (u32::try_from(rank).ok()?, u32::try_from(size).ok()?);
        ok.then_some(Self { tracer, comm, rank, size })
    }

    /// Whether this process was made by `MPI_Comm_spawn`.
    pub(crate) fn is_spawned(&self) -> bool {
        let mut parent = 0usize;
        // SAFETY: the place for the answer is valid.
        let answer = unsafe { (self.tracer.mpi.comm_get_parent)(&mut parent) };
        // Four-byte handles fill the low half of the zeroed word.
        answer == 0 && parent != self.tracer.abi.comm_null
    }

    /// Gives the communicator back; collective.
    pub(crate) fn free(mut self) {
        // SAFETY: the communicator is ours, and nothing is under way on it.
        unsafe { (self.tracer.mpi.comm_free)(&mut self.comm) };
    }

    fn reduce(&self, value: i64, operation: usize) -> Option<i64> {
        let (mut value, mut result) = (value, 0i64);
        // SAFETY: both places hold one long long.
        let answer = unsafe {
            (self.tracer.mpi.allreduce)(
                (&raw mut value).cast(),
                (&raw mut result).cast(),
                1,
                self.tracer.abi.long_long,
                operation,
                self.comm,
            )
        };
        (answer == 0).then_some(result)
    }

    /// Everybody's `N` values, by rank.
    fn gather_all<const N: usize>(&self, mut mine: [i64; N]) -> Option<Vec<[i64; N]>> {
        let mut all = Vec::new();
        all.try_reserve_exact(self.size as usize).ok()?;
        all.resize(self.size as usize, [0i64; N]);
        let kind = self.tracer.abi.long_long;
        // SAFETY: `all` has room for N values of each rank.
        let answer = unsafe {
            (self.tracer.mpi.allgather)(
                (&raw mut mine).cast(),
                N as c_int,
                kind,
                all.as_mut_ptr().cast(),
                N as c_int,
                kind,
                self.comm,
            )
        };
        (answer == 0).then_some(all)
    }

    fn send(&self, to: u32, mut value: i64) -> bool {
        // SAFETY: the buffer holds eight bytes.
        0 == unsafe {
            (self.tracer.mpi.send)(
                (&raw mut value).cast(),
                8,
                self.tracer.abi.byte,
                to as c_int,
                TAG,
                self.comm,
            )
        }
    }

    fn receive(&self, from: u32) -> Option<i64> {
        let mut value = 0i64;
        let ignore = std::ptr::without_provenance_mut(self.tracer.abi.status_ignore);
        // SAFETY: the buffer holds eight bytes; the status is MPI_STATUS_IGNORE.
        let answer = unsafe {
            (self.tracer.mpi.recv)(
                (&raw mut value).cast(),
                8,
                self.tracer.abi.byte,
                from as c_int,
                TAG,
                self.comm,
                ignore,
            )
        };
        (answer == 0).then_some(value)
    }

    /// The leader of a node asks rank 0 what time it is; the shortest round trip counts.
    fn compare_with_rank_0(&self, clock: &dyn Fn() -> i64) -> Option<(i64, i64)> {
        let mut best = (i64::MAX, 0);
        for _ in 0..ROUND_TRIPS {
            let before = clock();
            if !self.send(0, 0) {
                return None;
            }
            let there = self.receive(0)?;
            let after = clock();
            if after - before < best.0 {
                best = (after - before, there - (before + (after - before) / 2));
            }
        }
        Some((best.1, best.0 / 2 + 1))
    }

    fn answer_to(&self, leader: u32, clock: &dyn Fn() -> i64) -> Option<()> {
        for _ in 0..ROUND_TRIPS {
            self.receive(leader)?;
            if !self.send(leader, clock()) {
                return None;
            }
        }
        Some(())
    }
}

impl World for MpiWorld {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn broadcast(&self, root: u32, bytes: &mut [u8]) -> bool {
        // SAFETY: the buffer is valid for its length, which is the same on all ranks.
        0 == unsafe {
            (self.tracer.mpi.bcast)(
                bytes.as_mut_ptr().cast(),
                bytes.len() as c_int,
                self.tracer.abi.byte,
                root as c_int,
                self.comm,
            )
        }
    }

    fn minimum(&self, value: i64) -> Option<i64> {
        self.reduce(value, self.tracer.abi.min)
    }

    fn sum_before(&self, value: i64) -> Option<i64> {
        let (mut value, mut result) = (value, 0i64);
        let (mpi, abi) = (&self.tracer.mpi, &self.tracer.abi);
        // SAFETY: both places hold one long long.
        let answer = unsafe {
            (mpi.exscan)(
                (&raw mut value).cast(),
                (&raw mut result).cast(),
                1,
                abi.long_long,
                abi.sum,
                self.comm,
            )
        };
        // On rank 0 the result is undefined (MPI 4.1, section 6.11.2).
        (answer == 0).then_some(if self.rank == 0 { 0 } else { result })
    }

    fn sum(&self, value: i64) -> Option<i64> {
        self.reduce(value, self.tracer.abi.sum)
    }

    fn clock_offset(&self, node: i64, clock: &dyn Fn() -> i64) -> Option<(i64, i64)> {
        let nodes = self.gather_all([node])?;
        if nodes.iter().all(|&[other]| other == node) {
            return Some((0, 0));
        }
        let leader_of = |node: i64| nodes.iter().position(|&[other]| other == node).unwrap_or(0) as u32;
        let mut mine = (0, 0);
        if self.rank == 0 {
            let mut leaders: Vec<u32> =
                nodes.iter().map(|&[node]| leader_of(node)).filter(|&l| l != 0).collect();
            leaders.sort_unstable();
            leaders.dedup();
            for leader in leaders {
                self.answer_to(leader, clock)?;
            }
        } else if leader_of(node) == self.rank {
            mine = self.compare_with_rank_0(clock)?;
        }
        let all = self.gather_all([mine.0, mine.1])?;
        all.get(leader_of(node) as usize).map(|&[offset, error]| (offset, error))
    }
}
