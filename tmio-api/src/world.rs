//! What the recorder needs of the other ranks, and only inside `MPI_Init` and `MPI_Finalize`.

/// The ranks of `MPI_COMM_WORLD`, through a communicator of tmio's own.
///
/// Every method but the first two is collective. An implementation returns `false` (or `None`)
/// when MPI reports an error; the recorder then gives up tracing, never the job.
pub trait World {
    /// This process.
    fn rank(&self) -> u32;
    /// Number of processes.
    fn size(&self) -> u32;
    /// Copies `bytes` of rank `root` to all.
    fn broadcast(&self, root: u32, bytes: &mut [u8]) -> bool;
    /// Smallest of everybody's `value`.
    fn minimum(&self, value: i64) -> Option<i64>;
    /// Sum of `value` over lower ranks.
    fn sum_before(&self, value: i64) -> Option<i64>;
    /// Sum of `value` over all ranks.
    fn sum(&self, value: i64) -> Option<i64>;
    /// What must be added to this rank's clock to get rank 0's, and the largest error of that.
    ///
    /// `node` identifies the machine: ranks with the same one share a clock.
    fn clock_offset(&self, node: i64, clock: &dyn Fn() -> i64) -> Option<(i64, i64)>;
}

/// What only the MPI side knows about the job.
#[derive(Clone, Debug, Default)]
pub struct JobInfo {
    /// First line of what `MPI_Get_library_version` says.
    pub mpi: String,
    /// The process was made by `MPI_Comm_spawn`.
    pub spawned: bool,
}
